package simulation

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
)

// check checks the invariants that concern the whole run. Those that concern one moment are
// checked by the site.
//
//	no effect without a decision       of the user about this plan, made before it
//	exactly the approved bytes         and none of another plan
//	nothing told that the user refused
//	no effect twice
//	every effect is in the ledger before it
//	withdrawal is seen within its bound
//	limits count across the fleet
//	no lost wake-up                    each operation returns; each approved plan gets an outcome
//	done is true                       a plan that a worker reported as done had its effect
func (w *world) check() {
	w.checkLimits()
	for n := range plans {
		w.user.mu.Lock()
		q := w.user.about[n]
		w.user.mu.Unlock()
		if q != nil && len(q.approved) > 0 {
			w.checkPlan(q)
		}
	}
}

// checkPlan checks that an approved plan came to its end.
func (w *world) checkPlan(q *question) {
	w.site.mu.Lock()
	arrived := slices.ContainsFunc(w.site.arrivals, func(a arrival) bool { return a.key == q.plan.IdempotencyKey() })
	w.site.mu.Unlock()
	if q.done && !arrived {
		w.fail("done is true", "plan %d was reported as done, and had no effect", q.n)
	}
	record, err := (&lookleap.Host{Plans: w.engines.plans}).PlanRecord(context.Background(), q.plan.ID())
	switch {
	case arrived && (err != nil || record.State == lookleap.PlanFailed || record.State == lookleap.PlanClaimed):
		w.fail("no effect twice", "plan %d had its effect, and its state %q permits another one (%v)", q.n, record.State, err)
	case arrived, record.State == lookleap.PlanSent, record.State == lookleap.PlanUnknown:
		// No one can know whether it happened; the user is asked again.
	case errors.Is(err, fs.ErrNotExist), record.State == lookleap.PlanClaimed, record.State == lookleap.PlanFailed:
		w.fail("no lost wake-up", "plan %d was approved and delivered to a healthy worker, and nothing happened: %q", q.n, record.State)
	}
}

// checkLimits checks that no more than three searches arrived within any hour.
func (w *world) checkLimits() {
	w.site.mu.Lock()
	defer w.site.mu.Unlock()
	for i := 3; i < len(w.site.searches); i++ {
		if within := w.site.searches[i].Sub(w.site.searches[i-3]); within < time.Hour-slack {
			w.broken = append(w.broken, "limits count across the fleet: four searches within "+within.String())
			return
		}
	}
}

// whole reports whether the cache was reachable for all workers all the time, so that each
// could know what another one knew.
func (e *engines) whole() bool { return !e.lost.Load() }
