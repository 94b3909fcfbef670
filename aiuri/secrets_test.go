package aiuri_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
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
			g.bank.File(documentPath, "application/json", `{"endpoint":"https://u@x/?`+secret+`"}`)
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
			g.bank.File(documentPath, "application/json", document("/jwks.json?token="+secret))
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

// TestNoClientIdentifier compares what a gateway and the site see of two users on two hosts. Only
// two fields differ, and these are new for each call: the nonce and the idempotency key.
func TestNoClientIdentifier(t *testing.T) {
	single := map[string]int{"Aiip-Request-Nonce": 0, "Idempotency-Key": 0}
	used := map[string]bool{}
	seen := func(calls int) []string {
		w := newWorld(t)
		for range calls {
			if _, err := w.invoke(t, pay); err != nil {
				t.Fatal(err)
			}
		}
		var lines []string
		for _, r := range w.net.Journal().Requests() {
			for name, values := range r.Header {
				if _, fresh := single[name]; fresh {
					single[name]++
					if used[values[0]] {
						t.Errorf("%s is sent again: %s", name, values[0])
					}
					used[values[0]] = true
					delete(r.Header, name)
				} else if !slices.Contains([]string{"Accept", "Accept-Encoding", "Content-Length", "Content-Type", "User-Agent"}, name) {
					t.Errorf("%s %s has the field %s", r.Host, r.Path, name)
				}
			}
			lines = append(lines, fmt.Sprint(r.Method, r.Host, r.Target, r.Header, string(r.Body)))
		}
		return lines
	}
	t.Run("AIU-6-06/accept-nothing-that-identifies-a-user", func(t *testing.T) {
		one, other := seen(1), seen(1)
		if len(one) < 3 || !slices.Equal(one, other) {
			t.Errorf("the requests of two users differ:\n%q\n%q", one, other)
		}
		seen(2)
		if single["Aiip-Request-Nonce"] != 4 || single["Idempotency-Key"] != 4 {
			t.Errorf("four calls sent %v", single)
		}
	})
}
