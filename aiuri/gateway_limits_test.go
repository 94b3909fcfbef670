package aiuri_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

// deadlines is a response whose connection has deadlines.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

// TestGatewayReadDeadline: a body must arrive in time, and the deadline ends with the body.
func TestGatewayReadDeadline(t *testing.T) {
	for _, c := range []struct {
		name, body string
		server     *http.Server
		want       int // deadlines that are set: one and its end, or none
	}{
		{"accept-body", "{}", nil, 2},
		{"accept-no-body", "", nil, 0},
		{"accept-server-without-limit", "{}", &http.Server{}, 2},
		{"accept-server-with-shorter-limit", "{}", &http.Server{ReadTimeout: time.Second}, 0},
		{"accept-server-with-equal-limit", "{}", &http.Server{ReadTimeout: time.Minute}, 0},
		{"accept-server-with-longer-limit", "{}", &http.Server{ReadTimeout: time.Hour}, 2},
	} {
		t.Run("AIU-3.2-07/"+c.name, func(t *testing.T) {
			g := newGatewayWorld(t)
			g.options.Timeout = time.Minute
			r := httptest.NewRequest("POST", "https://ai.example"+payTarget, strings.NewReader(c.body))
			r.TLS = &tls.ConnectionState{Version: tls.VersionTLS13}
			if c.server != nil {
				r = r.WithContext(context.WithValue(r.Context(), http.ServerContextKey, c.server))
			}
			w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
			must(aiuri.NewGateway(g.host, g.options)).ServeHTTP(w, r)
			if w.Code != 200 || len(w.set) != c.want || c.want > 0 && (w.set[0].IsZero() || !w.set[1].IsZero()) {
				t.Errorf("%d, deadlines %v; want %d", w.Code, w.set, c.want)
			}
		})
	}
}

// TestGatewayKeepsTheQuery: an empty query is not the same as no query.
func TestGatewayKeepsTheQuery(t *testing.T) {
	for target, want := range map[string]string{"pay": "ai://bank.example/pay", "pay?": "ai://bank.example/pay?", "pay?a": "ai://bank.example/pay?a"} {
		g := newGatewayWorld(t)
		if w := g.serve(t, "POST", "/gateway/bank.example/"+target, "{}"); w.Code != 200 || g.calls[0].URI.String() != want {
			t.Errorf("%s: %d, %v; want %s", target, w.Code, g.calls, want)
		}
	}
}

// TestGatewayCodes: a refusal says whose limit it was.
func TestGatewayCodes(t *testing.T) {
	refusing := func(err error) func(*gatewayWorld) {
		return func(g *gatewayWorld) {
			g.options.Authorizer = authorizer(func(*http.Request, *aiuri.Call) (*aiuri.Grant, error) {
				return &aiuri.Grant{User: "u", Scopes: []string{"pay"}}, err
			})
		}
	}
	for name, c := range map[string]struct {
		set    func(*gatewayWorld)
		status int
		code   lookleap.Code
	}{
		"reject-result-too-large": {func(g *gatewayWorld) {
			g.options.Invoker = endpoint(func(*aiuri.Call) (aiuri.SignedResult, error) {
				return aiuri.SignedResult{JWS: "x", Body: make([]byte, aiuri.MaxResult+1)}, nil
			})
		}, 502, aiuri.CodeEndpointFailed},
		"reject-error-with-a-grant":       {refusing(errors.New("x")), 403, aiuri.CodeNotAuthorized},
		"reject-error-with-another-code":  {refusing(&lookleap.Error{Code: lookleap.CodeTooSlow}), 403, aiuri.CodeNotAuthorized},
		"reject-no-session-with-a-reason": {refusing(fmt.Errorf("the cookie has expired: %w", aiuri.ErrNoSession)), 401, aiuri.CodeNoSession},
		"reject-busy":                     {refusing(&lookleap.Error{Code: aiuri.CodePluginBusy}), 503, aiuri.CodePluginBusy},
	} {
		t.Run("AIU-3.2-07/"+name, func(t *testing.T) {
			g := newGatewayWorld(t)
			c.set(g)
			w := g.serve(t, "POST", payTarget, "{}")
			if w.Code != c.status || !strings.Contains(w.Body.String(), `"code":"`+string(c.code)+`"`) || len(g.audits) != 1 || g.audits[0].Code != c.code {
				t.Errorf("%d %s, %v", w.Code, w.Body, g.audits)
			}
		})
	}
	t.Run("AIU-3.2-07/reject-cancelled", func(t *testing.T) {
		g := newGatewayWorld(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r := httptest.NewRequest("POST", "https://ai.example"+payTarget, strings.NewReader("{}")).WithContext(ctx)
		r.TLS = &tls.ConnectionState{Version: tls.VersionTLS13}
		must(aiuri.NewGateway(g.host, g.options)).ServeHTTP(httptest.NewRecorder(), r)
		if len(g.audits) != 1 || g.audits[0].Code != lookleap.CodeCancelled {
			t.Errorf("%v", g.audits)
		}
	})
	t.Run("AIU-3.2-07/reject-slow-discovery", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := newGatewayWorld(t)
			g.options.Timeout = time.Second
			g.bank.HandleFunc(documentPath, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
			if w := g.serve(t, "POST", payTarget, "{}"); w.Code != 504 || !strings.Contains(w.Body.String(), `"timeout"`) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	})
	t.Run("AIU-3.2-15/accept-body-of-a-read-unread", func(t *testing.T) {
		g := newGatewayWorld(t)
		r := httptest.NewRequest("GET", "https://ai.example/gateway/bank.example/pay/read", strings.NewReader("{}"))
		r.TLS, r.ContentLength = &tls.ConnectionState{Version: tls.VersionTLS13}, aiuri.DefaultMaxBody+1
		w := httptest.NewRecorder()
		if must(aiuri.NewGateway(g.host, g.options)).ServeHTTP(w, r); w.Code != 200 || len(g.calls) != 1 || g.calls[0].Body != nil {
			t.Errorf("%d %s, %v", w.Code, w.Body, g.calls)
		}
	})
}
