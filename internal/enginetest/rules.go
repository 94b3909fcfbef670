package enginetest

import (
	"errors"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// Later is an expiry that no test reaches.
var Later = time.Date(2091, 5, 1, 9, 0, 0, 0, time.UTC)

// Rules compares the rules that an engine has in its own language with [lookleap.PlanRecord], in
// each state and for each step. Set replaces the record of the plan "p", whose State is "" for none.
func Rules(t *testing.T, p lookleap.PlanLedger, set func(lookleap.PlanRecord)) {
	ctx, lease := t.Context(), lookleap.PlanLease
	states := []lookleap.PlanState{"", lookleap.PlanClaimed, lookleap.PlanSent, lookleap.PlanDone, lookleap.PlanFailed,
		lookleap.PlanUnknown, lookleap.PlanRefused}
	for _, from := range states {
		for _, age := range []time.Duration{0, lease - 10*time.Second, lease + time.Second, -lease + 10*time.Second,
			-lease - 10*time.Second} {
			begin := func() (r lookleap.PlanRecord) {
				if from != "" {
					r = lookleap.PlanRecord{ID: "p", Owner: "a", State: from, Expires: Later, At: time.Now().Add(-age)}
				}
				set(r)
				return r
			}
			for _, owner := range []string{"a", "b", ""} {
				before := begin()
				c := lookleap.PlanClaim{ID: "p", Owner: owner, Expires: Later}
				_, want := before.Claim(c, time.Now())
				if _, err := p.Claim(ctx, c); (err == nil) != (want == nil) || err != nil && !errors.Is(err, lookleap.ErrAlreadyDone) {
					t.Errorf("claim of %q by %q after %v: %v, want %v", from, owner, age, err, want)
				}
				for _, to := range append(states, "other") {
					before := begin()
					_, want := before.Record(owner, lookleap.PlanOutcome{State: to}, time.Now())
					if err := p.Record(ctx, "p", owner, lookleap.PlanOutcome{State: to}); !errors.Is(err, want) ||
						(err == nil) != (want == nil) {
						t.Errorf("record of %q by %q in %q: %v, want %v", to, owner, from, err, want)
					}
				}
			}
		}
	}
}
