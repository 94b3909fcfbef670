package aiuri_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/lookleaptest"
)

// recorder is a native transport that keeps what it was asked to send.
type recorder struct{ calls []aiuri.Call }

func (r *recorder) Invoke(_ context.Context, c *aiuri.Call) (aiuri.SignedResult, error) {
	r.calls = append(r.calls, *c)
	return aiuri.SignResult([]byte(`{"paid":true}`), aiuri.SigningKey{ID: "1", Private: ecKey()}, aiuri.SignOptions{Detached: true})
}

// TestConsentBinding holds that what is sent is what the user agreed to.
func TestConsentBinding(t *testing.T) {
	t.Run("AIU-5-02/reject-change-while-the-user-thinks", func(t *testing.T) {
		w, line := newWorld(t), &recorder{}
		w.options.Native = line
		r := aiuri.Request{URI: pay.URI, Body: []byte(`{"amount":"10"}`), Scopes: []string{"pay"}}
		w.host.Prompter = prompter(func(q *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
			copy(r.Body, `{"amount":"99"}`)
			r.Scopes[0] = "all"
			return allow(q)
		})
		if _, err := w.invoke(t, r); err != nil {
			t.Fatal(err)
		}
		if c := line.calls[0]; string(c.Body) != `{"amount":"10"}` || c.Scopes[0] != "pay" {
			t.Errorf("sent %s for %s", c.Body, c.Scopes)
		}
	})
	t.Run("AIU-5-02/reject-change-by-harmless", func(t *testing.T) {
		w, line := newWorld(t), &recorder{}
		r := aiuri.Request{URI: pay.URI, Body: []byte("10"), Scopes: []string{"pay"}}
		w.options.Native, w.host.Prompter = line, nil
		w.options.Harmless = func(shown *aiuri.Request) bool {
			shown.Body[0], shown.Scopes[0], r.Body[0], r.Scopes[0] = '9', "all", '8', "all"
			return true
		}
		if _, err := w.invoke(t, r); err != nil || string(line.calls[0].Body) != "10" || line.calls[0].Scopes[0] != "pay" {
			t.Errorf("%v, sent %+v", err, line.calls)
		}
	})
	for name, c := range map[string]struct {
		document string
		code     lookleap.Code
	}{
		"accept-unchanged":      {documentOf("ai://bank.example/pay", "https://bank.example"), lookleap.CodeOK},
		"reject-demands-more":   {strings.Replace(documentOf("ai://bank.example/pay", "https://bank.example"), "{", `{"policy":{"mtls":true},`, 1), aiuri.CodePolicyUnsupported},
		"reject-moved-endpoint": {documentOf("ai://bank.example/other", "https://bank.example"), aiuri.CodeAuthorityUnconfirmed},
	} {
		t.Run("AIU-3.2-16/"+name+"-while-the-user-thinks", func(t *testing.T) {
			w, line := newWorld(t), &recorder{}
			w.net.Clock().Freeze()
			w.options.Native = line
			w.host.Prompter = prompter(func(q *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
				w.bank.File(documentPath, "application/json", c.document)
				w.net.Clock().Advance(23 * time.Hour)
				return allow(q)
			})
			if _, err := w.invoke(t, pay); lookleap.CodeOf(err) != c.code || (len(line.calls) == 1) != (c.code == lookleap.CodeOK) {
				t.Errorf("got %v after %d calls", err, len(line.calls))
			}
		})
	}
}

