package aiuri_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strings"
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
	const asked, places = 4_000, 1024 // of one bound
	other := func(w *world) aiuri.URI {
		w.net.Site("shop.example").File(documentPath, "application/json", documentOf("ai://shop.example/pay", "https://shop.example")).
			File("/jwks.json", "application/jwk-set+json", string(setText(jwk("1", ecKey()))))
		return parseAny("ai://shop.example/pay")
	}
	t.Run("O28/reject-more-calls-of-a-deaf-transport", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, line := newWorld(t), &deafTransport{deaf: "bank.example", until: make(chan struct{})}
			w.options.Native = line
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
			if line.calls.Load() != places || late.Load() != places || busy.Load() != asked-places {
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
		"tokens": func(g *gatewayWorld, wait func()) {
			g.bank.File(documentPath, "application/json", documentWith("ai://bank.example/pay", "https://bank.example", `{"auth":"oauth2"}`))
			source := aiuri.TokenFunc(func(context.Context, aiuri.Destination, []string) (string, error) { wait(); return "", nil })
			g.options.Authorizer = authorizer(func(*http.Request, *aiuri.Call) (*aiuri.Grant, error) {
				return &aiuri.Grant{User: "u", Scopes: []string{"pay"}, Tokens: source}, nil
			})
		},
		"registry": func(g *gatewayWorld, wait func()) {
			g.options.Discoverer = aiuri.NewDiscoverer(g.host, aiuri.DiscovererOptions{Registry: registryFunc(func(string) (string, error) { wait(); return "", nil })})
		},
	} {
		t.Run("O28/reject-deaf-"+name+"-of-a-gateway", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGatewayWorld(t)
				until, calls := make(chan struct{}), atomic.Int64{}
				set(g, func() { calls.Add(1); <-until })
				g.options.Audit, g.options.Timeout = nil, time.Minute
				handler := must(aiuri.NewGateway(g.host, g.options))
				target := payTarget
				if name == "registry" {
					target = "/gateway/name/pay"
				}
				statuses := make(map[int]int)
				for range 2000 {
					statuses[serveOnce(handler, "POST", target, "{}").Code]++
				}
				if n := calls.Load(); n > 1024 {
					t.Errorf("%d calls", n)
				}
				if statuses[503] == 0 || statuses[503]+statuses[504] != 2000 {
					t.Errorf("got %v", statuses)
				}
				close(until)
			})
		})
	}
}

// registryFunc answers by a function.
type registryFunc func(string) (string, error)

func (r registryFunc) AuthorityOrigin(_ context.Context, authority string) (string, error) {
	return r(authority)
}

// documentWith is a document of bank.example with a policy.
func documentWith(endpoint, origin, policy string) string {
	return strings.Replace(documentOf(endpoint, origin), "{", `{"policy":`+policy+`,`, 1)
}

// told is a token source that keeps what it is told.
type told struct{ of *[]aiuri.Destination }

func (s told) Token(_ context.Context, to aiuri.Destination, _ []string) (string, error) {
	*s.of = append(*s.of, to)
	return "t0ken", nil
}

