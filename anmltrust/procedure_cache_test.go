package anmltrust_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
)

var cacheRows = []rowTest{
	{"E0", "until-the-interaction-ends", func(t *testing.T) {
		w := newWorld(t, queryOnly).status(429, "Retry-After", "5")
		w.in = w.v.Begin()
		w.denied(anmltrust.CodeQuery429)
		w.query(authorized).after(time.Hour)
		w.dns.TTL(24 * time.Hour)
		w.denied(anmltrust.CodeQuery429)
		w.in = w.v.Begin()
		w.granted(anmltrust.CodeQueryAuthorized)
	}},
	{"E0", "stored-grant-stays-for-later-interactions", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		w.in = w.v.Begin()
		w.granted(anmltrust.CodeQueryAuthorized)
		w.status(429)
		a, err := w.in.VerifyFresh(t.Context(), shopClaim)
		w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQuery429)
		w.denied(anmltrust.CodeQuery429)
		w.in = w.v.Begin()
		w.granted(anmltrust.CodeQueryAuthorized)
	}},
	{"E1", "grant", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		first := w.granted(anmltrust.CodeQueryAuthorized)
		w.net.Journal().Clear()
		for range 3 {
			a := w.granted(anmltrust.CodeQueryAuthorized)
			if !a.Cached || first.Cached || !a.CheckedAt.Equal(first.CheckedAt) || a.Scope != first.Scope {
				t.Errorf("%+v", a)
			}
		}
		w.traffic(0, 0, 0)
		w.after(2 * time.Hour)
		if v := w.granted(anmltrust.CodeQueryAuthorized).Verdict; anmltrust.Row(v) != "E1" || v.Checks[len(v.Checks)-1].Status != lookleap.Passed {
			t.Errorf("%s", v)
		}
		w.traffic(1, 0, 0) // the record is alive, and no source is asked
	}},
	{"E2", "no-longer-advertised", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		w.granted(anmltrust.CodeQueryAuthorized)
		w.setRecord("v=anml1;query=https://trust.example/moved")
		w.after(time.Hour).denied(anmltrust.CodeQuery404)
		w.setRecord(queryOnly)
		w.status(404)
		w.after(25 * time.Hour).denied(anmltrust.CodeQuery404) // dropped for good
	}},
	{"E2", "not-again-when-advertised-again", func(t *testing.T) {
		for _, c := range []struct {
			record string
			code   lookleap.Code
			failed lookleap.Code
		}{{queryOnly, anmltrust.CodeQueryAuthorized, anmltrust.CodeQueryUnavailable}, {manifestOnly, anmltrust.CodeListed, anmltrust.CodeManifestUnavailable}} {
			w := newWorld(t, c.record).willing()
			w.granted(c.code) // for an hour at least
			w.setRecord("v=anml1;manifest=https://brand.example/moved;query=https://trust.example/moved").dns.TTL(time.Minute)
			w.brand.Status("/moved", 503)
			w.trust.Status("/moved", 503)
			if a, err := w.after(time.Minute).v.VerifyFresh(t.Context(), shopClaim); a != nil || err == nil {
				t.Errorf("%+v, %v", a, err)
			}
			anmltrust.ForgetManifests(w.v)
			w.setRecord(c.record)
			w.brand.Status(manifestPath, 503)
			w.status(503).after(time.Minute).denied(c.failed)
		}
	}},
	{"E3", "fresh", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		w.granted(anmltrust.CodeQueryAuthorized)
		w.status(503)
		a, err := w.v.VerifyFresh(t.Context(), shopClaim)
		w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQueryUnavailable)
		w.granted(anmltrust.CodeQueryAuthorized) // a failure that may pass takes nothing away
	}},
	{"E4", "newer-trust-verified", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		w.granted(anmltrust.CodeQueryAuthorized)
		w.after(10 * time.Minute).status(404)
		hinted := shopClaim
		for _, at := range []time.Duration{-time.Hour, time.Hour} { // old, and in the future
			hinted.Verified = w.net.Clock().Now().Add(at)
			a, err := w.ask(hinted)
			w.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
		}
		hinted.Verified = w.net.Clock().Now()
		a, err := w.ask(hinted)
		w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQuery404)
		w.denied(anmltrust.CodeQuery404)
	}},
	{"E4", "once-in-five-minutes", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		w.granted(anmltrust.CodeQueryAuthorized)
		w.net.Journal().Clear()
		hinted := shopClaim
		for range 3 {
			w.after(time.Minute)
			hinted.Verified = w.net.Clock().Now()
			a, err := w.ask(hinted)
			w.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
		}
		w.traffic(0, 1, 0)
		asked := 0
		for _, wait := range []time.Duration{3*time.Minute - time.Second, time.Second} { // five minutes after the first one
			w.after(wait)
			hinted.Verified = w.net.Clock().Now()
			a, err := w.ask(hinted)
			w.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
			w.traffic(0, asked, 0)
			asked++
		}
	}},
	{"E4", "failure-keeps-the-grant", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		w.granted(anmltrust.CodeQueryAuthorized)
		w.after(time.Minute).status(503)
		hinted := shopClaim
		hinted.Verified = w.net.Clock().Now()
		a, err := w.ask(hinted)
		w.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized)
	}},
	{"E4", "patience", func(t *testing.T) {
		for _, c := range []struct {
			record           string
			granted, patient lookleap.Code
		}{{queryOnly, anmltrust.CodeQueryAuthorized, anmltrust.CodeQuery429}, {manifestOnly, anmltrust.CodeListed, anmltrust.CodeManifest429}} {
			w := newWorld(t, c.record).willing()
			w.granted(c.granted)
			anmltrust.ForgetManifests(w.v)
			w.brand.Status(manifestPath, 429)
			hinted := shopClaim
			hinted.Verified = w.after(time.Minute).status(429).net.Clock().Now()
			a, err := w.ask(hinted)
			w.wants(a, err, anmltrust.Unlisted, c.patient)
		}
	}},
	{"E1", "newest-of-two-grants", func(t *testing.T) {
		w := newWorld(t, both).secure().query(authorized)
		w.granted(anmltrust.CodeQueryAuthorized)
		w.dns.DNSSEC(lookleap.Insecure)
		w.manifest(manifest(entry("shop.example", 1, "body"))).after(time.Minute)
		a, err := w.v.VerifyFresh(t.Context(), shopClaim)
		w.wants(a, err, anmltrust.Display, anmltrust.CodeListed)
		a, err = w.ask(claimFrom("https://cdn.shop.example:8443/x")) // does not stand
		if w.wants(a, err, anmltrust.Display, anmltrust.CodeListed); anmltrust.Row(a.Verdict) != "E1" {
			t.Errorf("%s", a.Verdict)
		}
	}},
	{"E5", "expired", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(answer(2, "2026-06-01T12:30:00Z", "body"))
		w.granted(anmltrust.CodeQueryAuthorized)
		w.status(503)
		w.after(30*time.Minute - time.Second).granted(anmltrust.CodeQueryAuthorized)
		w.after(time.Second).denied(anmltrust.CodeQueryUnavailable) // nothing stale is served
	}},
	{"E6", "every-mode", func(t *testing.T) {
		w := newWorld(t, queryOnly).status(404)
		w.denied(anmltrust.CodeQuery404)
		w.query(authorized).net.Journal().Clear()
		w.denied(anmltrust.CodeQuery404)
		a, err := w.v.Refresh(t.Context(), shopClaim)
		w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQuery404)
		w.traffic(0, 0, 0)
		a, err = w.v.VerifyFresh(t.Context(), shopClaim)
		w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQuery404)
		if v := verdictOf(t, a, err); anmltrust.Row(v) != "E6" || v.Checks[len(v.Checks)-1].Status != lookleap.Failed {
			t.Errorf("%s", v)
		}
		w.traffic(1, 0, 0) // a fresh one asks the DNS, and not the endpoint
		w.after(time.Hour).granted(anmltrust.CodeQueryAuthorized)
	}},
	{"E7", "not-before-a-grant", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		w.granted(anmltrust.CodeQueryAuthorized)
		w.setRecord(append(w.exhausting(), queryOnly)...) // one exchange too many
		if _, err := w.v.VerifyFresh(t.Context(), shopClaim); lookleap.CodeOf(err) != lookleap.CodeTimeout {
			t.Fatal(err)
		}
		a, err := w.ask(claimFrom("https://other.shop.example/x"))
		if w.wants(a, err, anmltrust.Full, anmltrust.CodeQueryAuthorized); !a.Cached {
			t.Error("the grant was not used")
		}
	}},
	{"E7", "endpoint-alone", func(t *testing.T) {
		w := newWorld(t, queryOnly).status(503)
		w.denied(anmltrust.CodeQueryUnavailable)
		w.query(authorized).net.Journal().Clear()
		w.row("E7")
		a, err := w.ask(claimFrom("https://other.example/x")) // another pair, the same endpoint
		w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQueryUnavailable)
		w.traffic(0, 0, 0)
	}},
	{"E8", "patience", func(t *testing.T) {
		w := newWorld(t, both).secure().willing().status(429, "Retry-After", "120")
		w.denied(anmltrust.CodeQuery429)
		w.query(authorized).net.Journal().Clear()
		w.row("E8")
		a, err := w.ask(claimFrom("https://other.example/x"))
		w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQuery429)
		w.traffic(0, 0, 0)
		w.after(2 * time.Minute).granted(anmltrust.CodeQueryAuthorized)
	}},
	{"E9", "other-mechanism", func(t *testing.T) {
		w := newWorld(t, both).secure().manifest(manifest(listed)).status(503)
		a, err := w.ask(claimFrom("https://other.example/x"))
		w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeNotListed)
		w.query(authorized).net.Journal().Clear()
		w.granted(anmltrust.CodeListedFallback)
		w.traffic(0, 0, 0)
	}},
	{"E8", "patience-of-another-process", func(t *testing.T) {
		w := newWorld(t, both).secure().willing().status(429, "Retry-After", "120")
		w.denied(anmltrust.CodeQuery429)
		other := newWorldOn(t, w.net, "")
		other.host.Limiter = w.host
		w.query(authorized).net.Journal().Clear()
		other.denied(anmltrust.CodeQuery429)
		other.row("E8")
		other.traffic(1, 0, 0)
		alone := newWorldOn(t, w.net, "")
		alone.granted(anmltrust.CodeQueryAuthorized)
		other.after(2 * time.Minute).granted(anmltrust.CodeQueryAuthorized)
	}},
	{"E9", "failure-that-another-process-saw", func(t *testing.T) {
		w := newWorld(t, both).secure().manifest(manifest(listed)).status(503, "Retry-After", "120")
		w.granted(anmltrust.CodeListedFallback)
		other := newWorldOn(t, w.net, "")
		other.host.Limiter = w.host
		w.query(authorized).net.Journal().Clear()
		other.granted(anmltrust.CodeListedFallback)
		other.traffic(1, 0, 1)
	}},
	{"M8", "patience-of-another-process", func(t *testing.T) {
		w := newWorld(t, manifestOnly)
		w.brand.Status(manifestPath, 429, "Retry-After", "120")
		w.denied(anmltrust.CodeManifest429)
		other := newWorldOn(t, w.net, "")
		other.host.Limiter = w.host
		w.willing().net.Journal().Clear()
		other.denied(anmltrust.CodeManifest429)
		other.traffic(1, 0, 0)
		other.after(2 * time.Minute).granted(anmltrust.CodeListed)
	}},
	{"M0", "held-failure-withdraws-nothing", func(t *testing.T) {
		w := newWorld(t, manifestOnly).manifest(manifest(listed))
		w.granted(anmltrust.CodeListed)
		w.manifest("[]")
		for _, c := range []anmltrust.Claim{claimFrom("https://other.shop.example/x"), shopClaim} { // the second one is not asked
			a, err := w.v.VerifyFresh(t.Context(), c)
			w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeManifestMalformed)
		}
		w.granted(anmltrust.CodeListed)
		w.traffic(3, 0, 2)
	}},
	{"E10", "single-flight", func(t *testing.T) { concurrent(t, 100) }},
}

