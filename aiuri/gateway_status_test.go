package aiuri_test

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

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
		"reject-non-ascii":       {"/gateway/bank.example/é", none, 400, aiuri.CodeNonASCII},
		"reject-bad-character":   {"/gateway/bank.example/a|b", none, 400, aiuri.CodeBadChar},
		"reject-bad-authority":   {"/gateway/bank..example/x", none, 400, aiuri.CodeBadAuthority},
		"reject-empty-authority": {"/gateway/", none, 400, aiuri.CodeEmptyAuthority},
		"reject-user":            {"/gateway/u@bank.example/x", none, 400, lookleap.CodeUserinfo},
		"reject-port":            {"/gateway/bank.example:99999/x", none, 400, lookleap.CodeBadPort},
		"reject-long-uri":        {"/gateway/bank.example/" + strings.Repeat("x", 8192), none, 400, aiuri.CodeURITooLong},
		"reject-elsewhere":       {"/other/bank.example/x", none, 400, aiuri.CodeNotGateway},
		"reject-ambiguous":       {"/gateway/bank.example/a/../b", none, 400, aiuri.CodeAmbiguous},
		"reject-credentials-not-allowed": {payTarget, func(g *gatewayWorld) {
			g.bank.Body(documentPath, "application/json", strings.Replace(documentOf("ai://bank.example/pay", "https://bank.example"), "{", `{"policy":{"auth":"oauth2"},`, 1))
			g.options.Credentials = nil
		}, 403, aiuri.CodeCredentialsNotAllowed},
		"reject-scope": {payTarget, func(g *gatewayWorld) {
			g.options.Scopes = func(string, aiuri.URI) []string { return []string{"admin"} }
		}, 403, aiuri.CodeScope},
		"reject-configuration": {payTarget, func(g *gatewayWorld) {
			g.bank.Body(documentPath, "application/json", strings.Replace(documentOf("ai://bank.example/pay", "https://bank.example"), "{", `{"policy":{"auth":"oauth2"},`, 1))
			g.options.Authorizer = authorizer(func(*http.Request, *aiuri.Call) (*aiuri.Grant, error) {
				return &aiuri.Grant{User: "u", Scopes: []string{"pay"}}, nil
			})
		}, 500, aiuri.CodeBadConfiguration},
		"reject-unconfirmed": {payTarget, func(g *gatewayWorld) { g.bank.Status(documentPath, 404) }, 404, aiuri.CodeAuthorityUnconfirmed},
		"reject-slow-transport": {payTarget, func(g *gatewayWorld) {
			g.options.Invoker = endpoint(func(*aiuri.Call) (aiuri.SignedResult, error) {
				return aiuri.SignedResult{}, &lookleap.Error{Code: lookleap.CodeTooSlow}
			})
		}, 504, lookleap.CodeTooSlow},
		"reject-busy-transport": {payTarget, func(g *gatewayWorld) {
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

// TestGatewayProvenance: a gateway passes on nothing of a result that it cannot verify, and
// nothing of an endpoint's error.
func TestGatewayProvenance(t *testing.T) {
	const paid = `{"paid":true}`
	signed := func(body string, key aiuri.SigningKey, c *aiuri.Claims) aiuri.SignedResult {
		return must(aiuri.SignResult([]byte(body), key, aiuri.SignOptions{Claims: c, Detached: true}))
	}
	own := aiuri.SigningKey{ID: "1", Private: ecKey()}
	for name, c := range map[string]struct {
		answer func(*aiuri.Call) (aiuri.SignedResult, error)
		status int
		code   lookleap.Code
	}{
		"reject-other-body": {func(*aiuri.Call) (aiuri.SignedResult, error) {
			r := signed(`{"paid":false}`, own, nil)
			r.Body = []byte(paid)
			return r, nil
		}, 502, aiuri.CodeRejectedSignature},
		"reject-other-key-with-its-name": {func(*aiuri.Call) (aiuri.SignedResult, error) {
			return signed(paid, aiuri.SigningKey{ID: "1", Private: otherKey()}, nil), nil
		}, 502, aiuri.CodeRejectedSignature},
		"reject-unknown-key": {func(*aiuri.Call) (aiuri.SignedResult, error) {
			return signed(paid, aiuri.SigningKey{ID: "2", Private: otherKey()}, nil), nil
		}, 502, aiuri.CodeRejectedKey},
		"reject-other-request": {func(*aiuri.Call) (aiuri.SignedResult, error) {
			return signed(paid, own, &aiuri.Claims{Request: lookleap.Digest([]byte("another call"))}), nil
		}, 502, aiuri.CodeRejectedPolicy},
		"reject-other-endpoint": {func(*aiuri.Call) (aiuri.SignedResult, error) {
			return signed(paid, own, &aiuri.Claims{Issuer: "ai://other.example/pay"}), nil
		}, 502, aiuri.CodeRejectedPolicy},
		"reject-expired": {func(*aiuri.Call) (aiuri.SignedResult, error) {
			return signed(paid, own, &aiuri.Claims{Expires: time.Unix(1, 0)}), nil
		}, 502, aiuri.CodeRejectedPolicy},
		"reject-error-with-a-result": {func(*aiuri.Call) (aiuri.SignedResult, error) {
			return signed(paid, own, nil), errors.New("paid")
		}, 502, aiuri.CodeTransportFailed},
	} {
		t.Run("AIU-3.2-12/"+name, func(t *testing.T) {
			g := newGatewayWorld(t)
			g.options.Invoker = endpoint(c.answer)
			w := g.serve(t, "POST", payTarget, "{}")
			if w.Code != c.status || !strings.Contains(w.Body.String(), `"code":"`+string(c.code)+`"`) {
				t.Errorf("%d %s; want %d %s", w.Code, w.Body, c.status, c.code)
			}
			if strings.Contains(w.Body.String(), "paid") || w.Header().Get(aiuri.ProvenanceHeader) != "" || w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("it passes on %s %v", w.Body, w.Header())
			}
		})
	}
}
