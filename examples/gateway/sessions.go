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

// Authorize looks a request's session up. The token for the bank is bound to the
// user: here made up, in earnest exchanged (RFC 8693).
func (s sessions) Authorize(_ context.Context, r *http.Request, c *aiuri.Call) (*aiuri.Grant, error) {
	user, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || s[user] == nil {
		return nil, aiuri.ErrNoSession
	}
	return &aiuri.Grant{User: user, Scopes: s[user], Token: user + " " + strings.Join(c.Scopes, " ")}, nil
}
