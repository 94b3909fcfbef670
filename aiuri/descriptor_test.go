package aiuri_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

const bankOrigin = "https://www.bank.example"

// bankDocument is the draft's own example.
const bankDocument = `{"endpoint":"ai://bank/service/payments","jwks":"https://www.bank.example/.well-known/aiip.jwks.json",
"scopes":["initiate-payment","check-balance"],"policy":{"auth":"oauth2","mtls":true,"requireSignedResults":true}}`

func TestParseDescriptor(t *testing.T) {
	doc := func(members string) string { return `{"endpoint":"ai://bank/x"` + members + `}` }
	for _, c := range []struct {
		id, text string
		check    func(*aiuri.Descriptor) bool
	}{
		{"AIU-3.1-06/accept-endpoint", bankDocument, func(d *aiuri.Descriptor) bool { return d.Endpoint.String() == "ai://bank/service/payments" }},
		{"AIU-3.1-07/accept-url-of-the-origin", bankDocument, func(d *aiuri.Descriptor) bool { return d.JWKS == bankOrigin+"/.well-known/aiip.jwks.json" }},
		{"AIU-3.1-07/accept-absent", doc(""), func(d *aiuri.Descriptor) bool { return d.JWKS == "" }},
		{"AIU-3.1-07/accept-allow-listed", doc(`,"jwks":"https://keys.example/k"`), func(d *aiuri.Descriptor) bool { return d.JWKS == "https://keys.example/k" }},
		{"AIU-3.1-08/accept-scopes", bankDocument, func(d *aiuri.Descriptor) bool {
			return strings.Join(d.Scopes, " ") == "initiate-payment check-balance"
		}},
		{"AIU-3.1-08/accept-absent", doc(""), func(d *aiuri.Descriptor) bool { return len(d.Scopes) == 0 }},
		{"AIU-3.1-09/accept-all-fields", bankDocument, func(d *aiuri.Descriptor) bool {
			return d.Policy == aiuri.EndpointPolicy{Auth: "oauth2", MTLS: true, RequireSignedResults: true}
		}},
		{"AIU-3.1-08/accept-every-character", doc(`,"scopes":["!#[]~","^"]`), func(d *aiuri.Descriptor) bool { return strings.Join(d.Scopes, " ") == "!#[]~ ^" }},
		{"AIU-3.1-09/accept-false", doc(`,"policy":{"mtls":false,"requireSignedResults":false}`), func(d *aiuri.Descriptor) bool { return d.Policy == aiuri.EndpointPolicy{} }},
		{"AIU-3.1-09/accept-true", doc(`,"policy":{"mtls":true}`), func(d *aiuri.Descriptor) bool {
			return d.Policy == aiuri.EndpointPolicy{MTLS: true, RequireSignedResults: true}
		}},
		{"AIU-3.1-09/accept-absent", doc(""), func(d *aiuri.Descriptor) bool { return d.Policy == aiuri.EndpointPolicy{RequireSignedResults: true} }},
		{"AIU-3.1-10/accept-with-finding", doc(`,"policy":{"requireSignedResults":false}`), func(d *aiuri.Descriptor) bool {
			return len(d.Findings) == 1 && d.Findings[0].Code == aiuri.CodePolicyWeaker
		}},
		{"AIU-3.1-10/accept-with-finding-next-to-others", doc(`,"policy":{"auth":"oauth2","mtls":true,"requireSignedResults":false}`), func(d *aiuri.Descriptor) bool {
			return len(d.Findings) == 1 && d.Findings[0].Code == aiuri.CodePolicyWeaker && d.Findings[0].Requirement == "AIU-3.1-10"
		}},
		{"AIU-3.1-10/accept-true-without-finding", bankDocument, func(d *aiuri.Descriptor) bool { return len(d.Findings) == 0 }},
		{"AIU-3.1-11/accept-unknown-members", doc(`,"x":[1],"policy":{"y":1}`), func(d *aiuri.Descriptor) bool { return string(d.Extra["x"]) == "[1]" }},
		{"AIU-3.1-11/accept-depth", doc(`,"x":` + strings.Repeat("[", 15) + strings.Repeat("]", 15)), func(d *aiuri.Descriptor) bool { return len(d.Extra["x"]) == 30 }},
		{"AIU-3.1-11/accept-size", doc(strings.Repeat(" ", 64<<10-len(doc("")))), func(d *aiuri.Descriptor) bool { return d.Endpoint.String() == "ai://bank/x" }},
		{"L10/accept-unknown-members", doc(`,"Policy":{"mtls":true}`), func(d *aiuri.Descriptor) bool { return !d.Policy.MTLS && len(d.Extra) == 1 }},
	} {
		t.Run(c.id, func(t *testing.T) {
			d, err := aiuri.ParseDescriptor([]byte(c.text), bankOrigin, "https://keys.example")
			if err != nil || !c.check(d) {
				t.Errorf("got %+v, %v", d, err)
			}
		})
	}
	for _, c := range []struct {
		id, text string
		code     lookleap.Code
	}{
		{"AIU-3.1-06/reject-missing", `{}`, aiuri.CodeBadDocument},
		{"AIU-3.1-06/reject-number", `{"endpoint":1}`, aiuri.CodeBadDocument},
		{"AIU-3.1-06/reject-https", `{"endpoint":"https://bank.example/x"}`, aiuri.CodeBadDocument},
		{"AIU-3.1-06/reject-no-authority", `{"endpoint":"ai:/x"}`, aiuri.CodeBadDocument},
		{"AIU-3.1-06/reject-case", `{"Endpoint":"ai://bank/x"}`, aiuri.CodeBadDocument},
		{"AIU-3.1-07/reject-http", doc(`,"jwks":"http://www.bank.example/k"`), aiuri.CodeBadDocument},
		{"AIU-3.1-07/reject-relative", doc(`,"jwks":"/k"`), aiuri.CodeBadDocument},
		{"AIU-3.1-07/reject-userinfo", doc(`,"jwks":"https://u@www.bank.example/k"`), aiuri.CodeBadDocument},
		{"AIU-3.1-07/reject-fragment", doc(`,"jwks":"https://www.bank.example/k#a"`), aiuri.CodeBadDocument},
		{"AIU-3.1-07/reject-other-origin", doc(`,"jwks":"https://evil.example/k"`), aiuri.CodeJWKSOrigin},
		{"AIU-3.1-07/reject-subdomain", doc(`,"jwks":"https://a.www.bank.example/k"`), aiuri.CodeJWKSOrigin},
		{"AIU-3.1-07/reject-other-port", doc(`,"jwks":"https://www.bank.example:8443/k"`), aiuri.CodeJWKSOrigin},
		{"AIU-3.1-08/reject-text", doc(`,"scopes":"pay"`), aiuri.CodeBadDocument},
		{"AIU-3.1-08/reject-empty", doc(`,"scopes":[""]`), aiuri.CodeBadDocument},
		{"AIU-3.1-08/reject-blank", doc(`,"scopes":["a b"]`), aiuri.CodeBadDocument},
		{"AIU-3.1-08/reject-quote", doc(`,"scopes":["a\""]`), aiuri.CodeBadDocument},
		{"AIU-3.1-08/reject-number", doc(`,"scopes":[1]`), aiuri.CodeBadDocument},
		{"AIU-3.1-08/reject-backslash", doc(`,"scopes":["a\\b"]`), aiuri.CodeBadDocument},
		{"AIU-3.1-08/reject-tab", doc(`,"scopes":["a\t"]`), aiuri.CodeBadDocument},
		{"AIU-3.1-08/reject-delete", doc(",\"scopes\":[\"a\x7f\"]"), aiuri.CodeBadDocument},
		{"AIU-3.1-08/reject-not-ascii", doc(`,"scopes":["é"]`), aiuri.CodeBadDocument},
		{"AIU-3.1-08/reject-second", doc(`,"scopes":["pay","a b"]`), aiuri.CodeBadDocument},
		{"AIU-3.1-08/reject-null", doc(`,"scopes":null`), aiuri.CodeBadDocument},
		{"AIU-3.1-09/reject-auth-number", doc(`,"policy":{"auth":1}`), aiuri.CodeBadDocument},
		{"AIU-3.1-09/reject-auth-null", doc(`,"policy":{"auth":null}`), aiuri.CodeBadDocument},
		{"AIU-3.1-09/reject-empty-auth", doc(`,"policy":{"auth":""}`), aiuri.CodePolicyUnsupported},
		{"AIU-3.1-09/reject-mtls-null", doc(`,"policy":{"mtls":null}`), aiuri.CodeBadDocument},
		{"AIU-3.1-09/reject-signed-text", doc(`,"policy":{"requireSignedResults":"true"}`), aiuri.CodeBadDocument},
		{"AIU-3.1-09/reject-unknown-auth", doc(`,"policy":{"auth":"basic"}`), aiuri.CodePolicyUnsupported},
		{"AIU-3.1-09/reject-auth-case", doc(`,"policy":{"auth":"OAuth2"}`), aiuri.CodePolicyUnsupported},
		{"AIU-3.1-09/reject-mtls-text", doc(`,"policy":{"mtls":"true"}`), aiuri.CodeBadDocument},
		{"AIU-3.1-09/reject-signed-null", doc(`,"policy":{"requireSignedResults":null}`), aiuri.CodeBadDocument},
		{"AIU-3.1-09/reject-policy-list", doc(`,"policy":[]`), aiuri.CodeBadDocument},
		{"AIU-3.1-11/reject-duplicate", `{"endpoint":"ai://a/","endpoint":"ai://b/"}`, aiuri.CodeBadDocument},
		{"AIU-3.1-11/reject-duplicate-inside", doc(`,"policy":{"mtls":true,"mtls":false}`), aiuri.CodeBadDocument},
		{"AIU-3.1-11/reject-trailing", doc("") + "x", aiuri.CodeBadDocument},
		{"AIU-3.1-11/reject-depth", doc(`,"x":` + strings.Repeat("[", 16) + strings.Repeat("]", 16)), aiuri.CodeBadDocument},
		{"AIU-3.1-11/reject-size", doc(`,"x":"` + strings.Repeat("x", 64<<10) + `"`), aiuri.CodeBadDocument},
		{"AIU-3.1-11/reject-utf8", doc(",\"x\":\"\xff\""), aiuri.CodeBadDocument},
		{"L10/reject-auth-none", doc(`,"policy":{"auth":"none","mtls":false,"requireSignedResults":false}`), aiuri.CodePolicyUnsupported},
		{"L10/reject-foreign-keys", doc(`,"jwks":"https://evil.example/k"`), aiuri.CodeJWKSOrigin},
	} {
		t.Run(c.id, func(t *testing.T) {
			d, err := aiuri.ParseDescriptor([]byte(c.text), bankOrigin)
			var e *lookleap.Error
			if d != nil || !errors.As(err, &e) || e.Code != c.code || e.Position.Line == 0 {
				t.Errorf("got %+v, %v", d, err)
			}
		})
	}
}

