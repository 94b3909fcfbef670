package fetch

import (
	"errors"
	"net/http"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Hop is one redirect.
type Hop struct {
	From, To domain.URL
	Status   int // 301, 302, 303, 307 or 308
	Number   int // 1 for the first

	Freshness Freshness // how long the redirect itself may be used
}

// SameOrigin reports whether the redirect stays within its origin.
func (h Hop) SameOrigin() bool { return h.From.Origin() == h.To.Origin() }

// Permanent reports whether the redirect also applies to later requests.
func (h Hop) Permanent() bool {
	return h.Status == http.StatusMovedPermanently || h.Status == http.StatusPermanentRedirect
}

// Anywhere is the rule that allows every https redirect.
func Anywhere(Hop) error { return nil }

// SameOrigin is the rule that allows redirects within the origin only.
func SameOrigin(h Hop) error {
	if !h.SameOrigin() {
		return errLeavesOrigin
	}
	return nil
}

var errLeavesOrigin = errors.New("the redirect leaves the origin")

// IsRedirect reports whether a response with this status names another URL to request.
func IsRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// Location returns where a redirect leads: its Location, resolved against the URL of the redirect
// by these rules, without the fragment. It returns an error unless there is exactly one Location
// and the result is an https URL.
func Location(from domain.URL, h http.Header, rules domain.Rules) (domain.URL, error) {
	to, err := location(from, h, rules)
	if err == nil {
		err = onlyHTTPS(to)
	}
	if err != nil {
		return domain.URL{}, err
	}
	return to, nil
}

// location is [Location] for any scheme that the rules allow.
func location(from domain.URL, h http.Header, rules domain.Rules) (domain.URL, error) {
	lines := h.Values("Location")
	switch {
	case len(lines) == 0 || lines[0] == "":
		return domain.URL{}, coded(lookleap.CodeBadRedirect, "the redirect has no Location")
	case len(lines) > 1:
		return domain.URL{}, coded(lookleap.CodeBadRedirect, "the redirect has several Locations")
	}
	to, err := rules.Resolve(from, lines[0])
	if err != nil {
		return domain.URL{}, URLError("", "the redirect's Location is refused", err)
	}
	return to, nil
}

func onlyHTTPS(u domain.URL) error {
	switch {
	case u.IsZero():
		return coded(lookleap.CodeBadURL, "there is no URL")
	case u.Scheme() != "https":
		return coded(lookleap.CodeNotHTTPS, "the URL's scheme is %s", plaintext.Quote(u.Scheme(), 100))
	}
	return nil
}
