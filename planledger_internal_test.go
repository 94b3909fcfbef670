package lookleap

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestMemoryLedger(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := start
	ledger := func() *memoryLedger {
		now = start
		return newMemoryLedger(func() time.Time { return now })
	}
	claim := func(t *testing.T, l *memoryLedger, id string, expires time.Time) {
		t.Helper()
		if _, err := l.Claim(t.Context(), PlanClaim{ID: id, Owner: "a", Expires: expires}); err != nil {
			t.Fatal(err)
		}
		if err := l.Record(t.Context(), id, "a", PlanOutcome{State: PlanSent}); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("accept-claims-again-in-the-room-of-one", func(t *testing.T) {
		l := ledger()
		for _, owner := range []string{"a", "b", "c"} {
			if _, err := l.Claim(t.Context(), PlanClaim{ID: "x", Owner: owner, Expires: now.Add(PlanLifetime)}); err != nil {
				t.Error(err)
			}
			now = now.Add(PlanLease)
		}
		if len(l.claims) != 1 {
			t.Errorf("%d claims of one plan", len(l.claims))
		}
	})
	t.Run("accept-room-of-old-claims", func(t *testing.T) {
		l := ledger()
		kept := func(id string, want bool) {
			t.Helper()
			if _, err := l.Plan(t.Context(), id); (err == nil) != want {
				t.Errorf("%s after %v: %v", id, now.Sub(start), err)
			}
		}
		claim(t, l, "fast", start.Add(2*keepClaims))
		claim(t, l, "old", start)
		now = start.Add(keepClaims - 1)
		claim(t, l, "1", now)
		kept("old", true)
		now = start.Add(keepClaims)
		claim(t, l, "2", now)
		kept("old", false)
		kept("fast", true)
		now = start.Add(2 * keepClaims)
		claim(t, l, "3", now)
		kept("fast", false)
	})
	t.Run("accept-four-old-claims-at-a-time", func(t *testing.T) {
		l := ledger()
		old := []string{"1", "2", "3", "4", "5"}
		for _, id := range old {
			claim(t, l, id, start)
		}
		now = start.Add(keepClaims)
		claim(t, l, "new", now)
		for i, id := range old {
			if _, err := l.Plan(t.Context(), id); (err == nil) != (i == 4) {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
	t.Run("O51", func(t *testing.T) {
		t.Run("accept-40000-at-a-flat-cost", func(t *testing.T) {
			l := ledger()
			i := 0
			next := func() {
				i++
				claim(t, l, fmt.Sprint(i), now.Add(PlanLifetime))
			}
			cost := func() float64 { return testing.AllocsPerRun(100, next) }
			early := cost()
			for range 40_000 {
				next()
			}
			if late := cost(); late > early+1 {
				t.Errorf("%v allocations at first, %v at last", early, late)
			}
			now = now.Add(10 * PlanLifetime)
			for range 20_000 {
				next()
			}
			if n := len(l.plans); n > 20_000+101 || n != len(l.claims) {
				t.Errorf("%d ids are kept in %d claims", n, len(l.claims))
			}
		})
		t.Run("reject-again-after-a-fast-clock", func(t *testing.T) {
			l := ledger()
			claim(t, l, "fast", start.AddDate(73, 0, 0))
			for day := range 10 {
				now = start.Add(time.Duration(day) * PlanLifetime)
				claim(t, l, fmt.Sprint(day), now.Add(PlanLifetime))
			}
			if _, err := l.Claim(t.Context(), PlanClaim{ID: "fast", Owner: "b", Expires: start.AddDate(73, 0, 0)}); !errors.Is(err, ErrAlreadyDone) {
				t.Error(err)
			}
		})
	})
}

// TestFileLedgerRace: a caller who left does not start again when another process was faster, and
// one who waits does.
func TestFileLedgerRace(t *testing.T) {
	for name, leaves := range map[string]bool{"reject-caller-who-left": true, "accept-caller-who-waits": false} {
		t.Run(name, func(t *testing.T) {
			l := FilePlanLedger(t.TempDir()).(fileLedger)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			rounds := 0
			err := l.change(ctx, "x", func(before PlanRecord) (PlanRecord, error) {
				if rounds++; rounds == 1 {
					if _, err := l.Claim(t.Context(), PlanClaim{ID: "x", Owner: "faster", Expires: time.Now()}); err != nil {
						t.Error(err)
					}
					if leaves {
						leave()
					}
				}
				return PlanRecord{ID: "x", Owner: "slow", State: PlanUnknown}, nil
			})
			r, _ := l.Plan(t.Context(), "x")
			if leaves && (!errors.Is(err, context.Canceled) || rounds != 1 || r.Owner != "faster") || !leaves && (err != nil || rounds != 2 || r.Owner != "slow") {
				t.Errorf("%v after %d rounds: %+v", err, rounds, r)
			}
		})
	}
}

// TestPlanWithoutID: a state whose digests are right, and that names no plan, is none.
func TestPlanWithoutID(t *testing.T) {
	for _, id := range []string{"", "x"} {
		r := ConsentRequest{ID: id, Kind: ConsentAct, Origin: "https://a.example", Summary: "do it", Items: []ConsentItem{{ID: "x"}}, Effect: Digest(nil)}
		r.Digest, _ = r.digest()
		state, err := (&Plan{request: r}).State()
		if err != nil {
			t.Fatal(err)
		}
		if p, err := ParsePlan(state); (p != nil) != (id != "") || (err == nil) != (id != "") {
			t.Errorf("%q: %v, %v", id, p, err)
		}
	}
}

// TestOriginsOfParsedPlans: a state whose digests are right is refused for its origin.
func TestOriginsOfParsedPlans(t *testing.T) {
	for origin, name := range map[string]string{
		"https://bank.example": "accept-parsed", "https://bank.example:443@evil.example": "reject-parsed-user", "https://bank.example:443": "reject-parsed-default-port",
		"https://bank.example/": "reject-parsed-path", "http://bank.example": "reject-parsed-http", "https://bank.example:8443 (verified)": "reject-parsed-text-after-the-port",
		"https://[0:0::1]": "reject-parsed-address", "https://BANK.example": "reject-parsed-letter-case",
	} {
		t.Run("O67/"+name, func(t *testing.T) {
			r := ConsentRequest{ID: "x", Kind: ConsentAct, Origin: origin, Summary: "do it", Items: []ConsentItem{{ID: "x"}}, Effect: Digest(nil)}
			r.Digest, _ = r.digest()
			state, err := (&Plan{request: r}).State()
			if err != nil {
				t.Fatal(err)
			}
			if p, err := ParsePlan(state); name == "accept-parsed" != (err == nil) || err != nil && (p != nil || !errors.Is(err, ErrPlanInvalid)) {
				t.Errorf("%v, %v", p, err)
			}
		})
	}
}
