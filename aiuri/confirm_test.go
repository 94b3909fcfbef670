package aiuri_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/internal/lab"
)

// TestCoveredEndpoints: which advertised endpoint the document of its authority confirms.
func TestCoveredEndpoints(t *testing.T) {
	for name, c := range map[string]struct {
		document, advertised string
		code                 lookleap.Code
	}{
		"accept-below-a-final-slash":  {"ai://factory.example/pay/", "ai://factory.example/pay/cards", lookleap.CodeOK},
		"accept-below-the-root":       {"ai://factory.example/", "ai://factory.example/pay", lookleap.CodeOK},
		"accept-below-no-path":        {"ai://factory.example", "ai://factory.example/pay", lookleap.CodeOK},
		"accept-other-query":          {"ai://factory.example/pay", "ai://factory.example/pay?x", lookleap.CodeOK},
		"accept-other-spelling":       {"ai://factory.example/pay", "AI://Factory.example:/x/../%70ay", lookleap.CodeOK},
		"reject-above":                {"ai://factory.example/pay/cards", "ai://factory.example/pay", aiuri.CodeAuthorityUnconfirmed},
		"reject-without-the-slash":    {"ai://factory.example/pay/", "ai://factory.example/pay", aiuri.CodeAuthorityUnconfirmed},
		"reject-root-of-the-endpoint": {"ai://factory.example/pay", "ai://factory.example/", aiuri.CodeAuthorityUnconfirmed},
		"reject-path-case":            {"ai://factory.example/pay", "ai://factory.example/PAY", aiuri.CodeAuthorityUnconfirmed},
		"reject-other-authority":      {"ai://shop.example/pay", "ai://factory.example/pay", aiuri.CodeAuthorityUnconfirmed},
	} {
		t.Run("AIU-3.1-21/"+name, func(t *testing.T) {
			net := lab.ForTest(t)
			page(net.Site("shop.example"), c.advertised, "")
			net.Site("factory.example").Body(documentPath, "application/json", documentOf(c.document, "https://factory.example"))
			d, err := aiuri.NewDiscoverer(net.Host(), aiuri.DiscovererOptions{}).Discover(t.Context(), "https://shop.example/")
			if lookleap.CodeOf(err) != c.code || (d != nil) != (err == nil) || d != nil && !d.Confirmed {
				t.Errorf("got %+v, %v", d, err)
			}
		})
	}
}

// TestThirdParty: the host is asked about an endpoint whose authority has no document, and only
// about such a one.
func TestThirdParty(t *testing.T) {
	yes := func(string, aiuri.URI) bool { return true }
	for name, c := range map[string]struct {
		allow    func(string, aiuri.URI) bool
		document string // the endpoint that the authority's document names
		code     lookleap.Code
	}{
		"accept-third-party":                          {yes, "", lookleap.CodeOK},
		"reject-third-party-without-the-option":       {nil, "", aiuri.CodeAuthorityUnconfirmed},
		"reject-third-party-refused-by-the-host":      {func(string, aiuri.URI) bool { return false }, "", aiuri.CodeAuthorityUnconfirmed},
		"reject-third-party-if-the-option-panics":     {func(string, aiuri.URI) bool { panic("x") }, "", aiuri.CodeAuthorityUnconfirmed},
		"reject-third-party-that-the-document-denies": {yes, "ai://factory.example/other", aiuri.CodeAuthorityUnconfirmed},
	} {
		t.Run("AIU-3.1-21/"+name, func(t *testing.T) {
			net := lab.ForTest(t)
			page(net.Site("shop.example"), "ai://factory.example/pay", "")
			site := net.Site("factory.example")
			if c.document != "" {
				site.Body(documentPath, "application/json", documentOf(c.document, "https://factory.example"))
			}
			d, err := aiuri.NewDiscoverer(net.Host(), aiuri.DiscovererOptions{AllowThirdParty: c.allow}).Discover(t.Context(), "https://shop.example/")
			if lookleap.CodeOf(err) != c.code || (d != nil) != (err == nil) || d != nil && (d.Confirmed || d.Verifiable()) {
				t.Errorf("got %+v, %v", d, err)
			}
		})
	}
}

// unreported hides the connections to one host.
type unreported struct {
	lookleap.Fetcher
	foreign http.RoundTripper
	host    string
}

func (u unreported) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == u.host {
		return u.foreign.RoundTrip(r)
	}
	return u.Fetcher.RoundTrip(r)
}

