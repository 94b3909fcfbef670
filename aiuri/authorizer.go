package aiuri

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
)

// Grant is what a web session permits (section 3.2).
type Grant struct {
	User   string      // the user of the session
	Scopes []string    // the scopes that the session covers
	Tokens TokenSource // returns tokens of this user for endpoints that require one; may be nil
}

// ErrNoSession is what an [Authorizer] returns for a request without a session. The client
// gets a 401.
var ErrNoSession = coded.New("no-session", "the request belongs to no session")

// Authorizer decides about a request by its web session: by token exchange, DPoP, mutual TLS
// or another way of the host. The call has its URI, media type and scopes. Its endpoint is
// not known yet, so [Call.To] is zero; Grant.Tokens gets it later. Neither the call nor the
// request has a body: the body is read only after Authorize has granted the call. A nil
// grant, an error or a panic refuses the call. Authorize must be safe for concurrent use.
//
// A session cookie should have the attributes Secure, HttpOnly and SameSite=Strict, and a
// name that begins with __Host-. The gateway refuses requests that pages of other origins
// send (see [GatewayOptions.Origins]), but an old browser may not name the page.
type Authorizer interface {
	Authorize(ctx context.Context, r *http.Request, call *Call) (*Grant, error)
}

// BodyAuthorizer is an [Authorizer] that also decides about the body: an amount, or the
// digest that a signature of the request covers. AuthorizeBody is called for every POST that
// Authorize has granted and the endpoint's policy permits, with the body. An error or a
// panic refuses the call.
type BodyAuthorizer interface {
	Authorizer
	AuthorizeBody(ctx context.Context, r *http.Request, call *Call, grant *Grant) error
}

// authorize returns what the session permits, if that covers the scopes that the call needs.
func (g *Gateway) authorize(r *http.Request, c *Call) (*Grant, error) {
	if g.options.Scopes != nil {
		scopes, err := call(r.Context(), g.parts.host, "", func(context.Context) ([]string, error) {
			return slices.Clone(g.options.Scopes(c.Method, c.URI)), nil
		})
		if err != nil {
			return nil, err
		}
		c.Scopes = scopes
	}
	shown := *c
	shown.Scopes = slices.Clone(c.Scopes)
	grant, err := call(r.Context(), g.parts.host, "", func(ctx context.Context) (*Grant, error) {
		grant, err := g.options.Authorizer.Authorize(ctx, withoutBody(r), &shown)
		if err == nil && grant == nil {
			err = fail(CodeNotAuthorized, "the authorizer returned no grant", "")
		}
		return grant, err
	})
	if err != nil {
		if errors.Is(err, ErrNoSession) || isGatewayLimit(r.Context(), err) {
			return nil, err
		}
		return nil, fail(CodeNotAuthorized, "the session does not permit this call", "")
	}
	for _, s := range c.Scopes {
		if !slices.Contains(grant.Scopes, s) {
			return nil, fail(CodeScope, "the session does not cover a scope that the call needs", "")
		}
	}
	return grant, nil
}

// authorizeBody asks a [BodyAuthorizer] about the body. Other authorizers accept any body.
func (g *Gateway) authorizeBody(r *http.Request, c *Call, grant *Grant) error {
	authorizer, ok := g.options.Authorizer.(BodyAuthorizer)
	if !ok {
		return nil
	}
	shown := *c
	shown.Scopes = slices.Clone(c.Scopes)
	_, err := call(r.Context(), g.parts.host, "", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, authorizer.AuthorizeBody(ctx, withoutBody(r), &shown, grant)
	})
	if err == nil || errors.Is(err, ErrNoSession) || isGatewayLimit(r.Context(), err) {
		return err
	}
	return fail(CodeNotAuthorized, "the session does not permit this body", "")
}

// isGatewayLimit reports whether an error comes from the gateway's own limits and not from
// the authorizer.
func isGatewayLimit(ctx context.Context, err error) bool {
	return ctx.Err() != nil || lookleap.CodeOf(err) == CodePluginBusy
}

// withoutBody returns a copy of a request that has no body.
func withoutBody(r *http.Request) *http.Request {
	shown := *r
	shown.Body = http.NoBody
	return &shown
}

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
			return nil, &lookleap.Error{Code: CodeBadConfiguration, Message: "an entry of Origins is not a web origin",
				Fix: "write https://host", Err: err}
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
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	refuse := func(message, fix string) error { return fail(CodeNotAuthorized, message, fix) }
	site, origin := r.Header.Values("Sec-Fetch-Site"), r.Header.Values("Origin")
	asWrite := *r // reads are refused like writes
	asWrite.Method = http.MethodPost
	switch {
	case len(site) > 1 || len(origin) > 1:
		return refuse("the request names several web origins", "")
	case reads && prefetched(r.Header):
		return refuse("a browser prefetched the request without an action of its user", "")
	case reads && !readable(r.Header.Get("Sec-Fetch-Dest")):
		return refuse("a page embeds the response as an image, a script or the like", "read it with fetch()")
	case p.browsers.Check(&asWrite) != nil || !p.knows(r):
		return refuse("a page of another web origin sent the request", "name the page's origin in Origins")
	case len(site)+len(origin) > 0 || r.Header.Get("Referer") != "" || addedByScript(r.Header):
		return nil
	case reads && (len(r.Header.Values("Cookie")) > 0 || len(r.Header.Values("Authorization")) > 0):
		return refuse("a browser may have added the credentials by itself, and no header names the page",
			"send Sec-Fetch-Site or Origin, or a bearer token")
	}
	return nil
}

// knows reports whether the page that an old browser names, in Origin or else in Referer, is of the
// gateway's own https origin or of a trusted one.
func (p *pages) knows(r *http.Request) bool {
	page := r.Header.Get("Origin")
	if page == "" && !addedByScript(r.Header) {
		page = r.Header.Get("Referer")
	}
	if page == "" || r.Header.Get("Sec-Fetch-Site") != "" {
		return true
	}
	u, err := url.Parse(page)
	return err == nil && (u.Scheme == "https" && strings.EqualFold(u.Host, r.Host) || p.trusted[strings.ToLower(u.Scheme+"://"+u.Host)])
}

// prefetched reports whether a browser fetches something that its user may never open.
func prefetched(h http.Header) bool {
	return slices.ContainsFunc([]string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"}, func(name string) bool {
		text := strings.ToLower(strings.Join(h.Values(name), ","))
		return strings.Contains(text, "prefetch") || strings.Contains(text, "prerender") || strings.Contains(text, "preview")
	})
}

// readable reports whether a browser fetches the result for a script or a window, and not
// for an element of a page.
func readable(destination string) bool {
	switch destination {
	case "", "empty", "document", "json":
		return true
	}
	return false
}

// addedByScript reports whether the request has an authorization that browsers do not add
// by themselves, and that pages of other origins cannot add.
func addedByScript(h http.Header) bool {
	scheme, _, _ := strings.Cut(h.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "DPoP") || strings.EqualFold(scheme, "GNAP")
}
