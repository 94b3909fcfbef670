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
		w.denied(lookleap.CodeQuery429)
		w.query(authorized).after(time.Hour)
		w.dns.TTL(24 * time.Hour)
		w.denied(lookleap.CodeQuery429)
		w.in = w.v.Begin()
		w.granted(lookleap.CodeQueryAuthorized)
	}},
	{"E0", "stored-grant-stays-for-later-interactions", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		w.in = w.v.Begin()
		w.granted(lookleap.CodeQueryAuthorized)
		w.status(429)
		a, err := w.in.VerifyFresh(t.Context(), shopClaim)
		w.wants(a, err, anmltrust.Unlisted, lookleap.CodeQuery429)
		w.denied(lookleap.CodeQuery429)
		w.in = w.v.Begin()
		w.granted(lookleap.CodeQueryAuthorized)
	}},
	{"E1", "grant", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		first := w.granted(lookleap.CodeQueryAuthorized)
		w.net.Journal().Clear()
		for range 3 {
			a := w.granted(lookleap.CodeQueryAuthorized)
			if !a.Cached || first.Cached || !a.CheckedAt.Equal(first.CheckedAt) || a.Scope != first.Scope {
				t.Errorf("%+v", a)
			}
		}
		w.traffic(0, 0, 0)
		w.after(2 * time.Hour).granted(lookleap.CodeQueryAuthorized)
		w.traffic(1, 0, 0) // the record is alive, and nobody else is asked
	}},
	{"E2", "no-longer-advertised", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		w.granted(lookleap.CodeQueryAuthorized)
		w.setRecord("v=anml1;query=https://trust.example/moved")
		w.after(time.Hour).denied(lookleap.CodeQuery404)
		w.setRecord(queryOnly)
		w.status(404)
		w.after(25 * time.Hour).denied(lookleap.CodeQuery404) // dropped for good
	}},
	{"E3", "fresh", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		w.granted(lookleap.CodeQueryAuthorized)
		w.status(503)
		a, err := w.v.VerifyFresh(t.Context(), shopClaim)
		w.wants(a, err, anmltrust.Unlisted, lookleap.CodeQueryUnavailable)
		w.granted(lookleap.CodeQueryAuthorized) // a failure that may pass takes nothing away
	}},
	{"E4", "newer-trust-verified", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		w.granted(lookleap.CodeQueryAuthorized)
		w.after(10 * time.Minute).status(404)
		hinted := shopClaim
		for _, at := range []time.Duration{-time.Hour, time.Hour} { // old, and in the future
			hinted.Verified = w.net.Clock().Now().Add(at)
			a, err := w.ask(hinted)
			w.wants(a, err, anmltrust.Full, lookleap.CodeQueryAuthorized)
		}
		hinted.Verified = w.net.Clock().Now()
		a, err := w.ask(hinted)
		w.wants(a, err, anmltrust.Unlisted, lookleap.CodeQuery404)
		w.denied(lookleap.CodeQuery404)
	}},
	{"E4", "once-in-five-minutes", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		w.granted(lookleap.CodeQueryAuthorized)
		w.net.Journal().Clear()
		hinted := shopClaim
		for range 3 {
			w.after(time.Minute)
			hinted.Verified = w.net.Clock().Now()
			a, err := w.ask(hinted)
			w.wants(a, err, anmltrust.Full, lookleap.CodeQueryAuthorized)
		}
		w.traffic(0, 1, 0)
	}},
	{"E4", "failure-keeps-the-grant", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		w.granted(lookleap.CodeQueryAuthorized)
		w.after(time.Minute).status(503)
		hinted := shopClaim
		hinted.Verified = w.net.Clock().Now()
		a, err := w.ask(hinted)
		w.wants(a, err, anmltrust.Full, lookleap.CodeQueryAuthorized)
	}},
	{"E5", "expired", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(answer(2, "2026-06-01T12:30:00Z", "body"))
		w.granted(lookleap.CodeQueryAuthorized)
		w.status(503)
		w.after(30*time.Minute - time.Second).granted(lookleap.CodeQueryAuthorized)
		w.after(time.Second).denied(lookleap.CodeQueryUnavailable) // nothing stale is served
	}},
	{"E6", "every-mode", func(t *testing.T) {
		w := newWorld(t, queryOnly).status(404)
		w.denied(lookleap.CodeQuery404)
		w.query(authorized).net.Journal().Clear()
		w.denied(lookleap.CodeQuery404)
		a, err := w.v.Refresh(t.Context(), shopClaim)
		w.wants(a, err, anmltrust.Unlisted, lookleap.CodeQuery404)
		w.traffic(0, 0, 0)
		a, err = w.v.VerifyFresh(t.Context(), shopClaim)
		w.wants(a, err, anmltrust.Unlisted, lookleap.CodeQuery404)
		w.traffic(1, 0, 0) // a fresh one asks the DNS, and not the endpoint
		w.after(time.Hour).granted(lookleap.CodeQueryAuthorized)
	}},
	{"E7", "pair", func(t *testing.T) {
		w := newWorld(t, queryOnly).status(400)
		w.denied(lookleap.CodeQuery400)
		w.query(authorized).net.Journal().Clear()
		w.after(5*time.Minute - time.Second).denied(lookleap.CodeQuery400)
		w.row("E7")
		w.traffic(0, 0, 0)
		w.after(time.Second).granted(lookleap.CodeQueryAuthorized)
	}},
	{"E7", "not-before-a-grant", func(t *testing.T) {
		w := newWorld(t, queryOnly, anmltrust.Options{Limits: anmltrust.Limits{Exchanges: 1}}).query(authorized)
		w.granted(lookleap.CodeQueryAuthorized)
		w.setRecord(queryOnly, "v=anml1;query=https://trust.example/other") // one exchange too many
		if _, err := w.v.VerifyFresh(t.Context(), shopClaim); lookleap.CodeOf(err) != lookleap.CodeTimeout {
			t.Fatal(err)
		}
		a, err := w.ask(claimFrom("https://other.shop.example/x"))
		if w.wants(a, err, anmltrust.Full, lookleap.CodeQueryAuthorized); !a.Cached {
			t.Error("the grant was not used")
		}
	}},
	{"E7", "endpoint-alone", func(t *testing.T) {
		w := newWorld(t, queryOnly).status(503)
		w.denied(lookleap.CodeQueryUnavailable)
		w.query(authorized).net.Journal().Clear()
		w.row("E7")
		a, err := w.ask(claimFrom("https://other.example/x")) // another pair, the same endpoint
		w.wants(a, err, anmltrust.Unlisted, lookleap.CodeQueryUnavailable)
		w.traffic(0, 0, 0)
	}},
	{"E8", "patience", func(t *testing.T) {
		w := newWorld(t, both).secure().willing().status(429, "Retry-After", "120")
		w.denied(lookleap.CodeQuery429)
		w.query(authorized).net.Journal().Clear()
		w.row("E8")
		a, err := w.ask(claimFrom("https://other.example/x"))
		w.wants(a, err, anmltrust.Unlisted, lookleap.CodeQuery429)
		w.traffic(0, 0, 0)
		w.after(2 * time.Minute).granted(lookleap.CodeQueryAuthorized)
	}},
	{"E9", "other-mechanism", func(t *testing.T) {
		w := newWorld(t, both).secure().manifest(manifest(listed)).status(503)
		a, err := w.ask(claimFrom("https://other.example/x"))
		w.wants(a, err, anmltrust.Unlisted, lookleap.CodeNotListed)
		w.query(authorized).net.Journal().Clear()
		w.granted(lookleap.CodeListedFallback)
		w.traffic(0, 0, 0)
	}},
	{"E10", "single-flight", func(t *testing.T) { concurrent(t, 100) }},
	{"E11", "nothing-usable", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		w.granted(lookleap.CodeQueryAuthorized)
		w.traffic(1, 1, 0)
	}},
}

