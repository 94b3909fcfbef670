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
		scopes, err := call(r.Context(), g.functions, "", func(context.Context) ([]string, error) {
			return slices.Clone(g.options.Scopes(c.Method, c.URI)), nil
		})
		if err != nil {
			return nil, err
		}
		c.Scopes = scopes
	}
	grant, err := g.decide(r, c, "the session does not permit this call", g.options.Authorizer.Authorize)
	if err != nil {
		return nil, err
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
	ask := func(ctx context.Context, r *http.Request, c *Call) (*Grant, error) {
		return grant, authorizer.AuthorizeBody(ctx, r, c, grant)
	}
	_, err := g.decide(r, c, "the session does not permit this body", ask)
	return err
}

// askSession is what an authorizer decides.
type askSession func(context.Context, *http.Request, *Call) (*Grant, error)

// decide asks the authorizer about copies of a request, without its body, and of a call. An error of
// the authorizer that is not [ErrNoSession] becomes a refusal.
func (g *Gateway) decide(r *http.Request, c *Call, refusal string, ask askSession) (*Grant, error) {
	request, shown := *r, *c
	request.Body, shown.Scopes = http.NoBody, slices.Clone(c.Scopes)
	grant, err := call(r.Context(), g.functions, "", func(ctx context.Context) (*Grant, error) { return ask(ctx, &request, &shown) })
	switch {
	case errors.Is(err, ErrNoSession) || err != nil && r.Context().Err() != nil || lookleap.CodeOf(err) == CodePluginBusy:
		return nil, err
	case err != nil || grant == nil:
		return nil, fail(CodeNotAuthorized, refusal, "")
	}
	return grant, nil
}
