package aiuri_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestGatewayHeader reads the header of each kind of response.
func TestGatewayHeader(t *testing.T) {
	for name, set := range map[string]func(*gatewayWorld){
		"detached": func(*gatewayWorld) {},
		"embedded": func(g *gatewayWorld) {
			text := es256(claims(""), `{"paid":true}`, false)
			g.options.Invoker = endpoint(func(*aiuri.Call) (aiuri.SignedResult, error) { return aiuri.SignedResult{JWS: text}, nil })
		},
		"refusal": func(g *gatewayWorld) {
			g.options.Scopes = func(string, aiuri.URI) []string { return []string{"admin"} }
		},
	} {
		t.Run("AIU-3.2-15/accept-"+name, func(t *testing.T) {
			g := newGatewayWorld(t)
			set(g)
			w := g.serve(t, "POST", payTarget, "{}")
			for field, want := range map[string]string{
				"Cache-Control": "private, no-store", "X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin",
				"Content-Length": strconv.Itoa(w.Body.Len()),
			} {
				if got := w.Header().Get(field); got != want || w.Body.Len() == 0 {
					t.Errorf("%s: %q, want %q", field, got, want)
				}
			}
			if bound := w.Header().Get(aiuri.NonceHeader) != ""; bound != (name != "refusal") {
				t.Errorf("the response names its call: %v", bound)
			}
		})
	}
	t.Run("AIU-3.2-15/accept-no-body-after-head", func(t *testing.T) {
		g := newGatewayWorld(t)
		text := es256(claims(""), `{"paid":true}`, false)
		g.options.Invoker = endpoint(func(*aiuri.Call) (aiuri.SignedResult, error) { return aiuri.SignedResult{JWS: text}, nil })
		if w := g.serve(t, "HEAD", "/gateway/bank.example/pay/read", ""); w.Code != 200 || w.Body.Len() != 0 || w.Header().Get("Content-Length") != strconv.Itoa(len(text)) {
			t.Errorf("%d %q %v", w.Code, w.Body, w.Header())
		}
	})
}

// TestGatewayRefuses switches off, one by one, what a call needs.
func TestGatewayRefuses(t *testing.T) {
	for _, c := range []struct {
		id, method, target string
		set                func(*gatewayWorld)
		status             int
		code               lookleap.Code
	}{
		{"AIU-3.2-15/reject-get-without-safe", "GET", "/gateway/bank.example/pay/read", func(g *gatewayWorld) { g.options.Safe = nil }, 405, aiuri.CodeUnsafeNotDeclared},
		{"AIU-3.2-12/reject-without-document", "POST", payTarget, func(g *gatewayWorld) {
			g.bank.Status(documentPath, 404)
			g.options.Discoverer = aiuri.NewDiscoverer(g.host, aiuri.DiscovererOptions{})
		}, 404, aiuri.CodeAuthorityUnconfirmed},
		{"AIU-3.2-13/reject-scope-of-no-document", "POST", payTarget, func(g *gatewayWorld) {
			g.options.Scopes = func(string, aiuri.URI) []string { return []string{"admin"} }
			g.options.Authorizer = authorizer(func(*http.Request, *aiuri.Call) (*aiuri.Grant, error) {
				return &aiuri.Grant{User: "u", Scopes: []string{"pay", "admin"}, Tokens: tokens{new([]string)}}, nil
			})
		}, 403, aiuri.CodeScope},
		{"AIU-3.2-12/reject-without-keys", "POST", payTarget, func(g *gatewayWorld) {
			g.bank.File(documentPath, "application/json", `{"endpoint":"ai://bank.example/pay","scopes":["pay"]}`)
		}, 502, aiuri.CodeNoTrustAnchor},
		{"AIU-3.2-12/reject-key-set-unreadable", "POST", payTarget, func(g *gatewayWorld) { g.bank.Status("/jwks.json", 503) }, 502, lookleap.CodeBadStatus},
	} {
		t.Run(c.id, func(t *testing.T) {
			g := newGatewayWorld(t)
			c.set(g)
			w := g.serve(t, c.method, c.target, "")
			if w.Code != c.status || !strings.Contains(w.Body.String(), `"code":"`+string(c.code)+`"`) || len(g.calls) != 0 {
				t.Errorf("%d %s, %d calls", w.Code, w.Body, len(g.calls))
			}
		})
	}
}

// TestGatewayAudit: a record that cannot be written is reported. Without Audit nothing is.
func TestGatewayAudit(t *testing.T) {
	for name, audit := range map[string]func(aiuri.AuditRecord){"accept-none": nil, "accept-written-record": func(aiuri.AuditRecord) {}} {
		t.Run("AIU-6-03/"+name, func(t *testing.T) {
			g := newGatewayWorld(t)
			var events lookleaptest.Events
			g.host.Observe = events.Observe
			g.options.Audit = audit
			w := g.serve(t, "POST", payTarget, "")
			if all := events.All(); w.Code != 200 || slices.ContainsFunc(all, func(e lookleap.Event) bool { return e.Kind == lookleap.EventFinding }) {
				t.Errorf("%d, %v", w.Code, all)
			}
		})
	}
	t.Run("AIU-6-03/reject-lost-record", func(t *testing.T) {
		g := newGatewayWorld(t)
		var events lookleaptest.Events
		g.host.Observe = events.Observe
		g.options.Audit = func(aiuri.AuditRecord) { panic("x") }
		w := g.serve(t, "POST", payTarget, "")
		lost := slices.DeleteFunc(events.All(), func(e lookleap.Event) bool { return e.Finding == nil || e.Finding.Requirement != "AIU-6-03" })
		if w.Code != 200 || len(lost) != 1 || lost[0].Subject != "ai://bank.example/…" {
			t.Errorf("%d, %v", w.Code, lost)
		}
	})
}