// TestKeyOrigins: an entry that is more than an origin allows nothing.
func TestKeyOrigins(t *testing.T) {
	text := []byte(`{"endpoint":"ai://bank.example/","jwks":"https://keys.example/k"}`)
	if d, err := aiuri.ParseDescriptor(text, "https://bank.example", "https://keys.example/path"); d != nil || lookleap.CodeOf(err) != aiuri.CodeJWKSOrigin {
		t.Errorf("%+v, %v", d, err)
	}
}

func FuzzParseDescriptor(f *testing.F) {
	f.Add([]byte(bankDocument))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := aiuri.ParseDescriptor(data, bankOrigin)
		if (d == nil) == (err == nil) || d != nil && d.Endpoint.Kind() != aiuri.Authority {
			t.Fatalf("got %v, %v", d, err)
		}
	})
}

// documentSite is a bank whose document is answered by a function, and a clock.
type documentSite struct {
	*world
	answer func(http.ResponseWriter)
	asked  int
}

func newDocumentSite(t *testing.T) *documentSite {
	s := &documentSite{world: newWorld(t)}
	s.net.Clock().Freeze()
	var mu sync.Mutex
	s.bank.HandleFunc(documentPath, func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		s.asked++
		s.answer(w)
	})
	s.answer = s.good("")
	return s
}

