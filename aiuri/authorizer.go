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
	Scopes []string    // that the session covers
	Tokens TokenSource // tokens of this user for endpoints whose policy demands one; nil: none
}

// ErrNoSession is the error of an [Authorizer] for a request without a session.
var ErrNoSession = coded.New("no-session", "the request belongs to no session")

// Authorizer judges a request by its web session: by token exchange, DPoP, mutual TLS
// or another way of the host. The call has its URI, media type and scopes. No one was
// asked about its authority yet, so [Call.To] is zero; Grant.Tokens is told about it.
// Neither the call nor the request has a body, which is not read before the caller may
// send it. A nil grant, an error or a panic is a refusal. Authorize is called from
// several goroutines at once.
//
// A session cookie should have the attributes Secure, HttpOnly and SameSite=Strict, and
// a name that begins with __Host-. The gateway refuses what pages of other origins
// cause (see [GatewayOptions.Origins]), but an old browser may not say which page it was.
type Authorizer interface {
	Authorize(ctx context.Context, r *http.Request, call *Call) (*Grant, error)
}

// BodyAuthorizer is an [Authorizer] that judges what is sent too: an amount, or the
// digest that a signature of the request covers. It is asked about every POST that
// Authorize has granted and the endpoint's policy permits, now with the body. An
// error or a panic is a refusal.
type BodyAuthorizer interface {
	Authorizer
	AuthorizeBody(ctx context.Context, r *http.Request, call *Call, grant *Grant) error
}

// authorize asks the host which scopes the call needs and what the session permits.
func (g *Gateway) authorize(r *http.Request, c *Call) (*Grant, error) {
	if g.options.Scopes != nil {
		scopes, err := call(r.Context(), g.plugins.host, "", func(context.Context) ([]string, error) {
			return slices.Clone(g.options.Scopes(c.Method, c.URI)), nil
		})
		if err != nil {
			return nil, err
		}
		c.Scopes = scopes
	}
	own := *c
	own.Scopes = slices.Clone(c.Scopes)
	grant, err := call(r.Context(), g.plugins.host, "", func(ctx context.Context) (*Grant, error) {
		return g.options.Authorizer.Authorize(ctx, withoutBody(r), &own)
	})
	switch {
	case errors.Is(err, ErrNoSession), isOurs(r.Context(), err):
		return nil, err
	case err != nil || grant == nil:
		return nil, fail(CodeNotAuthorized, "the session does not permit this", "")
	}
	for _, s := range c.Scopes {
		if !slices.Contains(grant.Scopes, s) {
			return nil, fail(CodeScope, "the session does not cover a scope", "")
		}
	}
	return grant, nil
}

// authorizeBody asks an authorizer that wants to see the body.
func (g *Gateway) authorizeBody(r *http.Request, c *Call, grant *Grant) error {
	judge, ok := g.options.Authorizer.(BodyAuthorizer)
	if !ok {
		return nil
	}
	own := *c
	own.Scopes = slices.Clone(c.Scopes)
	_, err := call(r.Context(), g.plugins.host, "", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, judge.AuthorizeBody(ctx, withoutBody(r), &own, grant)
	})
	if err == nil || errors.Is(err, ErrNoSession) || isOurs(r.Context(), err) {
		return err
	}
	return fail(CodeNotAuthorized, "the session does not permit to send this", "")
}

// isOurs reports whether an error is that of the gateway's own limits, and no answer of
// the authorizer.
func isOurs(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || lookleap.CodeOf(err) == CodePluginBusy)
}

// withoutBody returns a copy of a request that has no body.
func withoutBody(r *http.Request) *http.Request {
	shown := *r
	shown.Body = http.NoBody
	return &shown
}

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
			return nil, &lookleap.Error{Code: CodeBadConfiguration, Message: "an entry of Origins is not a web origin", Fix: "write https://host", Err: err}
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
