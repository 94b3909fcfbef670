package aiuri_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/lookleaptest"
)

// world is a bank with a document and keys, and a gateway that answers with a
// signed receipt.
type world struct {
	net           *lookleaptest.Internet
	host          *lookleap.Host
	bank, gateway *lookleaptest.Site
	options       aiuri.ClientOptions
	answer        func(http.ResponseWriter, *http.Request)
}

type prompter func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error)

func (p prompter) PromptConsent(_ context.Context, r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return p(r)
}

func allow(r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return lookleap.ConsentDecision{Digest: r.Digest, Approved: []string{r.Items[0].ID}}, nil
}

func newWorld(t *testing.T) *world {
	w := &world{net: lookleaptest.ForTest(t)}
	w.host = w.net.StubHost()
	w.host.Prompter = prompter(allow)
	w.bank = w.net.Site("bank.example").File(documentPath, "application/json", documentOf("ai://bank.example/pay", "https://bank.example"))
	w.keys(jwk("1", ecKey()))
	w.gateway = w.net.Site("ai.example")
	w.answer = receipt("1", true)
	w.gateway.HandleFunc("/gateway/*", func(rw http.ResponseWriter, r *http.Request) { w.answer(rw, r) })
	w.options.Gateways = []string{"https://ai.example/gateway"}
	w.options.Credentials = []string{"bank.example"}
	return w
}

func (w *world) keys(keys ...map[string]any) {
	w.bank.File("/jwks.json", "application/jwk-set+json", string(setText(keys...)))
}

// receipt answers with a body signed by the key with that id: 1 is ecKey.
func receipt(kid string, detached bool) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		key := ecKey()
		if kid == "2" {
			key = otherKey()
		}
		r := must(aiuri.SignResult([]byte(`{"paid":true}`), aiuri.SigningKey{ID: kid, Private: key}, aiuri.SignOptions{Detached: detached}))
		if !detached {
			w.Header().Set("Content-Type", "application/jose")
			_, _ = io.WriteString(w, r.JWS)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set(aiuri.ProvenanceHeader, r.JWS)
		_, _ = w.Write(r.Body)
	}
}

var pay = aiuri.Request{URI: parseAny("ai://bank.example/pay?amount=10#f"), Body: []byte("{}"), MediaType: "application/json", Scopes: []string{"pay"}}

func (w *world) invoke(t *testing.T, r aiuri.Request) (*aiuri.Verified, error) {
	t.Helper()
	c, err := aiuri.NewClient(w.host, w.options)
	if err != nil {
		t.Fatal(err)
	}
	return c.Invoke(t.Context(), r)
}

type tokens struct{ asked *[]string }

func (k tokens) Token(_ context.Context, _ aiuri.Destination, scopes []string) (string, error) {
	*k.asked = append(*k.asked, strings.Join(scopes, " "))
	return "t0ken", nil
}

