package anmltrust_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/lab"
)

// TestQueryNoStore: the answer of a query says itself how long it is kept, whatever the cache
// headers say.
func TestQueryNoStore(t *testing.T) {
	for _, directive := range []string{"no-store", "no-cache", "max-age=0"} {
		for _, id := range []string{"ANML-12.4-19", "ANML-12.4-24"} {
			t.Run(id+"/accept-"+directive, func(t *testing.T) {
				w := newWorld(t, queryOnly).query(authorized)
				w.trust.Fault(queryPath, lab.Header("Cache-Control", directive))
				w.granted(anmltrust.CodeQueryAuthorized)
				w.granted(anmltrust.CodeQueryAuthorized)
				w.traffic(1, 1, 0)
			})
		}
		t.Run("ANML-12.4-26/reject-"+directive, func(t *testing.T) {
			w := newWorld(t, queryOnly).status(404, "Cache-Control", directive)
			w.denied(anmltrust.CodeQuery404)
			w.denied(anmltrust.CodeQuery404)
			w.traffic(1, 1, 0)
		})
	}
}

// TestLongestLife: the option MaxManifestLifetime counts also below the draft's 90 days.
func TestLongestLife(t *testing.T) {
	for days, expires := range map[int]string{61: "2026-07-01T00:00:00Z", 91: "2026-07-31T00:00:00Z"} {
		life := time.Duration(days) * 24 * time.Hour
		limited := func(t *testing.T, most time.Duration) *world {
			w := newWorld(t, manifestOnly, anmltrust.Options{Rules: anmltrust.Rules{MaxManifestLifetime: most}})
			return w.manifest(manifest(listed, "expires", `"`+expires+`"`))
		}
		t.Run(fmt.Sprintf("ANML-12.3-14/accept-%d-days-by-option", days), func(t *testing.T) {
			limited(t, life).granted(anmltrust.CodeListed)
		})
		t.Run(fmt.Sprintf("ANML-12.3-14/reject-%d-days-by-option", days), func(t *testing.T) {
			limited(t, life-time.Second).denied(anmltrust.CodeManifestMalformed)
		})
	}
}

// TestUnnarrowedUntil: that a site does not narrow a host stands no longer than its manifest.
func TestUnnarrowedUntil(t *testing.T) {
	const maxAge = 90 * time.Second
	api := claimFrom("https://api.brand.example/x")
	w := newWorld(t, manifestOnly).manifest(manifest(""))
	w.brand.Fault(manifestPath, lab.Header("Cache-Control", "max-age=90"))
	ask := func(tier anmltrust.Tier, code lookleap.Code) {
		t.Helper()
		a, err := w.ask(api)
		w.wants(a, err, tier, code)
	}
	ask(anmltrust.Self, anmltrust.CodeSelf)
	w.manifest(manifest(entry("api.brand.example", 1, "body")))
	w.brand.Fault(manifestPath, lab.Header("Cache-Control", "max-age=90"))
	w.after(maxAge - time.Second)
	ask(anmltrust.Self, anmltrust.CodeSelf)
	w.after(time.Second)
	ask(anmltrust.Display, anmltrust.CodeSelfNarrowed)
}

// serveManifest answers with a manifest, and with 304 to a request that has its validator.
func (w *world) serveManifest(body *string, header *[]string) {
	w.brand.Handle(manifestPath, handle(func(rw http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(*header); i += 2 {
			rw.Header().Set((*header)[i], (*header)[i+1])
		}
		if r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != "" {
			rw.WriteHeader(304)
			return
		}
		rw.Header().Set("Content-Type", anmltrust.ManifestMediaType)
		fmt.Fprint(rw, *body)
	}))
}