var choiceRows = []rowTest{
	{"F3", "insecure-manifest-first", func(t *testing.T) {
		w := newWorld(t, both).willing()
		w.granted(anmltrust.CodeListed)
		w.traffic(1, 0, 1)
	}},
	{"F3", "transient-then-query", func(t *testing.T) {
		w := newWorld(t, both).query(authorized)
		w.brand.Status(manifestPath, 503)
		w.granted(anmltrust.CodeQueryAuthorized)
		w.traffic(1, 1, 1)
	}},
	{"B8", "third-party-where-subdomains-are-trusted", func(t *testing.T) {
		newWorld(t, manifestOnly, anmltrust.Rules{SelfSubdomains: anmltrust.TrustSubdomains}).willing().granted(anmltrust.CodeListed)
	}},
	{"F5", "dnssec-required", func(t *testing.T) {
		w := newWorld(t, queryOnly, anmltrust.Rules{RequireDNSSECForQuery: true}).query(authorized)
		w.denied(anmltrust.CodeDNSSECRequired)
		w.traffic(1, 0, 0)
		w.setRecord(both).manifest(manifest(listed)).after(time.Hour).granted(anmltrust.CodeListed)
	}},
	{"F5", "not-even-as-fallback", func(t *testing.T) {
		w := newWorld(t, both, anmltrust.Rules{RequireDNSSECForQuery: true}).query(authorized)
		w.brand.Status(manifestPath, 503)
		w.denied(anmltrust.CodeManifestUnavailable)
		w.traffic(1, 0, 1)
	}},
}