func TestInvoke(t *testing.T) {
	policy := func(p string) func(*world) {
		return func(w *world) {
			w.bank.File(documentPath, "application/json", strings.Replace(documentOf("ai://bank.example/pay", "https://bank.example"), "{", `{"policy":`+p+`,`, 1))
		}
	}
	for id, set := range map[string]func(*world){
		"AIU-0-01/accept-discover-invoke-verify": func(*world) {},
		"AIU-1-02/accept-gateway":                func(*world) {},
		"AIU-3-01/accept-gateway-base":           func(*world) {},
		"AIU-3.2-12/accept-signed":               func(*world) {},
		"AIU-1-02/accept-native":                 func(w *world) { w.options.Native, w.options.Gateways = native{w.host, t}, nil },
		"AIU-3.3-02/accept-listed-gateway":       func(*world) {},
		"AIU-5-01/accept-verified-endpoint":      func(*world) {},
		"AIU-5-02/accept-allowed-by-the-user":    func(*world) {},
		"AIU-3.4-08/accept-embedded":             func(w *world) { w.answer = receipt("1", false) },
		"AIU-3.2-11/accept-token":                func(w *world) { policy(`{"auth":"oauth2"}`)(w); w.options.Tokens = tokens{new([]string)} },
		"AIU-5-02/accept-declared-harmless":      func(w *world) { w.host.Prompter = nil; w.options.Harmless = func(*aiuri.Request) bool { return true } },
	} {
		t.Run(id, func(t *testing.T) {
			w := newWorld(t)
			set(w)
			v, err := w.invoke(t, pay)
			if err != nil {
				t.Fatal(err)
			}
			if string(v.Payload) != `{"paid":true}` {
				t.Errorf("got %q", v.Payload)
			}
		})
	}
	t.Run("AIU-1-03/accept-native-is-plugged-in", func(t *testing.T) {
		w := newWorld(t)
		w.options.Native = native{w.host, t} // next to a gateway, which is not used then
		if v, err := w.invoke(t, pay); err != nil || string(v.Payload) != `{"paid":true}` || len(w.net.Journal().Requests("ai.example")) != 0 {
			t.Errorf("got %v, %v, %v", v, err, w.net.Journal().Requests("ai.example"))
		}
	})
	t.Run("AIU-6-05/accept-only-what-was-asked", func(t *testing.T) {
		w := newWorld(t)
		var asked []string
		policy(`{"auth":"oauth2"}`)(w)
		w.options.Tokens = tokens{&asked}
		if _, err := w.invoke(t, pay); err != nil {
			t.Fatal(err)
		}
		if len(asked) != 1 || asked[0] != "pay" {
			t.Errorf("the scopes are %q", asked)
		}
	})
	for _, c := range []struct {
		id   string
		set  func(*world)
		code lookleap.Code
		sent bool // whether the gateway may have seen anything
	}{
		{"AIU-1-02/reject-nothing-configured", func(w *world) { w.options.Gateways = nil }, aiuri.CodeNoResolver, false},
		{"AIU-3.1-18/reject-no-keys", func(w *world) {
			w.bank.File(documentPath, "application/json", `{"endpoint":"ai://bank.example/pay","scopes":["pay"]}`)
		}, aiuri.CodeNoTrustAnchor, false},
		{"AIU-5-01/reject-no-keys", func(w *world) {
			w.bank.File(documentPath, "application/json", `{"endpoint":"ai://bank.example/pay","scopes":["pay"]}`)
		}, aiuri.CodeNoTrustAnchor, false},
		{"AIU-3.2-11/reject-oauth2-without-tokens", policy(`{"auth":"oauth2"}`), aiuri.CodePolicyUnsupported, false},
		{"AIU-3.2-11/reject-mtls-without-certificate", policy(`{"mtls":true}`), aiuri.CodePolicyUnsupported, false},
		{"AIU-3.2-11/reject-mtls-not-shown", func(w *world) { policy(`{"mtls":true}`)(w); w.options.ClientCertificate = true }, lookleap.CodeClientCert, false},
		{"AIU-3.2-14/reject-tls-1.2", func(w *world) { w.gateway.MaxTLS(tls.VersionTLS12) }, lookleap.CodeTLSTooOld, false},
		{"AIU-5-01/reject-wrong-certificate", func(w *world) { w.gateway.Certificate(lookleaptest.CertificateWrongName) }, lookleap.CodeTLS, false},
		{"AIU-5-01/reject-fetcher-without-report", func(w *world) { w.host.Fetcher = mute{w.net.Unguarded()} }, aiuri.CodeUnauthenticated, false},
		{"AIU-5-02/reject-without-prompter", func(w *world) { w.host.Prompter = nil }, lookleap.CodeConsentNoPrompter, false},
		{"AIU-5-02/reject-refused", func(w *world) {
			w.host.Prompter = prompter(func(r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				return lookleap.ConsentDecision{Digest: r.Digest}, nil
			})
		}, lookleap.CodeConsentRefused, false},
		{"AIU-5-02/reject-harmless-panics", func(w *world) { w.host.Prompter = nil; w.options.Harmless = func(*aiuri.Request) bool { panic("x") } }, lookleap.CodeConsentNoPrompter, false},
		{"AIU-3.4-02/reject-unsigned-answer", func(w *world) {
			w.answer = func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, `{"paid":true}`) }
		}, aiuri.CodeRejectedUnsigned, true},
		{"AIU-3.1-10/reject-unsigned-although-allowed", func(w *world) {
			policy(`{"requireSignedResults":false}`)(w)
			w.answer = func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, `{"paid":true}`) }
		}, aiuri.CodeRejectedUnsigned, true},
		{"L10/reject-unsigned-although-allowed", func(w *world) {
			policy(`{"requireSignedResults":false}`)(w)
			w.answer = func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, `{"paid":true}`) }
		}, aiuri.CodeRejectedUnsigned, true},
		{"AIU-3.2-12/reject-forged", func(w *world) {
			w.answer = func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Add(aiuri.ProvenanceHeader, es256(claims(""), `{"paid":false}`, true))
				_, _ = io.WriteString(rw, `{"paid":true}`)
			}
		}, aiuri.CodeRejectedSignature, true},
		{"AIU-3.2-12/reject-two-signatures", func(w *world) {
			w.answer = func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Add(aiuri.ProvenanceHeader, "x")
				receipt("1", true)(headerAdder{rw}, r)
			}
		}, aiuri.CodeRejectedUnsigned, true},
		{"AIU-3.2-12/reject-key-server-down", func(w *world) { w.bank.Status("/jwks.json", 503) }, lookleap.CodeBadStatus, true},
		{"AIU-3.1-12/reject-keys-elsewhere", func(w *world) { w.bank.Redirect("/jwks.json", "https://ai.example/keys") }, lookleap.CodeRedirectForbidden, true},
		{"AIU-3.2-12/reject-endpoint-failed", func(w *world) {
			w.answer = func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "paid", 500) }
		}, aiuri.CodeEndpointFailed, true},
		{"AIU-3.2-16/reject-redirect", func(w *world) {
			w.answer = func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, "http://ai.example/", http.StatusTemporaryRedirect)
			}
		}, aiuri.CodeEndpointFailed, true},
	} {
		t.Run(c.id, func(t *testing.T) {
			w := newWorld(t)
			c.set(w)
			v, err := w.invoke(t, pay)
			if v != nil || lookleap.CodeOf(err) != c.code {
				t.Fatalf("got %v, %v; want %s", v, err, c.code)
			}
			if seen := w.net.Journal().Requests("ai.example"); !c.sent && len(seen) != 0 {
				t.Errorf("the gateway saw %v", seen)
			}
			if shown := err.Error(); strings.Contains(shown, "paid") || strings.Contains(shown, "amount") {
				t.Errorf("the error shows too much: %v", err)
			}
		})
	}
	for id, c := range map[string]struct {
		status  int
		problem string
		want    string
	}{
		"accept-code":          {502, `{"status":502,"code":"rejected-unsigned","detail":"paid"}`, "the gateway returned HTTP status 502: " + aiuri.CodeRejectedUnsigned.Title()},
		"accept-code-of-a-400": {400, `{"code":"ambiguous"}`, "the gateway returned HTTP status 400: " + aiuri.CodeAmbiguous.Title()},
		"reject-unknown-code":  {502, `{"code":"paid"}`, "the gateway returned HTTP status 502"},
		"reject-other-type":    {502, `{"code":502}`, "the gateway returned HTTP status 502"},
		"reject-large-problem": {502, `{"code":"rejected-unsigned","x":"` + strings.Repeat("x", 4<<10) + `"}`, "the gateway returned HTTP status 502"},
	} {
		t.Run("AIU-3.2-07/"+id+"-of-the-gateway", func(t *testing.T) {
			w := newWorld(t)
			w.answer = func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Content-Type", "application/problem+json")
				rw.WriteHeader(c.status)
				_, _ = io.WriteString(rw, c.problem)
			}
			_, err := w.invoke(t, pay)
			var no *lookleap.VerifyError
			if !errors.As(err, &no) || no.Verdict.Code != aiuri.CodeEndpointFailed || no.Verdict.Summary != c.want {
				t.Errorf("got %v", err)
			}
		})
	}
	for name, c := range map[string]struct {
		body []byte
		want string
	}{
		"text":       {[]byte(`{"to":"shop"}`), `{"to":"shop"}`},
		"large-text": {[]byte(strings.Repeat("ü", 4<<10)), strings.Repeat("ü", 2<<10) + "… (8192 bytes in all)"},
		"binary":     {[]byte{0xff}, "1 bytes of application/json, which is not text"},
	} {
		t.Run("AIU-5-02/accept-user-sees-"+name, func(t *testing.T) {
			w := newWorld(t)
			var shown []lookleap.RemoteText
			w.host.Prompter = prompter(func(r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				shown = r.Items[0].Remote
				return allow(r)
			})
			r := pay
			r.Body = c.body
			if _, err := w.invoke(t, r); err != nil || len(shown) != 2 || shown[1].Text != c.want {
				t.Errorf("got %v, %v", shown, err)
			}
		})
	}
	for name, body := range map[string]string{
		"binary": strings.Repeat("\xff\x00x\x80", 4<<10), "text-and-binary": strings.Repeat("pay 10 ", 100) + strings.Repeat("\xfe", 8<<10), "text": "x" + strings.Repeat("\u00fc", 4<<10),
	} {
		t.Run("O08/accept-exactly-what-is-said-of-"+name, func(t *testing.T) {
			w := newWorld(t)
			var asked *lookleap.ConsentRequest
			w.host.Prompter = prompter(func(r *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				asked = r
				return allow(r)
			})
			r := pay
			r.Body = []byte(body)
			if _, err := w.invoke(t, r); err != nil {
				t.Fatal(err)
			}
			v := asked.Items[0].Values[1]
			shown := v.Text + string(v.Data)
			if !strings.HasPrefix(body, shown) || len(shown) < lookleap.MaxShown-1 || v.Size != len(body) || v.Digest != lookleap.Digest(r.Body) {
				t.Errorf("%d of %d bytes in %q", len(shown), v.Size, shown)
			}
			if want := fmt.Sprintf("of which the first %d are shown", len(shown)); !strings.Contains(asked.String(), want) {
				t.Errorf("%q is missing in %s", want, asked)
			}
		})
	}
	for id, r := range map[string]aiuri.Request{
		"AIU-6-05/reject-more-than-the-document":   {URI: pay.URI, Scopes: []string{"admin"}},
		"AIU-3.1-08/reject-more-than-the-document": {URI: pay.URI, Scopes: []string{"pay", "admin"}},
	} {
		t.Run(id, func(t *testing.T) {
			if v, err := newWorld(t).invoke(t, r); v != nil || lookleap.CodeOf(err) != aiuri.CodeScope {
				t.Errorf("got %v, %v", v, err)
			}
		})
	}
	t.Run("AIU-3.1-18/reject-no-document", func(t *testing.T) {
		w := newWorld(t)
		page(w.net.Site("shop.example"), "ai://bank/pay", "")
		if v, err := w.invoke(t, aiuri.Request{Page: "https://shop.example/"}); v != nil || lookleap.CodeOf(err) != aiuri.CodeNoTrustAnchor || len(w.net.Journal().Requests("ai.example")) != 0 {
			t.Errorf("got %v, %v", v, err)
		}
	})
	t.Run("AIU-3.3-02/reject-untrusted-gateway", func(t *testing.T) {
		r := pay
		r.Gateway = "https://evil.example/gateway"
		if v, err := newWorld(t).invoke(t, r); v != nil || lookleap.CodeOf(err) != aiuri.CodeUntrustedGateway {
			t.Errorf("got %v, %v", v, err)
		}
	})
	t.Run("AIU-3.1-20/reject-other-endpoint-than-advertised", func(t *testing.T) {
		w := newWorld(t)
		page(w.net.Site("shop.example"), "ai://bank.example/pay", "")
		r := aiuri.Request{Page: "https://shop.example/", URI: parse(t, "ai://bank.example/other")}
		if v, err := w.invoke(t, r); v != nil || lookleap.CodeOf(err) != aiuri.CodeAuthorityUnconfirmed {
			t.Errorf("got %v, %v", v, err)
		}
	})
	t.Run("AIU-2-12/reject-fragment-sent", func(t *testing.T) {
		w := newWorld(t)
		if _, err := w.invoke(t, pay); err != nil {
			t.Fatal(err)
		}
		if got := w.net.Journal().Paths("ai.example"); len(got) != 1 || got[0] != "POST /gateway/bank.example/pay?amount=10" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("AIU-6-01/accept-native-preferred", func(t *testing.T) {
		w := newWorld(t)
		w.options.Native = native{w.host, t}
		if _, err := w.invoke(t, pay); err != nil {
			t.Fatal(err)
		}
		if seen := w.net.Journal().Requests("ai.example"); len(seen) != 0 {
			t.Errorf("the gateway saw %v", seen)
		}
	})
	t.Run("AIU-3-02/accept-discover-and-invoke", func(t *testing.T) {
		w := newWorld(t)
		page(w.net.Site("shop.example"), "ai://bank.example/pay", "")
		if v, err := w.invoke(t, aiuri.Request{Page: "https://shop.example/", Body: []byte("{}")}); err != nil || v == nil {
			t.Errorf("got %v", err)
		}
	})
}

// native is a transport of its own that signs as the bank does.
type native struct {
	host *lookleap.Host
	t    *testing.T
}

func (n native) Invoke(context.Context, *aiuri.Call) (aiuri.SignedResult, error) {
	return aiuri.SignResult([]byte(`{"paid":true}`), aiuri.SigningKey{ID: "1", Private: ecKey()}, aiuri.SignOptions{})
}

// mute hides its connections.
type mute struct{ http.RoundTripper }

func (m mute) RoundTrip(r *http.Request) (*http.Response, error) {
	return m.RoundTripper.RoundTrip(r.Clone(context.Background()))
}

// headerAdder keeps the header that is there already.
type headerAdder struct{ http.ResponseWriter }

func (h headerAdder) WriteHeader(int) {}
func (h headerAdder) Write(b []byte) (int, error) {
	h.Header()[http.CanonicalHeaderKey(aiuri.ProvenanceHeader)] = append(h.Header().Values(aiuri.ProvenanceHeader), "y")
	return h.ResponseWriter.Write(b)
}

// TestRequestLimits holds that a request over its limits is refused before anybody is
// asked anything, and that one at its limits goes all the way.
func TestRequestLimits(t *testing.T) {
	const limit = 64 << 10
	world := func(t *testing.T) (*world, *aiuri.Client) {
		w := newWorld(t)
		w.options.MaxBody = limit
		w.host.Prompter = prompter(func(*lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
		})
		return w, must(aiuri.NewClient(w.host, w.options))
	}
	for name, r := range map[string]aiuri.Request{
		"body":       {URI: pay.URI, Body: make([]byte, limit+1)},
		"media-type": {URI: pay.URI, Body: []byte("{}"), MediaType: strings.Repeat("x", limit)},
		"method":     {URI: pay.URI, Method: strings.Repeat("X", limit)},
		"scopes":     {URI: pay.URI, Scopes: slices.Repeat([]string{"pay"}, limit)},
	} {
		t.Run("AIU-5-02/reject-too-large-"+name, func(t *testing.T) {
			w, client := world(t)
			if v, err := client.Invoke(t.Context(), r); v != nil || lookleap.CodeOf(err) != lookleap.CodeTooLarge {
				t.Errorf("got %v, %v", v, err)
			}
			if n := len(w.net.Journal().Paths("bank.example")); n != 0 {
				t.Errorf("%d exchanges", n)
			}
		})
	}
	t.Run("AIU-5-02/accept-as-large-as-may-be", func(t *testing.T) {
		_, client := world(t)
		_, err := client.Invoke(t.Context(), aiuri.Request{URI: pay.URI, Body: []byte(strings.Repeat("\x00", limit))})
		var pending *lookleap.PendingError
		if !errors.As(err, &pending) {
			t.Fatal(err)
		}
		decision, _ := allow(pending.Request)
		if v, err := client.Resume(t.Context(), pending.State, decision); err != nil || v == nil {
			t.Error(err)
		}
	})
}

// TestExchanges counts what a payment costs at a page that advertises in every way.
func TestExchanges(t *testing.T) {
	for name, dns := range map[string]bool{"without-dns": false, "with-dns": true} {
		t.Run("AIU-3.1-17/accept-each-once-"+name, func(t *testing.T) {
			w := newWorld(t)
			page(w.bank, "ai://bank.example/pay", "ai://bank.example/pay")
			w.net.Name("_aiip.bank.example").TXT("endpoint=ai://bank.example/pay")
			w.net.Name("_aiip._tcp.bank.example").SRV(0, 0, 443, "bank.example.")
			w.options.Discoverer = aiuri.NewDiscoverer(w.host, aiuri.DiscovererOptions{DNS: dns})
			client := must(aiuri.NewClient(w.host, w.options))
			for range 3 {
				if _, err := client.Invoke(t.Context(), aiuri.Request{Page: "https://bank.example/", Body: []byte("{}")}); err != nil {
					t.Fatal(err)
				}
			}
			got := w.net.Journal().Paths("bank.example")
			slices.Sort(got)
			if want := []string{"GET /", "GET " + documentPath, "GET /jwks.json"}; !slices.Equal(got, want) {
				t.Errorf("got %v", got)
			}
			asked := 0
			for _, q := range w.net.Journal().Queries() {
				if strings.HasPrefix(q.Name, "_aiip.") {
					asked++
				}
			}
			if asked > 2 || (asked > 0) != dns {
				t.Errorf("the DNS was asked %d times", asked)
			}
		})
	}
}
