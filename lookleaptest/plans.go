package lookleaptest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// TestPlanLedger tests an implementation of [lookleap.PlanLedger]: a claim succeeds once,
// whatever the id, the number of callers, the number of processes and their clocks, and
// also after a restart, a back end that hangs, or damage. Only the owner of a claim records
// outcomes, and each handle reads them.
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
		name:   "repeated-by-its-owner",
		text:   "a Claim or Record that its owner repeats succeeds, because the response to the first call may be lost",
		verify: plansRepeated,
	}, {
		name:   "outcomes",
		text:   "each outcome can be recorded in its order and is read again with its receipt, owner and expiry; Plan returns fs.ErrNotExist for an unknown id",
		verify: plansOutcomes,
	}, {
		name:   "outcome-of-the-owner",
		text:   "a Record of another owner, and one that changes a final outcome, returns ErrClaimLost and changes nothing",
		verify: plansFenced,
	}, {
		name:   "failed-can-be-claimed",
		text:   "a plan whose outcome is failed can be claimed once more, and no other outcome permits that",
		verify: plansFailed,
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
}

// record records an outcome with a receipt.
func (s planScript) record(id, owner string, state lookleap.PlanState, receipt string) error {
	o := lookleap.PlanOutcome{State: state}
	if receipt != "" {
		o.Receipt = []byte(receipt)
	}
	return s.attempt(func(ctx context.Context) error { return s.ledger.Record(ctx, id, owner, o) })
}

// claimFor claims an id for an owner.
func (s planScript) claimFor(id, owner string) (r lookleap.PlanRecord, err error) {
	err = s.attempt(func(ctx context.Context) (err error) {
		r, err = s.ledger.Claim(ctx, lookleap.PlanClaim{ID: id, Owner: owner, Expires: distant})
		return err
	})
	return r, err
}

// expect checks the record of an id.
func (s planScript) expect(id, owner string, state lookleap.PlanState, receipt string) {
	s.Helper()
	var r lookleap.PlanRecord
	err := s.attempt(func(ctx context.Context) (err error) {
		r, err = s.ledger.Plan(ctx, id)
		return err
	})
	if err != nil || r.ID != id || r.Owner != owner || r.State != state || string(r.Receipt) != receipt || !r.Expires.Equal(distant) {
		s.broken("Plan(%s) returned id %s, owner %s, state %s, receipt %s, expiry %v and the error %v, not owner %s, state %s and receipt %s",
			shown(id), shown(r.ID), shown(r.Owner), r.State, shown(string(r.Receipt)), r.Expires, err, shown(owner), state, shown(receipt))
	}
}

func plansRepeated(r *planTrial) {
	s := openPlans(r)
	for range 3 {
		if _, err := s.claimFor("plan", "a"); err != nil {
			s.broken("a repeated Claim returned the error %q", err)
		}
	}
	for _, state := range []lookleap.PlanState{lookleap.PlanSent, lookleap.PlanDone} {
		for range 3 {
			if err := s.record("plan", "a", state, ""); err != nil {
				s.broken("a repeated Record of %s returned the error %q", state, err)
			}
		}
	}
	s.expect("plan", "a", lookleap.PlanDone, "")
}

