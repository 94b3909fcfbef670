package aiuri_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

// deafTransport never returns for one authority and counts how often it was called.
type deafTransport struct {
	deaf  string
	calls atomic.Int64
	until chan struct{}
}

func (d *deafTransport) Invoke(ctx context.Context, c *aiuri.Call) (aiuri.SignedResult, error) {
	if c.URI.Authority() == d.deaf {
		d.calls.Add(1)
		<-d.until
	}
	return native{}.Invoke(ctx, c)
}

func TestDeafPlugins(t *testing.T) {
	const asked, places = 4_000, 64
	other := func(w *world) aiuri.URI {
		w.net.Site("shop.example").Body(documentPath, "application/json", documentOf("ai://shop.example/pay", "https://shop.example")).
			Body("/jwks.json", "application/jwk-set+json", string(setText(jwk("1", ecKey()))))
		return parseAny("ai://shop.example/pay")
	}
	t.Run("O28/reject-more-calls-of-a-deaf-transport", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, line := newWorld(t), &deafTransport{deaf: "bank.example", until: make(chan struct{})}
			w.options.Native, w.options.InFlight = line, places
			w.host.Asking.Prompts = -1
			u := other(w)
			client := must(aiuri.NewClient(w.host, w.options))
			if _, err := client.Invoke(t.Context(), aiuri.Request{URI: u}); err != nil {
				t.Fatal(err)
			}
			before := runtime.NumGoroutine()
			var busy, late atomic.Int64
			var all sync.WaitGroup
			for range asked {
				all.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					switch _, err := client.Invoke(ctx, aiuri.Request{URI: pay.URI}); {
					case lookleap.CodeOf(err) == aiuri.CodePluginBusy:
						busy.Add(1)
					case errors.Is(err, context.DeadlineExceeded):
						late.Add(1)
					default:
						t.Errorf("got %v", err)
					}
				})
			}
			all.Wait()
			if line.calls.Load() != places/4 || late.Load() != places/4 || busy.Load() != asked-places/4 {
				t.Errorf("%d calls, %d late, %d refused", line.calls.Load(), late.Load(), busy.Load())
			}
			if left := runtime.NumGoroutine() - before; left > places {
				t.Errorf("%d goroutines stay", left)
			}
			if _, err := client.Invoke(t.Context(), aiuri.Request{URI: u}); err != nil {
				t.Errorf("another authority suffers: %v", err)
			}
			close(line.until)
			synctest.Wait()
			if _, err := client.Invoke(t.Context(), aiuri.Request{URI: pay.URI}); err != nil {
				t.Errorf("it stays closed after the calls have returned: %v", err)
			}
		})
	})
	for name, set := range map[string]func(*gatewayWorld, func()){
		"authorizer": func(g *gatewayWorld, wait func()) {
			g.options.Authorizer = authorizer(func(*http.Request, *aiuri.Call) (*aiuri.Grant, error) { wait(); return nil, nil })
		},
		"body-authorizer": func(g *gatewayWorld, wait func()) {
			g.options.Authorizer = bodyAuthorizer{g.options.Authorizer.(authorizer), func(*http.Request, *aiuri.Call, *aiuri.Grant) error { wait(); return nil }}
		},
		"scopes": func(g *gatewayWorld, wait func()) {
			g.options.Scopes = func(string, aiuri.URI) []string { wait(); return nil }
		},
		"transport": func(g *gatewayWorld, wait func()) {
			g.options.Invoker = endpoint(func(*aiuri.Call) (aiuri.SignedResult, error) { wait(); return aiuri.SignedResult{}, nil })
		},
		"tokens": func(g *gatewayWorld, wait func()) {
			g.bank.Body(documentPath, "application/json", documentWith("ai://bank.example/pay", "https://bank.example", `{"auth":"oauth2"}`))
			source := aiuri.TokenFunc(func(context.Context, aiuri.Destination, []string) (string, error) { wait(); return "", nil })
			g.options.Authorizer = authorizer(func(*http.Request, *aiuri.Call) (*aiuri.Grant, error) {
				return &aiuri.Grant{User: "u", Scopes: []string{"pay"}, Tokens: source}, nil
			})
		},
		"registry": func(g *gatewayWorld, wait func()) {
			g.options.Discoverer = aiuri.NewDiscoverer(g.host, aiuri.DiscoveryOptions{Registry: registryFunc(func(string) (string, error) { wait(); return "", nil })})
		},
	} {
		t.Run("O28/reject-deaf-"+name+"-of-a-gateway", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGatewayWorld(t)
				until, calls := make(chan struct{}), atomic.Int64{}
				set(g, func() { calls.Add(1); <-until })
				g.options.InFlight, g.options.Audit, g.options.Timeout = 8, nil, time.Minute
				handler := must(aiuri.NewGateway(g.host, g.options))
				target := payTarget
				if name == "registry" {
					target = "/gateway/name/pay"
				}
				statuses := make(map[int]int)
				for range 2000 {
					statuses[serveOnce(handler, "POST", target, "{}").Code]++
				}
				if n := calls.Load(); n > aiuri.DefaultInFlight || name != "registry" && n > 8 {
					t.Errorf("%d calls", n)
				}
				if statuses[503] == 0 || statuses[503]+statuses[504] != 2000 {
					t.Errorf("got %v", statuses)
				}
				close(until)
			})
		})
	}
	t.Run("O28/accept-deaf-audit-of-a-gateway", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := newGatewayWorld(t)
			until := make(chan struct{})
			g.options.Audit, g.options.InFlight = func(aiuri.AuditRecord) { <-until }, 4
			handler := must(aiuri.NewGateway(g.host, g.options))
			for range 20 {
				if w := serveOnce(handler, "POST", payTarget, "{}"); w.Code != 200 {
					t.Errorf("got %d", w.Code)
				}
			}
			close(until)
		})
	})
}