var severalRows = []rowTest{
	{"K2", "one-no", func(t *testing.T) {
		w := newWorld(t, "").setRecord("v=anml1;query=https://trust.example/1", "v=anml1;query=https://trust.example/2;manifest="+manifestURI).secure().manifest(manifest(listed))
		w.trust.File("/1", "application/json", authorized).Status("/2", 404)
		w.denied(anmltrust.CodeQuery404)
		if seen := w.net.Journal().Requests("brand.example"); len(seen) != 0 {
			t.Error("the manifest was consulted")
		}
	}},
	{"K2", "manifest", func(t *testing.T) {
		w := newWorld(t, "").setRecord("v=anml1;manifest=https://brand.example/1", "v=anml1;manifest=https://brand.example/2")
		w.brand.File("/1", anmltrust.ManifestMediaType, manifest(listed)).File("/2", anmltrust.ManifestMediaType, manifest(""))
		w.denied(anmltrust.CodeNotListed)
	}},
	{"K4", "one-transient-alone", func(t *testing.T) {
		w := newWorld(t, "").setRecord("v=anml1;query=https://trust.example/1", "v=anml1;query=https://trust.example/2").secure()
		w.trust.File("/1", "application/json", authorized).Status("/2", 503)
		w.denied(anmltrust.CodeQueryUnavailable)
		w.trust.File("/2", "application/json", authorized)
		w.net.Journal().Clear()
		w.denied(anmltrust.CodeQueryUnavailable)
		if n := len(w.net.Journal().Requests("trust.example")); n > 1 {
			t.Errorf("%d requests: the failed source was asked again", n)
		}
		w.after(time.Minute).granted(anmltrust.CodeQueryAuthorized)
	}},
}

