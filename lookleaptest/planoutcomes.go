package lookleaptest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
)

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

// claimed claims an id and records outcomes without receipts.
func (s planScript) claimed(id, owner string, states ...lookleap.PlanState) {
	s.Helper()
	if _, err := s.claimFor(id, owner); err != nil {
		s.broken("the first Claim(%s) returned the error %q", shown(id), err)
	}
	for _, state := range states {
		if err := s.record(id, owner, state, ""); err != nil {
			s.broken("Record(%s) of %s returned the error %q", shown(id), state, err)
		}
	}
}

// refused checks that an outcome is not recorded.
func (s planScript) refused(id, owner string, state lookleap.PlanState, receipt string) {
	s.Helper()
	if err := s.record(id, owner, state, receipt); !errors.Is(err, lookleap.ErrClaimLost) {
		s.broken("Record(%s) by the owner %s of the state %q and the receipt %s returned %v",
			shown(id), shown(owner), state, shown(receipt), err)
	}
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
	s.claimed("receipt", "a", lookleap.PlanSent)
	for range 3 {
		if err := s.record("receipt", "a", lookleap.PlanDone, "receipt"); err != nil {
			s.broken("a repeated Record of a receipt returned the error %q", err)
		}
	}
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

// outcomeStates are the states that an owner can record.
var outcomeStates = []lookleap.PlanState{lookleap.PlanSent, lookleap.PlanDone, lookleap.PlanFailed, lookleap.PlanUnknown}

func plansFenced(r *planTrial) {
	s := openPlans(r)
	for _, state := range outcomeStates {
		s.refused("unknown", "a", state, "")
	}
	s.claimed("plan", "a")
	others := []string{"b", "", "A", "aa", "a ", " a", "a\x00"}
	for _, state := range outcomeStates {
		for _, other := range others {
			s.refused("plan", other, state, "")
		}
	}
	s.refused("plan", "a", lookleap.PlanDone, "")
	s.expect("plan", "a", lookleap.PlanClaimed, "")
	for _, state := range []lookleap.PlanState{lookleap.PlanSent, lookleap.PlanDone} {
		if err := s.record("plan", "a", state, ""); err != nil {
			s.broken("Record of %s returned the error %q", state, err)
		}
	}
	for _, state := range outcomeStates {
		for _, other := range others {
			s.refused("plan", other, state, "")
		}
	}
	s.expect("plan", "a", lookleap.PlanDone, "")
}

func plansFinal(r *planTrial) {
	s := openPlans(r)
	unknown := []lookleap.PlanState{lookleap.PlanClaimed, "", "finished"}
	for _, final := range []lookleap.PlanState{lookleap.PlanDone, lookleap.PlanUnknown, lookleap.PlanFailed} {
		id, receipt := "plan-"+string(final), ""
		s.claimed(id, "a", lookleap.PlanSent)
		for _, state := range unknown {
			s.refused(id, "a", state, "")
		}
		if final == lookleap.PlanDone {
			receipt = "receipt"
		}
		if err := s.record(id, "a", final, receipt); err != nil {
			s.broken("Record of %s returned the error %q", final, err)
		}
		for _, state := range append(unknown, outcomeStates...) {
			for _, other := range []string{"", "receipt", "rec", "receipt 2"} {
				if state != final || other != receipt {
					s.refused(id, "a", state, other)
				}
			}
		}
		s.expect(id, "a", final, receipt)
	}
	s.claimed("long", "a", lookleap.PlanSent)
	s.refused("long", "a", lookleap.PlanDone, strings.Repeat("r", lookleap.MaxReceipt+1))
	s.expect("long", "a", lookleap.PlanSent, "")
}

func plansAliasing(r *planTrial) {
	s := openPlans(r)
	s.claimed("plan", "a", lookleap.PlanSent)
	receipt := []byte("receipt")
	err := s.attempt(func(ctx context.Context) error {
		return s.ledger.Record(ctx, "plan", "a", lookleap.PlanOutcome{State: lookleap.PlanDone, Receipt: receipt})
	})
	s.must(err, "Record")
	receipt[0] = 'X'
	s.expect("plan", "a", lookleap.PlanDone, "receipt")
	for _, read := range []func(context.Context) (lookleap.PlanRecord, error){
		func(ctx context.Context) (lookleap.PlanRecord, error) { return s.ledger.Plan(ctx, "plan") },
		func(ctx context.Context) (lookleap.PlanRecord, error) {
			return s.ledger.Claim(ctx, lookleap.PlanClaim{ID: "plan", Owner: "b", Expires: distant})
		},
	} {
		var got lookleap.PlanRecord
		_ = s.attempt(func(ctx context.Context) (err error) {
			got, err = read(ctx)
			return err
		})
		if len(got.Receipt) > 0 {
			got.Receipt[0] = 'Y'
		}
		s.expect("plan", "a", lookleap.PlanDone, "receipt")
	}
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
			got, err := s.claimFor(id, "b")
			if want := c.states[len(c.states)-1]; !errors.Is(err, lookleap.ErrAlreadyDone) || got.State != want || got.Owner != "a" {
				s.broken("Claim of a plan that is %s returned %v and the record %+v", want, err, got)
			}
			continue
		}
		s.oneWins(id, s.ledger)
		s.again(id)
		if err := s.record(id, "a", lookleap.PlanSent, ""); !errors.Is(err, lookleap.ErrClaimLost) {
			s.broken("the first owner recorded sent after another one claimed the plan: %v", err)
		}
	}
}

func plansTakenOver(r *planTrial) {
	s := openPlans(r)
	effects := map[string][]lookleap.PlanState{
		"sent": {lookleap.PlanSent}, "done": {lookleap.PlanSent, lookleap.PlanDone}, "unknown": {lookleap.PlanSent, lookleap.PlanUnknown},
	}
	for id, states := range effects {
		s.claimed(id, "a", states...)
	}
	s.claimed("idle", "a")
	s.claimed("raced", "a")
	r.engine.Advance(r.TB, lookleap.PlanLease/2)
	s.again("idle")
	s.claimed("late", "a")
	r.engine.Advance(r.TB, lookleap.PlanLease/2+time.Second)
	for id, states := range effects {
		s.again(id)
		s.expect(id, "a", states[len(states)-1], "")
	}
	s.again("late") // its lease began later
	s.expect("idle", "a", lookleap.PlanClaimed, "")
	s.claimed("idle", "b")
	s.expect("idle", "b", lookleap.PlanClaimed, "")
	s.refused("idle", "a", lookleap.PlanSent, "")
	s.again("idle") // it has a new lease
	s.oneWins("raced", s.ledger)
	s.refused("raced", "a", lookleap.PlanSent, "")
	if err := s.record("idle", "b", lookleap.PlanSent, ""); err != nil {
		s.broken("Record by the owner who took over returned the error %q", err)
	}
}
