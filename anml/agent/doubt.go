package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/lookleap/lookleap"
)

// doubts are the plans of a session whose outcome is unknown. A call that repeats one of them is
// asked as sending it again, and has the same Idempotency-Key.
type doubts struct {
	mu    sync.Mutex
	plans map[string]*lookleap.Plan // by what they send
}

// maxDoubts is how many plans a session remembers. With that many it sends nothing new: a plan that
// it forgot could be sent twice.
const maxDoubts = 1000

// sends identifies a call by what it sends, without what differs each time it is prepared.
func (e *effect) sends() string {
	type told struct{ Kind, Field, Value string }
	var disclosures []told
	for _, t := range e.Disclosures {
		disclosures = append(disclosures, told{string(t.Kind), t.Field, t.Value})
	}
	return digestOf(struct {
		Exchange    exchange
		Send        actionRequest
		Disclosures []told
	}{e.Exchange, e.Send, disclosures})
}

// note remembers a plan that was sent, if its outcome is unknown, and otherwise forgets what is known
// now.
func (d *doubts) note(e *effect, p *lookleap.Plan, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !errors.Is(err, ErrInDoubt) {
		delete(d.plans, e.sends())
		return
	}
	if d.plans == nil {
		d.plans = make(map[string]*lookleap.Plan)
	}
	d.plans[e.sends()] = p
}

// of returns the plan of a call whose outcome is unknown, or nil. It returns an error if another
// unknown outcome could not be remembered.
func (d *doubts) of(e *effect) (*lookleap.Plan, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	first := d.plans[e.sends()]
	if first == nil && len(d.plans) >= maxDoubts {
		return nil, &lookleap.Error{Code: lookleap.CodeLimit,
			Message: fmt.Sprintf("the session does not know the outcome of %d requests", len(d.plans)),
			Fix:     "repeat one of these requests, or find out what happened and start a new session"}
	}
	return first, nil
}

// again returns the plan for a call that repeats one whose outcome is unknown, nil for any other call.
// The call becomes that of the first plan, and the user is asked in any case.
func (s *Session) again(ctx context.Context, in *preparedCall) (*lookleap.Plan, error) {
	first, err := s.doubts.of(in.effect)
	if first == nil || err != nil {
		return nil, err
	}
	plan, err := s.agent.host.Again(ctx, first)
	if lookleap.CodeOf(err) == lookleap.CodeUsage {
		return nil, nil // the ledger knows the outcome now
	}
	if err != nil {
		return nil, err
	}
	e, err := parseEffect(plan.Effect())
	if err != nil {
		return nil, err
	}
	in.effect, in.asks = e, true
	return plan, nil
}
