package lookleaptest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// TestPlanLedger tests an implementation of [lookleap.PlanLedger]: a claim succeeds once,
// whatever the id, the number of callers, the number of processes and their clocks, and
// also after a restart, a back end that hangs, or damage. Only the owner of a claim records
// outcomes, a final outcome stays, and each handle reads them.
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
		text:   "two ids that differ in one byte are two claims with two outcomes",
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
		name:   "repeated-by-its-owner",
		text:   "a Claim or Record that its owner repeats succeeds, because the response to the first call may be lost",
		verify: plansRepeated,
	}, {
		name:   "outcomes",
		text:   "each outcome can be recorded in its order and is read again with its receipt, owner and expiry; Plan returns fs.ErrNotExist for an unknown id",
		verify: plansOutcomes,
	}, {
		name:   "outcome-of-the-owner",
		text:   "a Record of another owner, whose name may differ in one byte, returns ErrClaimLost and changes nothing",
		verify: plansFenced,
	}, {
		name:   "final-outcomes",
		text:   "a Record that changes a final outcome, of a state that cannot be recorded, or with a receipt above MaxReceipt returns ErrClaimLost and changes nothing",
		verify: plansFinal,
	}, {
		name:   "caller-owns-its-bytes",
		text:   "changing a receipt after Record, or one that Plan or Claim returned, does not change the record",
		verify: plansAliasing,
	}, {
		name:   "failed-can-be-claimed",
		text:   "a plan whose outcome is failed can be claimed once more; after any other outcome, Claim returns ErrAlreadyDone with the record",
		verify: plansFailed,
	}, {
		name:   "expired-by-one-clock",
		text:   "an id stays claimed after its expiry has passed by the ledger's clock, because the clock of another process may be slow",
		verify: plansExpired,
	}, {
		name:   "taken-over",
		needs:  needsClock,
		text:   "a plan stays with the owner who claimed it for PlanLease; then one other owner can claim it if nothing was sent, and the first one gets ErrClaimLost",
		verify: plansTakenOver,
	}, {
		name:   "cancellation",
		text:   "a call whose context has ended returns; at most one Claim of the id succeeds, and a Record that returned nil was stored",
		verify: plansCancelled,
	}, {
		name:   "one-of-many-processes",
		needs:  needsSharing,
		text:   "of concurrent claims of one id, new or failed, through several handles exactly one succeeds",
		verify: plansProcesses,
	}, {
		name:   "restart",
		needs:  needsSharing,
		text:   "a claim or an outcome that was acknowledged is there after a restart",
		verify: plansRestart,
	}, {
		name:   "back-end-hangs",
		needs:  needsHang,
		text:   "while the back end hangs, each call returns an error by the deadline of its context, and a plan never counts as unknown; afterwards at most one Claim of an id succeeds",
		verify: plansHang,
	}, {
		name:   "damaged-data",
		needs:  needsDamage,
		text:   "after damage to its data, no Claim of an id that was claimed before succeeds, and Plan never reports it as missing or failed",
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
	return s.attempt(func(ctx context.Context) error { return claimAsNewOwner(ctx, s.ledger, id, expires) })
}

// claimAsNewOwner claims an id for an owner that no other call has.
func claimAsNewOwner(ctx context.Context, l lookleap.PlanLedger, id string, expires time.Time) error {
	_, err := l.Claim(ctx, lookleap.PlanClaim{ID: id, Owner: rand.Text(), Expires: expires})
	return err
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
	for i, id := range awkwardKeys() {
		s.claimed(id, fmt.Sprint("owner-", i))
	}
	for _, id := range awkwardKeys() {
		s.again(id)
	}
	for i, id := range awkwardKeys() {
		if err := s.record(id, fmt.Sprint("owner-", i), lookleap.PlanSent, ""); err != nil {
			s.broken("Record(%s) by its owner returned the error %q", shown(id), err)
		}
		s.expect(id, fmt.Sprint("owner-", i), lookleap.PlanSent, "")
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
		failed := fmt.Sprint("failed-", round)
		s.claimed(failed, "a", lookleap.PlanFailed)
		s.oneWins(failed, handles...)
	}
}

// oneWins lets many callers claim an id through the handles at the same moment.
func (s planScript) oneWins(id string, handles ...lookleap.PlanLedger) {
	s.Helper()
	won := 0
	for _, err := range s.together(24, func(ctx context.Context, i int) error {
		return claimAsNewOwner(ctx, handles[i%len(handles)], id, distant)
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
			s.first(fmt.Sprint(id, "-", n)) // lets the ledger tidy up
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
		err := r.attemptIn(ctx, func(ctx context.Context) error { return claimAsNewOwner(ctx, s.ledger, id, distant) })
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
	s.claimed("recorded", "a")
	err := r.attemptIn(ctx, func(ctx context.Context) error {
		return s.ledger.Record(ctx, "recorded", "a", lookleap.PlanOutcome{State: lookleap.PlanSent})
	})
	if errors.Is(err, errHung) {
		s.broken("Record: %v", err)
	}
	if err == nil {
		s.expect("recorded", "a", lookleap.PlanSent, "")
	}
}

func plansRestart(r *planTrial) {
	s := openPlans(r)
	outcomes := [][]lookleap.PlanState{
		{lookleap.PlanSent}, {lookleap.PlanFailed},
		{lookleap.PlanSent, lookleap.PlanDone}, {lookleap.PlanSent, lookleap.PlanUnknown},
	}
	for i, states := range outcomes {
		s.claimed(fmt.Sprint("outcome-", i), "a", states...)
	}
	for i := range 50 {
		s.first(fmt.Sprint("plan-", i))
	}
	after := openPlans(r)
	for i, states := range outcomes {
		after.expect(fmt.Sprint("outcome-", i), "a", states[len(states)-1], "")
	}
	for i := range 50 {
		after.again(fmt.Sprint("plan-", i))
	}
	after.first("plan-50")
	s.again("plan-50")
}

func plansHang(r *planTrial) {
	s := openPlans(r)
	s.claimed("before", "a")
	resume := r.engine.Hang(r.TB)
	err := s.claim("meanwhile", distant)
	recordErr := s.record("before", "a", lookleap.PlanSent, "")
	planErr := s.attempt(func(ctx context.Context) error { _, err := s.ledger.Plan(ctx, "before"); return err })
	resume()
	if recordErr == nil || errors.Is(recordErr, errHung) || errors.Is(recordErr, lookleap.ErrClaimLost) {
		s.broken("Record returned %v", recordErr)
	}
	if planErr == nil || errors.Is(planErr, errHung) || errors.Is(planErr, fs.ErrNotExist) {
		s.broken("Plan returned %v", planErr)
	}
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
			var got lookleap.PlanRecord
			err := handle.attempt(func(ctx context.Context) (err error) {
				got, err = handle.ledger.Plan(ctx, fmt.Sprint("plan-", i))
				return err
			})
			if errors.Is(err, fs.ErrNotExist) || err == nil && (got.State == "" || got.State == lookleap.PlanFailed) {
				s.broken("Plan of plan-%d returned the state %q and the error %v", i, got.State, err)
			}
		}
	}
}
