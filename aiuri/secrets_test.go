package aiuri_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

// told collects everything that is told about what happens: events as they are logged,
// errors with their causes, verdicts, findings and audit records.
type diary struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (d *diary) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Write(p)
}

func (d *diary) err(err error) {
	for e := err; e != nil; e = errors.Unwrap(e) {
		fmt.Fprintln(d, e)
		if v, ok := e.(*lookleap.VerifyError); ok && v.Verdict != nil {
			d.verdict(v.Verdict)
		}
	}
}

func (d *diary) verdict(v *lookleap.Verdict) {
	fmt.Fprintln(d, v)
	text, _ := json.Marshal(v)
	_, _ = d.Write(text)
}

// TestSecretsInDiaries holds that queries, fragments and user information stand in
// nothing that is kept about a call.
func TestSecretsInDiaries(t *testing.T) {
	const secret = "s3cret"
	u := parseAny("ai://bank.example/pay?q=" + secret + "#" + secret)
	document := func(jwks string) string {
		return strings.Replace(documentOf("ai://bank.example/pay?x="+secret, "https://bank.example"), "/jwks.json", jwks, 1)
	}
	for name, set := range map[string]func(*gatewayWorld){
		"accepted":        func(*gatewayWorld) {},
		"keys-down":       func(g *gatewayWorld) { g.bank.Status("/jwks.json", 503) },
		"keys-redirected": func(g *gatewayWorld) { g.bank.Redirect("/jwks.json", "https://evil.example/?"+secret) },
		"document-redirected": func(g *gatewayWorld) {
			g.bank.Redirect(documentPath, "https://evil.example/?"+secret+"#"+secret)
		},
		"document-redirected-to-a-user": func(g *gatewayWorld) { g.bank.Redirect(documentPath, "https://u:"+secret+"@bank.example/") },
		"document-malformed": func(g *gatewayWorld) {
			g.bank.Body(documentPath, "application/json", `{"endpoint":"https://u@x/?`+secret+`"}`)
		},
		"page-down": func(g *gatewayWorld) { g.bank.Status("/", 500); g.bank.Remove(documentPath) },
		"other-advertised": func(g *gatewayWorld) {
			page(g.bank, "ai://other.example/x?"+secret, "ai://u:"+secret+"@x/")
		},
		"only-other-advertised": func(g *gatewayWorld) {
			g.bank.Remove(documentPath)
			page(g.bank, "ai://other.example/x?"+secret, "https://x/?"+secret)
		},
		"gateway-down": func(g *gatewayWorld) { g.gateway.Status("/gateway/*", 500) },
		"gateway-broken": func(g *gatewayWorld) {
			g.answer = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
		},
		"unsigned": func(g *gatewayWorld) {
			g.answer = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, secret) }
		},
		"transport-failed": func(g *gatewayWorld) {
			g.options.Invoker = endpoint(func(*aiuri.Call) (aiuri.SignedResult, error) {
				return aiuri.SignedResult{}, &lookleap.Error{Code: aiuri.CodeEndpointFailed, Subject: "x"}
			})
		},
		"more-scopes": func(g *gatewayWorld) {
			g.options.Scopes = func(string, aiuri.URI) []string { return []string{"pay", "all"} }
		},
	} {
		t.Run("O52/reject-secrets-when-"+name, func(t *testing.T) {
			g, d := newGatewayWorld(t), &diary{}
			g.bank.Body(documentPath, "application/json", document("/jwks.json?token="+secret))
			g.host.Observe = lookleap.LogEvents(slog.New(slog.NewJSONHandler(d, nil)))
			g.options.Audit = func(r aiuri.AuditRecord) { fmt.Fprintf(d, "%+v\n", r) }
			set(g)
			discoverer := aiuri.NewDiscoverer(g.host, aiuri.DiscovererOptions{DNS: true})
			for _, page := range []string{"https://bank.example/?q=" + secret + "#" + secret, "https://u:" + secret + "@bank.example/", "http://bank.example/?" + secret} {
				found, err := discoverer.Discover(t.Context(), page)
				d.err(err)
				if err == nil {
					d.verdict(found.Verdict)
					fmt.Fprintln(d, found.Findings, aiuri.Lint(found))
				}
			}
			client := must(aiuri.NewClient(g.host, g.world.options))
			for _, r := range []aiuri.Request{{URI: u, Body: []byte(secret)}, {Page: "https://bank.example/?q=" + secret}, {URI: u, Gateway: "https://evil.example/?" + secret}} {
				v, err := client.Invoke(t.Context(), r)
				d.err(err)
				if err == nil {
					d.verdict(v.Verdict)
				}
			}
			w := g.serve(t, "POST", "/gateway/bank.example/pay?q="+secret, secret)
			if w.Code != 200 {
				_, _ = d.Write(w.Body.Bytes())
			}
			if text := d.text.String(); strings.Contains(text, secret) {
				at := strings.Index(text, secret)
				t.Errorf("…%s…", text[max(0, at-300):min(len(text), at+100)])
			}
		})
	}
}