// TestManifestKept: which answers end the use of the manifest that is remembered.
func TestManifestKept(t *testing.T) {
	other := claimFrom("https://other.example/x")
	twoHosts := listed + "," + entry("other.example", 1, "body")
	for name, c := range map[string]struct {
		body    string
		control string
		code    lookleap.Code // of the refresh
		kept    bool
	}{
		"malformed": {"[]", "max-age=3600", anmltrust.CodeManifestMalformed, true},
		"expired":   {manifest(twoHosts, "issued", `"2026-05-02T00:00:00Z"`, "expires", `"2026-06-01T12:00:00Z"`), "max-age=3600", anmltrust.CodeManifestExpired, false},
		"no-store":  {manifest(entry("elsewhere.example", 1, "body")), "no-store", anmltrust.CodeNotListed, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, manifestOnly)
			body, header := manifest(twoHosts), []string{"Cache-Control", "max-age=3600"}
			w.serveManifest(&body, &header)
			w.granted(anmltrust.CodeListed)
			body, header[1] = c.body, c.control
			a, err := w.after(time.Minute).v.Refresh(t.Context(), shopClaim)
			w.wants(a, err, anmltrust.Unlisted, c.code)
			w.brand.Status(manifestPath, 503)
			a, err = w.after(6 * time.Minute).ask(other) // the backoff is over
			if c.kept {
				w.wants(a, err, anmltrust.Display, anmltrust.CodeListed)
			} else {
				w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeManifestUnavailable)
			}
		})
	}
	t.Run("endpoint-in-backoff", func(t *testing.T) {
		w := newWorld(t, manifestOnly).manifest(manifest(twoHosts))
		w.granted(anmltrust.CodeListed)
		w.brand.Status(manifestPath, 503)
		a, err := w.v.Refresh(t.Context(), shopClaim)
		w.wants(a, err, anmltrust.Full, anmltrust.CodeListed)
		a, err = w.ask(other)
		w.wants(a, err, anmltrust.Display, anmltrust.CodeListed)
	})
	t.Run("interaction", func(t *testing.T) {
		w := newWorld(t, manifestOnly).manifest(manifest(twoHosts))
		w.granted(anmltrust.CodeListed)
		w.in = w.v.Begin()
		a, err := w.ask(other)
		w.wants(a, err, anmltrust.Display, anmltrust.CodeListed)
		w.traffic(1, 0, 1)
	})
	t.Run("interaction-with-many", func(t *testing.T) {
		const most = 32
		w := newWorld(t, "")
		w.in = w.v.Begin()
		for i := range most + 1 {
			path := fmt.Sprintf("/%d", i)
			w.brand.Body(path, anmltrust.ManifestMediaType, manifest(listed)).Fault(path, lab.Header("Cache-Control", "no-store"))
			w.setRecord("v=anml1;manifest=https://brand.example" + path).after(time.Hour).granted(anmltrust.CodeListed)
			w.net.Journal().Clear()
			w.granted(anmltrust.CodeListed)
			if n := len(w.net.Journal().Requests("brand.example")); (n == 0) != (i < most) {
				t.Errorf("manifest %d was read again %d times", i, n)
			}
		}
	})
}

// TestConditionalManifest: when a manifest is asked for by its validator, and what the answer is about.
func TestConditionalManifest(t *testing.T) {
	dated := []string{"Last-Modified", "Fri, 01 May 2026 00:00:00 GMT"}
	t.Run("same-evidence", func(t *testing.T) {
		w := newWorld(t, manifestOnly)
		body := manifest(listed)
		w.serveManifest(&body, &dated)
		evidence := func() lookleap.Evidence {
			for _, c := range w.granted(anmltrust.CodeListed).Verdict.Checks {
				if len(c.Evidence) > 0 && c.Evidence[0].URL == manifestURI {
					return c.Evidence[0]
				}
			}
			return lookleap.Evidence{}
		}
		first := evidence()
		w.after(time.Hour)
		if again := evidence(); again.Status != 304 || first.Digest == "" || again.Digest != first.Digest || again.MediaType != first.MediaType {
			t.Errorf("%+v, then %+v", first, again)
		}
	})
	t.Run("other-date", func(t *testing.T) {
		w := newWorld(t, manifestOnly)
		body, header := manifest(listed), dated
		w.serveManifest(&body, &header)
		w.granted(anmltrust.CodeListed)
		body, header = manifest(entry("elsewhere.example", 1, "body")), []string{"Last-Modified", "Sat, 02 May 2026 00:00:00 GMT"}
		w.after(time.Hour).denied(anmltrust.CodeNotListed)
	})
	t.Run("new-one", func(t *testing.T) {
		w := newWorld(t, manifestOnly)
		w.brand.Handle(manifestPath, handle(func(rw http.ResponseWriter, _ *http.Request) { // asked or not
			rw.Header().Set("Last-Modified", dated[1])
			rw.Header().Set("Content-Type", anmltrust.ManifestMediaType)
			fmt.Fprint(rw, manifest(listed))
		}))
		w.granted(anmltrust.CodeListed)
		w.after(time.Hour).granted(anmltrust.CodeListed)
		w.traffic(2, 0, 2)
	})
	t.Run("after-its-end", func(t *testing.T) {
		w := newWorld(t, manifestOnly)
		body := manifest(listed, "expires", `"2026-06-01T12:30:00Z"`)
		w.serveManifest(&body, &dated)
		w.granted(anmltrust.CodeListed)
		body = manifest(listed)
		w.after(time.Hour).granted(anmltrust.CodeListed)
		w.traffic(2, 0, 2)
	})
	t.Run("unasked-304", func(t *testing.T) {
		w := newWorld(t, manifestOnly)
		w.brand.Status(manifestPath, 304)
		w.denied(anmltrust.CodeManifestMalformed)
		w.traffic(1, 0, 1)
		w = newWorld(t, manifestOnly).manifest(manifest(listed)) // which has no validator
		w.granted(anmltrust.CodeListed)
		w.brand.Status(manifestPath, 304)
		w.after(time.Hour).denied(anmltrust.CodeManifestMalformed)
		w.traffic(2, 0, 2)
	})
	t.Run("no-answer", func(t *testing.T) {
		w := newWorld(t, manifestOnly)
		body := manifest(listed)
		w.serveManifest(&body, &dated)
		w.granted(anmltrust.CodeListed)
		w.brand.Fault(manifestPath, lab.Reset())
		w.after(time.Hour).denied(anmltrust.CodeManifestUnavailable)
	})
}

