package simulation

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
)

// planEvent is one thing that happened to a plan in a run: a record that was written, or was not
// because another worker was faster, or the effect.
type planEvent struct {
	at     time.Time // as the record says
	plan   string
	owner  string
	state  lookleap.PlanState
	err    error
	effect bool
}

func (w *world) record(e planEvent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

// follower follows a plan through the states of the model.
type follower struct {
	mark    mark
	owner   string
	changed time.Time
	effects int
}

var marks = map[lookleap.PlanState]mark{
	lookleap.PlanClaimed: claimed, lookleap.PlanSent: sent, lookleap.PlanDone: done,
	lookleap.PlanFailed: failed, lookleap.PlanUnknown: unknown, lookleap.PlanRefused: refused,
}

// step takes one event, and returns why the model does not permit it.
func (f *follower) step(e planEvent) string {
	to := marks[e.state]
	permitted := false
	switch {
	case e.effect:
		f.effects++
		if f.mark != sent {
			return "an effect of a plan that is not sent"
		}
		return ""
	case to == claimed:
		own := f.owner == e.owner
		permitted = f.mark == absent || f.mark == failed && !own || f.mark == claimed && (own || e.at.Sub(f.changed) >= lookleap.PlanLease)
	case to == sent && f.owner != e.owner: // a claim without a preparation
		permitted = f.mark == absent || f.mark == failed || f.mark == claimed && e.at.Sub(f.changed) >= lookleap.PlanLease
	case f.owner != e.owner:
	case to == f.mark:
		permitted = true // repeated
	case to == sent, to == refused:
		permitted = f.mark == claimed
	case to == failed:
		permitted = f.mark == claimed || f.mark == sent
	default:
		permitted = f.mark == sent
	}
	switch {
	case errors.Is(e.err, lookleap.ErrConflict):
		return ""
	case e.err != nil:
		return "the store returned another error"
	case !permitted:
		return "a record that the model does not permit"
	case to == done && f.effects == 0:
		return "a plan that is done without an effect"
	case to == failed && f.effects > 0:
		return "a plan that failed after its effect"
	}
	if !(to == claimed && f.mark == claimed && f.owner == e.owner) && to != f.mark || to == claimed && f.owner != e.owner {
		f.changed = e.at
	}
	f.mark, f.owner = to, e.owner
	return ""
}

// follow checks the events of a run against the model.
func follow(events []planEvent, report func(format string, args ...any)) {
	plans := map[string]*follower{}
	for i, e := range events {
		f := plans[e.plan]
		if f == nil {
			f = &follower{}
			plans[e.plan] = f
		}
		before := *f
		if why := f.step(e); why != "" {
			report("event %d: %s: %+v in the state %+v", i, why, e, before)
		}
	}
}

// TestTracesFollowTheModel checks what the real code did in some runs against the model.
func TestTracesFollowTheModel(t *testing.T) {
	calls, refused, effects := 0, 0, 0
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			w := play(t, seed+1, nil, nil)
			follow(w.events, func(format string, args ...any) { t.Errorf("seed %d, "+format, append([]any{seed + 1}, args...)...) })
			for _, e := range w.events {
				switch {
				case e.effect:
					effects++
				case e.err != nil:
					refused++
				default:
					calls++
				}
			}
		})
	}
	t.Logf("%d records, %d that another worker prevented, %d effects", calls, refused, effects)
	if calls < 200 || refused < 40 || effects < 50 {
		t.Error("the runs show too little")
	}
}

// TestTracesOfBugs shows that a trace can break the model.
func TestTracesOfBugs(t *testing.T) {
	for _, name := range []string{"failed-after-sending", "claims-not-fenced"} {
		found := false
		for seed := uint64(1); seed <= *bugSeeds && !found; seed++ {
			for _, b := range bugs {
				if b.name == name {
					synctest.Test(t, func(t *testing.T) {
						follow(play(t, seed, b, nil).events, func(string, ...any) { found = true })
					})
				}
			}
		}
		if !found {
			t.Errorf("no trace of %s breaks the model", name)
		}
	}
}
