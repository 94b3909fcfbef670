package lookleaptest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// TestPlanLedger tests an implementation of [lookleap.PlanLedger]: a claim succeeds once,
// whatever the id, the number of callers, the number of processes and their clocks, and
// also after a restart, a back end that hangs, or damage.
func TestPlanLedger(t *testing.T, e Engine[lookleap.PlanLedger]) {
	t.Helper()
	testContract(t, e, planPromises)
}

type planTrial = trial[lookleap.PlanLedger]

var planPromises = []promise[lookleap.PlanLedger]{
	{
		name:   "claim-once",
		text:   "the first Claim of an id succeeds, and each later one returns an error that is ErrAlreadyDone",
		verify: plansClaimOnce,
	}, {
		name:   "ids-with-each-byte",
		text:   "two ids that differ in one byte are two claims",
		verify: plansIDs,
	}, {
		name:   "many-claims",
		text:   "a claim is not lost when many others follow",
		verify: plansMany,
	}, {
		name:   "one-of-many-callers",
		text:   "of concurrent claims of one id exactly one succeeds, and the others return ErrAlreadyDone",
		verify: plansConcurrent,
	}, {
		name:   "expired-by-one-clock",
		text:   "an id stays claimed after its expiry has passed by the ledger's clock, because the clock of another process may be slow",
		verify: plansExpired,
	}, {
		name:   "cancellation",
		text:   "a Claim whose context has ended returns; whether or not it was recorded, at most one Claim of the id succeeds",
		verify: plansCancelled,
	}, {
		name:   "one-of-many-processes",
		needs:  needsSharing,
		text:   "of concurrent claims of one id through several handles exactly one succeeds",
		verify: plansProcesses,
	}, {
		name:   "restart",
		needs:  needsSharing,
		text:   "a claim that was acknowledged is there after a restart",
		verify: plansRestart,
	}, {
		name:   "back-end-hangs",
		needs:  needsHang,
		text:   "while the back end hangs, Claim returns an error by the deadline of its context; afterwards at most one Claim of the id succeeds",
		verify: plansHang,
	}, {
		name:   "damaged-data",
		needs:  needsDamage,
		text:   "after damage to its data, no Claim of an id that was claimed before succeeds",
		verify: plansDamaged,
	},
}

// planScript are the calls of one handle.
type planScript struct {
	*planTrial
	ledger lookleap.PlanLedger
}

func openPlans(r *planTrial) planScript {
	r.Helper()
	return planScript{r, r.open()}
}

func (s planScript) claim(id string, expires time.Time) error {
	return s.attempt(func(ctx context.Context) error { return s.ledger.Claim(ctx, id, expires) })
}

// first checks that an id can be claimed.
func (s planScript) first(id string) {
	s.Helper()
	if err := s.claim(id, distant); err != nil {
		s.broken("the first Claim(%s) returned the error %q", shown(id), err)
	}
}

// again checks that an id was claimed.
func (s planScript) again(id string) {
	s.Helper()
	if err := s.claim(id, distant); !errors.Is(err, lookleap.ErrAlreadyDone) {
		s.broken("another Claim(%s) returned %v", shown(id), err)
	}
}

func plansClaimOnce(r *planTrial) {
	s := openPlans(r)
	s.first("one")
	s.again("one")
	s.again("one")
	s.first("two")
	s.again("one")
}

func plansIDs(r *planTrial) {
	s := openPlans(r)
	for _, id := range awkwardKeys() {
		s.first(id)
	}
	for _, id := range awkwardKeys() {
		s.again(id)
	}
}

func plansMany(r *planTrial) {
	s := openPlans(r)
	const many = 500
	for i := range many {
		s.first(fmt.Sprint("plan-", i))
	}
	for i := range many {
		s.again(fmt.Sprint("plan-", i))
	}
}

func plansConcurrent(r *planTrial) {
	s := openPlans(r)
	for round := range 20 {
		s.oneWins(fmt.Sprint("round-", round), s.ledger)
	}
}

func plansProcesses(r *planTrial) {
	handles := []lookleap.PlanLedger{r.open(), r.open(), r.open()}
	s := planScript{r, handles[0]}
	for round := range 20 {
		s.oneWins(fmt.Sprint("round-", round), handles...)
	}
}

// oneWins lets many callers claim an id through the handles at the same moment.
func (s planScript) oneWins(id string, handles ...lookleap.PlanLedger) {
	s.Helper()
	won := 0
	for _, err := range s.together(24, func(ctx context.Context, i int) error {
		return handles[i%len(handles)].Claim(ctx, id, distant)
	}) {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, lookleap.ErrAlreadyDone):
			s.broken("one of 24 concurrent claims returned the error %q", err)
		}
	}
	if won != 1 {
		s.broken("%d of 24 concurrent claims succeeded", won)
	}
}

func plansExpired(r *planTrial) {
	s := openPlans(r)
	for i, expires := range []time.Time{
		time.Now().Add(-time.Second), time.Now().Add(-12 * time.Hour), time.Now(), {}, time.Unix(0, 0),
		time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	} {
		id := fmt.Sprint("expired-", i)
		if err := s.claim(id, expires); err != nil {
			continue // refusing such a plan is safe
		}
		for n := range 8 {
			s.first(fmt.Sprint(id, "-", n)) // gives the ledger a reason to tidy up
		}
		if err := s.claim(id, expires); err == nil {
			s.broken("an id with the expiry %v was claimed twice", expires)
		}
	}
}

func plansCancelled(r *planTrial) {
	s := openPlans(r)
	ctx := cancelled()
	for i := range 20 {
		id := fmt.Sprint("cancelled-", i)
		won := 0
		err := r.attemptIn(ctx, func(ctx context.Context) error { return s.ledger.Claim(ctx, id, distant) })
		if errors.Is(err, errHung) {
			s.broken("%v", err)
		}
		if err == nil {
			won++
		}
		for range 2 {
			if s.claim(id, distant) == nil {
				won++
			}
		}
		if won > 1 {
			s.broken("%d claims of one id succeeded", won)
		}
	}
}

func plansRestart(r *planTrial) {
	s := openPlans(r)
	for i := range 50 {
		s.first(fmt.Sprint("plan-", i))
	}
	after := openPlans(r)
	for i := range 50 {
		after.again(fmt.Sprint("plan-", i))
	}
	after.first("plan-50")
	s.again("plan-50")
}

func plansHang(r *planTrial) {
	s := openPlans(r)
	s.first("before")
	resume := r.engine.Hang(r.TB)
	err := s.claim("meanwhile", distant)
	resume()
	if err == nil || errors.Is(err, errHung) || errors.Is(err, lookleap.ErrAlreadyDone) {
		s.broken("Claim returned %v", err)
	}
	won := 0
	for range 3 {
		if s.claim("meanwhile", distant) == nil {
			won++
		}
	}
	if won > 1 {
		s.broken("%d claims of one id succeeded", won)
	}
	s.again("before")
	s.first("after")
}

func plansDamaged(r *planTrial) {
	s := openPlans(r)
	for i := range 5 {
		s.first(fmt.Sprint("plan-", i))
	}
	r.engine.Damage(r.TB, r.data)
	for _, handle := range []planScript{s, openPlans(r)} {
		for i := range 5 {
			if err := handle.claim(fmt.Sprint("plan-", i), distant); err == nil {
				s.broken("Claim of plan-%d succeeded again", i)
			}
		}
	}
}