// TestNewestManifest: how old a manifest may be is remembered for its place.
func TestNewestManifest(t *testing.T) {
	issued := func(day int) string { return manifest(listed, "issued", fmt.Sprintf(`"2026-05-%02dT00:00:00Z"`, day)) }
	t.Run("reject-older-than-the-second", func(t *testing.T) {
		w := newWorld(t, manifestOnly).manifest(issued(1))
		w.granted(anmltrust.CodeListed)
		for _, day := range []int{10, 5} {
			a, err := w.manifest(issued(day)).after(time.Minute).v.Refresh(t.Context(), shopClaim)
			if day == 10 {
				w.wants(a, err, anmltrust.Full, anmltrust.CodeListed)
			} else {
				w.wants(a, err, anmltrust.Unlisted, anmltrust.CodeManifestRollback)
			}
		}
	})
	t.Run("reject-older-than-one-of-two", func(t *testing.T) {
		w := newWorld(t, "").setRecord("v=anml1;manifest=https://brand.example/1", "v=anml1;manifest=https://brand.example/2")
		for path, day := range map[string]int{"/1": 10, "/2": 1, "/3": 5} {
			w.brand.Body(path, anmltrust.ManifestMediaType, issued(day))
		}
		w.granted(anmltrust.CodeListed)
		w.setRecord("v=anml1;manifest=https://brand.example/3").after(time.Hour).denied(anmltrust.CodeManifestRollback)
	})
}

// TestDNSFailureStands: an answer that rests on a failure of the DNS does not stand next to a record
// that was read meanwhile.
func TestDNSFailureStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRunningWorld(t, manifestOnly).manifest(manifest(entry("api.brand.example", 1, "body")))
		api := claimFrom("https://api.brand.example/x")
		release := make(chan struct{})
		slow := &slowOnce{Resolver: w.host.Resolver, release: release, err: errors.New("no answer")}
		slow.armed.Store(true)
		w.host.Resolver = slow
		w.v = anmltrust.NewVerifier(w.host, anmltrust.Options{})
		early := make(chan *anmltrust.Authorization)
		go func() {
			a, _ := w.v.Verify(t.Context(), api)
			early <- a
		}()
		synctest.Wait()
		a, err := w.v.VerifyFresh(t.Context(), api)
		w.wants(a, err, anmltrust.Display, anmltrust.CodeSelfNarrowed)
		close(release)
		if a := <-early; a == nil || a.Tier != anmltrust.Self {
			t.Errorf("the early answer is %+v", a)
		}
		a, err = w.ask(api)
		w.wants(a, err, anmltrust.Display, anmltrust.CodeSelfNarrowed)
	})
}

// TestTimes shows what past, odd and far times come to (attack H14).
func TestTimes(t *testing.T) {
	for _, c := range []struct {
		id, name string
		test     func(*testing.T)
	}{
		{"H14", "reject-expired", sourceRow("M16", "expired")},
		{"H14", "reject-not-yet-issued", sourceRow("M15", "future")},
		{"H14", "accept-within-skew", sourceRow("M15", "within-skew")},
		{"H14", "accept-long-lived-with-finding", sourceRow("M17", "long-lived")},
		{"H14", "reject-manifest-with-offset", denial(manifestOnly, anmltrust.CodeManifestMalformed, manifestBody(manifest(listed, "expires", `"2026-07-01T00:00:00+00:00"`)))},
		{"H14", "reject-issued-when-it-expires", denial(manifestOnly, anmltrust.CodeManifestMalformed, manifestBody(manifest(listed, "issued", `"2026-07-01T00:00:00Z"`)))},
		{"H14", "reject-query-expired", sourceRow("Q4", "expired")},
		{"H14", "reject-query-with-offset", denial(queryOnly, anmltrust.CodeQueryMalformed, body(answer(2, "2026-06-20T00:00:00+00:00", "body")))},
		{"H14", "accept-query-far-away", func(t *testing.T) {
			a := newWorld(t, queryOnly).query(answer(2, "9999-12-31T23:59:59Z", "body")).granted(anmltrust.CodeQueryAuthorized)
			if !a.Expires.Equal(start.Add(90 * 24 * time.Hour)) {
				t.Error(a.Expires)
			}
		}},
	} {
		t.Run(c.id+"/"+c.name, c.test)
	}
}