// good answers with the document and a Cache-Control header.
func (s *documentSite) good(cacheControl string) func(http.ResponseWriter) {
	return s.text("application/json", cacheControl, documentOf("ai://bank.example/", "https://bank.example"))
}

func (s *documentSite) text(mediaType, cacheControl, text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", mediaType)
		if cacheControl != "" {
			w.Header().Set("Cache-Control", cacheControl)
		}
		_, _ = w.Write([]byte(text))
	}
}

func (s *documentSite) status(status int, header ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
	}
}

// TestDocumentStoring holds that an authority's document is read once for all paths,
// whatever it says about storing.
func TestDocumentStoring(t *testing.T) {
	for _, cacheControl := range []string{"", "no-store", "no-cache", "max-age=0", "private, no-store, max-age=0", "max-age=86400"} {
		t.Run("O12/accept-60-paths-of-"+cacheControl, func(t *testing.T) {
			s := newDocumentSite(t)
			s.answer = s.good(cacheControl)
			d := aiuri.NewDiscoverer(s.host, aiuri.DiscovererOptions{})
			var all sync.WaitGroup
			for i := range 60 {
				all.Go(func() {
					found, err := d.Resolve(t.Context(), parseAny(fmt.Sprintf("ai://bank.example/path-%d", i)))
					if err != nil {
						t.Error(err)
					} else if left := found.Expires.Sub(s.host.Time()); left < 5*time.Minute || left > 24*time.Hour {
						t.Errorf("kept for %s", left)
					}
				})
			}
			all.Wait()
			s.net.Clock().Advance(5*time.Minute - time.Second)
			if _, err := d.Resolve(t.Context(), parseAny("ai://bank.example/later")); err != nil || s.asked != 1 {
				t.Errorf("got %v after %d exchanges", err, s.asked)
			}
		})
	}
	t.Run("O12/accept-bad-document-asked-for-once-a-minute", func(t *testing.T) {
		s := newDocumentSite(t)
		s.answer = s.text("application/json", "no-store", `{"endpoint":1}`)
		d := aiuri.NewDiscoverer(s.host, aiuri.DiscovererOptions{})
		for want, passed := range []time.Duration{0, time.Minute - time.Second, time.Second} {
			s.net.Clock().Advance(passed)
			for range 60 {
				if _, err := d.Resolve(t.Context(), parseAny("ai://bank.example/")); lookleap.CodeOf(err) != aiuri.CodeBadDocument {
					t.Errorf("got %v", err)
				}
			}
			if want = max(want, 1); s.asked != want {
				t.Errorf("%d exchanges, want %d", s.asked, want)
			}
		}
	})
	t.Run("O12/accept-purged", func(t *testing.T) {
		s := newDocumentSite(t)
		d := aiuri.NewDiscoverer(s.host, aiuri.DiscovererOptions{})
		for range 2 {
			if _, err := d.Resolve(t.Context(), parseAny("ai://bank.example/")); err != nil {
				t.Error(err)
			}
			d.Purge("https://bank.example")
		}
		if s.asked != 2 {
			t.Errorf("%d exchanges", s.asked)
		}
	})
}