func TestCredentialAuthorities(t *testing.T) {
	for _, c := range []struct {
		name, endpoint string
		allowed        []string
		code           lookleap.Code
	}{
		{"accept-name", "ai://bank.example/pay", []string{"bank.example"}, lookleap.CodeOK},
		{"accept-pattern", "ai://api.bank.example/pay", []string{"*.bank.example"}, lookleap.CodeOK},
		{"accept-port", "ai://bank.example:8443/pay", []string{"bank.example:8443"}, lookleap.CodeOK},
		{"reject-pattern-without-dot", "ai://evilbank.example/pay", []string{"*.bank.example", "bank.example"}, aiuri.CodeCredentialsNotAllowed},
		{"reject-none", "ai://bank.example/pay", nil, aiuri.CodeCredentialsNotAllowed},
		{"reject-other", "ai://evil.example/pay", []string{"bank.example"}, aiuri.CodeCredentialsNotAllowed},
		{"reject-port", "ai://bank.example:8443/pay", []string{"bank.example", "bank.example:443"}, aiuri.CodeCredentialsNotAllowed},
		{"reject-default-port", "ai://bank.example:443/pay", []string{"bank.example"}, aiuri.CodeCredentialsNotAllowed},
	} {
		u := parseAny(c.endpoint)
		host := u.Host()
		for policy, certificate := range map[string]bool{`{"auth":"oauth2"}`: false, `{"mtls":true}`: true} {
			t.Run("O11/"+c.name, func(t *testing.T) {
				w, line := newWorld(t), &recorder{}
				var to []aiuri.Destination
				w.options.Native, w.options.Tokens, w.options.ClientCertificate, w.options.Credentials = line, told{&to}, certificate, c.allowed
				site := w.net.Site(host).File(documentPath, "application/json", documentWith(c.endpoint, "https://"+host, policy))
				site.File("/jwks.json", "application/jwk-set+json", string(setText(jwk("1", ecKey()))))
				_, err := w.invoke(t, aiuri.Request{URI: u, Body: []byte("{}")})
				if lookleap.CodeOf(err) != c.code || (len(line.calls) == 1) != (err == nil) {
					t.Fatalf("got %v after %d calls", err, len(line.calls))
				}
				if asked := len(to) == 1; asked != (err == nil && !certificate) {
					t.Errorf("a token was asked for: %v", to)
				}
			})
		}
	}
	for name, entry := range map[string]string{
		"everything": "*", "every-subdomain": "*.", "suffix": "*.com", "suffix-of-two": "*.co.uk", "tenants": "*.github.io", "inner-pattern": "api.*.example",
		"two-patterns": "*.*.bank.example", "url": "https://bank.example", "path": "bank.example/pay", "query": "bank.example?x", "final-dot": "bank.example.", "empty": "",
		"user": "u@bank.example", "empty-port": "bank.example:", "bad-port": "bank.example:0", "blank": " bank.example", "a-label": "xn--zzzz.example", "star-without-dot": "*bank.example",
	} {
		t.Run("O11/reject-entry-"+name, func(t *testing.T) {
			g := newGatewayWorld(t)
			g.world.options.Credentials, g.options.Credentials = []string{entry}, []string{entry}
			if c, err := aiuri.NewClient(g.host, g.world.options); c != nil || lookleap.CodeOf(err) != aiuri.CodeBadConfiguration {
				t.Errorf("the client takes it: %v", err)
			}
			if h, err := aiuri.NewGateway(g.host, g.options); h != nil || lookleap.CodeOf(err) != aiuri.CodeBadConfiguration {
				t.Errorf("the gateway takes it: %v", err)
			}
		})
	}
}

