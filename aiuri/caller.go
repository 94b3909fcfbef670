package aiuri

import (
	"context"
	"time"

	"github.com/lookleap/lookleap"
)

// caller makes calls: it is what a [Client] and a [Gateway] have in common.
type caller struct {
	host        *lookleap.Host
	discoverer  *Discoverer
	keys        *keyCache
	allowed     authorities // that may get credentials
	certificate bool        // is presented if a policy requires it
	expect      Expectation
	maxBody     int64

	transport, tokens, functions *part
}

// DefaultMaxBody is the number of bytes that the body of a request may have, at a [Client]
// and at a [Gateway].
const DefaultMaxBody = 1 << 20

// newCaller returns a caller whose parts are waited for at most wait.
func newCaller(host *lookleap.Host, d *Discoverer, credentials []string, userKey []byte, keyLife, wait time.Duration) (*caller, error) {
	if host == nil {
		return nil, fail(CodeBadConfiguration, "the host is nil", "pass &lookleap.Host{}")
	}
	if len(userKey) > 0 && len(userKey) < 32 {
		return nil, fail(CodeBadConfiguration, "UserKey is too short", "use 32 random bytes")
	}
	allowed, err := parseAuthorities(credentials)
	if err != nil {
		return nil, err
	}
	if d == nil {
		d = NewDiscoverer(host, DiscovererOptions{})
	}
	return &caller{host: host, discoverer: d, keys: newKeyCache(host, keyLife), allowed: allowed,
		transport: newPart("the transport", CodeTransportFailed, wait),
		tokens:    newPart("the token source", CodeTokenUnavailable, wait),
		functions: newPart("a function of the options", CodeNotAuthorized, wait)}, nil
}

// admit returns the keys of an endpoint, if it may be called with these scopes.
func (c *caller) admit(ctx context.Context, d *Discovery, scopes []string, hasTokens bool) (fetchedKeys, error) {
	if err := c.allowed.check(d, scopes, hasTokens, c.certificate); err != nil {
		return fetchedKeys{}, err
	}
	// Now, because a key server that fails after the call would cost its result.
	return c.keys.keysOf(ctx, d)
}

// getToken gets the token of a call, if the policy requires one.
func (c *caller) getToken(ctx context.Context, call *Call, source TokenSource) (err error) {
	if call.To.Policy.Auth != "" {
		call.Token, err = tokenOf(ctx, c.tokens, source, call.To, call.Scopes)
	}
	return err
}

// exchange makes a call and verifies the result.
func (c *caller) exchange(ctx context.Context, sent *Call, d *Discovery, keys fetchedKeys, i Invoker) (*Verified, error) {
	shown := *sent
	r, err := call(ctx, c.transport, sent.URI.Authority(), func(ctx context.Context) (SignedResult, error) {
		return i.Invoke(ctx, &shown)
	})
	if err != nil {
		return nil, err
	}
	v, err := c.keys.verify(ctx, d, keys, r, c.expect.bind(sent, d))
	if err != nil {
		return nil, err
	}
	v.mediaType = r.MediaType
	return v, nil
}
