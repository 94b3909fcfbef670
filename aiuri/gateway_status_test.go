package aiuri_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

// TestGatewayStatus: each reason for which a gateway refuses a request has its status.
func TestGatewayStatus(t *testing.T) {
	none := func(*gatewayWorld) {}
	for name, c := range map[string]struct {
		target string
		set    func(*gatewayWorld)
		status int
		code   lookleap.Code
	}{
		"reject-non-ascii":       {"/gateway/bank.example/é", none, 400, "non-ascii"},
		"reject-empty-authority": {"/gateway/", none, 400, "empty-authority"},
		"reject-port":            {"/gateway/bank.example:99999/x", none, 400, lookleap.CodeBadPort},
		"reject-credentials-not-allowed": {payTarget, func(g *gatewayWorld) {
			g.bank.File(documentPath, "application/json", strings.Replace(documentOf("ai://bank.example/pay", "https://bank.example"), "{", `{"policy":{"auth":"oauth2"},`, 1))
			g.options.Credentials = nil
		}, 403, aiuri.CodeCredentialsNotAllowed},
		"reject-scope": {payTarget, func(g *gatewayWorld) {
			g.options.Scopes = func(string, aiuri.URI) []string { return []string{"admin"} }
		}, 403, aiuri.CodeScope},
		"reject-configuration": {payTarget, func(g *gatewayWorld) {
			g.bank.File(documentPath, "application/json", strings.Replace(documentOf("ai://bank.example/pay", "https://bank.example"), "{", `{"policy":{"auth":"oauth2"},`, 1))
			g.options.Authorizer = authorizer(func(*http.Request, *aiuri.Call) (*aiuri.Grant, error) {
				return &aiuri.Grant{User: "u", Scopes: []string{"pay"}}, nil
			})
		}, 500, aiuri.CodeBadConfiguration},
		"reject-result-too-large": {payTarget, func(g *gatewayWorld) {
			g.options.Invoker = endpoint(func(*aiuri.Call) (aiuri.SignedResult, error) {
				return aiuri.SignedResult{JWS: "x", Body: make([]byte, 4<<20+1)}, nil
			})
		}, 502, aiuri.CodeEndpointFailed},
		"reject-slow-transport": {payTarget, func(g *gatewayWorld) {
			g.options.Invoker = endpoint(func(*aiuri.Call) (aiuri.SignedResult, error) {
				return aiuri.SignedResult{}, &lookleap.Error{Code: lookleap.CodeTooSlow}
			})
		}, 504, lookleap.CodeTooSlow},
		"reject-busy": {payTarget, func(g *gatewayWorld) {
			g.options.Invoker = endpoint(func(*aiuri.Call) (aiuri.SignedResult, error) {
				return aiuri.SignedResult{}, &lookleap.Error{Code: aiuri.CodePluginBusy}
			})
		}, 503, aiuri.CodePluginBusy},
	} {
		t.Run("AIU-3.2-07/"+name, func(t *testing.T) {
			g := newGatewayWorld(t)
			c.set(g)
			w := g.serve(t, "POST", c.target, "{}")
			if w.Code != c.status || !strings.Contains(w.Body.String(), `"code":"`+string(c.code)+`"`) || len(g.calls) != 0 {
				t.Errorf("%d %s, %d calls; want %d %s", w.Code, w.Body, len(g.calls), c.status, c.code)
			}
		})
	}
	t.Run("AIU-3.2-07/reject-clear-text", func(t *testing.T) {
		g := newGatewayWorld(t)
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "https://ai.example"+payTarget, nil)
		r.TLS = &tls.ConnectionState{Version: tls.VersionTLS12}
		if must(aiuri.NewGateway(g.host, g.options)).ServeHTTP(w, r); w.Code != 403 || !strings.Contains(w.Body.String(), string(lookleap.CodeInsecureTransport)) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
