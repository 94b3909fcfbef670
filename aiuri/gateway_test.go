package aiuri_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

type authorizer func(*http.Request, *aiuri.Call) (*aiuri.Grant, error)

func (a authorizer) Authorize(_ context.Context, r *http.Request, c *aiuri.Call) (*aiuri.Grant, error) {
	return a(r, c)
}

// endpoint is what the gateway reaches natively.
type endpoint func(*aiuri.Call) (aiuri.SignedResult, error)

func (e endpoint) Invoke(_ context.Context, c *aiuri.Call) (aiuri.SignedResult, error) { return e(c) }

// gatewayWorld is a gateway before a bank.
type gatewayWorld struct {
	*world
	calls   []aiuri.Call
	options aiuri.GatewayOptions
	audits  []aiuri.AuditRecord
}

func newGatewayWorld(t *testing.T) *gatewayWorld {
	g := &gatewayWorld{world: newWorld(t)}
	g.options = aiuri.GatewayOptions{
		Base:        "https://ai.example/gateway",
		Credentials: []string{"bank.example"},
		Authorizer: authorizer(func(*http.Request, *aiuri.Call) (*aiuri.Grant, error) {
			return &aiuri.Grant{User: "u", Scopes: []string{"pay"}, Tokens: tokens{new([]string)}}, nil
		}),
		Scopes: func(string, aiuri.URI) []string { return []string{"pay"} },
		Invoker: endpoint(func(c *aiuri.Call) (aiuri.SignedResult, error) {
			g.calls = append(g.calls, *c)
			r, err := aiuri.SignResult([]byte(`{"paid":true}`), aiuri.SigningKey{ID: "1", Private: ecKey()}, aiuri.SignOptions{Detached: true})
			r.MediaType = "application/json"
			return r, err
		}),
		Safe:  func(u aiuri.URI) bool { return strings.HasSuffix(u.Path(), "/read") },
		Audit: func(r aiuri.AuditRecord) { g.audits = append(g.audits, r) },
	}
	return g
}

func (g *gatewayWorld) serve(t *testing.T, method, target, body string) *httptest.ResponseRecorder {
	t.Helper()
	return serveOnce(must(aiuri.NewGateway(g.host, g.options)), method, target, body)
}

// serveOnce makes one request of a gateway, its target as it is written.
func serveOnce(handler http.Handler, method, target, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "https://ai.example/", strings.NewReader(body))
	r.RequestURI = target
	if u, err := url.ParseRequestURI(target); err == nil {
		r.URL = u
	} else {
		path, query, hasQuery := strings.Cut(target, "?")
		r.URL.Path, r.URL.RawQuery, r.URL.ForceQuery = path, query, hasQuery
	}
	r.TLS = &tls.ConnectionState{Version: tls.VersionTLS13}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

const payTarget = "/gateway/bank.example/pay?amount=10"

