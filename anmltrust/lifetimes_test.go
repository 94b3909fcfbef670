package anmltrust_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap/anmltrust"
)

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
		w.v = anmltrust.NewVerifier(w.host, anmltrust.Rules{})
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
		{"H14", "accept-long-lived-with-finding", sourceRow("M17", "long-lived")},
		{"H14", "reject-query-expired", sourceRow("Q4", "expired")},
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
