package lookleap

import (
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