// TestDocumentOutage holds that a bad minute of a server stays one.
func TestDocumentOutage(t *testing.T) {
	u := parseAny("ai://bank.example/pay")
	type outage struct {
		first   string // Cache-Control of the good copy
		fail    func(*documentSite) func(http.ResponseWriter)
		later   time.Duration // when the server fails, after the good copy was read
		usable  bool
		recover time.Duration // after which it has to work again at the latest
	}
	status := func(status int, header ...string) func(*documentSite) func(http.ResponseWriter) {
		return func(s *documentSite) func(http.ResponseWriter) { return s.status(status, header...) }
	}
	text := func(mediaType, cacheControl, text string) func(*documentSite) func(http.ResponseWriter) {
		return func(s *documentSite) func(http.ResponseWriter) { return s.text(mediaType, cacheControl, text) }
	}
	for name, c := range map[string]outage{
		"accept-500":                  {"max-age=600", status(500), 11 * time.Minute, true, time.Minute},
		"accept-503-for-a-day":        {"max-age=600", status(503, "Retry-After", "86400"), 11 * time.Minute, true, 5 * time.Minute},
		"accept-stale-if-error":       {"max-age=600, stale-if-error=36000", status(500), 10 * time.Hour, true, time.Minute},
		"reject-after-stale-if-error": {"max-age=600, stale-if-error=60", status(500), 12 * time.Minute, false, time.Minute},
		"reject-must-revalidate":      {"max-age=600, must-revalidate", status(500), 11 * time.Minute, false, time.Minute},
		"reject-malformed-for-a-day":  {"max-age=600", text("application/json", "max-age=86400", "{"), 11 * time.Minute, false, time.Minute},
	} {
		t.Run("O14/"+name, func(t *testing.T) {
			s := newDocumentSite(t)
			s.answer = s.good(c.first)
			d := aiuri.NewDiscoverer(s.host, aiuri.DiscovererOptions{})
			if _, err := d.Resolve(t.Context(), u); err != nil {
				t.Fatal(err)
			}
			s.net.Clock().Advance(c.later)
			s.answer = c.fail(s)
			for range 3 {
				found, err := d.Resolve(t.Context(), u)
				if (err == nil) != c.usable {
					t.Fatalf("got %v", err)
				}
				if isStale := func(f lookleap.Finding) bool { return f.Code == lookleap.CodeStale }; err == nil && !slices.ContainsFunc(found.Findings, isStale) {
					t.Errorf("nothing says that the copy is stale: %v", found.Findings)
				}
			}
			if s.asked != 2 {
				t.Errorf("%d exchanges", s.asked)
			}
			s.answer = s.good(c.first)
			s.net.Clock().Advance(c.recover)
			found, err := d.Resolve(t.Context(), u)
			if err != nil || len(found.Findings) != 0 || s.asked != 3 {
				t.Errorf("it does not recover: %v, %v after %d exchanges", found, err, s.asked)
			}
		})
	}
	t.Run("O14/reject-absent-after-good", func(t *testing.T) {
		s := newDocumentSite(t)
		s.answer = s.good("max-age=600")
		d := aiuri.NewDiscoverer(s.host, aiuri.DiscovererOptions{})
		_, _ = d.Resolve(t.Context(), u)
		s.net.Clock().Advance(11 * time.Minute)
		s.answer = s.status(404)
		if _, err := d.Resolve(t.Context(), u); lookleap.CodeOf(err) != aiuri.CodeAuthorityUnconfirmed {
			t.Errorf("got %v", err)
		}
	})
	t.Run("O14/accept-dns-outage-kept-five-minutes", func(t *testing.T) {
		s := newDocumentSite(t)
		s.answer = s.good("max-age=86400")
		s.net.Name("_aiip._tcp.bank.example").ServFail()
		d := aiuri.NewDiscoverer(s.host, aiuri.DiscovererOptions{DNS: true})
		found, err := d.Discover(t.Context(), "https://bank.example/")
		if err != nil || found.Expires.Sub(s.host.Time()) > 5*time.Minute {
			t.Errorf("got %v until %v", err, found)
		}
	})
}