// refreshed shows the background refresh: what replaces a grant and what leaves it.
func TestRefresh(t *testing.T) {
	for _, c := range []struct {
		name  string
		then  func(*world)
		code  lookleap.Code // of the refresh; "" for the old grant
		later lookleap.Code // of the next question
	}{
		{"grant-replaces", func(w *world) { w.query(answer(2, "2026-06-25T00:00:00Z", "body")) }, anmltrust.CodeQueryAuthorized, anmltrust.CodeQueryAuthorized},
		{"404-replaces-at-once", func(w *world) { w.status(404) }, anmltrust.CodeQuery404, anmltrust.CodeQuery404},
		{"malformed-replaces-at-once", func(w *world) { w.query("{}") }, anmltrust.CodeQueryMalformed, anmltrust.CodeQueryMalformed},
		{"503-leaves-it", func(w *world) { w.status(503) }, "", anmltrust.CodeQueryAuthorized},
		{"429-leaves-it", func(w *world) { w.status(429) }, "", anmltrust.CodeQueryAuthorized},
	} {
		t.Run("ANML-12.4-25/accept-"+c.name, func(t *testing.T) {
			w := newWorld(t, queryOnly).query(authorized)
			old := w.granted(anmltrust.CodeQueryAuthorized)
			if got := old.Expires.Sub(old.RefreshAfter); got != time.Hour {
				t.Errorf("refresh %s before the end", got)
			}
			c.then(w)
			a, err := w.v.Refresh(t.Context(), shopClaim)
			switch {
			case c.code == "":
				if err != nil || !a.Expires.Equal(old.Expires) || !a.Cached {
					t.Errorf("got %+v, %v", a, err)
				}
			case c.code == anmltrust.CodeQueryAuthorized:
				if err != nil || !a.Expires.After(old.Expires) || a.Cached {
					t.Errorf("got %+v, %v", a, err)
				}
			default:
				w.wants(a, err, anmltrust.Unlisted, c.code)
			}
			a, err = w.ask(shopClaim)
			if c.later == anmltrust.CodeQueryAuthorized {
				w.wants(a, err, anmltrust.Full, c.later)
			} else {
				w.wants(a, err, anmltrust.Unlisted, c.later)
			}
		})
	}
	t.Run("ANML-12.4-25/reject-first-question", func(t *testing.T) {
		w := newWorld(t, queryOnly).status(503)
		a, err := w.v.Refresh(t.Context(), shopClaim)
		w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeQueryUnavailable)
	})
	t.Run("ANML-12.4-25/reject-query-grant-after-manifest", func(t *testing.T) {
		w := newWorld(t, both).secure().query(authorized)
		w.granted(anmltrust.CodeQueryAuthorized)
		w.dns.DNSSEC(lookleap.Insecure)
		w.manifest(manifest(entry("elsewhere.example", 1, "body")))
		if _, err := w.v.VerifyFresh(t.Context(), shopClaim); lookleap.CodeOf(err) != anmltrust.CodeNotListed {
			t.Fatal(err)
		}
		a, err := w.ask(claimFrom("https://other.shop.example/x"))
		w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeNotListed)
	})
	for name, change := range map[string]func(*world){
		"denial": func(w *world) { w.status(404) }, "malformed": func(w *world) { w.query("{}") }, "no-record": func(w *world) { w.dns.Clear() },
		"other-source": func(w *world) { w.setRecord("v=anml1;query=https://trust.example/moved") }, "bogus": func(w *world) { w.dns.Bogus() },
	} {
		t.Run("ANML-12.4-25/reject-repeated-answer-after-"+name, func(t *testing.T) {
			w := newWorld(t, queryOnly).query(authorized)
			for range 3 {
				w.granted(anmltrust.CodeQueryAuthorized)
			}
			change(w)
			_, fresh := w.v.VerifyFresh(t.Context(), shopClaim)
			if a, err := w.ask(shopClaim); a != nil || fresh == nil || lookleap.CodeOf(err) != lookleap.CodeOf(fresh) {
				t.Errorf("%+v, %v; before %v", a, err, fresh)
			}
		})
	}
	t.Run("ANML-12.4-25/reject-manifest-grant-after-query", func(t *testing.T) {
		w := newWorld(t, both).manifest(manifest(listed)).status(404)
		w.granted(anmltrust.CodeListed)
		w.setRecord(both).secure().dns.TTL(time.Minute)
		if _, err := w.v.VerifyFresh(t.Context(), claimFrom("https://other.shop.example/x")); lookleap.CodeOf(err) != anmltrust.CodeQuery404 {
			t.Fatal(err)
		}
		anmltrust.ForgetManifests(w.v)
		w.brand.Status(manifestPath, 503)
		w.status(503).after(time.Minute).denied(anmltrust.CodeManifestUnavailable) // the denial has ended, the grant has not come back
	})
	t.Run("ANML-12.4-25/reject-withdrawn-grant-after-other-withdrawals", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		anmltrust.Remember(w.v, 1, 1, 1<<20)
		w.granted(anmltrust.CodeQueryAuthorized)
		w.query("{}")
		for _, url := range []string{shopClaim.URL, "https://other.example/x", "https://third.example/x"} {
			if _, err := w.v.VerifyFresh(t.Context(), claimFrom(url)); lookleap.CodeOf(err) != anmltrust.CodeQueryMalformed {
				t.Fatal(err)
			}
		}
		w.status(503).after(6 * time.Minute).denied(anmltrust.CodeQueryUnavailable)
	})
	t.Run("ANML-12.4-25/accept-manifest-conditional", func(t *testing.T) {
		w := newWorld(t, manifestOnly)
		body := manifest(listed)
		w.brand.Handle(manifestPath, handle(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("ETag", `"1"`)
			if r.Header.Get("If-None-Match") == `"1"` {
				rw.WriteHeader(304)
				return
			}
			rw.Header().Set("Content-Type", anmltrust.ManifestMediaType)
			rw.Write([]byte(body))
		}))
		old := w.granted(anmltrust.CodeListed)
		w.after(55 * time.Minute)
		a, err := w.v.Refresh(t.Context(), shopClaim)
		w.wants(a, err, anmltrust.Full, anmltrust.CodeListed)
		if !a.Expires.After(old.Expires) {
			t.Errorf("%s is not after %s", a.Expires, old.Expires)
		}
	})
}

// TestConfirmedManifest: what a 304 is about.
func TestConfirmedManifest(t *testing.T) {
	for name, c := range map[string]struct{ kept, says string }{
		"reject-other-tag":       {`"1"`, `"2"`},
		"reject-strong-for-weak": {`W/"1"`, `"1"`},
		"reject-star":            {"*", "*"},
	} {
		t.Run("O21/"+name, func(t *testing.T) {
			w := newWorld(t, manifestOnly)
			body, tag := manifest(listed), c.kept
			w.brand.Handle(manifestPath, handle(func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("ETag", tag)
				if r.Header.Get("If-None-Match") != "" {
					rw.WriteHeader(304)
					return
				}
				rw.Header().Set("Content-Type", anmltrust.ManifestMediaType)
				rw.Write([]byte(body))
			}))
			w.granted(anmltrust.CodeListed)
			w.after(time.Hour)
			body, tag = manifest(entry("elsewhere.example", 1, "body")), c.says
			a, err := w.ask(shopClaim)
			w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeNotListed)
		})
	}
}
