package main

import (
	"context"
	"net/http"
	"strings"

	"github.com/lookleap/lookleap/aiuri"
)

// sessions are the scopes of each user. A user is known by name, which is enough
// for a demonstration and for nothing else.
type sessions map[string][]string

// Authorize looks up the session of a request. If you keep sessions in a cookie, give it
// the attributes Secure, HttpOnly and SameSite=Strict.
func (s sessions) Authorize(_ context.Context, r *http.Request, _ *aiuri.Call) (*aiuri.Grant, error) {
	user, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || s[user] == nil {
		return nil, aiuri.ErrNoSession
	}
	return &aiuri.Grant{User: user, Scopes: s[user], Tokens: tokensOf(user)}, nil
}

// tokensOf makes up tokens of a user. In production, exchange the session for a token
// (RFC 8693) that is valid only at the destination. The gateway asks only for
// authorities that its options allow, and only if their own policy demands a token.
func tokensOf(user string) aiuri.TokenSource {
	return aiuri.TokenFunc(func(_ context.Context, to aiuri.Destination, scopes []string) (string, error) {
		return user + " at " + to.Authority() + " for " + strings.Join(scopes, " "), nil
	})
}