// TestFilteredTargets holds that SRV records lead native transports nowhere inside.
func TestFilteredTargets(t *testing.T) {
	discover := func(t *testing.T, set func(*world), ports ...uint16) (*aiuri.Discovery, error) {
		w := newWorld(t)
		set(w)
		return aiuri.NewDiscoverer(w.host, aiuri.DiscovererOptions{DNS: true, Ports: ports}).Discover(t.Context(), "https://bank.example/")
	}
	srv := func(port uint16, target string) func(*world) {
		return func(w *world) { w.net.Name("_aiip._tcp.bank.example").SRV(0, 0, port, target) }
	}
	at := func(addrs ...string) func(*world) {
		return func(w *world) {
			srv(443, "inside.example.")(w)
			w.net.Name("inside.example", addrs...)
		}
	}
	for name, set := range map[string]func(*world){
		"port-0": srv(0, "a.example."), "port-22": srv(22, "a.example."), "port-80": srv(80, "a.example."),
		"address": srv(443, "127.0.0.1."), "metadata-address": srv(443, "169.254.169.254."), "decimal-address": srv(443, "2130706433."), "hexadecimal-address": srv(443, "0x7f000001."),
		"localhost": srv(443, "localhost."), "below-localhost": srv(443, "a.localhost."), "single-label": srv(443, "metadata."), "internal": srv(443, "metadata.google.internal."),
		"local": srv(443, "printer.local."), "metadata-name": srv(443, "metadata.goog."), "below-metadata-name": srv(443, "a.METADATA.goog."), "home": srv(443, "router.home.arpa."),
		"tencent": srv(443, "metadata.tencentyun.com."), "packet": srv(443, "metadata.packet.net."), "equinix": srv(443, "a.metadata.platformequinix.com."),
		"home-network": srv(443, "router.home."), "intranet": srv(443, "wiki.intranet."), "local-domain": srv(443, "a.localdomain."), "private": srv(443, "a.private."),
		"cluster": srv(443, "kubernetes.default.svc."), "private-network": srv(443, "printer.lan."), "company": srv(443, "wiki.corp."),
		"private-address": at("10.0.0.1"), "one-private-address": at("8.8.8.8", "169.254.169.254"), "mapped-address": at("::ffff:127.0.0.1"),
		"private-ipv6-address": at("fd00::1"), "one-private-ipv6-address": at("8.8.8.8", "2600::1", "fd00::1"),
		"bogus-address": func(w *world) {
			srv(443, "inside.example.")(w)
			w.net.Name("inside.example").Bogus()
		},
	} {
		t.Run("O17/reject-"+name, func(t *testing.T) {
			d, err := discover(t, set)
			if err != nil || len(d.Targets) != 0 {
				t.Fatalf("got %+v, %v", d, err)
			}
			if !slices.ContainsFunc(d.Findings, func(f lookleap.Finding) bool { return strings.HasPrefix(f.Message, "an SRV record") }) {
				t.Errorf("nothing says so: %v", d.Findings)
			}
		})
	}
	t.Run("O17/accept-public-name", func(t *testing.T) {
		if d, err := discover(t, srv(443, "AIIP.example.")); err != nil || len(d.Targets) != 1 || d.Targets[0].Host != "aiip.example" || len(d.Findings) != 0 {
			t.Errorf("got %+v, %v", d, err)
		}
	})
	t.Run("O17/accept-port-of-the-options", func(t *testing.T) {
		if d, err := discover(t, srv(8443, "aiip.example."), 443, 8443); err != nil || len(d.Targets) != 1 {
			t.Errorf("got %+v, %v", d, err)
		}
	})
	for id, n := range map[string]int{"O17/accept-16-of-200": 200, "O17/accept-16-of-20000": 20_000, "AIU-3.1-13/accept-the-preferred-of-many": 17} {
		t.Run(id, func(t *testing.T) {
			d, err := discover(t, func(w *world) {
				name := w.net.Name("_aiip._tcp.bank.example")
				for i := range n {
					name.SRV(uint16(n-i), 1, 443, fmt.Sprintf("a%d.example.", i))
				}
			})
			if err != nil || len(d.Targets) != 16 || d.Targets[0].Host != fmt.Sprintf("a%d.example", n-1) {
				t.Errorf("got %d targets, %v", len(d.Targets), err)
			}
		})
	}
}
