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
