package aiuri

import (
	"context"
	"errors"
	"net/http"
	"slices"

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
var ErrNoSession = coded.New("no-session", "aiuri: the request belongs to no session")

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
