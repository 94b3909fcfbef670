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
		{"accept-body-of-one-byte", "x", nil, 2},
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
		t.Run("AIU-3.2-05/accept-query-at-the-handler", func(t *testing.T) {
			g := newGatewayWorld(t)
			if w := g.serve(t, "POST", "/gateway/bank.example/"+target, "{}"); w.Code != 200 || g.calls[0].URI.String() != want {
				t.Errorf("%s: %d, %v; want %s", target, w.Code, g.calls, want)
			}
		})
	}
}

// TestGatewayBodySize: the largest body is sent on, whether its size is announced or not.
func TestGatewayBodySize(t *testing.T) {
	const limit = 1 << 10
	for size, status := range map[int]int{limit: 200, limit + 1: 400} {
		for name, announced := range map[string]int64{"announced": int64(size), "not-announced": -1} {
			t.Run(fmt.Sprintf("AIU-3.2-08/%s-body-%s", map[int]string{200: "accept-largest", 400: "reject-larger"}[status], name), func(t *testing.T) {
				g := newGatewayWorld(t)
				g.options.MaxBody = limit
				w, _ := g.post(t, payTarget, strings.NewReader(strings.Repeat("x", size)), announced)
				if w.Code != status || (len(g.calls) == 1) != (status == 200) || status == 200 && len(g.calls[0].Body) != size ||
					status == 400 && !strings.Contains(w.Body.String(), `"code":"too-large"`) {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			})
		}
	}
}

// TestGatewayAuthenticates: the call of a gateway has the token and the certificate that the
// endpoint's policy requires, and only an endpoint that may have them gets any.
func TestGatewayAuthenticates(t *testing.T) {
	for name, c := range map[string]struct {
		policy string
		set    func(*gatewayWorld)
		status int
		token  string
		mtls   bool
	}{
		"accept-nothing-required":                {`{}`, func(*gatewayWorld) {}, 200, "", false},
		"accept-token-of-the-grant":              {`{"auth":"oauth2"}`, func(*gatewayWorld) {}, 200, "t0ken", false},
		"accept-certificate":                     {`{"mtls":true}`, func(g *gatewayWorld) { g.options.ClientCertificate = true }, 200, "", true},
		"accept-token-and-certificate":           {`{"auth":"oauth2","mtls":true}`, func(g *gatewayWorld) { g.options.ClientCertificate = true }, 200, "t0ken", true},
		"reject-certificate-that-is-missing":     {`{"auth":"oauth2","mtls":true}`, func(*gatewayWorld) {}, 502, "", false},
		"reject-token-for-an-unlisted-authority": {`{"auth":"oauth2"}`, func(g *gatewayWorld) { g.options.Credentials = []string{"other.example"} }, 403, "", false},
		"reject-certificate-for-an-unlisted-authority": {`{"mtls":true}`, func(g *gatewayWorld) {
			g.options.ClientCertificate, g.options.Credentials = true, nil
		}, 403, "", false},
	} {
		t.Run("AIU-3.2-11/"+name, func(t *testing.T) {
			g := newGatewayWorld(t)
			g.bank.Body(documentPath, "application/json", strings.Replace(documentOf("ai://bank.example/pay", "https://bank.example"), "{", `{"policy":`+c.policy+`,`, 1))
			var asked []string
			g.options.Authorizer = authorizer(func(*http.Request, *aiuri.Call) (*aiuri.Grant, error) {
				return &aiuri.Grant{User: "u", Scopes: []string{"read", "pay"}, Tokens: tokens{&asked}}, nil
			})
			c.set(g)
			w := g.serve(t, "POST", payTarget, "{}")
			if w.Code != c.status || (len(g.calls) == 1) != (c.status == 200) || (len(asked) == 1) != (c.token != "") {
				t.Fatalf("%d %s, %d calls, tokens for %q", w.Code, w.Body, len(g.calls), asked)
			}
			if c.status == 200 && (g.calls[0].Token != c.token || g.calls[0].MTLS != c.mtls) {
				t.Errorf("called with %+v", g.calls[0])
			}
		})
	}
	t.Run("AIU-6-05/accept-only-the-scopes-of-a-gateway's-call", func(t *testing.T) {
		g := newGatewayWorld(t)
		g.bank.Body(documentPath, "application/json", strings.Replace(documentOf("ai://bank.example/pay", "https://bank.example"), "{", `{"policy":{"auth":"oauth2"},`, 1))
		var asked []string
		g.options.Authorizer = authorizer(func(*http.Request, *aiuri.Call) (*aiuri.Grant, error) {
			return &aiuri.Grant{User: "u", Scopes: []string{"read", "pay"}, Tokens: tokens{&asked}}, nil
		})
		if w := g.serve(t, "POST", payTarget, "{}"); w.Code != 200 || len(asked) != 1 || asked[0] != "pay" {
			t.Errorf("%d, tokens for %q", w.Code, asked)
		}
	})
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
