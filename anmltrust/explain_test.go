package anmltrust_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestFaultMatrix: each step, each way to fail: Tier 0, a reason, and nothing permitted.
func TestFaultMatrix(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*world)
		code  lookleap.Code
	}{
		"dns-bogus": {func(w *world) { w.dns.Bogus() }, lookleap.CodeDNSSECBogus}, "dns-error": {func(w *world) { w.dns.ServFail() }, lookleap.CodeDNSError},
		"dns-none": {func(w *world) { w.dns.Clear() }, anmltrust.CodeNoRecord}, "record": {func(w *world) { w.setRecord("v=anml1") }, anmltrust.CodeRecordMalformed},
		"tls": {func(w *world) { w.brand.Certificate(lookleaptest.CertificateSelfSigned) }, anmltrust.CodeManifestTLS}, "status": {manifestStatus(403), anmltrust.CodeManifestMissing},
		"type": {func(w *world) { w.brand.File(manifestPath, "text/html", "") }, anmltrust.CodeManifestType}, "json": {manifestBody("{"), anmltrust.CodeManifestMalformed},
		"expired": {manifestBody(manifest(listed, "expires", `"2026-06-01T00:00:00Z"`)), anmltrust.CodeManifestExpired},
		"site":    {manifestBody(manifest(listed, "site", `"x.example"`)), anmltrust.CodeManifestSiteMismatch},
		"entry":   {manifestBody(manifest(entry("shop.example", 7))), anmltrust.CodeManifestEntryMalformed}, "unlisted": {manifestBody(manifest("")), anmltrust.CodeNotListed},
		"timeout": {func(w *world) { w.brand.Fault(manifestPath, lookleaptest.Mute()) }, anmltrust.CodeManifestUnavailable}, "429": {manifestStatus(429), anmltrust.CodeManifest429},
		"redirect":      {manifestStatus(302, "Location", "https://elsewhere.example/x"), anmltrust.CodeManifestRedirect},
		"guard":         {func(w *world) { w.brand.At("10.0.0.5") }, anmltrust.CodeManifestUnavailable},
		"404-short-ttl": {func(w *world) { w.dns.TTL(time.Minute); w.brand.Status(manifestPath, 404) }, anmltrust.CodeManifestMissing},
		"held": {func(w *world) {
			w.brand.Status(manifestPath, 404)
			w.denied(anmltrust.CodeManifestMissing)
			w.willing()
		}, anmltrust.CodeManifestMissing},
	} {
		for _, id := range []string{"ANML-12.1-06", "ANML-12.5-23"} {
			t.Run(id+"/reject-"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, manifestOnly).willing()
					c.spoil(w)
					w.denied(c.code)
				})
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
	t.Run("not-narrowed-by-two", func(t *testing.T) { // until the first one ends
		w := newWorld(t, "").setRecord("v=anml1;manifest=https://brand.example/1", "v=anml1;manifest=https://brand.example/2")
		serve := func(path, entries, control string) {
			w.brand.File(path, anmltrust.ManifestMediaType, manifest(entries)).Fault(path, lookleaptest.Header("Cache-Control", control))
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
		if first.Cached || !again.Cached {
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
