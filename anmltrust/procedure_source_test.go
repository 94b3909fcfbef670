package anmltrust_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

// held says how long a refusal stands, and that the other mechanism was not asked.
func queryRefused(code lookleap.Code, stands time.Duration, prepare func(*world)) func(*testing.T) {
	return func(t *testing.T) {
		w := newWorld(t, both).secure().willing()
		prepare(w)
		w.denied(code)
		w.query(authorized)
		w.trust.Fault(queryPath).Connection().Certificate(lookleaptest.CertificateValid)
		w.net.Journal().Clear()
		w.after(stands - time.Second).denied(code)
		w.traffic(0, 0, 0)
		w.dns.DNSSEC(lookleap.Secure)
		w.after(time.Second).granted(anmltrust.CodeQueryAuthorized)
		if n := len(w.net.Journal().Requests("brand.example")); n != 0 {
			t.Error("the manifest was asked after a final answer")
		}
	}
}

func body(text string) func(*world) { return func(w *world) { w.query(text) } }

func status(code int, header ...string) func(*world) {
	return func(w *world) { w.status(code, header...) }
}

func queryFault(f lookleaptest.Fault) func(*world) {
	return func(w *world) { w.trust.Fault(queryPath, f) }
}

// fallsBack shows that the manifest is read, and then the backoff.
func fallsBack(prepare func(*world)) func(*testing.T) {
	return func(t *testing.T) {
		w := newWorld(t, both).secure().willing()
		prepare(w)
		a := w.granted(anmltrust.CodeListedFallback)
		if a.Scope.String() != "persona,interact,body" {
			t.Errorf("scope %s", a.Scope)
		}
	}
}

func unavailable(prepare func(*world)) func(*testing.T) {
	return func(t *testing.T) {
		w := newWorld(t, queryOnly).secure().query(authorized)
		prepare(w)
		w.denied(anmltrust.CodeQueryUnavailable)
		w.query(authorized)
		w.trust.Fault(queryPath).Connection()
		w.after(59 * time.Second).denied(anmltrust.CodeQueryUnavailable)
		w.after(time.Second).granted(anmltrust.CodeQueryAuthorized)
	}
}

