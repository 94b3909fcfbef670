package anmltrust_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/lab"
)

// explained returns the checks of a verdict: for each its row, its status (+ passed, ~ noted,
// - failed, . skipped), and its code unless it is ok or skipped.
func explained(v *lookleap.Verdict) string {
	var b strings.Builder
	for _, c := range v.Checks {
		sign := map[lookleap.Status]string{lookleap.Passed: "+", lookleap.Noted: "~", lookleap.Failed: "-", lookleap.Skipped: "."}[c.Status]
		fmt.Fprintf(&b, "%s%s ", c.Requirement, sign)
		if c.Code != lookleap.CodeOK && c.Code != lookleap.CodeSkipped {
			fmt.Fprintf(&b, "%s ", c.Code)
		}
	}
	return strings.TrimSuffix(b.String(), " ")
}

// TestExplained: a verdict has a check for each step that was taken and for each part that was
// not needed, in the order of the procedure.
func TestExplained(t *testing.T) {
	below := claimFrom("https://edge.brand.example/x")
	narrowed := func(p anmltrust.SelfSubdomains, prepare func(*world)) func(*testing.T) *world {
		return func(t *testing.T) *world {
			w := newWorld(t, manifestOnly, anmltrust.Options{Rules: anmltrust.Rules{SelfSubdomains: p}})
			w.manifest(manifest(entry("edge.brand.example", 1, "body")))
			prepare(w)
			return w
		}
	}
	nothing := func(*world) {}
	for _, c := range []struct {
		name  string
		world func(*testing.T) *world
		claim anmltrust.Claim
		want  string
	}{
		{"manifest-first", func(t *testing.T) *world { return newWorld(t, both).willing() }, shopClaim, "A+ B8+ C7+ D7+ F3+ L3+ Q. L3+ listed"},
		{"query-first", func(t *testing.T) *world { return newWorld(t, both).secure().willing() }, shopClaim, "A+ B8+ C7+ D7+ F1+ Q1+ M. Q1+ query-authorized"},
		{"only-manifest", func(t *testing.T) *world { return newWorld(t, manifestOnly).secure().willing() }, shopClaim, "A+ B8+ C7+ D7+ F2+ L3+ Q. L3+ listed"},
		{"only-query-unsigned", func(t *testing.T) *world { return newWorld(t, queryOnly).willing() }, shopClaim, "A+ B8+ C7+ D7+ F4~ Q1+ M. Q1+ query-authorized"},
		{"query-needs-dnssec", func(t *testing.T) *world {
			return newWorld(t, queryOnly, anmltrust.Options{Rules: anmltrust.Rules{RequireDNSSECForQuery: true}}).willing()
		}, shopClaim, "A+ B8+ C7+ D7+ F5- dnssec-required Q. M. F5- dnssec-required"},
		{"other-mechanism", func(t *testing.T) *world {
			w := newWorld(t, both).willing()
			w.brand.Status(manifestPath, 503)
			return w
		}, shopClaim, "A+ B8+ C7+ D7+ F3+ M9~ manifest-unavailable K3~ manifest-unavailable Q1+ Q1+ query-authorized"},
		{"both-fail", func(t *testing.T) *world {
			w := newWorld(t, both).status(503)
			w.brand.Status(manifestPath, 503)
			return w
		}, shopClaim, "A+ B8+ C7+ D7+ F3+ M9~ manifest-unavailable K3~ manifest-unavailable Q12~ query-unavailable Q13- query-unavailable"},
		{"tier-too-low", func(t *testing.T) *world {
			return newWorld(t, manifestOnly, anmltrust.Options{Rules: anmltrust.Rules{MinTier: anmltrust.Full}}).manifest(manifest(entry("shop.example", 1, "body")))
		}, shopClaim, "A+ B8+ C7+ D7+ F3+ L3+ Q. L3- tier-too-low"},
		{"tier-just-enough", func(t *testing.T) *world {
			return newWorld(t, manifestOnly, anmltrust.Options{Rules: anmltrust.Rules{MinTier: anmltrust.Display}}).manifest(manifest(entry("shop.example", 1, "body")))
		}, shopClaim, "A+ B8+ C7+ D7+ F3+ L3+ Q. L3+ listed"},
		{"absent", func(t *testing.T) *world { return newWorld(t, "") }, shopClaim, "A+ B8+ C4- no-record D. F. Q. M. C4- no-record"},
		{"bogus", func(t *testing.T) *world { w := newWorld(t, both); w.dns.Bogus(); return w }, shopClaim, "A+ B8+ C3- dnssec-bogus D. F. Q. M. C3- dnssec-bogus"},
		{"bogus-held", func(t *testing.T) *world {
			w := newWorld(t, both)
			w.dns.Bogus()
			w.denied(lookleap.CodeDNSSECBogus)
			return w
		}, shopClaim, "A+ B8+ C1a- dnssec-bogus D. F. Q. M. C1a- dnssec-bogus"},
		{"dns-error", func(t *testing.T) *world { w := newWorld(t, both); w.dns.ServFail(); return w }, shopClaim, "A+ B8+ C5- dns-error D. F. Q. M. C5- dns-error"},
		{"dns-error-held", func(t *testing.T) *world {
			w := newWorld(t, both)
			w.dns.ServFail()
			w.denied(lookleap.CodeDNSError)
			return w
		}, shopClaim, "A+ B8+ C1a- dns-error D. F. Q. M. C1a- dns-error"},
		{"ambiguous", func(t *testing.T) *world {
			return newWorld(t, "").setRecord("v=anml1;manifest=https://sub.brand.example/m")
		}, shopClaim, "A+ B8+ C7+ D6- manifest-host F. Q. M. D6- manifest-host"},
		{"denial-remembered", func(t *testing.T) *world {
			w := newWorld(t, queryOnly).status(404)
			w.denied(anmltrust.CodeQuery404)
			return w
		}, shopClaim, "A+ B8+ C7+ D7+ F4~ Q7- query-404 M. Q7- query-404"},
		{"too-many-requests", func(t *testing.T) *world {
			w := newWorld(t, queryOnly).status(429)
			w.in = w.v.Begin()
			w.denied(anmltrust.CodeQuery429)
			return w
		}, shopClaim, "A+ B8+ C7+ D7+ E0- query-429 F. Q. M. E0- query-429"},
		{"pair-backoff", func(t *testing.T) *world {
			w := newWorld(t, queryOnly).status(400)
			w.denied(anmltrust.CodeQuery400)
			return w
		}, shopClaim, "A+ B8+ C7+ D7+ E7- query-400 F. Q. M. E7- query-400"},
		{"endpoint-backoff", func(t *testing.T) *world {
			w := newWorld(t, queryOnly).status(503)
			w.denied(anmltrust.CodeQueryUnavailable)
			return w
		}, shopClaim, "A+ B8+ C7+ D7+ F4~ E9~ query-unavailable Q. M. E7- query-unavailable"},
		{"endpoint-backoff-for-another", func(t *testing.T) *world {
			w := newWorld(t, queryOnly).status(429)
			w.denied(anmltrust.CodeQuery429)
			return w
		}, claimFrom("https://other.example/x"), "A+ B8+ C7+ D7+ F4~ E8- query-429 Q. M. E8- query-429"},
		{"manifest-certificate", func(t *testing.T) *world {
			w := newWorld(t, manifestOnly).willing()
			w.brand.Certificate(lab.WrongName)
			return w
		}, shopClaim, "A+ B8+ C7+ D7+ F3+ M5- manifest-tls Q. M5- manifest-tls"},
		{"the-site-itself", func(t *testing.T) *world { return newWorld(t, both) }, claimFrom("https://www.brand.example/x"), "A+ B1+ C. D. F. Q. M. B1+ self"},
		{"below-trusted", narrowed(anmltrust.TrustSubdomains, nothing), below, "A+ B2+ C. D. F. Q. M. B2+ self"},
		{"below-verified", narrowed(anmltrust.VerifySubdomains, nothing), below, "A+ B8+ C7+ D7+ F3+ L3+ Q. L3+ listed"},
		{"below-narrowed", narrowed(anmltrust.Narrow, nothing), below, "A+ B3~ C7+ D7+ L3+ F. Q. B3+ self-narrowed"},
		{"below-without-record", narrowed(anmltrust.Narrow, func(w *world) { w.dns.Clear() }), below, "A+ B3~ C4- no-record B5+ D. F. Q. M. B5+ self"},
		{"below-without-manifest", narrowed(anmltrust.Narrow, func(w *world) { w.setRecord(queryOnly) }), below, "A+ B3~ C7+ D7+ B5+ F. Q. M. B5+ self"},
		{"below-unknown", narrowed(anmltrust.Narrow, func(w *world) { w.brand.Status(manifestPath, 503) }), below, "A+ B3~ C7+ D7+ M9~ manifest-unavailable B5~ self-narrow-unavailable F. Q. B5+ self"},
		{"response", func(t *testing.T) *world { return newWorld(t, both) }, anmltrust.Claim{URL: shopClaim.URL, Site: "brand.example", Response: true}, "A2- not-served B. C. D. F. Q. M. A2- not-served"},
		{"clear-text", func(t *testing.T) *world { return newWorld(t, both) }, claimFrom("http://shop.example/x"), "A1- insecure-transport B. C. D. F. Q. M. A1- insecure-transport"},
		{"invalid", func(t *testing.T) *world { return newWorld(t, both) }, anmltrust.Claim{URL: shopClaim.URL, Site: "com", Refused: anmltrust.CodeClaimInvalid}, "A5- claim-invalid B. C. D. F. Q. M. A5- claim-invalid"},
		{"suffix", func(t *testing.T) *world { return newWorld(t, both) }, anmltrust.Claim{URL: "https://192.0.2.1/", Site: "com", Refused: anmltrust.CodeClaimDuplicate}, "A6- site-domain-invalid B. C. D. F. Q. M. A6- site-domain-invalid"},
		{"duplicate", func(t *testing.T) *world { return newWorld(t, both) }, anmltrust.Claim{URL: "https://192.0.2.1/", Site: "brand.example", Refused: anmltrust.CodeClaimDuplicate}, "A7- claim-duplicate B. C. D. F. Q. M. A7- claim-duplicate"},
		{"host", func(t *testing.T) *world { return newWorld(t, both) }, anmltrust.Claim{URL: "https://192.0.2.1/", Site: "brand.example", Refused: lookleap.CodeLimit}, "A8- serving-host-invalid B. C. D. F. Q. M. A8- serving-host-invalid"},
		{"ninth", func(t *testing.T) *world { return newWorld(t, both) }, anmltrust.Claim{URL: shopClaim.URL, Site: "brand.example", Refused: lookleap.CodeLimit}, "A9- limit B. C. D. F. Q. M. A9- limit"},
	} {
		t.Run("X12/accept-"+c.name, func(t *testing.T) {
			w := c.world(t)
			a, err := w.ask(c.claim)
			for _, check := range verdictOf(t, a, err).Checks {
				if check.Message == "" {
					t.Errorf("%s says nothing", check.Requirement)
				}
			}
			if got := explained(verdictOf(t, a, err)); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// TestFaultMatrix: each step, each way to fail: Tier 0, a reason, and nothing permitted.
func TestFaultMatrix(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*world)
		code  lookleap.Code
	}{
		"dns-bogus": {func(w *world) { w.dns.Bogus() }, lookleap.CodeDNSSECBogus}, "dns-error": {func(w *world) { w.dns.ServFail() }, lookleap.CodeDNSError},
		"dns-none": {func(w *world) { w.dns.Clear() }, anmltrust.CodeNoRecord}, "record": {func(w *world) { w.setRecord("v=anml1") }, anmltrust.CodeRecordMalformed},
		"tls": {func(w *world) { w.brand.Certificate(lab.SelfSigned) }, anmltrust.CodeManifestTLS}, "status": {manifestStatus(403), anmltrust.CodeManifestMissing},
		"type": {func(w *world) { w.brand.Body(manifestPath, "text/html", "") }, anmltrust.CodeManifestType}, "json": {manifestBody("{"), anmltrust.CodeManifestMalformed},
		"expired": {manifestBody(manifest(listed, "expires", `"2026-06-01T00:00:00Z"`)), anmltrust.CodeManifestExpired},
		"site":    {manifestBody(manifest(listed, "site", `"x.example"`)), anmltrust.CodeManifestSiteMismatch},
		"entry":   {manifestBody(manifest(entry("shop.example", 7))), anmltrust.CodeManifestEntryMalformed}, "unlisted": {manifestBody(manifest("")), anmltrust.CodeNotListed},
	} {
		for _, id := range []string{"ANML-12.1-06", "ANML-12.5-23"} {
			t.Run(id+"/reject-"+name, func(t *testing.T) {
				w := newWorld(t, manifestOnly).willing()
				c.spoil(w)
				w.denied(c.code)
			})
		}
	}
}

// TestReusedAnswers: what an answer from memory says.
func TestReusedAnswers(t *testing.T) {
	odd := claimFrom("https://cdn.shop.example:8443/x") // no answer stands for it
	t.Run("grant", func(t *testing.T) {
		w := newWorld(t, queryOnly).secure().query(authorized)
		first := w.granted(anmltrust.CodeQueryAuthorized)
		w.dns.DNSSEC(lookleap.Insecure)
		a, err := w.after(2 * time.Hour).ask(odd)
		if w.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized); first.DNSSEC != lookleap.Secure || a.DNSSEC != lookleap.Insecure {
			t.Errorf("%s, then %s", first.DNSSEC, a.DNSSEC)
		}
		if n := len(first.Verdict.Checks); len(a.Verdict.Checks) != n || a.Verdict.Checks[n-2].Requirement != first.Verdict.Checks[n-2].Requirement {
			t.Errorf("%s\nand then\n%s", first.Verdict, a.Verdict)
		}
	})
	t.Run("not-narrowed", func(t *testing.T) { // is no grant
		w := newWorld(t, manifestOnly).manifest(manifest(""))
		for _, url := range []string{"https://api.brand.example/x", "https://api.brand.example:8443/x"} {
			a, err := w.ask(claimFrom(url))
			if w.wants(a, err, anmltrust.Self, anmltrust.CodeSelf); a.Cached || anmltrust.Row(a.Verdict) != "B5" {
				t.Errorf("%s", a.Verdict)
			}
		}
	})
	t.Run("not-narrowed-by-two", func(t *testing.T) { // until the first one ends
		w := newWorld(t, "").setRecord("v=anml1;manifest=https://brand.example/1", "v=anml1;manifest=https://brand.example/2")
		serve := func(path, entries, control string) {
			w.brand.Body(path, anmltrust.ManifestMediaType, manifest(entries)).Fault(path, lab.Header("Cache-Control", control))
		}
		serve("/1", "", "max-age=60")
		serve("/2", "", "max-age=3600")
		api := claimFrom("https://api.brand.example/x")
		a, err := w.ask(api)
		w.wants(a, err, anmltrust.Self, anmltrust.CodeSelf)
		serve("/1", entry("api.brand.example", 1, "body"), "max-age=60")
		a, err = w.after(time.Minute).ask(api)
		w.wants(a, err, anmltrust.Display, anmltrust.CodeSelfNarrowed)
	})
	t.Run("in-an-interaction", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		w.in = w.v.Begin()
		first, again := w.granted(anmltrust.CodeQueryAuthorized), w.granted(anmltrust.CodeQueryAuthorized)
		if !again.Cached || again.Verdict != first.Verdict {
			t.Errorf("%s", again.Verdict)
		}
		hinted := shopClaim
		hinted.Verified = w.after(time.Minute).status(429).net.Clock().Now()
		a, err := w.ask(hinted)
		w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQuery429)
		w.denied(anmltrust.CodeQuery429) // the grant does not stand in this interaction (row E0)
		w.in = nil
		w.granted(anmltrust.CodeQueryAuthorized)
	})
	t.Run("backoff-without-limiter", func(t *testing.T) {
		w := newWorld(t, queryOnly).status(503)
		w.host.Limiter = brokenLimiter{}
		w.denied(anmltrust.CodeQueryUnavailable)
		w.query(authorized).denied(anmltrust.CodeQueryUnavailable)
		w.traffic(1, 1, 0)
	})
	t.Run("trusted-subdomain", func(t *testing.T) { // is found out each time
		w := newWorld(t, "", anmltrust.Options{Rules: anmltrust.Rules{SelfSubdomains: anmltrust.TrustSubdomains}})
		for range 2 {
			a, err := w.ask(claimFrom("https://api.brand.example/x"))
			if w.wants(a, err, anmltrust.Self, anmltrust.CodeSelf); a.Cached {
				t.Errorf("%s", a.Verdict)
			}
		}
	})
}

