package policy_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/contrib/policy"
	"github.com/lookleap/lookleap/lookleaptest"
)

// parsed returns the policies in some files; "bad" is a file that cannot be read.
func parsed(t *testing.T, bodies ...string) (all []*policy.Policy) {
	t.Helper()
	for _, body := range bodies {
		p, err := policy.Parse("p", []byte(head+body+`}`))
		if (err != nil) != (body == "bad") {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// TestTrustEffect verifies servers of each tier under policies, with a real verifier.
func TestTrustEffect(t *testing.T) {
	net := lookleaptest.NewInternet()
	defer net.Close()
	net.Name("_anml.brand.example").TXT("v=anml1;manifest=https://brand.example/trust")
	net.Site("brand.example").File("/trust", anmltrust.ManifestMediaType, `{
		"version": "1.0", "site": "brand.example", "issued": "2026-01-01T00:00:00Z", "expires": "2099-01-01T00:00:00Z",
		"authorized-domains": [{"domain": "shop.example", "tier": 1, "scope": ["body"]}, {"domain": "partner.example", "tier": 2, "scope": ["body", "interact"]}]}`)
	const display, full, self = "https://shop.example/x", "https://partner.example/x", "https://brand.example/x"
	for name, c := range map[string]struct {
		policies []string
		refused  []string
		accepted []string
	}{
		"none":             {[]string{``}, nil, []string{display, full, self}},
		"display":          {[]string{`,"anmlTrust":{"minTier":"display"}`}, nil, []string{display, full, self}},
		"full":             {[]string{`,"anmlTrust":{"minTier":"full"}`}, []string{display}, []string{full, self}},
		"self":             {[]string{`,"anmlTrust":{"minTier":"self"}`}, []string{display, full}, []string{self}},
		"stricter-first":   {[]string{`,"anmlTrust":{"minTier":"full"}`, `,"anmlTrust":{"minTier":"display"}`}, []string{display}, []string{full}},
		"stricter-second":  {[]string{`,"anmlTrust":{"minTier":"display"}`, `,"anmlTrust":{"minTier":"full"}`}, []string{display}, []string{full}},
		"cannot-be-loosed": {[]string{`,"anmlTrust":{"minTier":"self"}`, ``}, []string{display, full}, []string{self}},
		"unreadable":       {[]string{`bad`}, []string{display, full}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var o anmltrust.Rules
			for _, p := range parsed(t, c.policies...) {
				o = p.Trust(o)
			}
			v := anmltrust.NewVerifier(net.Host(), o)
			for range 2 { // the second answer is remembered
				for _, url := range c.refused {
					if a, err := v.Verify(t.Context(), anmltrust.Claim{URL: url, Site: "brand.example"}); a != nil || lookleap.CodeOf(err) != anmltrust.CodeTierTooLow {
						t.Errorf("%s: %v", url, err)
					}
				}
				for _, url := range c.accepted {
					if _, err := v.Verify(t.Context(), anmltrust.Claim{URL: url, Site: "brand.example"}); err != nil {
						t.Errorf("%s: %v", url, err)
					}
				}
			}
		})
	}
}

// TestToolsEffect calls tools under policies, with a real gate whose own rules let everything pass.
func TestToolsEffect(t *testing.T) {
	for name, c := range map[string]struct {
		policies []string
		want     map[string]gate.Verb
	}{
		"none":          {[]string{``}, map[string]gate.Verb{"read_file": gate.Pass, "pay": gate.Pass}},
		"allow":         {[]string{`,"tools":{"allow":["read_*"]}`}, map[string]gate.Verb{"read_file": gate.Pass, "pay": gate.Refuse}},
		"allow-nothing": {[]string{`,"tools":{"allow":[]}`}, map[string]gate.Verb{"read_file": gate.Refuse}},
		"refuse":        {[]string{`,"tools":{"refuse":["pay"],"ask":["pay"]}`}, map[string]gate.Verb{"read_file": gate.Pass, "pay": gate.Refuse}},
		"ask":           {[]string{`,"tools":{"ask":["*"]}`}, map[string]gate.Verb{"read_file": gate.Ask, "pay": gate.Ask}},
		"two-files":     {[]string{`,"tools":{"ask":["pay"]}`, `,"tools":{"refuse":["read_*"]}`}, map[string]gate.Verb{"read_file": gate.Refuse, "pay": gate.Ask}},
		"not-loosened":  {[]string{`,"tools":{"refuse":["pay"]}`, `,"tools":{"allow":["pay"]}`}, map[string]gate.Verb{"pay": gate.Refuse}},
		"unreadable":    {[]string{`bad`}, map[string]gate.Verb{"read_file": gate.Refuse}},
	} {
		t.Run(name, func(t *testing.T) {
			o := gate.Options{Rules: []gate.Rule{{Verb: gate.Pass}}}
			for _, p := range parsed(t, c.policies...) {
				o = p.Tools(o)
			}
			g := gate.New(&lookleap.Host{Prompter: lookleap.SuspendingPrompter{}}, o)
			for tool, want := range c.want {
				ran := false
				gated, err := g.Tool(gate.Tool{Name: tool, Run: func(context.Context, gate.Call) ([]byte, error) { ran = true; return nil, nil }})
				if err != nil {
					t.Fatal(err)
				}
				_, err = gated.Call(t.Context(), nil)
				got := gate.Pass
				switch {
				case errors.Is(err, lookleap.ErrConsentPending):
					got = gate.Ask
				case errors.Is(err, lookleap.ErrDenied):
					got = gate.Refuse
				}
				if got != want || ran != (got == gate.Pass) {
					t.Errorf("%s: %s, %v", tool, got, err)
				}
			}
		})
	}
}

// bank is an endpoint that counts its calls.
type bank struct {
	net   *lookleaptest.Internet
	key   aiuri.SigningKey
	calls int
}

func (b *bank) Invoke(_ context.Context, c *aiuri.Call) (aiuri.SignedResult, error) {
	b.calls++
	return aiuri.SignResult([]byte(`{}`), b.key, aiuri.SignOptions{Claims: &aiuri.Claims{Issuer: "ai://bank.example/", Issued: b.net.Clock().Now()}})
}

// TestEndpointEffect calls AI endpoints under policies, with a real client.
func TestEndpointEffect(t *testing.T) {
	b := &bank{net: lookleaptest.NewInternet()}
	defer b.net.Close()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b.key = aiuri.SigningKey{ID: "k", Private: private}
	ring, err := aiuri.NewKeyRing(b.key, aiuri.KeyRingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	endpoint, err := aiuri.Parse("ai://bank.example/")
	if err != nil {
		t.Fatal(err)
	}
	for _, site := range []string{"bank.example", "page.example"} {
		document, err := aiuri.NewDescriptorHandler("https://"+site, &aiuri.Descriptor{Endpoint: endpoint, JWKS: "https://" + site + "/keys", Scopes: []string{"pay"}, Policy: aiuri.EndpointPolicy{RequireSignedResults: true}})
		if err != nil {
			t.Fatal(err)
		}
		b.net.Site(site).Handle("/.well-known/aiip", document).Handle("/keys", aiuri.NewKeyRingHandler(ring))
	}
	const mine, other = `,"aiuri":{"authorities":["bank.example","*.shop.example"]}`, `,"aiuri":{"authorities":["shop.example"]}`
	for name, c := range map[string]struct {
		policies []string
		request  aiuri.Request
		want     lookleap.Code
	}{
		"no-policy":      {[]string{``}, aiuri.Request{URI: endpoint}, lookleap.CodeOK},
		"allowed":        {[]string{mine}, aiuri.Request{URI: endpoint}, lookleap.CodeOK},
		"other":          {[]string{other}, aiuri.Request{URI: endpoint}, aiuri.CodeAuthorityNotAllowed},
		"other-by-page":  {[]string{other}, aiuri.Request{Page: "https://page.example/"}, aiuri.CodeAuthorityNotAllowed},
		"both-decide":    {[]string{mine, other}, aiuri.Request{URI: endpoint}, aiuri.CodeAuthorityNotAllowed},
		"either-order":   {[]string{other, mine}, aiuri.Request{URI: endpoint}, aiuri.CodeAuthorityNotAllowed},
		"no-one":         {[]string{`,"aiuri":{"authorities":[]}`}, aiuri.Request{URI: endpoint}, aiuri.CodeAuthorityNotAllowed},
		"unreadable":     {[]string{`bad`}, aiuri.Request{URI: endpoint}, aiuri.CodeAuthorityNotAllowed},
		"must-be-bound":  {[]string{`,"aiuri":{"requireBinding":true}`}, aiuri.Request{URI: endpoint}, aiuri.CodeRejectedPolicy},
		"bound-by-other": {[]string{mine, `,"aiuri":{"requireBinding":true}`}, aiuri.Request{URI: endpoint}, aiuri.CodeRejectedPolicy},
	} {
		t.Run(name, func(t *testing.T) {
			b.calls = 0
			o := aiuri.ClientOptions{Native: b}
			for _, p := range parsed(t, c.policies...) {
				o = p.Endpoints(o)
			}
			host := b.net.Host()
			host.Prompter = lookleaptest.NewPrompter(t, lookleaptest.Approve())
			client, err := aiuri.NewClient(host, o)
			if err != nil {
				t.Fatal(err)
			}
			c.request.Scopes = []string{"pay"}
			_, err = client.Invoke(t.Context(), c.request)
			if got := lookleap.CodeOf(err); got != c.want && (err != nil || c.want != lookleap.CodeOK) {
				t.Errorf("%v", err)
			}
			if c.want == aiuri.CodeAuthorityNotAllowed && b.calls != 0 {
				t.Error("the endpoint was called")
			}
		})
	}
	t.Run("panic", func(t *testing.T) {
		host := b.net.Host()
		host.Prompter = lookleaptest.NewPrompter(t)
		client, err := aiuri.NewClient(host, aiuri.ClientOptions{Native: b, Permit: func(aiuri.URI) error { panic(errors.New("x")) }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Invoke(t.Context(), aiuri.Request{URI: endpoint}); lookleap.CodeOf(err) != aiuri.CodeAuthorityNotAllowed {
			t.Error(err)
		}
	})
}
