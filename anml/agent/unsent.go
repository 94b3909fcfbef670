package agent

import (
	"context"
	"errors"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// turnDown writes down a call that a decision ended before anything was sent: what
// was refused, and the action itself, with the code of the error (sections 13.2 and
// 14.1). It gives the error, with that of the ledger if there is one. Plan is ""
// where none was made. A caller who left is told of all the same.
func (s *Session) turnDown(ctx context.Context, e *effect, plan string, entries []Entry, err error) error {
	var refused []Entry
	for _, x := range entries {
		if x.Kind == EntryRefused {
			refused = append(refused, x)
		}
	}
	action := e.entry(plan, EntryRefused, s.now())
	action.Code, action.Reason = lookleap.CodeOf(err), anml.PolicyViolation
	if action.Code == lookleap.CodeConsentRefused {
		action.Reason = anml.UserDenied
	}
	return joined(err, s.record(context.WithoutCancel(ctx), append(refused, action)...))
}

// refusals are the entries of what a disclosure refuses, before it is settled.
func (s *Session) refusals(e exchange, plan string, d *disclosure) []Entry {
	if d == nil {
		return nil
	}
	w := &settling{s: s, plan: plan, e: e, asker: d.Asker, now: s.now()}
	var entries []Entry
	for _, t := range d.Tells {
		if t.refused() {
			entries = append(entries, w.entry(&t))
		}
	}
	return entries
}

// withheld is a disclosure of which nothing is told, for one reason. What was
// refused before keeps its own.
func (d *disclosure) withheld(why lookleap.Code, reason anml.Reason) *disclosure {
	all := &disclosure{Asker: d.Asker}
	for _, t := range d.Tells {
		if !t.refused() {
			t.refuse(why, reason)
		}
		all.Tells = append(all.Tells, t)
	}
	return all
}

// undecided is why a plan is not committed: the user's word is missing. It is
// recorded, unless it may still come: then the plan waits.
func (s *Session) undecided(ctx context.Context, plan *lookleap.Plan, e *effect, err error) error {
	if !errors.Is(err, lookleap.ErrConsentRefused) {
		return err
	}
	reason := anml.PolicyViolation
	code := lookleap.CodeOf(err)
	if code == lookleap.CodeConsentRefused {
		reason = anml.UserDenied
	}
	return s.turnDown(ctx, e, plan.ID(), s.refusals(e.Exchange, plan.ID(), e.Disclosure.withheld(code, reason)), err)
}
