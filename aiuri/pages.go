package aiuri

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// pages decides which web pages may call a gateway. A browser sends cookies and other
// stored credentials with a request, whichever page caused it.
type pages struct {
	own     string // origin of the gateway's base
	trusted map[string]bool
}

func newPages(own string, origins []string) (*pages, error) {
	p := &pages{own: own, trusted: make(map[string]bool, len(origins))}
	syntax := http.NewCrossOriginProtection()
	for _, origin := range origins {
		if err := syntax.AddTrustedOrigin(origin); err != nil {
			return nil, &Error{Code: CodeBadConfiguration, Reason: "an entry of Origins is not a web origin", Fix: "write https://host", Err: err}
		}
		p.trusted[strings.ToLower(origin)] = true
	}
	return p, nil
}

// check refuses a request that a page of another origin may have caused. Current
// browsers tell by Sec-Fetch-Site, older ones by Origin or Referer. Clients that are no
// browsers send none of them; they are accepted unless what authorizes a read is
// something that an old browser would have added by itself.
func (p *pages) check(r *http.Request) error {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	site, origin := r.Header.Values("Sec-Fetch-Site"), r.Header.Values("Origin")
	refuse := func(reason, fix string) error { return fail(CodeNotAuthorized, reason, fix) }
	const foreign = "a page of another web origin sent the request"
	switch {
	case len(site) > 1 || len(origin) > 1:
		return refuse("the request names several web origins", "")
	case reads && prefetched(r.Header):
		return refuse("a browser sent the request ahead, before its user asked for anything", "")
	case reads && !readable(r.Header.Get("Sec-Fetch-Dest")):
		return refuse("a page embeds the request as an image, a script or the like", "read it with fetch()")
	case len(origin) == 1 && p.trusted[strings.ToLower(origin[0])]:
		return nil
	case len(site) == 1 && (site[0] == "same-origin" || site[0] == "none"):
		return nil
	case len(site) == 1:
		return refuse(foreign, "name the page's origin in Origins")
	case len(origin) == 1 && !p.isOwn(r, origin[0]):
		return refuse(foreign, "name the page's origin in Origins")
	case len(origin) == 1, addedByScript(r.Header):
		return nil
	}
	if referer := r.Header.Get("Referer"); referer != "" {
		u, err := url.Parse(referer)
		if err != nil || !p.isOwn(r, u.Scheme+"://"+u.Host) && !p.trusted[strings.ToLower(u.Scheme+"://"+u.Host)] {
			return refuse(foreign, "name the page's origin in Origins")
		}
		return nil
	}
	if reads && (len(r.Header.Values("Cookie")) > 0 || len(r.Header.Values("Authorization")) > 0) {
		return refuse("a browser may have added the session by itself, and nothing says for which page", "send Sec-Fetch-Site or Origin, or a bearer token")
	}
	return nil
}

// isOwn reports whether an origin is the gateway's, by its base or by the name under
// which it was reached.
func (p *pages) isOwn(r *http.Request, origin string) bool {
	return strings.EqualFold(origin, p.own) || strings.EqualFold(origin, "https://"+r.Host)
}

// prefetched reports whether a browser fetches ahead: nothing says that its user will
// go there.
func prefetched(h http.Header) bool {
	return slices.ContainsFunc([]string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"}, func(name string) bool {
		text := strings.ToLower(strings.Join(h.Values(name), ","))
		return strings.Contains(text, "prefetch") || strings.Contains(text, "prerender") || strings.Contains(text, "preview")
	})
}

// readable reports whether the destination of a request can use a result: a script
// that reads it, or a window that shows it.
func readable(destination string) bool {
	switch destination {
	case "", "empty", "document", "json":
		return true
	}
	return false
}

// addedByScript reports whether the request has an authorization that browsers do not
// add by themselves, and that pages of other origins cannot add.
func addedByScript(h http.Header) bool {
	scheme, _, _ := strings.Cut(h.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "DPoP") || strings.EqualFold(scheme, "GNAP")
}