var choiceRows = []rowTest{
	{"F1", "secure-query-first", func(t *testing.T) {
		w := newWorld(t, both).secure().willing()
		w.granted(lookleap.CodeQueryAuthorized)
		w.traffic(1, 1, 0)
	}},
	{"F2", "secure-manifest-only", func(t *testing.T) {
		newWorld(t, manifestOnly).secure().willing().granted(lookleap.CodeListed)
	}},
	{"F3", "insecure-manifest-first", func(t *testing.T) {
		w := newWorld(t, both).willing()
		w.granted(lookleap.CodeListed)
		w.traffic(1, 0, 1)
	}},
	{"F3", "transient-then-query", func(t *testing.T) {
		w := newWorld(t, both).query(authorized)
		w.brand.Status(manifestPath, 503)
		w.granted(lookleap.CodeQueryAuthorized)
		w.traffic(1, 1, 1)
	}},
	{"F4", "insecure-query-only", func(t *testing.T) {
		w := newWorld(t, queryOnly).query(authorized)
		w.dns.DNSSEC(lookleap.Insecure)
		if a := w.granted(lookleap.CodeQueryAuthorized); a.DNSSEC != lookleap.Insecure {
			t.Errorf("dnssec %s", a.DNSSEC)
		}
	}},
	{"F5", "dnssec-required", func(t *testing.T) {
		w := newWorld(t, queryOnly, anmltrust.Options{Policy: anmltrust.Policy{RequireDNSSECForQuery: true}}).query(authorized)
		w.denied(lookleap.CodeDNSSECRequired)
		w.traffic(1, 0, 0)
		w.setRecord(both).manifest(manifest(listed)).after(time.Hour).granted(lookleap.CodeListed)
	}},
	{"F5", "not-even-as-fallback", func(t *testing.T) {
		w := newWorld(t, both, anmltrust.Options{Policy: anmltrust.Policy{RequireDNSSECForQuery: true}}).query(authorized)
		w.brand.Status(manifestPath, 503)
		w.denied(lookleap.CodeManifestUnavailable)
		w.traffic(1, 0, 1)
	}},
}