// TestAdvertisedBelow is about pages that advertise a path below the endpoint that
// the authority's document names.
func TestAdvertisedBelow(t *testing.T) {
	for _, c := range []struct {
		name, advertised string
		code             lookleap.Code
	}{
		{"accept-below", "ai://bank.example/pay/cards", lookleap.CodeOK},
		{"reject-beside", "ai://bank.example/payments", aiuri.CodeAuthorityUnconfirmed},
		{"reject-dots-below", "ai://bank.example/pay/..%2Fadmin", aiuri.CodeAuthorityUnconfirmed},
		{"reject-double-encoded-below", "ai://bank.example/pay/%252e%252e/admin", aiuri.CodeAuthorityUnconfirmed},
		{"reject-empty-segment-below", "ai://bank.example/pay//admin", aiuri.CodeAuthorityUnconfirmed},
	} {
		t.Run("AIU-3.1-21/"+c.name, func(t *testing.T) {
			w := newWorld(t)
			line := &recorder{}
			w.options.Native, w.options.Expect.Require = line, []string{"iss"}
			page(w.net.Site("shop.example"), c.advertised, "")
			var tokensFor []string
			w.options.Tokens = tokens{&tokensFor}
			w.options.Native = endpoint(func(call *aiuri.Call) (aiuri.SignedResult, error) {
				line.calls = append(line.calls, *call)
				claims := &aiuri.Claims{Issuer: "ai://bank.example/pay"} // as its document has it
				return aiuri.SignResult([]byte(`{}`), aiuri.SigningKey{ID: "1", Private: ecKey()}, aiuri.SignOptions{Claims: claims, Detached: true})
			})
			_, err := w.invoke(t, aiuri.Request{Page: "https://shop.example/"})
			if lookleap.CodeOf(err) != c.code || (len(line.calls) == 1) != (c.code == lookleap.CodeOK) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestTargets holds that only the DNS of the endpoint's own origin says where a
// native connection is made.
func TestTargets(t *testing.T) {
	for name, where := range map[string]string{"accept-own": "bank.example", "reject-diverted": "shop.example"} {
		t.Run("AIU-3.1-13/"+name, func(t *testing.T) {
			w, line := newWorld(t), &recorder{}
			w.options.Native = line
			w.options.Discoverer = aiuri.NewDiscoverer(w.host, aiuri.DiscovererOptions{DNS: true})
			page(w.net.Site(where), "ai://bank.example/pay", "")
			w.net.Name("_aiip._tcp."+where).SRV(0, 0, 443, "elsewhere.example.")
			if _, err := w.invoke(t, aiuri.Request{Page: "https://" + where + "/", Body: []byte("{}")}); err != nil {
				t.Fatal(err)
			}
			if got := line.calls[0].Targets; (len(got) == 1) != (where == "bank.example") {
				t.Errorf("got %v", got)
			}
		})
	}
	t.Run("AIU-3.1-13/accept-priority-and-weight", func(t *testing.T) {
		w, line := newWorld(t), &recorder{}
		w.options.Native, w.options.Harmless = line, func(*aiuri.Request) bool { return true }
		w.options.Discoverer = aiuri.NewDiscoverer(w.host, aiuri.DiscovererOptions{DNS: true})
		page(w.net.Site("bank.example"), "ai://bank.example/pay", "")
		name := w.net.Name("_aiip._tcp.bank.example").SRV(2, 50, 443, "last.example.").SRV(1, 0, 443, "zero.example.")
		name.SRV(1, 10, 443, "light.example.").SRV(1, 90, 443, "heavy.example.")
		client, first := must(aiuri.NewClient(w.host, w.options)), make(map[string]int)
		for range 300 {
			if _, err := client.Invoke(t.Context(), aiuri.Request{Page: "https://bank.example/"}); err != nil {
				t.Fatal(err)
			}
			got := line.calls[len(line.calls)-1].Targets
			if len(got) != 4 || got[3].Host != "last.example" {
				t.Fatalf("got %v", got)
			}
			first[got[0].Host]++
		}
		if first["heavy.example"] < 230 || first["light.example"] < 8 || first["zero.example"] > 8 {
			t.Errorf("the first targets are %v", first)
		}
	})
	t.Run("AIU-3.1-13/reject-name-of-an-insecure-target", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		page(net.Site("bank.example"), "ai://bank/x", "")
		net.Name("_aiip._tcp.bank.example").SRV(0, 0, 443, "elsewhere.example.").DNSSEC(lookleap.Insecure)
		d, err := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{DNS: true}).Discover(t.Context(), "https://bank.example")
		if err != nil || len(d.Targets) != 1 || !slices.Equal(d.Targets[0].Names, []string{"bank.example"}) {
			t.Errorf("got %+v, %v", d, err)
		}
	})
}

// TestCredentialsGoNowhereElse holds that a page which advertises a registry name with
// a document and a DNS of its own does not get what was meant for that name.
func TestCredentialsGoNowhereElse(t *testing.T) {
	for name, c := range map[string]struct {
		policy string
		code   lookleap.Code
	}{"accept-nothing-to-lose": {`{}`, lookleap.CodeOK}, "reject-token": {`{"auth":"oauth2"}`, aiuri.CodeAuthorityUnconfirmed}, "reject-certificate": {`{"mtls":true}`, aiuri.CodeAuthorityUnconfirmed}} {
		t.Run("AIU-3.1-20/"+name, func(t *testing.T) {
			w, line := newWorld(t), &recorder{}
			w.options.Native, w.options.ClientCertificate, w.options.Tokens, w.options.Credentials = line, true, tokens{new([]string)}, []string{"bank"}
			w.options.Discoverer = aiuri.NewDiscoverer(w.host, aiuri.DiscovererOptions{DNS: true})
			shop := w.net.Site("shop.example").File("/jwks.json", "application/jwk-set+json", string(setText(jwk("1", ecKey()))))
			shop.File(documentPath, "application/json", strings.Replace(documentOf("ai://bank/pay", "https://shop.example"), "{", `{"policy":`+c.policy+`,`, 1))
			w.net.Name("_aiip._tcp.shop.example").SRV(0, 0, 443, "elsewhere.example.")
			_, err := w.invoke(t, aiuri.Request{Page: "https://shop.example/", Body: []byte("{}")})
			if lookleap.CodeOf(err) != c.code || (len(line.calls) == 1) != (err == nil) {
				t.Fatalf("got %v after %d calls", err, len(line.calls))
			}
			if err == nil && len(line.calls[0].Targets) != 1 {
				t.Errorf("got %v", line.calls[0].Targets)
			}
		})
	}
}