// registryFunc answers by a function.
type registryFunc func(string) (string, error)

func (r registryFunc) AuthorityOrigin(_ context.Context, authority string) (string, error) {
	return r(authority)
}

// TestPluginErrors holds that an error of a plug-in has a code of its own, and that its
// text goes nowhere.
func TestPluginErrors(t *testing.T) {
	failed := errors.New("paid")
	t.Run("O28/accept-code-of-the-transport", func(t *testing.T) {
		for _, i := range []endpoint{
			func(*aiuri.Call) (aiuri.SignedResult, error) { return aiuri.SignedResult{}, failed },
			func(*aiuri.Call) (aiuri.SignedResult, error) { panic(failed) },
			func(*aiuri.Call) (aiuri.SignedResult, error) { runtime.Goexit(); return aiuri.SignedResult{}, nil },
		} {
			w := newWorld(t)
			w.options.Native = i
			if _, err := w.invoke(t, pay); lookleap.CodeOf(err) != aiuri.CodeTransportFailed {
				t.Errorf("got %v", err)
			}
		}
	})
	t.Run("O28/accept-code-of-the-registry", func(t *testing.T) {
		for _, r := range []registryFunc{
			func(string) (string, error) { return "", failed },
			func(string) (string, error) { panic(failed) },
		} {
			d := aiuri.NewDiscoverer(newWorld(t).host, aiuri.DiscoveryOptions{Registry: r})
			if _, err := d.Resolve(t.Context(), parseAny("ai://bank/pay")); lookleap.CodeOf(err) != aiuri.CodeUnknownAuthority {
				t.Errorf("got %v", err)
			}
		}
	})
	t.Run("O28/reject-callbacks-that-panic", func(t *testing.T) {
		w := newWorld(t)
		page(w.net.Site("shop.example"), "ai://other.example/pay", "")
		w.net.Site("other.example")
		d := aiuri.NewDiscoverer(w.host, aiuri.DiscoveryOptions{AllowThirdParty: func(string, aiuri.URI) bool { panic("x") }})
		if _, err := d.Discover(t.Context(), "https://shop.example/"); lookleap.CodeOf(err) != aiuri.CodeAuthorityUnconfirmed {
			t.Errorf("got %v", err)
		}
	})
}