var severalRows = []rowTest{
	{"K1", "all-grant", func(t *testing.T) {
		w := newWorld(t, "").setRecord("v=anml1;query=https://trust.example/1", "v=anml1;query=https://trust.example/2").secure()
		w.trust.Body("/1", "application/json", answer(2, "2026-06-20T00:00:00Z", "body", "aesthetic", "persona"))
		w.trust.Body("/2", "application/json", answer(1, "2026-06-10T00:00:00Z", "body", "aesthetic", "persona", "knowledge"))
		a, err := w.ask(shopClaim)
		w.wants(a, err, anmltrust.Display, lookleap.CodeQueryAuthorized)
		if a.Scope.String() != "aesthetic,body" || a.Expires.Day() != 10 || len(a.Sources) != 2 {
			t.Errorf("%s until %s from %v", a.Scope, a.Expires, a.Sources)
		}
	}},
	{"K2", "one-no", func(t *testing.T) {
		w := newWorld(t, "").setRecord("v=anml1;query=https://trust.example/1", "v=anml1;query=https://trust.example/2;manifest="+manifestURI).secure().manifest(manifest(listed))
		w.trust.Body("/1", "application/json", authorized).Status("/2", 404)
		w.denied(lookleap.CodeQuery404)
		if seen := w.net.Journal().Requests("brand.example"); len(seen) != 0 {
			t.Error("the manifest was consulted")
		}
	}},
	{"K2", "manifest", func(t *testing.T) {
		w := newWorld(t, "").setRecord("v=anml1;manifest=https://brand.example/1", "v=anml1;manifest=https://brand.example/2")
		w.brand.Body("/1", anmltrust.ManifestMediaType, manifest(listed)).Body("/2", anmltrust.ManifestMediaType, manifest(""))
		w.denied(lookleap.CodeNotListed)
	}},
	{"K3", "one-transient-other-mechanism", func(t *testing.T) {
		w := newWorld(t, "").setRecord("v=anml1;query=https://trust.example/1", "v=anml1;query=https://trust.example/2;manifest="+manifestURI).secure().manifest(manifest(listed))
		w.trust.Body("/1", "application/json", authorized).Status("/2", 503)
		w.granted(lookleap.CodeListedFallback)
	}},
	{"K4", "one-transient-alone", func(t *testing.T) {
		w := newWorld(t, "").setRecord("v=anml1;query=https://trust.example/1", "v=anml1;query=https://trust.example/2").secure()
		w.trust.Body("/1", "application/json", authorized).Status("/2", 503)
		w.denied(lookleap.CodeQueryUnavailable)
		w.trust.Body("/2", "application/json", authorized)
		w.net.Journal().Clear()
		w.denied(lookleap.CodeQueryUnavailable)
		if n := len(w.net.Journal().Requests("trust.example")); n > 1 {
			t.Errorf("%d requests: the failed source was asked again", n)
		}
		w.after(time.Minute).granted(lookleap.CodeQueryAuthorized)
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
		{"grant-replaces", func(w *world) { w.query(answer(2, "2026-06-25T00:00:00Z", "body")) }, lookleap.CodeQueryAuthorized, lookleap.CodeQueryAuthorized},
		{"404-replaces-at-once", func(w *world) { w.status(404) }, lookleap.CodeQuery404, lookleap.CodeQuery404},
		{"malformed-replaces-at-once", func(w *world) { w.query("{}") }, lookleap.CodeQueryMalformed, lookleap.CodeQueryMalformed},
		{"503-leaves-it", func(w *world) { w.status(503) }, "", lookleap.CodeQueryAuthorized},
		{"429-leaves-it", func(w *world) { w.status(429) }, "", lookleap.CodeQueryAuthorized},
	} {
		t.Run("ANML-12.4-25/accept-"+c.name, func(t *testing.T) {
			w := newWorld(t, queryOnly).query(authorized)
			old := w.granted(lookleap.CodeQueryAuthorized)
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
			case c.code == lookleap.CodeQueryAuthorized:
				if err != nil || !a.Expires.After(old.Expires) || a.Cached {
					t.Errorf("got %+v, %v", a, err)
				}
			default:
				w.wants(a, err, anmltrust.Unlisted, c.code)
			}
			a, err = w.ask(shopClaim)
			if c.later == lookleap.CodeQueryAuthorized {
				w.wants(a, err, anmltrust.Full, c.later)
			} else {
				w.wants(a, err, anmltrust.Unlisted, c.later)
			}
		})
	}
	t.Run("ANML-12.4-25/reject-query-grant-after-manifest", func(t *testing.T) {
		w := newWorld(t, both).secure().query(authorized)
		w.granted(lookleap.CodeQueryAuthorized)
		w.dns.DNSSEC(lookleap.Insecure)
		w.manifest(manifest(entry("elsewhere.example", 1, "body")))
		if _, err := w.v.VerifyFresh(t.Context(), shopClaim); lookleap.CodeOf(err) != lookleap.CodeNotListed {
			t.Fatal(err)
		}
		a, err := w.ask(claimFrom("https://other.shop.example/x"))
		w.wants(a, err, anmltrust.Unlisted, lookleap.CodeNotListed)
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
		old := w.granted(lookleap.CodeListed)
		w.after(55 * time.Minute)
		a, err := w.v.Refresh(t.Context(), shopClaim)
		w.wants(a, err, anmltrust.Full, lookleap.CodeListed)
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
			w.granted(lookleap.CodeListed)
			w.after(time.Hour)
			body, tag = manifest(entry("elsewhere.example", 1, "body")), c.says
			a, err := w.ask(shopClaim)
			w.wants(a, err, anmltrust.Unlisted, lookleap.CodeNotListed)
		})
	}
}