func TestGateway(t *testing.T) {
	t.Run("AIU-3.2-06/accept-reconstructed", func(t *testing.T) {
		g := newGatewayWorld(t)
		if w := g.serve(t, "POST", payTarget, "{}"); w.Code != 200 || len(g.calls) != 1 || g.calls[0].URI.String() != "ai://bank.example/pay?amount=10" {
			t.Errorf("got %d, %v", w.Code, g.calls)
		}
	})
	for _, id := range []string{"AIU-3.2-07/accept-200", "AIU-5-03/accept-signature-kept", "AIU-3.2-12/accept-verified", "AIU-3.2-13/accept-granted", "AIU-3.2-14/accept-tls-1.3", "AIU-5-04/accept-tls-1.3", "AIU-3.3-01/accept-plain-https-request"} {
		t.Run(id, func(t *testing.T) {
			w := newGatewayWorld(t).serve(t, "POST", payTarget, "{}")
			if w.Code != 200 || w.Body.String() != `{"paid":true}` || w.Header().Get("Content-Type") != "application/json" {
				t.Fatalf("got %d %s %v", w.Code, w.Body, w.Header())
			}
			again := aiuri.SignedResult{JWS: w.Header().Get(aiuri.ProvenanceHeader), Body: w.Body.Bytes()}
			if _, err := aiuri.VerifyResult(again, keySet(t, jwk("1", ecKey())), now, aiuri.Expectation{}); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("AIU-5-03/accept-embedded-kept", func(t *testing.T) {
		g := newGatewayWorld(t)
		text := es256(claims(""), `{"paid":true}`, false)
		g.options.Invoker = endpoint(func(*aiuri.Call) (aiuri.SignedResult, error) { return aiuri.SignedResult{JWS: text}, nil })
		if w := g.serve(t, "POST", payTarget, ""); w.Code != 200 || w.Body.String() != text || w.Header().Get("Content-Type") != "application/jose" {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	})
	t.Run("AIU-3.2-15/accept-head-without-body", func(t *testing.T) {
		g := newGatewayWorld(t)
		w := g.serve(t, "HEAD", "/gateway/bank.example/pay/read", "")
		if w.Code != 200 || w.Body.Len() != 0 || w.Header().Get("Content-Length") != "13" || w.Header().Get("Cache-Control") != "private, no-store" || g.calls[0].Method != "GET" {
			t.Errorf("got %d %q %v", w.Code, w.Body, w.Header())
		}
	})
	t.Run("AIU-3.2-15/accept-no-active-media-type", func(t *testing.T) {
		g := newGatewayWorld(t)
		g.options.Invoker = endpoint(func(*aiuri.Call) (aiuri.SignedResult, error) {
			return aiuri.SignedResult{JWS: es256(claims(""), "<script>", true), Body: []byte("<script>"), MediaType: "text/html"}, nil
		})
		if w := g.serve(t, "POST", payTarget, ""); w.Code != 200 || w.Header().Get("Content-Type") != "application/octet-stream" {
			t.Errorf("got %d %v", w.Code, w.Header())
		}
	})
	policy := func(p string) func(*gatewayWorld) {
		return func(g *gatewayWorld) {
			g.bank.File(documentPath, "application/json", strings.Replace(documentOf("ai://bank.example/pay", "https://bank.example"), "{", `{"policy":`+p+`,`, 1))
		}
	}
	grant := func(grant *aiuri.Grant, err error) func(*gatewayWorld) {
		return func(g *gatewayWorld) {
			g.options.Authorizer = authorizer(func(*http.Request, *aiuri.Call) (*aiuri.Grant, error) { return grant, err })
		}
	}
	answer := func(r aiuri.SignedResult, err error) func(*gatewayWorld) {
		return func(g *gatewayWorld) {
			g.options.Invoker = endpoint(func(*aiuri.Call) (aiuri.SignedResult, error) { return r, err })
		}
	}
	user := &aiuri.Grant{User: "u", Scopes: []string{"pay"}}
	none := func(*gatewayWorld) {}
	for _, c := range []struct {
		id, method, target string
		set                func(*gatewayWorld)
		status             int
		code               lookleap.Code
	}{
		{"AIU-3.2-07/reject-malformed", "POST", "/gateway/bank.example/%4", none, 400, "bad-char"},
		{"AIU-3.2-08/reject-dot-segments", "POST", "/gateway/bank.example/../other.example/pay", none, 400, aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-at-the-handler", "POST", "/gateway/bank.example/%2e%2e/x", none, 400, aiuri.CodeAmbiguous},
		{"AIU-3.2-10/reject-at-the-handler", "POST", "/gateway/u@h/x", none, 400, lookleap.CodeUserinfo},
		{"AIU-3.2-04/reject-at-the-handler", "POST", "/gateway/", none, 400, "empty-authority"},
		{"AIU-3.2-07/reject-no-session", "POST", payTarget, grant(nil, aiuri.ErrNoSession), 401, aiuri.CodeNoSession},
		{"AIU-3.2-07/reject-denied", "POST", payTarget, grant(nil, errors.New("no")), 403, aiuri.CodeNotAuthorized},
		{"AIU-3.2-13/reject-denied", "POST", payTarget, grant(nil, nil), 403, aiuri.CodeNotAuthorized},
		{"AIU-3.2-13/reject-panic", "POST", payTarget, func(g *gatewayWorld) {
			g.options.Authorizer = authorizer(func(*http.Request, *aiuri.Call) (*aiuri.Grant, error) { panic("x") })
		}, 403, aiuri.CodeNotAuthorized},
		{"AIU-3.2-13/reject-scope", "POST", payTarget, grant(&aiuri.Grant{User: "u"}, nil), 403, aiuri.CodeScope},
		{"AIU-3.2-13/reject-second-scope", "POST", payTarget, func(g *gatewayWorld) {
			g.options.Scopes = func(string, aiuri.URI) []string { return []string{"pay", "read"} }
		}, 403, aiuri.CodeScope},
		{"AIU-3.2-06/reject-unknown", "POST", "/gateway/other/x", none, 404, aiuri.CodeUnknownAuthority},
		{"AIU-3.2-07/reject-unknown", "POST", "/gateway/other/x", none, 404, aiuri.CodeUnknownAuthority},
		{"AIU-3.2-07/reject-method", "PUT", payTarget, none, 405, aiuri.CodeMethodNotAllowed},
		{"AIU-3.2-15/reject-get-with-effect", "GET", payTarget, none, 405, aiuri.CodeUnsafeNotDeclared},
		{"AIU-3.2-15/reject-head-with-effect", "HEAD", payTarget, none, 405, aiuri.CodeUnsafeNotDeclared},
		{"AIU-3.2-12/reject-unsigned", "POST", payTarget, answer(aiuri.SignedResult{Body: []byte("paid")}, nil), 502, aiuri.CodeRejectedUnsigned},
		{"AIU-3.2-07/reject-forged", "POST", payTarget, answer(aiuri.SignedResult{JWS: es256(claims(""), "x", true), Body: []byte("paid")}, nil), 502, aiuri.CodeRejectedSignature},
		{"AIU-3.2-07/reject-unreachable", "POST", payTarget, answer(aiuri.SignedResult{}, errors.New("paid")), 502, aiuri.CodeTransportFailed},
		{"AIU-3.2-07/reject-timeout", "POST", payTarget, answer(aiuri.SignedResult{}, context.DeadlineExceeded), 504, lookleap.CodeTimeout},
		{"AIU-3.2-17/reject-shared-credential", "POST", payTarget, func(g *gatewayWorld) {
			policy(`{"auth":"oauth2"}`)(g)
			grant(&aiuri.Grant{Scopes: []string{"pay"}, Tokens: tokens{new([]string)}}, nil)(g)
		}, 500, aiuri.CodeBadConfiguration},
		{"AIU-3.2-16/reject-weaker-than-policy", "POST", payTarget, func(g *gatewayWorld) { policy(`{"auth":"oauth2"}`)(g); grant(user, nil)(g) }, 500, aiuri.CodeBadConfiguration},
		{"AIU-3.2-11/reject-no-certificate", "POST", payTarget, policy(`{"mtls":true}`), 502, aiuri.CodePolicyUnsupported},
	} {
		t.Run(c.id, func(t *testing.T) {
			g := newGatewayWorld(t)
			c.set(g)
			w := g.serve(t, c.method, c.target, "{}")
			shown := strings.Contains(w.Body.String(), `"code":"`+string(c.code)+`"`) || c.method == http.MethodHead && len(g.audits) == 1 && g.audits[0].Code == c.code
			if w.Code != c.status || !shown || w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
			if (w.Header().Get("WWW-Authenticate") != "") != (c.status == 401) || (w.Header().Get("Allow") != "") != (c.status == 405) {
				t.Errorf("the header is %v", w.Header())
			}
			if len(g.calls) != 0 {
				t.Error("the endpoint was called")
			}
			if c.status == 400 && len(g.net.Journal().Dials()) != 0 {
				t.Error("something was dialled")
			}
			if strings.Contains(w.Body.String(), "paid") {
				t.Error("the result leaks")
			}
		})
	}
	t.Run("AIU-3.2-17/accept-bound-to-user", func(t *testing.T) {
		g := newGatewayWorld(t)
		policy(`{"auth":"oauth2"}`)(g)
		if w := g.serve(t, "POST", payTarget, ""); w.Code != 200 || g.calls[0].Token != "t0ken" {
			t.Errorf("got %d", w.Code)
		}
	})
	t.Run("AIU-6-02/reject-secrets-in-audit", func(t *testing.T) {
		g := newGatewayWorld(t)
		policy(`{"auth":"oauth2"}`)(g)
		g.serve(t, "POST", payTarget, "secret")
		g.serve(t, "PUT", payTarget, "secret")
		if len(g.audits) != 2 || g.audits[0].Status != 200 || g.audits[1].Status != 405 ||
			g.audits[0].Endpoint != "ai://bank.example/…" || g.audits[1].Endpoint != "ai://bank.example/…" {
			t.Errorf("got %+v", g.audits)
		}
	})
	t.Run("AIU-6-02/reject-secrets-in-refusals", func(t *testing.T) {
		g := newGatewayWorld(t)
		for _, target := range []string{"/gateway/bank.example/secret?secret", "/gateway/other/secret?secret", "/gateway/bank.example/secret|"} {
			if w := g.serve(t, "POST", target, "secret"); w.Code < 400 || strings.Contains(w.Body.String(), "secret") {
				t.Errorf("%s: got %d %s", target, w.Code, w.Body)
			}
		}
	})
	t.Run("AIU-6-03/accept-retention", func(t *testing.T) {
		g := newGatewayWorld(t)
		g.serve(t, "POST", payTarget, "")
		g.options.Retention = time.Hour
		g.serve(t, "POST", payTarget, "")
		if a := g.audits; !a[0].Expires.Equal(a[0].Time) || !a[1].Expires.Equal(a[1].Time.Add(time.Hour)) {
			t.Errorf("got %+v", a)
		}
	})
}

func TestGatewayTransport(t *testing.T) {
	for id, version := range map[string]uint16{"AIU-3.2-14/reject-tls-1.2-client": tls.VersionTLS12, "AIU-5-04/reject-clear-text": 0} {
		t.Run(id, func(t *testing.T) {
			g := newGatewayWorld(t)
			handler := must(aiuri.NewGateway(g.host, g.options))
			r := httptest.NewRequest("POST", payTarget, nil)
			if r.TLS = nil; version != 0 {
				r.TLS = &tls.ConnectionState{Version: version}
			}
			w := httptest.NewRecorder()
			if handler.ServeHTTP(w, r); w.Code != 403 || len(g.calls) != 0 {
				t.Errorf("got %d", w.Code)
			}
			g.options.TLSEnded = true // by a proxy in front
			w = httptest.NewRecorder()
			if must(aiuri.NewGateway(g.host, g.options)).ServeHTTP(w, httptest.NewRequest("POST", "https://ai.example"+payTarget, nil)); w.Code != 200 || len(g.calls) != 1 {
				t.Errorf("behind a proxy: got %d", w.Code)
			}
		})
	}
}

func TestNewGateway(t *testing.T) {
	for id, change := range map[string]func(*aiuri.GatewayOptions){
		"AIU-3.2-13/reject-nil-authorizer": func(o *aiuri.GatewayOptions) { o.Authorizer = nil },
		"AIU-3.2-06/reject-nil-invoker":    func(o *aiuri.GatewayOptions) { o.Invoker = nil },
	} {
		t.Run(id, func(t *testing.T) {
			g := newGatewayWorld(t)
			change(&g.options)
			if h, err := aiuri.NewGateway(g.host, g.options); h != nil || lookleap.CodeOf(err) != aiuri.CodeBadConfiguration {
				t.Errorf("got %v, %v", h, err)
			}
		})
	}
}

func TestPublish(t *testing.T) {
	u := parseAny("ai://bank/pay?a=1&currency=USD")
	t.Run("AIU-3.1-01/accept-link", func(t *testing.T) {
		if got := aiuri.LinkTargets([]string{aiuri.AdvertiseLink(u)}); len(got) != 1 || got[0] != u.String() {
			t.Errorf("got %q", got)
		}
	})
	t.Run("AIU-3.1-01/accept-element", func(t *testing.T) {
		if got := aiuri.ElementTargets([]byte("<head>" + aiuri.LinkElement(u))); len(got) != 1 || got[0] != u.String() {
			t.Errorf("got %q", got)
		}
	})
	t.Run("AIU-3.1-01/accept-dns", func(t *testing.T) {
		got := strings.Join(aiuri.DNSRecords("bank.example", parseAny("ai://bank/pay"), "aiip.bank.example", 443, 5*time.Minute), "\n")
		if got != "_aiip._tcp.bank.example. 300 IN SRV 0 0 443 aiip.bank.example.\n_aiip.bank.example. 300 IN TXT \"endpoint=ai://bank/pay\"" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("AIU-3.1-01/accept-dns-of-a-long-uri", func(t *testing.T) {
		long := "ai://bank/" + strings.Repeat("x", 600)
		text := aiuri.DNSRecords("bank.example.", parseAny(long), "bank.example.", 443, time.Minute)
		zone := dns.NewZoneParser(strings.NewReader(strings.Join(text, "\n")), ".", "")
		var got string
		for rr, ok := zone.Next(); ok; rr, ok = zone.Next() {
			if txt, ok := rr.(*dns.TXT); ok {
				got = strings.Join(txt.Txt, "")
			} else if srv := rr.(*dns.SRV); srv.Target != "bank.example." {
				t.Errorf("got %s", srv)
			}
		}
		if zone.Err() != nil || got != "endpoint="+long {
			t.Errorf("got %s, %v", got, zone.Err())
		}
	})
	t.Run("AIU-3.1-01/accept-document", func(t *testing.T) {
		d := must(aiuri.ParseDescriptor([]byte(bankDocument), bankOrigin))
		w := httptest.NewRecorder()
		must(aiuri.NewDescriptorHandler(bankOrigin, d)).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if again, err := aiuri.ParseDescriptor(w.Body.Bytes(), bankOrigin); err != nil || again.Policy != d.Policy || again.JWKS != d.JWKS || len(again.Scopes) != 2 {
			t.Errorf("got %s, %v", w.Body, err)
		}
	})
	t.Run("AIU-3.1-01/reject-nothing-advertised", func(t *testing.T) {
		if f := aiuri.Lint(nil); len(f) != 1 || f[0].Code != aiuri.CodeNoEndpoint {
			t.Errorf("got %v", f)
		}
	})
	t.Run("AIU-3.1-10/reject-publishing", func(t *testing.T) {
		d := &aiuri.Descriptor{Endpoint: u}
		if h, err := aiuri.NewDescriptorHandler(bankOrigin, d); h != nil || lookleap.CodeOf(err) != aiuri.CodePolicyWeaker {
			t.Errorf("got %v, %v", h, err)
		}
	})
}

func TestKeyRing(t *testing.T) {
	clock := now
	ring := must(aiuri.NewKeyRing(aiuri.SigningKey{ID: "1", Private: ecKey()}, aiuri.KeyRingOptions{Now: func() time.Time { return clock }}))
	t.Run("AIU-3.4-10/accept-public-keys", func(t *testing.T) {
		w := httptest.NewRecorder()
		aiuri.NewKeyRingHandler(ring).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if set, err := aiuri.ParseKeySet(w.Body.Bytes()); err != nil || set.Len() != 1 || w.Header().Get("Content-Type") != "application/jwk-set+json" || strings.Contains(w.Body.String(), `"d"`) {
			t.Errorf("got %s, %v", w.Body, err)
		}
	})
	for id, set := range map[string][]byte{
		"reject-private": setText(jwk("1", ecKey(), with("d", "AA"))),
		"reject-no-kid":  setText(jwk("", ecKey())),
		"reject-enc":     setText(jwk("1", ecKey(), with("use", "enc"))),
	} {
		t.Run("AIU-3.4-10/"+id, func(t *testing.T) {
			if h, err := aiuri.NewKeySetHandler(set); h != nil || lookleap.CodeOf(err) != aiuri.CodeBadKeySet {
				t.Errorf("got %v, %v", h, err)
			}
		})
	}
	published := func() int { return must(aiuri.ParseKeySet(ring.JWKS())).Len() }
	if err := ring.Rotate(aiuri.SigningKey{ID: "2", Private: otherKey()}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id      string
		at      time.Duration
		current string
		keys    int
	}{
		{"accept-published-before-use", 10*time.Minute - 1, "1", 2},
		{"accept-used-after-lead", 10 * time.Minute, "2", 2},
		{"accept-overlap", 70*time.Minute - 1, "2", 2},
		{"accept-old-key-leaves", 70 * time.Minute, "2", 1},
	} {
		t.Run("AIU-3.4-11/"+c.id, func(t *testing.T) {
			clock = now.Add(c.at)
			if got := ring.Current().ID; got != c.current || published() != c.keys {
				t.Errorf("got key %s among %d", got, published())
			}
		})
	}
	t.Run("AIU-3.4-11/reject-same-id", func(t *testing.T) {
		for _, id := range []string{"2", ""} {
			if err := ring.Rotate(aiuri.SigningKey{ID: id, Private: ecKey()}); lookleap.CodeOf(err) != aiuri.CodeBadConfiguration {
				t.Errorf("%q: got %v", id, err)
			}
		}
	})
}
