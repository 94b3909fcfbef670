package aiuri_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/internal/lab"
)

// brokenParts are parts of a host that fail in their own words.
type brokenParts struct{ how func() error }

func (b brokenParts) RoundTrip(*http.Request) (*http.Response, error) { return nil, b.how() }
func (b brokenParts) Lookup(context.Context, string, lookleap.RRType) (*lookleap.DNSAnswer, error) {
	return nil, b.how()
}
func (b brokenParts) PromptConsent(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return lookleap.ConsentDecision{}, b.how()
}

// TestCodes holds that every error that the package returns has a documented code, and
// one of its own whatever a plug-in does.
func TestCodes(t *testing.T) {
	check := func(t *testing.T, what string, err error) {
		t.Helper()
		if code := lookleap.CodeOf(err); err == nil || code == lookleap.CodeInternal || !code.Known() {
			t.Errorf("%s: %v has the code %q", what, err, code)
		}
	}
	texts := []string{"", "x", "ai:", "ai://", "ai:///", "ai://u@b", "ai://b:0", "ai://a..b", "ai://[", "ai://%", "ai://b/%", "ai://b/\xff", "ai://b/ü", "http://b", "https://b", "https://b?x", "https://u@b", "https://127.0.0.1", "{", "[]", "{}", `{"keys":1}`, `{"endpoint":1}`, "\x00", "a.b.c", "..", "e30.e30.e30"}
	mapping := must(aiuri.NewMapping("https://ai.example/gateway"))
	host := newWorld(t).host
	for name, f := range map[string]func(text string) error{
		"Parse":           func(s string) error { _, err := aiuri.Parse(s); return err },
		"FromIRI":         func(s string) error { _, err := aiuri.FromIRI(s); return err },
		"UnmarshalText":   func(s string) error { return new(aiuri.URI).UnmarshalText([]byte(s)) },
		"NewMapping":      func(s string) error { _, err := aiuri.NewMapping(s); return err },
		"Split":           func(s string) error { _, err := mapping.Split(s); return err },
		"Mapping.URI":     func(s string) error { _, err := mapping.URI("/gateway/"+s+"/..", "", false); return err },
		"ParseDescriptor": func(s string) error { _, err := aiuri.ParseDescriptor([]byte(s), "https://b"); return err },
		"ParseKeySet":     func(s string) error { _, err := aiuri.ParseKeySet([]byte(s)); return err },
		"VerifyResult": func(s string) error {
			_, err := aiuri.VerifyResult(aiuri.SignedResult{JWS: s}, nil, now, aiuri.Expectation{})
			return err
		},
		"NewDescriptorHandler": func(s string) error { _, err := aiuri.NewDescriptorHandler(s, &aiuri.Descriptor{}); return err },
		"PublicJWKS":           func(s string) error { _, err := aiuri.NewKeySetHandler([]byte(s)); return err },
		"Discover": func(s string) error {
			_, err := aiuri.NewDiscoverer(host, aiuri.DiscovererOptions{}).Discover(t.Context(), s)
			return err
		},
		"NewClient": func(s string) error {
			_, err := aiuri.NewClient(host, aiuri.ClientOptions{Gateways: []string{s + "?"}})
			return err
		},
		"Credentials": func(s string) error {
			_, err := aiuri.NewClient(host, aiuri.ClientOptions{Credentials: []string{s + "/"}})
			return err
		},
		"NewGateway": func(s string) error { _, err := aiuri.NewGateway(host, aiuri.GatewayOptions{Base: s}); return err },
		"Resume": func(s string) error {
			_, err := must(aiuri.NewClient(host, aiuri.ClientOptions{})).Resume(t.Context(), json.RawMessage(s), lookleap.ConsentDecision{})
			return err
		},
		"Invoke-page":    func(s string) error { return invokeNative(t, host, aiuri.Request{Page: s + "\x00"}) },
		"Invoke-method":  func(s string) error { return invokeNative(t, host, aiuri.Request{URI: pay.URI, Method: s + "!"}) },
		"Invoke-scope":   func(s string) error { return invokeNative(t, host, aiuri.Request{URI: pay.URI, Scopes: []string{s}}) },
		"Invoke-gateway": func(s string) error { return invokeNative(t, host, aiuri.Request{URI: pay.URI, Gateway: s + "/"}) },
		"Invoke-media": func(s string) error {
			return invokeNative(t, host, aiuri.Request{URI: pay.URI, Body: []byte{}, MediaType: s + ";;\n"})
		},
	} {
		t.Run("reject-bad-input-of-"+name, func(t *testing.T) {
			for _, text := range texts {
				if err := f(text); err != nil || name != "Parse" && name != "FromIRI" && name != "UnmarshalText" && name != "ParseKeySet" && name != "NewMapping" && name != "Discover" {
					check(t, text, err)
				}
			}
		})
	}
	for how, f := range map[string]func() error{
		"error": func() error { return errors.New("paid") },
		"panic": func() error { panic("paid") },
	} {
		b := brokenParts{f}
		for name, set := range map[string]func(*world){
			"fetcher":  func(w *world) { w.host.Fetcher = b },
			"resolver": func(w *world) { w.host.Resolver, w.host.Fetcher = b, nil },
			"prompter": func(w *world) { w.host.Prompter = b },
		} {
			t.Run("reject-"+how+"-of-the-"+name, func(t *testing.T) {
				w := newWorld(t)
				set(w)
				_, err := w.invoke(t, pay)
				check(t, name, err)
			})
		}
	}
}

func invokeNative(t *testing.T, host *lookleap.Host, r aiuri.Request) error {
	_, err := must(aiuri.NewClient(host, aiuri.ClientOptions{Native: native{}})).Invoke(t.Context(), r)
	return err
}

// TestUnreadablePages: what a refusal says about a page that cannot be read, if its origin has no document.
func TestUnreadablePages(t *testing.T) {
	const shop = "https://shop.example"
	linked := strings.Replace(linkHead, "ENDPOINT", "ai://bank/x", 1)
	for name, c := range map[string]struct {
		set     func(*lab.Site)
		options aiuri.DiscovererOptions
		code    lookleap.Code
		summary string
	}{
		"no-answer":      {func(s *lab.Site) { s.Fault("/", lab.Reset()) }, aiuri.DiscovererOptions{}, aiuri.CodeDiscoveryFailed, "the page could not be fetched"},
		"cut-short":      {func(s *lab.Site) { s.Body("/", "text/html", linked).Fault("/", lab.CutChunks()) }, aiuri.DiscovererOptions{}, aiuri.CodeDiscoveryFailed, "the page could not be fetched"},
		"nothing":        {func(s *lab.Site) { s.Body("/", "text/html", "<p>") }, aiuri.DiscovererOptions{}, aiuri.CodeNoEndpoint, "the origin advertises no endpoint"},
		"invalid-origin": {func(s *lab.Site) { s.Body("/", "text/html", linked) }, aiuri.DiscovererOptions{Static: map[string]string{"bank": "http://bank.example"}}, aiuri.CodeUnknownAuthority, "the authority's origin is not a public https origin"},
	} {
		net := lab.ForTest(t)
		c.set(net.Site("shop.example"))
		found, err := aiuri.NewDiscoverer(net.Host(), c.options).Discover(t.Context(), shop+"/")
		var no *lookleap.VerifyError
		if found != nil || !errors.As(err, &no) || no.Verdict.Code != c.code || !strings.HasPrefix(no.Verdict.Summary, c.summary) {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
}