var queryRows = []rowTest{
	{"Q0", "after-manifest-transient", func(t *testing.T) {
		w := newWorld(t, both).status(429, "Retry-After", "600")
		w.brand.Status(manifestPath, 503)
		w.denied(anmltrust.CodeQuery429)
		w.traffic(1, 1, 1)
		w.after(2 * time.Minute).denied(anmltrust.CodeQuery429)
		w.traffic(0, 0, 1)
	}},
	{"Q1", "authorized", func(t *testing.T) {
		w := newWorld(t, both).secure().willing().query(answer(1, "2026-06-20T00:00:00.5Z", "body", "persona", "state"))
		a, err := w.ask(shopClaim)
		w.wants(a, err, anmltrust.Display, anmltrust.CodeQueryAuthorized)
		if a.Scope.String() != "body" || a.Truncated.String() != "persona" || a.Expires.Day() != 20 {
			t.Errorf("%s, %s cut, until %s", a.Scope, a.Truncated, a.Expires)
		}
	}},
	{"Q2", "authorized-false", queryRefused(anmltrust.CodeQueryAuthorizedFalse, time.Hour, body(`{"authorized":false,"tier":2,"scope":["body"],"expires":"2026-06-20T00:00:00Z"}`))},
	{"Q4", "expired", queryRefused(anmltrust.CodeQueryExpired, time.Minute, body(answer(2, "2026-06-01T12:00:00Z", "body")))},
	{"Q5", "html", queryRefused(anmltrust.CodeQueryMalformed, 5*time.Minute, func(w *world) { w.trust.File(queryPath, "text/html", authorized) })},
	{"Q5", "no-type", queryRefused(anmltrust.CodeQueryMalformed, 5*time.Minute, queryFault(lookleaptest.Header("Content-Type")))},
	{"Q5", "charset", queryRefused(anmltrust.CodeQueryMalformed, 5*time.Minute, queryFault(lookleaptest.Header("Content-Type", "application/json; charset=utf-16")))},
	{"Q5", "large", queryRefused(anmltrust.CodeQueryMalformed, 5*time.Minute, body(authorized+strings.Repeat(" ", 64<<10)))},
	{"Q5", "utf8", queryRefused(anmltrust.CodeQueryMalformed, 5*time.Minute, body("{\"\xff\":1,"+authorized[1:]))},
	{"Q5", "204", queryRefused(anmltrust.CodeQueryMalformed, 5*time.Minute, status(204))},
	{"Q6", "empty-scope", func(t *testing.T) {
		for _, scope := range []string{`[]`, `["state","*","Body"]`} {
			w := newWorld(t, queryOnly).query(`{"authorized":true,"tier":2,"scope":` + scope + `,"expires":"2026-06-20T00:00:00Z"}`)
			a := w.granted(anmltrust.CodeQueryAuthorized)
			if a.Scope != 0 || a.Permits(anmltrust.Body, start) {
				t.Errorf("%s permits %s", scope, a.Scope)
			}
		}
	}},
	{"Q7", "404", queryRefused(anmltrust.CodeQuery404, time.Hour, status(404))},
	{"Q8", "400", func(t *testing.T) {
		queryRefused(anmltrust.CodeQuery400, 5*time.Minute, status(400))(t)
		w := newWorld(t, queryOnly).status(400)
		w.denied(anmltrust.CodeQuery400)
		w.saw(anmltrust.CodeQuery400)
	}},
	{"Q9", "429", queryRefused(anmltrust.CodeQuery429, time.Minute, status(429))},
	{"Q9", "retry-after", queryRefused(anmltrust.CodeQuery429, 30*time.Minute, status(429, "Retry-After", "1800"))},
	{"Q9", "seven-days-at-most", func(t *testing.T) {
		w := newWorld(t, queryOnly).status(429, "Retry-After", "99999999")
		w.denied(anmltrust.CodeQuery429)
		w.query(authorized)
		w.after(7*24*time.Hour - time.Second).denied(anmltrust.CodeQuery429)
		w.after(time.Second).granted(anmltrust.CodeQueryAuthorized)
	}},
	{"Q10", "401", queryRefused(anmltrust.CodeQueryStatus, 5*time.Minute, status(401))},
	{"Q11", "302", queryRefused(anmltrust.CodeQueryRedirect, 5*time.Minute, status(302, "Location", "https://brand.example/q"))},
	{"Q12", "503-manifest", fallsBack(status(503))},
	{"Q13", "503-alone", unavailable(status(503))},
	{"Q13", "retry-after", func(t *testing.T) {
		w := newWorld(t, queryOnly).status(503, "Retry-After", "300")
		w.denied(anmltrust.CodeQueryUnavailable)
		w.query(authorized).after(299 * time.Second).denied(anmltrust.CodeQueryUnavailable)
		w.after(time.Second).granted(anmltrust.CodeQueryAuthorized)
	}},
	{"Q14", "refused-manifest", fallsBack(func(w *world) { w.trust.Connection(lookleaptest.ConnectionRefused) })},
	{"Q14", "reset-manifest", fallsBack(queryFault(lookleaptest.Reset()))},
	{"Q14", "truncated-manifest", fallsBack(queryFault(lookleaptest.Truncated()))},
	{"Q15", "refused-alone", unavailable(func(w *world) { w.trust.Connection(lookleaptest.ConnectionRefused) })},
	{"Q15", "both-fail", func(t *testing.T) {
		w := newWorld(t, both)
		w.brand.Connection(lookleaptest.ConnectionRefused)
		w.trust.Connection(lookleaptest.ConnectionRefused)
		w.denied(anmltrust.CodeQueryUnavailable)
	}},
	{"Q16", "self-signed", queryRefused(anmltrust.CodeQueryTLS, time.Minute, func(w *world) { w.trust.Certificate(lookleaptest.CertificateSelfSigned) })},
	{"Q16", "wrong-name", func(t *testing.T) {
		w := newWorld(t, both).secure().willing()
		w.trust.Certificate(lookleaptest.CertificateWrongName)
		w.denied(anmltrust.CodeQueryTLS)
		w.saw(anmltrust.CodeQueryTLS)
	}},
}