// brokenLimiter is a limiter that fails.
type brokenLimiter struct{}

func (brokenLimiter) Take(context.Context, string, lookleap.Rate) (time.Duration, error) {
	return 0, errors.New("gone")
}

func (brokenLimiter) Wait(context.Context, string, lookleap.Rate) (time.Duration, error) {
	return 0, errors.New("gone")
}

func (brokenLimiter) Hold(context.Context, string, time.Duration) error { return errors.New("gone") }

// TestHintIsUsedOnce: the attribute trust-verified causes a question if there is a grant to doubt, and
// only then counts as used (row E4).
func TestHintIsUsedOnce(t *testing.T) {
	hint := func(w *world, tier anmltrust.Tier, code lookleap.Code) {
		t.Helper()
		hinted := shopClaim
		hinted.Verified = w.net.Clock().Now()
		a, err := w.ask(hinted)
		w.wants(a, err, tier, code)
	}
	t.Run("first-question", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		hint(w, anmltrust.Full, anmltrust.CodeQueryAuthorized)
		w.after(time.Minute)
		hint(w, anmltrust.Full, anmltrust.CodeQueryAuthorized)
		w.traffic(1, 2, 0)
	})
	t.Run("fresh", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		w.granted(anmltrust.CodeQueryAuthorized)
		hinted := shopClaim
		hinted.Verified = w.after(time.Minute).status(503).net.Clock().Now()
		a, err := w.v.VerifyFresh(t.Context(), hinted)
		w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQueryUnavailable)
		w.query(authorized).after(2 * time.Minute).net.Journal().Clear()
		hint(w, anmltrust.Full, anmltrust.CodeQueryAuthorized)
		w.traffic(0, 1, 0)
	})
	t.Run("denied", func(t *testing.T) {
		w := newWorld(t, both).manifest(manifest(entry("elsewhere.example", 1, "body"))).query(authorized)
		w.brand.Fault(manifestPath, lab.Header("Cache-Control", "max-age=60"))
		w.denied(anmltrust.CodeNotListed)
		w.secure()
		a, err := w.v.VerifyFresh(t.Context(), claimFrom("https://other.shop.example/x"))
		w.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
		w.after(30 * time.Second)
		hint(w, anmltrust.Unlisted, anmltrust.CodeNotListed)
		w.after(time.Minute).net.Journal().Clear()
		hint(w, anmltrust.Full, anmltrust.CodeQueryAuthorized)
		w.traffic(0, 1, 0)
	})
}