func plansOutcomes(r *planTrial) {
	s := openPlans(r)
	err := s.attempt(func(ctx context.Context) error {
		_, err := s.ledger.Plan(ctx, "unknown")
		return err
	})
	if !errors.Is(err, fs.ErrNotExist) {
		s.broken("Plan of an unknown id returned %v", err)
	}
	long := strings.Repeat("r", lookleap.MaxReceipt)
	for i, c := range []struct {
		states  []lookleap.PlanState
		receipt string
	}{
		{[]lookleap.PlanState{lookleap.PlanSent, lookleap.PlanDone}, string(allBytes())},
		{[]lookleap.PlanState{lookleap.PlanSent, lookleap.PlanDone}, long},
		{[]lookleap.PlanState{lookleap.PlanSent, lookleap.PlanUnknown}, ""},
		{[]lookleap.PlanState{lookleap.PlanSent, lookleap.PlanFailed}, ""},
		{[]lookleap.PlanState{lookleap.PlanFailed}, ""},
	} {
		id := fmt.Sprint("plan-", i)
		if _, err := s.claimFor(id, "a"); err != nil {
			s.broken("the first Claim(%s) returned the error %q", shown(id), err)
		}
		s.expect(id, "a", lookleap.PlanClaimed, "")
		for n, state := range c.states {
			receipt := ""
			if n == len(c.states)-1 {
				receipt = c.receipt
			}
			if err := s.record(id, "a", state, receipt); err != nil {
				s.broken("Record of %s returned the error %q", state, err)
			}
			s.expect(id, "a", state, receipt)
		}
	}
	if !r.engine.Private {
		other := openPlans(r)
		other.expect("plan-0", "a", lookleap.PlanDone, string(allBytes()))
	}
	got, err := s.claimFor("plan-0", "b")
	if !errors.Is(err, lookleap.ErrAlreadyDone) || got.State != lookleap.PlanDone || string(got.Receipt) != string(allBytes()) {
		s.broken("Claim of a plan that is done returned %v with state %s and a receipt of %d bytes", err, got.State, len(got.Receipt))
	}
}

func plansFenced(r *planTrial) {
	s := openPlans(r)
	all := []lookleap.PlanState{lookleap.PlanSent, lookleap.PlanDone, lookleap.PlanFailed, lookleap.PlanUnknown}
	refused := func(id, owner string, state lookleap.PlanState, receipt string) {
		s.Helper()
		if err := s.record(id, owner, state, receipt); !errors.Is(err, lookleap.ErrClaimLost) {
			s.broken("Record(%s, %s) of %s returned %v", shown(id), shown(owner), state, err)
		}
	}
	for _, state := range all {
		refused("unknown", "a", state, "")
	}
	if _, err := s.claimFor("plan", "a"); err != nil {
		s.broken("the first Claim returned the error %q", err)
	}
	for _, state := range all {
		refused("plan", "b", state, "")
		refused("plan", "", state, "")
	}
	refused("plan", "a", lookleap.PlanDone, "")
	s.expect("plan", "a", lookleap.PlanClaimed, "")
	for _, state := range []lookleap.PlanState{lookleap.PlanSent, lookleap.PlanDone} {
		if err := s.record("plan", "a", state, ""); err != nil {
			s.broken("Record of %s returned the error %q", state, err)
		}
	}
	for _, state := range all {
		refused("plan", "b", state, "")
		refused("plan", "a", state, "another receipt")
	}
	s.expect("plan", "a", lookleap.PlanDone, "")
}

func plansFailed(r *planTrial) {
	s := openPlans(r)
	for i, c := range []struct {
		states []lookleap.PlanState
		again  bool
	}{
		{[]lookleap.PlanState{lookleap.PlanFailed}, true},
		{[]lookleap.PlanState{lookleap.PlanSent, lookleap.PlanFailed}, true},
		{[]lookleap.PlanState{lookleap.PlanSent}, false},
		{[]lookleap.PlanState{lookleap.PlanSent, lookleap.PlanDone}, false},
		{[]lookleap.PlanState{lookleap.PlanSent, lookleap.PlanUnknown}, false},
	} {
		id := fmt.Sprint("plan-", i)
		if _, err := s.claimFor(id, "a"); err != nil {
			s.broken("the first Claim returned the error %q", err)
		}
		for _, state := range c.states {
			if err := s.record(id, "a", state, ""); err != nil {
				s.broken("Record of %s returned the error %q", state, err)
			}
		}
		if !c.again {
			s.again(id)
			continue
		}
		s.oneWins(id, s.ledger)
		s.again(id)
		if err := s.record(id, "a", lookleap.PlanSent, ""); !errors.Is(err, lookleap.ErrClaimLost) {
			s.broken("the first owner recorded sent after another one claimed the plan: %v", err)
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
