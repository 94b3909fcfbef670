package pgengine

import (
	"errors"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

var later = time.Date(2031, 5, 1, 9, 0, 0, 0, time.UTC)

// TestRules compares the statements with lookleap.PlanRecord, in each state and for each step.
func TestRules(t *testing.T) {
	e := startServer(t).engine(t, "a")
	p, ctx := e.Plans(), t.Context()
	states := []lookleap.PlanState{"", lookleap.PlanClaimed, lookleap.PlanSent, lookleap.PlanDone, lookleap.PlanFailed, lookleap.PlanUnknown}
	lease := lookleap.PlanLease
	for _, from := range states {
		for _, age := range []time.Duration{0, lease - 10*time.Second, lease + time.Second, -lease + 10*time.Second, -lease - 10*time.Second} {
			set := func() lookleap.PlanRecord {
				exec := func(statement string, args ...any) {
					if _, err := e.pool.Exec(ctx, e.sql(statement), args...); err != nil {
						t.Fatal(err)
					}
				}
				exec(`DELETE FROM lookleap.plans`)
				if from == "" {
					return lookleap.PlanRecord{}
				}
				at := time.Now().Add(-age)
				exec(`INSERT INTO lookleap.plans VALUES ('p', 'a', $1, NULL, $2, $3)`, string(from), later, at)
				return lookleap.PlanRecord{ID: "p", Owner: "a", State: from, Expires: later, At: at}
			}
			for _, owner := range []string{"a", "b", ""} {
				before := set()
				c := lookleap.PlanClaim{ID: "p", Owner: owner, Expires: later}
				_, want := before.Claim(c, time.Now())
				if _, err := p.Claim(ctx, c); (err == nil) != (want == nil) || err != nil && !errors.Is(err, lookleap.ErrAlreadyDone) {
					t.Errorf("claim of %q by %q after %v: %v, want %v", from, owner, age, err, want)
				}
				for _, to := range append(states, "other") {
					before := set()
					_, want := before.Record(owner, lookleap.PlanOutcome{State: to}, time.Now())
					if err := p.Record(ctx, "p", owner, lookleap.PlanOutcome{State: to}); !errors.Is(err, want) || (err == nil) != (want == nil) {
						t.Errorf("record of %q by %q in %q: %v, want %v", to, owner, from, err, want)
					}
				}
			}
		}
	}
}
