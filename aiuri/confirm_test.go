package aiuri_test

import (
	"crypto/tls"
	"net/http"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/lookleaptest"
)

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
	serve := func(path string) func(*world, *lookleaptest.Site) {
		return func(_ *world, s *lookleaptest.Site) { s.File(path, "application/jwk-set+json", set) }
	}
	for _, c := range []struct {
		id      string
		allowed []string
		set     func(*world, *lookleaptest.Site)
		code    lookleap.Code
	}{
		{"AIU-3.1-07/accept-keys-of-an-allowed-origin", []string{origin}, serve("/jwks.json"), lookleap.CodeOK},
		{"AIU-3.1-07/reject-keys-of-an-origin-that-is-not-allowed", []string{"https://other.example"}, serve("/jwks.json"), aiuri.CodeJWKSOrigin},
		{"AIU-3.1-12/accept-keys-after-three-redirects", []string{origin}, func(w *world, s *lookleaptest.Site) {
			serve("/end")(w, s)
			s.RedirectChain("/jwks.json", 2, "/end")
		}, lookleap.CodeOK},
		{"AIU-3.1-12/reject-keys-after-four-redirects", []string{origin}, func(w *world, s *lookleaptest.Site) {
			serve("/end")(w, s)
			s.RedirectChain("/jwks.json", 3, "/end")
		}, lookleap.CodeTooManyRedirects},
		{"AIU-3.1-12/reject-keys-at-http", []string{origin}, func(_ *world, s *lookleaptest.Site) {
			s.Plain().Redirect("/jwks.json", "http://keys.example/end").File("/end", "application/jwk-set+json", set)
		}, lookleap.CodeNotHTTPS},
		{"AIU-3.1-12/reject-keys-at-the-document's-origin", []string{origin}, func(w *world, s *lookleaptest.Site) {
			s.Redirect("/jwks.json", "https://bank.example/jwks.json")
		}, lookleap.CodeRedirectForbidden},
		{"AIU-3.2-14/reject-keys-over-tls-1.2", []string{origin}, func(w *world, s *lookleaptest.Site) {
			serve("/jwks.json")(w, s.MaxTLS(tls.VersionTLS12))
		}, lookleap.CodeTLSTooOld},
		{"AIU-5-01/reject-keys-without-report", []string{origin}, func(w *world, s *lookleaptest.Site) {
			serve("/jwks.json")(w, s)
			w.host.Fetcher = unreported{w.host.Fetcher, mute{w.net.Unguarded()}, "keys.example"}
		}, lookleap.CodeNoConnection},
	} {
		t.Run(c.id, func(t *testing.T) {
			w := newWorld(t)
			w.bank.File(documentPath, "application/json", strings.Replace(documentOf("ai://bank.example/pay", "https://bank.example"), "https://bank.example/jwks", origin+"/jwks", 1))
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
		w.host.Fetcher = unreported{w.host.Fetcher, mute{w.net.Unguarded()}, "ai.example"}
		if v, err := w.invoke(t, aiuri.Request{URI: pay.URI}); v != nil || lookleap.CodeOf(err) != lookleap.CodeNoConnection { // with GET, which has no body
			t.Errorf("got %v, %v", v, err)
		}
	})
}
