package agent

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/prompting"
)

func (s *Session) resume(ctx context.Context, state json.RawMessage, d lookleap.ConsentDecision) (*CallResult, error) {
	ctx, done, err := s.during(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	plan, err := lookleap.ParsePlan(state)
	if err != nil {
		return nil, err
	}
	if plan.Request().Kind != lookleap.ConsentAct {
		return nil, badState("it is no plan of this package")
	}
	e, err := parseEffect(plan.Effect())
	if err != nil {
		return nil, err
	}
	if err := s.owns(e.User); err != nil {
		return nil, err
	}
	if e.Send.Reach != atOrigin && s.agent.options.SameOriginOnly {
		return nil, &lookleap.Error{Code: CodeEndpointForeign, Subject: e.Send.place(), Message: "only actions at the document's own origin are executed"}
	}
	approval, err := s.agent.host.Decide(s.asUser(ctx), plan, d)
	if err != nil {
		if lookleap.CodeOf(err) != lookleap.CodeConsentRefused {
			return nil, err // about this decision, and another one may come
		}
		return nil, s.undecided(ctx, plan, e, err)
	}
	budget := fetch.NewBudget(s.agent.options.Limits.Requests)
	result, err := s.commit(ctx, approval, e, budget)
	if errors.Is(err, errIdentityLost) {
		return s.run(ctx, without(plan.Request(), e), budget)
	}
	return result, err
}

// run asks about an intent and commits it. Where only the site that the user was
// shown can no longer be verified, they are asked once more without it (R87).
func (s *Session) run(ctx context.Context, in *intent, budget *fetch.Budget) (*CallResult, error) {
	for {
		plan, approval, err := s.ask(ctx, in)
		if err != nil {
			return nil, err
		}
		result, err := s.commit(ctx, approval, in.effect, budget)
		if !errors.Is(err, errIdentityLost) {
			return result, err
		}
		in = without(plan.Request(), in.effect)
	}
}

// ask makes the plan of an intent and gets the user's word for it, or that of
// their policy, which leaves nothing to ask.
func (s *Session) ask(ctx context.Context, in *intent) (*lookleap.Plan, *lookleap.Approval, error) {
	host := s.agent.host
	bytes, err := json.Marshal(in.effect)
	if err != nil {
		return nil, nil, &lookleap.Error{Code: lookleap.CodeInternal, Subject: in.effect.Send.place(), Err: err}
	}
	plan, err := lookleap.NewPlan(in.request(), bytes, host.Time())
	if err != nil {
		return nil, nil, &lookleap.Error{Code: lookleap.CodeOf(err), Subject: in.effect.Send.place(), Message: "no plan can be made of the call", Err: err}
	}
	var approval *lookleap.Approval
	if in.asks {
		// A call that cannot be sent any more needs no answer.
		open := func() error { return s.gate.check(in.effect.passage(), s.now()) }
		approval, err = host.Ask(prompting.WithCheck(s.asUser(ctx), open), plan)
	} else {
		approval, err = plan.Approve(permitted(plan.Request()), host.Time())
	}
	if err != nil {
		return plan, nil, s.undecided(ctx, plan, in.effect, err)
	}
	return plan, approval, nil
}

// permitted is the decision about a plan of which nothing has to be asked.
func permitted(r *lookleap.ConsentRequest) lookleap.ConsentDecision {
	d := lookleap.ConsentDecision{Digest: r.Digest}
	for _, item := range r.Items {
		d.Approved = append(d.Approved, item.ID)
	}
	return d
}
