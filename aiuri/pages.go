package aiuri

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// pages decides which web pages may call a gateway. A browser sends cookies and other stored
// credentials with a request, whichever page caused it.
type pages struct {
	browsers *http.CrossOriginProtection
	trusted  map[string]bool // origins in lower case
}

func newPages(own string, origins []string) (*pages, error) {
	p := &pages{http.NewCrossOriginProtection(), make(map[string]bool)}
	for _, origin := range append([]string{own}, origins...) {
		if err := p.browsers.AddTrustedOrigin(origin); err != nil {
			return nil, failOn(CodeBadConfiguration, "", "an entry of Origins is not a web origin", "write https://host", err)
		}
		p.trusted[strings.ToLower(origin)] = true
	}
	return p, nil
}

// check refuses a request that a page of another origin may have caused. Current browsers
// say so in Sec-Fetch-Site, older ones in Origin or Referer. Other clients send none of
// these headers. They are accepted, except reads with a cookie or credentials that an old
// browser would have added by itself.
func (p *pages) check(r *http.Request) error {
	h := r.Header
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	refuse := func(message, fix string) error { return fail(CodeNotAuthorized, message, fix) }
	scheme, _, _ := strings.Cut(h.Get("Authorization"), " ")
	// Browsers do not add these by themselves, and pages of other origins cannot add them.
	addedByScript := slices.Contains([]string{"bearer", "dpop", "gnap"}, strings.ToLower(scheme))
	page := h.Get("Origin")
	if page == "" && !addedByScript {
		page = h.Get("Referer")
	}
	if h.Get("Sec-Fetch-Site") != "" {
		page = "" // which the header says better
	}
	asWrite := *r // reads are refused like writes
	asWrite.Method = http.MethodPost
	switch {
	case len(h.Values("Sec-Fetch-Site")) > 1 || len(h.Values("Origin")) > 1:
		return refuse("the request names several web origins", "")
	case reads && prefetched(h):
		return refuse("a browser prefetched the request without an action of its user", "")
	case reads && !slices.Contains([]string{"", "empty", "document", "json"}, h.Get("Sec-Fetch-Dest")): // for a script or a window
		return refuse("a page embeds the response as an image, a script or the like", "read it with fetch()")
	case p.browsers.Check(&asWrite) != nil || page != "" && !p.knows(page, r.Host):
		return refuse("a page of another web origin sent the request", "name the page's origin in Origins")
	case reads && h.Get("Sec-Fetch-Site") == "" && h.Get("Origin") == "" && h.Get("Referer") == "" && !addedByScript &&
		len(h.Values("Cookie"))+len(h.Values("Authorization")) > 0:
		return refuse("a browser may have added the credentials by itself, and no header names the page",
			"send Sec-Fetch-Site or Origin, or a bearer token")
	}
	return nil
}

// knows reports whether a page that an old browser names is of the gateway's own https origin or of
// a trusted one.
func (p *pages) knows(page, host string) bool {
	u, err := url.Parse(page)
	return err == nil && (u.Scheme == "https" && strings.EqualFold(u.Host, host) || p.trusted[strings.ToLower(u.Scheme+"://"+u.Host)])
}

// prefetched reports whether a browser fetches something that its user may never open.
func prefetched(h http.Header) bool {
	return slices.ContainsFunc([]string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"}, func(name string) bool {
		text := strings.ToLower(strings.Join(h.Values(name), ","))
		return strings.Contains(text, "prefetch") || strings.Contains(text, "prerender") || strings.Contains(text, "preview")
	})
}
