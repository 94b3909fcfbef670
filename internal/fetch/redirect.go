package fetch

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/lookleap/lookleap"
)

// Hop is one redirect that is about to be followed.
type Hop struct {
	From, To *url.URL // To has no fragment
	Status   int      // 301, 302, 303, 307 or 308
	Number   int      // 1 for the first
}

// SameOrigin reports whether the redirect stays at its origin.
func (h Hop) SameOrigin() bool { return sameOrigin(h.From, h.To) }

// Permanent reports whether the redirect holds for later requests too.
func (h Hop) Permanent() bool {
	return h.Status == http.StatusMovedPermanently || h.Status == http.StatusPermanentRedirect
}

// Anywhere is the rule that follows every https redirect.
func Anywhere(Hop) error { return nil }

// SameOrigin is the rule that follows a redirect within the origin only.
func SameOrigin(h Hop) error {
	if !h.SameOrigin() {
		return errLeavesOrigin
	}
	return nil
}

var errLeavesOrigin = errors.New("the redirect leaves the origin")

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return "443" // every URL here is https
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// maxLocation bounds the URL of a redirect, in octets.
const maxLocation = 8 << 10

// Location is where a redirect leads: exactly one Location header, resolved
// against the URL that gave it, its fragment dropped. Anything but a plain https
// URL is an error with a code.
func Location(from *url.URL, h http.Header) (*url.URL, error) {
	lines := h.Values("Location")
	switch {
	case len(lines) == 0 || lines[0] == "":
		return nil, coded(lookleap.CodeBadRedirect, "the redirect has no Location")
	case len(lines) > 1:
		return nil, coded(lookleap.CodeBadRedirect, "the redirect has several Locations")
	case len(lines[0]) > maxLocation:
		return nil, coded(lookleap.CodeURLTooLong, "the redirect's Location is longer than %d octets", maxLocation)
	}
	to, err := from.Parse(lines[0])
	if err != nil {
		return nil, coded(lookleap.CodeBadRedirect, "the redirect's Location is no URL")
	}
	to.Fragment, to.RawFragment = "", ""
	if err := checkURL(to); err != nil {
		return nil, err
	}
	return to, nil
}

// checkURL holds what every URL here must be, whoever wrote it.
func checkURL(u *url.URL) error {
	switch {
	case u == nil:
		return coded(lookleap.CodeBadURL, "there is no URL")
	case u.Scheme != "https":
		return coded(lookleap.CodeNotHTTPS, "the URL's scheme is %q", u.Scheme)
	case u.User != nil:
		return coded(lookleap.CodeUserinfo, "the URL carries user information")
	case u.Opaque != "" || u.Hostname() == "":
		return coded(lookleap.CodeBadURL, "the URL has no host")
	}
	return nil
}
