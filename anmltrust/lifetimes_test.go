package anmltrust_test

import (
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
		t.Run("ANML-12.4-19/accept-"+directive, func(t *testing.T) {
			w := newWorld(t, queryOnly).query(authorized)
			w.trust.Fault(queryPath, lab.Header("Cache-Control", directive))
			w.granted(anmltrust.CodeQueryAuthorized)
			w.granted(anmltrust.CodeQueryAuthorized)
			w.traffic(1, 1, 0)
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

// TestVerifierLimits: the limits of a verifier count, and the defaults where none is set.
func TestVerifierLimits(t *testing.T) {
	for name, c := range map[string]struct {
		limits anmltrust.Limits
		want   time.Duration // until a silent endpoint is given up
	}{
		"default":  {anmltrust.Limits{}, 10 * time.Second},
		"exchange": {anmltrust.Limits{Exchange: 2 * time.Second}, 2 * time.Second},
		"whole":    {anmltrust.Limits{Time: 3 * time.Second}, 3 * time.Second},
		"negative": {anmltrust.Limits{Exchange: -1, Time: -1}, 10 * time.Second},
	} {
		t.Run("reject-silence-"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := lab.ForTest(t)
				net.Clock().Set(start)
				w := newWorldOn(t, net, queryOnly, anmltrust.Options{Limits: c.limits}).query(authorized)
				w.trust.Fault(queryPath, lab.Mute())
				begin := time.Now()
				if a, err := w.ask(shopClaim); a != nil || err == nil {
					t.Error(a, err)
				}
				if took := time.Since(begin); took < c.want || took > c.want+time.Second {
					t.Errorf("given up after %s, want %s", took, c.want)
				}
			})
		})
	}
}
