package aiuri_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

// watched is a body that tells whether anybody read it.
type watched struct {
	io.Reader
	read bool
}

func (w *watched) Read(p []byte) (int, error) {
	w.read = true
	return w.Reader.Read(p)
}

// bodyAuthorizer grants what its functions do not refuse.
type bodyAuthorizer struct {
	authorizer
	judge func(*http.Request, *aiuri.Call, *aiuri.Grant) error
}

func (a bodyAuthorizer) AuthorizeBody(_ context.Context, r *http.Request, c *aiuri.Call, g *aiuri.Grant) error {
	return a.judge(r, c, g)
}

// post serves a POST whose body is watched.
func (g *gatewayWorld) post(t *testing.T, target string, body io.Reader, length int64) (*httptest.ResponseRecorder, *watched) {
	t.Helper()
	seen := &watched{Reader: body}
	r := httptest.NewRequest("POST", "https://ai.example/", io.NopCloser(seen))
	r.RequestURI, r.ContentLength = target, length
	r.URL.Path, r.URL.RawQuery, _ = strings.Cut(target, "?")
	r.TLS = &tls.ConnectionState{Version: tls.VersionTLS13}
	w := httptest.NewRecorder()
	must(aiuri.NewGateway(g.host, g.options)).ServeHTTP(w, r)
	return w, seen
}

// TestGatewayReadsLast holds that the body of a refused caller is never read.
func TestGatewayReadsLast(t *testing.T) {
	for _, c := range []struct {
		id, target string
		set        func(*gatewayWorld)
		status     int
		read       bool
	}{
		{"AIU-3.2-13/accept-read-when-granted", payTarget, func(*gatewayWorld) {}, 200, true},
		{"AIU-3.2-13/reject-no-session-unread", payTarget, func(g *gatewayWorld) {
			g.options.Authorizer = authorizer(func(*http.Request, *aiuri.Call) (*aiuri.Grant, error) { return nil, aiuri.ErrNoSession })
		}, 401, false},
		{"AIU-3.2-13/reject-no-grant-unread", payTarget, func(g *gatewayWorld) {
			g.options.Authorizer = authorizer(func(*http.Request, *aiuri.Call) (*aiuri.Grant, error) { return nil, nil })
		}, 403, false},
		{"AIU-3.2-13/reject-scope-unread", payTarget, func(g *gatewayWorld) {
			g.options.Scopes = func(string, aiuri.URI) []string { return []string{"pay", "more"} }
		}, 403, false},
		{"AIU-3.2-08/reject-ambiguous-unread", "/gateway/bank.example/../x", func(*gatewayWorld) {}, 400, false},
		{"AIU-3.2-11/reject-policy-unread", payTarget, func(g *gatewayWorld) {
			g.bank.File(documentPath, "application/json", strings.Replace(documentOf("ai://bank.example/pay", "https://bank.example"), "{", `{"policy":{"mtls":true},`, 1))
		}, 502, false},
	} {
		t.Run(c.id, func(t *testing.T) {
			g := newGatewayWorld(t)
			c.set(g)
			w, body := g.post(t, c.target, strings.NewReader("{}"), 2)
			if w.Code != c.status || body.read != c.read || (len(g.calls) == 1) != c.read {
				t.Errorf("got %d, read: %v, %v", w.Code, body.read, g.calls)
			}
		})
	}
}

// TestAuthorizeBody is about authorizers that judge what is sent.
func TestAuthorizeBody(t *testing.T) {
	serve := func(t *testing.T, judge func(*http.Request, *aiuri.Call, *aiuri.Grant) error) (*gatewayWorld, *httptest.ResponseRecorder) {
		g := newGatewayWorld(t)
		grant := g.options.Authorizer.(authorizer)
		g.options.Authorizer = bodyAuthorizer{authorizer: func(r *http.Request, c *aiuri.Call) (*aiuri.Grant, error) {
			if rest, err := io.ReadAll(r.Body); len(rest) > 0 || err != nil || c.Body != nil || c.MediaType != "application/json" {
				t.Errorf("the session is judged with %q and %+v", rest, c)
			}
			return grant(r, c)
		}, judge: judge}
		r := httptest.NewRequest("POST", "https://ai.example"+payTarget, strings.NewReader(`{"amount":"10"}`))
		r.Header.Set("Content-Type", "application/json")
		r.TLS = &tls.ConnectionState{Version: tls.VersionTLS13}
		w := httptest.NewRecorder()
		must(aiuri.NewGateway(g.host, g.options)).ServeHTTP(w, r)
		return g, w
	}
	t.Run("AIU-3.2-13/accept-body", func(t *testing.T) {
		g, w := serve(t, func(r *http.Request, c *aiuri.Call, grant *aiuri.Grant) error {
			if rest, _ := io.ReadAll(r.Body); string(c.Body) != `{"amount":"10"}` || grant.User != "u" || len(rest) > 0 {
				t.Errorf("the body is judged with %q, %+v and %+v", rest, c, grant)
			}
			return nil
		})
		if w.Code != 200 || len(g.calls) != 1 || string(g.calls[0].Body) != `{"amount":"10"}` {
			t.Errorf("got %d, %v", w.Code, g.calls)
		}
	})
	t.Run("AIU-3.2-13/reject-scopes-that-the-judge-of-the-body-changes", func(t *testing.T) {
		g, w := serve(t, func(_ *http.Request, c *aiuri.Call, _ *aiuri.Grant) error { c.Scopes[0] = "all"; return nil })
		if w.Code != 200 || len(g.calls) != 1 || g.calls[0].Scopes[0] != "pay" {
			t.Errorf("got %d, %v", w.Code, g.calls)
		}
	})
	for name, c := range map[string]struct {
		judge  func(*http.Request, *aiuri.Call, *aiuri.Grant) error
		status int
	}{
		"reject-body": {func(*http.Request, *aiuri.Call, *aiuri.Grant) error { return errors.New("too much money") }, 403},
		"reject-body-session": {func(*http.Request, *aiuri.Call, *aiuri.Grant) error {
			return fmt.Errorf("expired: %w", aiuri.ErrNoSession)
		}, 401},
		"reject-body-with-a-code": {func(*http.Request, *aiuri.Call, *aiuri.Grant) error {
			return &lookleap.Error{Code: lookleap.CodeUnavailable}
		}, 403},
	} {
		t.Run("AIU-3.2-13/"+name, func(t *testing.T) {
			g, w := serve(t, c.judge)
			if w.Code != c.status || len(g.calls) != 0 || strings.Contains(w.Body.String(), "money") {
				t.Errorf("got %d %s, %v", w.Code, w.Body, g.calls)
			}
			if code := g.audits[0].Code; c.status == 403 && code != aiuri.CodeNotAuthorized {
				t.Errorf("told %s", code)
			}
		})
	}
}