// TestGatewayCredentials holds that a gateway sends a token only where the policy asks
// for it and the options allow it.
func TestGatewayCredentials(t *testing.T) {
	for _, c := range []struct {
		name, policy string
		allowed      []string
		status       int
		token        string
	}{
		{"accept-asked-and-allowed", `{"auth":"oauth2"}`, []string{"bank.example"}, 200, "t0ken"},
		{"accept-not-asked", `{}`, []string{"bank.example"}, 200, ""},
		{"reject-not-allowed", `{"auth":"oauth2"}`, nil, 403, ""},
	} {
		t.Run("O11/"+c.name, func(t *testing.T) {
			g := newGatewayWorld(t)
			g.bank.File(documentPath, "application/json", documentWith("ai://bank.example/pay", "https://bank.example", c.policy))
			var to []aiuri.Destination
			g.options.Credentials, g.options.ClientCertificate = c.allowed, true
			g.options.Authorizer = authorizer(func(*http.Request, *aiuri.Call) (*aiuri.Grant, error) {
				return &aiuri.Grant{User: "u", Scopes: []string{"pay"}, Tokens: told{&to}}, nil
			})
			w := g.serve(t, "POST", payTarget, "{}")
			if w.Code != c.status || (len(g.calls) == 1) != (c.status == 200) || len(g.calls) == 1 && g.calls[0].Token != c.token {
				t.Fatalf("got %d %s, %v", w.Code, w.Body, g.calls)
			}
			if (len(to) == 1) != (c.token != "") {
				t.Errorf("the token source was told %v", to)
			}
			if len(to) == 1 && (to[0].Authority() != "bank.example" || !to[0].Confirmed || to[0].Advertiser != "https://bank.example" || to[0].Policy.Auth != aiuri.AuthOAuth2) {
				t.Errorf("the token source was told %+v", to[0])
			}
		})
	}
	t.Run("O11/reject-token-source-that-fails", func(t *testing.T) {
		for _, source := range []aiuri.TokenSource{
			aiuri.TokenFunc(nil),
			aiuri.TokenFunc(func(context.Context, aiuri.Destination, []string) (string, error) { return "", nil }),
			aiuri.TokenFunc(func(context.Context, aiuri.Destination, []string) (string, error) { return "t", errors.New("no") }),
			aiuri.TokenFunc(func(context.Context, aiuri.Destination, []string) (string, error) { panic("no") }),
		} {
			g := newGatewayWorld(t)
			g.bank.File(documentPath, "application/json", documentWith("ai://bank.example/pay", "https://bank.example", `{"auth":"oauth2"}`))
			g.options.Authorizer = authorizer(func(*http.Request, *aiuri.Call) (*aiuri.Grant, error) {
				return &aiuri.Grant{User: "u", Scopes: []string{"pay"}, Tokens: source}, nil
			})
			if w := g.serve(t, "POST", payTarget, "{}"); w.Code != 502 || len(g.calls) != 0 || !strings.Contains(w.Body.String(), string(aiuri.CodeTokenUnavailable)) {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
			g.world.options.Tokens = source
			if _, err := g.invoke(t, pay); lookleap.CodeOf(err) != aiuri.CodeTokenUnavailable {
				t.Errorf("got %v", err)
			}
		}
	})
}

// TestUnconfirmed is about a page that advertises the endpoint of a registry name with
// keys and a policy of its own.
func TestUnconfirmed(t *testing.T) {
	evil := func(t *testing.T, policy string) (*world, *recorder, *[]aiuri.Destination) {
		w, line, to := newWorld(t), &recorder{}, new([]aiuri.Destination)
		w.options.Native, w.options.Tokens, w.options.ClientCertificate, w.options.Credentials = line, told{to}, true, []string{"bank"}
		site := w.net.Site("evil.example").File("/jwks.json", "application/jwk-set+json", string(setText(jwk("1", ecKey()))))
		site.File(documentPath, "application/json", documentWith("ai://bank/pay", "https://evil.example", policy))
		return w, line, to
	}
	request := aiuri.Request{Page: "https://evil.example/", Body: []byte(`{"name":"Ada"}`)}
	for _, policy := range []string{`{"auth":"oauth2"}`, `{"mtls":true}`, `{"auth":"oauth2","mtls":true}`} {
		t.Run("O16/reject-credentials-on-the-word-of-a-page", func(t *testing.T) {
			w, line, to := evil(t, policy)
			if _, err := w.invoke(t, request); lookleap.CodeOf(err) != aiuri.CodeAuthorityUnconfirmed || len(line.calls) != 0 || len(*to) != 0 {
				t.Errorf("got %v, %v, %v", err, line.calls, *to)
			}
		})
	}
	for name, endpoint := range map[string]string{"other-case": "ai://BANK/pay", "port": "ai://bank:443/pay", "dot": "ai://bank./pay",
		"subdomain": "ai://pay.bank/pay", "escaped": "ai://%62ank/pay"} {
		t.Run("O16/reject-credentials-for-"+name, func(t *testing.T) {
			w, line, to := evil(t, `{"auth":"oauth2","mtls":true}`)
			w.options.Credentials = []string{"bank", "*.bank.example"}
			w.net.Site("evil.example").File(documentPath, "application/json", documentWith(endpoint, "https://evil.example", `{"auth":"oauth2","mtls":true}`))
			if _, err := w.invoke(t, request); err == nil || len(line.calls) != 0 || len(*to) != 0 {
				t.Errorf("got %v, %v, %v", err, line.calls, *to)
			}
		})
	}
	for name, r := range map[string]aiuri.Request{"query": {URI: parseAny("ai://bank/pay?name=Ada")}, "path": {URI: parseAny("ai://bank/pay/Ada")},
		"method": {Method: "DELETE"}, "media-type": {MediaType: "text/ada"}} {
		t.Run("O16/reject-"+name+"-without-asking", func(t *testing.T) {
			w, line, _ := evil(t, `{}`)
			w.host.Prompter, w.options.Harmless = nil, func(*aiuri.Request) bool { return true }
			r.Page = request.Page
			if _, err := w.invoke(t, r); err == nil || len(line.calls) != 0 {
				t.Errorf("got %v, %v", err, line.calls)
			}
		})
	}
	t.Run("O16/reject-resumed-without-confirmation", func(t *testing.T) {
		w, line, to := evil(t, `{"auth":"oauth2"}`)
		w.bank.File(documentPath, "application/json", documentWith("ai://bank/pay", "https://bank.example", `{"auth":"oauth2"}`))
		confirmed := aiuri.DiscovererOptions{Static: map[string]string{"bank": "https://bank.example"}}
		w.options.Discoverer, w.options.UserKey = aiuri.NewDiscoverer(w.host, confirmed), make([]byte, 32)
		w.host.Prompter = prompter(func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
		})
		var pending *lookleap.PendingError
		if _, err := w.invoke(t, request); !errors.As(err, &pending) {
			t.Fatal(err)
		}
		w.options.Discoverer = aiuri.NewDiscoverer(w.host, aiuri.DiscovererOptions{}) // another process, without the map
		decision := must(allow(must(lookleap.ParsePlan(pending.State)).Request()))
		if _, err := must(aiuri.NewClient(w.host, w.options)).Resume(t.Context(), pending.State, decision); err == nil || len(line.calls) != 0 || len(*to) != 0 {
			t.Errorf("got %v, %v, %v", err, line.calls, *to)
		}
	})
	t.Run("O16/accept-confirmed-by-the-hosts-map", func(t *testing.T) {
		w, line, to := evil(t, `{"auth":"oauth2"}`)
		w.bank.File(documentPath, "application/json", documentWith("ai://bank/pay", "https://bank.example", `{"auth":"oauth2"}`))
		w.options.Discoverer = aiuri.NewDiscoverer(w.host, aiuri.DiscovererOptions{Static: map[string]string{"bank": "https://bank.example"}})
		if _, err := w.invoke(t, request); err != nil || len(line.calls) != 1 {
			t.Fatal(err)
		}
		if d := (*to)[0]; d.Advertiser != "https://evil.example" || !d.Confirmed || d.Authority() != "bank" {
			t.Errorf("the token source was told %+v", d)
		}
	})
	t.Run("O16/accept-body-when-the-user-agrees", func(t *testing.T) {
		w, line, _ := evil(t, `{}`)
		shown := ""
		w.host.Prompter = prompter(func(r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			shown = r.Summary
			return allow(r)
		})
		if _, err := w.invoke(t, request); err != nil || len(line.calls) != 1 || line.calls[0].Token != "" || !strings.Contains(shown, "https://evil.example advertises") {
			t.Errorf("got %v; %q was shown", err, shown)
		}
	})
	t.Run("O16/reject-body-without-asking", func(t *testing.T) {
		w, line, _ := evil(t, `{}`)
		w.host.Prompter, w.options.Harmless = nil, func(*aiuri.Request) bool { return true }
		for _, method := range []string{"", "GET"} {
			if _, err := w.invoke(t, aiuri.Request{Page: request.Page, Method: method, Body: request.Body}); lookleap.CodeOf(err) != lookleap.CodeConsentNoPrompter || len(line.calls) != 0 {
				t.Errorf("%s: got %v", method, err)
			}
		}
		if _, err := w.invoke(t, aiuri.Request{Page: request.Page}); err != nil {
			t.Errorf("a question without a body: %v", err)
		}
	})
}