// manifestRefused shows a refusal that stands for a time, and that the query
// endpoint, though advertised, was not asked.
func manifestRefused(code lookleap.Code, stands time.Duration, prepare func(*world)) func(*testing.T) {
	return func(t *testing.T) {
		w := newWorld(t, both).willing()
		prepare(w)
		w.denied(code)
		w.brand.Certificate(lookleaptest.CertificateValid).Fault(manifestPath)
		w.manifest(manifest(listed)).net.Journal().Clear()
		w.after(stands - time.Second).denied(code)
		w.traffic(0, 0, 0)
		w.after(time.Second).granted(anmltrust.CodeListed)
		if n := len(w.net.Journal().Requests("trust.example")); n != 0 {
			t.Error("the query endpoint was asked after a final answer")
		}
	}
}

func manifestBody(text string) func(*world) { return func(w *world) { w.manifest(text) } }

func manifestStatus(code int, header ...string) func(*world) {
	return func(w *world) { w.brand.Status(manifestPath, code, header...) }
}

const five = 5 * time.Minute

var manifestRows = []rowTest{
	{"M0", "held-for-every-server", func(t *testing.T) {
		w := newWorld(t, manifestOnly).manifest("[]")
		w.denied(anmltrust.CodeManifestMalformed)
		w.willing().net.Journal().Clear()
		for _, fresh := range []bool{false, true} {
			ask := w.v.Verify
			if fresh {
				ask = w.v.VerifyFresh
			}
			a, err := ask(t.Context(), claimFrom("https://other.example/x"))
			w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeManifestMalformed)
		}
		w.traffic(1, 0, 0)
	}},
	{"M1", "fresh-enough", func(t *testing.T) {
		w := newWorld(t, manifestOnly).manifest(manifest(listed + "," + entry("other.example", 1, "body")))
		w.granted(anmltrust.CodeListed)
		a, err := w.after(59 * time.Minute).ask(claimFrom("https://other.example/x"))
		w.wants(a, err, anmltrust.Display, anmltrust.CodeListed)
		w.traffic(1, 0, 1)
	}},
	{"M2", "conditional", func(t *testing.T) {
		w := newWorld(t, manifestOnly)
		text, validators := manifest(listed), 0
		w.brand.Handle(manifestPath, handle(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("ETag", `"v1"`)
			if r.Header.Get("If-None-Match") == `"v1"` {
				validators++
				rw.WriteHeader(304)
				return
			}
			rw.Header().Set("Content-Type", anmltrust.ManifestMediaType)
			fmt.Fprint(rw, text)
		}))
		w.granted(anmltrust.CodeListed)
		w.after(time.Hour).granted(anmltrust.CodeListed)
		w.after(59 * time.Minute).granted(anmltrust.CodeListed)
		if validators != 1 {
			t.Errorf("%d conditional requests", validators)
		}
		w.traffic(2, 0, 2)
	}},
	{"M3", "fresh-mode", func(t *testing.T) {
		w := newWorld(t, manifestOnly)
		w.brand.Handle(manifestPath, handle(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("ETag", `"v1"`)
			if r.Header.Get("If-None-Match") != "" {
				t.Error("a fresh read had a validator")
			}
			rw.Header().Set("Content-Type", anmltrust.ManifestMediaType)
			fmt.Fprint(rw, manifest(listed))
		}))
		w.granted(anmltrust.CodeListed)
		w.net.Journal().Clear()
		if _, err := w.v.VerifyFresh(t.Context(), shopClaim); err != nil {
			t.Fatal(err)
		}
		seen := w.net.Journal().Requests("brand.example")
		if len(seen) != 1 || seen[0].Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%v", seen)
		}
		manifestRefused(anmltrust.CodeManifestMalformed, five, manifestStatus(304))(t)
	}},
	{"M4", "max-age", func(t *testing.T) {
		w := newWorld(t, manifestOnly).willing()
		w.brand.Fault(manifestPath, lookleaptest.Header("Cache-Control", "max-age=300"))
		w.granted(anmltrust.CodeListed)
		w.net.Journal().Clear()
		w.after(299 * time.Second).granted(anmltrust.CodeListed)
		w.traffic(0, 0, 0)
		w.after(time.Second).granted(anmltrust.CodeListed)
		w.traffic(0, 0, 1)
	}},
	{"M4", "stale-on-arrival", func(t *testing.T) {
		for _, headers := range [][]string{{"Cache-Control", "max-age=0"}, {"Cache-Control", "max-age=300", "Age", "400"}} {
			w := newWorld(t, manifestOnly).willing()
			var faults []lookleaptest.Fault
			for i := 0; i < len(headers); i += 2 {
				faults = append(faults, lookleaptest.Header(headers[i], headers[i+1]))
			}
			w.brand.Fault(manifestPath, faults...)
			for range 2 {
				if a := w.granted(anmltrust.CodeListed); !a.Permits(anmltrust.Body, w.net.Clock().Now()) {
					t.Error("what was read now counts for nothing")
				}
			}
			w.traffic(1, 0, 2)
		}
	}},
	{"M4", "no-store", func(t *testing.T) {
		for _, directive := range []string{"no-store", "no-cache"} {
			w := newWorld(t, manifestOnly).willing()
			w.brand.Fault(manifestPath, lookleaptest.Header("Cache-Control", directive))
			w.granted(anmltrust.CodeListed)
			w.granted(anmltrust.CodeListed)
			w.traffic(1, 0, 2)
			w.in = w.v.Begin()
			w.granted(anmltrust.CodeListed)
			w.granted(anmltrust.CodeListed)
			w.traffic(0, 0, 1)
		}
	}},
	{"M5", "self-signed", manifestRefused(anmltrust.CodeManifestTLS, time.Minute, func(w *world) { w.brand.Certificate(lookleaptest.CertificateSelfSigned) })},
	{"M5", "unknown-ca", manifestRefused(anmltrust.CodeManifestTLS, time.Minute, func(w *world) { w.brand.Certificate(lookleaptest.CertificateUnknownCA) })},
	{"M5", "wrong-name", manifestRefused(anmltrust.CodeManifestTLS, time.Minute, func(w *world) { w.brand.Certificate(lookleaptest.CertificateWrongName) })},
	{"M5", "expired", manifestRefused(anmltrust.CodeManifestTLS, time.Minute, func(w *world) { w.brand.Certificate(lookleaptest.CertificateExpired) })},
	{"M5", "www-for-itself-only", func(t *testing.T) {
		w := newWorld(t, "v=anml1;manifest=https://www.brand.example/m;query="+queryURI).willing()
		w.net.Site("www.brand.example").File("/m", anmltrust.ManifestMediaType, manifest(listed))
		w.denied(anmltrust.CodeManifestTLS)
		w.saw(anmltrust.CodeManifestTLS)
	}},
	{"M5", "redirect-to-www", func(t *testing.T) {
		w := newWorld(t, manifestOnly)
		w.brand.Redirect(manifestPath, "https://www.brand.example/m")
		w.net.Site("www.brand.example").File("/m", anmltrust.ManifestMediaType, manifest(listed))
		w.denied(anmltrust.CodeManifestTLS)
	}},
	{"M6", "http", manifestRefused(anmltrust.CodeManifestRedirect, five, manifestStatus(302, "Location", "http://brand.example/m"))},
	{"M6", "other-host", manifestRefused(anmltrust.CodeManifestRedirect, five, manifestStatus(302, "Location", "https://cdn.brand.example/m"))},
	{"M6", "no-location", manifestRefused(anmltrust.CodeManifestRedirect, five, manifestStatus(302))},
	{"M6", "third-hop", func(t *testing.T) {
		w := newWorld(t, manifestOnly)
		w.brand.RedirectChain(manifestPath, 3, "")
		w.denied(anmltrust.CodeManifestRedirect)
		w.traffic(1, 0, 3)
	}},
	{"M6", "two-hops-are-followed", func(t *testing.T) {
		w := newWorld(t, manifestOnly)
		w.brand.Redirect(manifestPath, "/a").Redirect("/a", "/b").File("/b", anmltrust.ManifestMediaType, manifest(listed))
		w.granted(anmltrust.CodeListed)
	}},
	{"M7", "404", manifestRefused(anmltrust.CodeManifestMissing, five, manifestStatus(404))},
	{"M8", "429", manifestRefused(anmltrust.CodeManifest429, time.Minute, manifestStatus(429))},
	{"M8", "retry-after", manifestRefused(anmltrust.CodeManifest429, 10*time.Minute, manifestStatus(429, "Retry-After", "600"))},
	{"M9", "503-query", func(t *testing.T) {
		w := newWorld(t, both).query(authorized)
		w.brand.Status(manifestPath, 503)
		w.granted(anmltrust.CodeQueryAuthorized)
	}},
	{"M9", "refused-query", func(t *testing.T) {
		w := newWorld(t, both).query(authorized)
		w.brand.Connection(lookleaptest.ConnectionRefused)
		w.granted(anmltrust.CodeQueryAuthorized)
	}},
	{"M10", "alone", func(t *testing.T) {
		w := newWorld(t, manifestOnly)
		w.brand.Status(manifestPath, 503)
		w.denied(anmltrust.CodeManifestUnavailable)
		w.manifest(manifest(listed)).after(59 * time.Second).denied(anmltrust.CodeManifestUnavailable)
		w.after(time.Second).granted(anmltrust.CodeListed)
	}},
	{"M10", "after-query", func(t *testing.T) {
		w := newWorld(t, both).secure().status(503)
		w.brand.Connection(lookleaptest.ConnectionRefused)
		w.denied(anmltrust.CodeManifestUnavailable)
	}},
	{"M11", "html", manifestRefused(anmltrust.CodeManifestType, five, func(w *world) { w.brand.File(manifestPath, "text/html", manifest(listed)) })},
	{"M11", "anml", manifestRefused(anmltrust.CodeManifestType, five, func(w *world) { w.brand.File(manifestPath, "application/anml+json", manifest(listed)) })},
	{"M11", "none", manifestRefused(anmltrust.CodeManifestType, five, func(w *world) { w.brand.Fault(manifestPath, lookleaptest.Header("Content-Type")) })},
	{"M12", "not-json", manifestRefused(anmltrust.CodeManifestMalformed, five, manifestBody("{"))},
	{"M12", "large", manifestRefused(anmltrust.CodeManifestMalformed, five, manifestBody(manifest(listed)+strings.Repeat(" ", 1<<20)))},
	{"M12", "many", manifestRefused(anmltrust.CodeManifestMalformed, five, manifestBody(manifest(strings.Repeat(`{},`, 10_000)+"{}")))},
	{"M12", "duplicate-key", manifestRefused(anmltrust.CodeManifestMalformed, five, manifestBody(strings.Replace(manifest(listed), "{", `{"site":"brand.example",`, 1)))},
	{"M12", "utf8", manifestRefused(anmltrust.CodeManifestMalformed, five, manifestBody(manifest(listed, "x-unknown", "\"\xff\"")))},
	{"M12", "204", manifestRefused(anmltrust.CodeManifestMalformed, five, manifestStatus(204))},
	{"M12", "304-unasked", manifestRefused(anmltrust.CodeManifestMalformed, five, manifestStatus(304))},
	{"M13", "missing", manifestRefused(anmltrust.CodeManifestVersion, time.Hour, manifestBody(manifest(listed, "version", "")))},
	{"M14", "other-site", manifestRefused(anmltrust.CodeManifestSiteMismatch, time.Hour, manifestBody(manifest(listed, "site", `"evil.example"`)))},
	{"M15", "future", manifestRefused(anmltrust.CodeManifestNotYetValid, five, manifestBody(manifest(listed, "issued", `"2026-06-01T12:05:01Z"`)))},
	{"M15", "within-skew", func(t *testing.T) {
		newWorld(t, manifestOnly).manifest(manifest(listed, "issued", `"2026-06-01T12:05:00Z"`)).granted(anmltrust.CodeListed)
	}},
	{"M16", "expired", manifestRefused(anmltrust.CodeManifestExpired, five, manifestBody(manifest(listed, "expires", `"2026-06-01T12:00:00Z"`)))},
	{"M16", "expires-in-memory", func(t *testing.T) {
		w := newWorld(t, manifestOnly).manifest(manifest(listed, "expires", `"2026-06-01T12:10:00Z"`))
		w.brand.Fault(manifestPath, lookleaptest.Header("Cache-Control", "max-age=31536000"))
		w.granted(anmltrust.CodeListed)
		w.after(10*time.Minute - time.Second).granted(anmltrust.CodeListed)
		w.after(time.Second).denied(anmltrust.CodeManifestExpired)
	}},
	{"M17", "long-lived", func(t *testing.T) {
		w := newWorld(t, manifestOnly).manifest(manifest(listed, "expires", `"2026-07-31T00:00:00Z"`)) // 91 days
		if a := w.granted(anmltrust.CodeListed); !has(a.Verdict.Findings, anmltrust.CodeManifestLongLived) {
			t.Error("no finding")
		}
		w = newWorld(t, manifestOnly).manifest(manifest(listed, "expires", `"2026-07-30T00:00:00Z"`)) // 90 days
		if a := w.granted(anmltrust.CodeListed); has(a.Verdict.Findings, anmltrust.CodeManifestLongLived) {
			t.Error("exactly 90 days are a finding")
		}
	}},
	{"M18", "rollback", func(t *testing.T) {
		w := newWorld(t, manifestOnly).manifest(manifest(listed, "issued", `"2026-05-20T00:00:00Z"`))
		w.granted(anmltrust.CodeListed)
		w.manifest(manifest(listed)).after(time.Hour).denied(anmltrust.CodeManifestRollback)
		w.saw(anmltrust.CodeManifestRollback)
		w.manifest(manifest(listed, "issued", `"2026-05-20T00:00:00Z"`)).after(five).granted(anmltrust.CodeListed)
	}},
	{"M18", "by-a-second", func(t *testing.T) {
		w := newWorld(t, manifestOnly).manifest(manifest(listed, "issued", `"2026-05-20T00:00:01Z"`))
		w.granted(anmltrust.CodeListed)
		w.manifest(manifest(listed, "issued", `"2026-05-20T00:00:00Z"`)).after(time.Hour).denied(anmltrust.CodeManifestRollback)
	}},
	{"M18", "two-manifests-are-no-rollback", func(t *testing.T) {
		w := newWorld(t, "").setRecord("v=anml1;manifest=https://brand.example/1", "v=anml1;manifest=https://brand.example/2")
		w.brand.File("/1", anmltrust.ManifestMediaType, manifest(listed, "issued", `"2026-05-20T00:00:00Z"`)).File("/2", anmltrust.ManifestMediaType, manifest(listed))
		w.granted(anmltrust.CodeListed)
		w.after(time.Hour).granted(anmltrust.CodeListed)
	}},
}

func listing(entries string, tier anmltrust.Tier, code lookleap.Code, scope string) func(*testing.T) {
	return func(t *testing.T) {
		w := newWorld(t, both).query(authorized).manifest(manifest(entries))
		a, err := w.ask(shopClaim)
		w.wants(a, err, tier, code)
		if a != nil && a.Scope.String() != scope {
			t.Errorf("scope %s, want %s", a.Scope, scope)
		}
		w.traffic(1, 0, 1)
		a, err = w.ask(shopClaim)
		w.wants(a, err, tier, code)
		w.traffic(0, 0, 0)
	}
}

var listingRows = []rowTest{
	{"L6", "malformed-elsewhere", listing(listed+`,{"domain":"other.example","tier":"2","scope":[]},7,{"tier":1}`, anmltrust.Full, anmltrust.CodeListed, "persona,interact,body")},
}