// TestKeysElsewhere: keys at another origin count if the host allows it, and are fetched under the
// same rules as a document.
func TestKeysElsewhere(t *testing.T) {
	const origin = "https://keys.example"
	set := string(setText(jwk("1", ecKey())))
	serve := func(path string) func(*world, *lab.Site) {
		return func(_ *world, s *lab.Site) { s.Body(path, "application/jwk-set+json", set) }
	}
	for _, c := range []struct {
		id      string
		allowed []string
		set     func(*world, *lab.Site)
		code    lookleap.Code
	}{
		{"AIU-3.1-07/accept-keys-of-an-allowed-origin", []string{origin}, serve("/jwks.json"), lookleap.CodeOK},
		{"AIU-3.1-07/reject-keys-of-an-origin-that-is-not-allowed", []string{"https://other.example"}, serve("/jwks.json"), aiuri.CodeJWKSOrigin},
		{"AIU-3.1-12/accept-keys-after-three-redirects", []string{origin}, func(w *world, s *lab.Site) {
			serve("/end")(w, s)
			s.RedirectChain("/jwks.json", 2, "/end")
		}, lookleap.CodeOK},
		{"AIU-3.1-12/reject-keys-after-four-redirects", []string{origin}, func(w *world, s *lab.Site) {
			serve("/end")(w, s)
			s.RedirectChain("/jwks.json", 3, "/end")
		}, lookleap.CodeTooManyRedirects},
		{"AIU-3.1-12/reject-keys-at-http", []string{origin}, func(_ *world, s *lab.Site) {
			s.Plain().Redirect("/jwks.json", "http://keys.example/end").Body("/end", "application/jwk-set+json", set)
		}, lookleap.CodeNotHTTPS},
		{"AIU-3.1-12/reject-keys-at-the-document's-origin", []string{origin}, func(w *world, s *lab.Site) {
			s.Redirect("/jwks.json", "https://bank.example/jwks.json")
		}, lookleap.CodeRedirectForbidden},
		{"AIU-3.2-14/reject-keys-over-tls-1.2", []string{origin}, func(w *world, s *lab.Site) {
			serve("/jwks.json")(w, s.MaxTLS(tls.VersionTLS12))
		}, lookleap.CodeTLSTooOld},
		{"AIU-5-01/reject-keys-without-report", []string{origin}, func(w *world, s *lab.Site) {
			serve("/jwks.json")(w, s)
			w.host.Fetcher = unreported{w.host.Fetcher, mute{w.net.ForeignTransport()}, "keys.example"}
		}, lookleap.CodeNoConnection},
	} {
		t.Run(c.id, func(t *testing.T) {
			w := newWorld(t)
			w.bank.Body(documentPath, "application/json", strings.Replace(documentOf("ai://bank.example/pay", "https://bank.example"), "https://bank.example/jwks", origin+"/jwks", 1))
			c.set(w, w.net.Site("keys.example"))
			w.options.Discoverer = aiuri.NewDiscoverer(w.host, aiuri.DiscovererOptions{KeyOrigins: c.allowed})
			v, err := w.invoke(t, pay)
			if lookleap.CodeOf(err) != c.code || (v != nil) != (err == nil) || err != nil && len(w.net.Journal().Requests("ai.example")) != 0 {
				t.Errorf("got %v, %v; want %s", v, err, c.code)
			}
		})
	}
	t.Run("AIU-5-01/reject-gateway-without-report", func(t *testing.T) {
		w := newWorld(t)
		w.host.Fetcher = unreported{w.host.Fetcher, mute{w.net.ForeignTransport()}, "ai.example"}
		if v, err := w.invoke(t, aiuri.Request{URI: pay.URI}); v != nil || lookleap.CodeOf(err) != lookleap.CodeNoConnection { // with GET, which has no body
			t.Errorf("got %v, %v", v, err)
		}
	})
}

// TestPolicyHistory: a policy is compared with the last one that was accepted, which may have been
// stronger than the first.
func TestPolicyHistory(t *testing.T) {
	for name, c := range map[string]struct {
		policies []string
		accept   bool
		refused  []bool
	}{
		"reject-weaker-than-a-stronger-one": {[]string{`{}`, `{"mtls":true}`, `{}`}, false, []bool{false, false, true}},
		"reject-weaker-again":               {[]string{`{"mtls":true}`, `{}`, `{}`}, false, []bool{false, true, true}},
		"accept-what-was-before":            {[]string{`{"mtls":true}`, `{}`, `{"mtls":true}`}, false, []bool{false, true, false}},
		"accept-stronger":                   {[]string{`{}`, `{"auth":"oauth2"}`, `{"auth":"oauth2","mtls":true}`}, false, []bool{false, false, false}},
		"reject-other-than-before":          {[]string{`{"auth":"oauth2"}`, `{"mtls":true}`}, false, []bool{false, true}},
		"accept-each-weaker-by-option":      {[]string{`{"auth":"oauth2","mtls":true}`, `{"mtls":true}`, `{}`}, true, []bool{false, false, false}},
	} {
		for _, row := range []string{"AIU-3.1-23/", "AIU-3.2-16/"} {
			t.Run(row+name, func(t *testing.T) {
				w := newWorld(t)
				o := aiuri.DiscovererOptions{}
				if c.accept {
					o.AcceptWeaker = func(_ string, before, after aiuri.EndpointPolicy) bool { return after.WeakerThan(before) }
				}
				d := aiuri.NewDiscoverer(w.host, o)
				for i, policy := range c.policies {
					w.bank.Body(documentPath, "application/json", strings.Replace(documentOf("ai://bank.example/pay", "https://bank.example"), "{", `{"policy":`+policy+`,`, 1))
					_, err := d.Resolve(t.Context(), pay.URI)
					if (lookleap.CodeOf(err) == aiuri.CodePolicyDowngrade) != c.refused[i] || !c.refused[i] && err != nil {
						t.Errorf("policy %d: %v", i, err)
					}
					w.net.Clock().Advance(25 * time.Hour)
				}
			})
		}
	}
}

// TestOtherSuccess: a response of a gateway is a result only with the status 200.
func TestOtherSuccess(t *testing.T) {
	for _, status := range []int{201, 202, 203, 299} {
		t.Run(fmt.Sprint("AIU-3.2-12/reject-status-", status), func(t *testing.T) {
			w := newWorld(t)
			w.answer = func(rw http.ResponseWriter, r *http.Request) {
				signed := must(aiuri.SignResult([]byte(`{"paid":true}`), aiuri.SigningKey{ID: "1", Private: ecKey()}, aiuri.SignOptions{Detached: true}))
				rw.Header().Set(aiuri.ProvenanceHeader, signed.JWS)
				rw.WriteHeader(status)
				_, _ = rw.Write(signed.Body)
			}
			if v, err := w.invoke(t, pay); v != nil || lookleap.CodeOf(err) != aiuri.CodeEndpointFailed {
				t.Errorf("got %v, %v", v, err)
			}
		})
	}
}
