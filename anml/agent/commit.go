package agent

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/prompting"
)

// commit does what was approved, once: trust is verified anew, and only then is
// the plan spent, what is told settled, written down, and sent.
func (s *Session) commit(ctx context.Context, a *lookleap.Approval, e *effect, budget *fetch.Budget) (*CallResult, error) {
	host := s.agent.host
	if err := s.gate.check(e.passage(), s.now()); err != nil {
		return nil, err
	}
	if err := s.confirmTrust(ctx, e); err != nil {
		switch {
		case errors.Is(err, errIdentityLost):
			if spent := s.spend(ctx, a); spent != nil {
				return nil, spent
			}
		case ended(ctx, "") == nil:
			plan := a.Plan().ID()
			err = s.turnDown(ctx, e, plan, s.refusals(e.Exchange, plan, e.Disclosure.withheld(lookleap.CodeOf(err), anml.TrustInsufficient)), err)
		}
		return nil, err
	}
	var result *CallResult
	err := host.CommitApproved(ctx, a, func(ctx context.Context, a *lookleap.Approval) (err error) {
		result, err = s.execute(ctx, a, e, budget)
		return err
	})
	return result, err
}

// spend makes a plan that another one takes the place of unusable: else both could
// be committed, and the action be done twice.
func (s *Session) spend(ctx context.Context, a *lookleap.Approval) error {
	return s.agent.host.CommitApproved(ctx, a, func(context.Context, *lookleap.Approval) error { return nil })
}

// execute is the effect of a plan.
func (s *Session) execute(ctx context.Context, a *lookleap.Approval, e *effect, budget *fetch.Budget) (*CallResult, error) {
	now, plan := s.now(), a.Plan().ID()
	told, entries, err := s.settle(ctx, plan, e.Exchange, e.Disclosure, a.Has, a.Until(), now)
	if err != nil && entries == nil {
		return nil, err
	}
	settled := *e
	settled.Disclosure = told
	var contentType string
	var body []byte
	if err == nil {
		contentType, body, err = e.body(told)
	}
	if err == nil {
		err = s.permitted(ctx, &settled, now)
	}
	if err != nil {
		return nil, s.turnDown(ctx, e, plan, entries, err)
	}
	if err := s.record(ctx, append(entries, e.entry(plan, EntryAction, now))...); err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodeIO, Subject: e.Send.place(), Message: "the ledger could not be written, so nothing was sent", Err: err}
	}
	if e.Send.Reach == atDomain && a.Has(itemOrigin) { // another domain is asked about every time
		s.gate.agree(e.passage().document, e.Send.origin())
	}
	if a.Has(itemPlain) {
		s.gate.acknowledge(e.Send.origin())
	}
	result, err := s.submit(ctx, &settled, plan, contentType, body, budget)
	s.recordOutcome(ctx, e, plan, err)
	return result, err
}

// permitted hears the host's policy last, and counts the execution.
func (s *Session) permitted(ctx context.Context, e *effect, now time.Time) error {
	if err := s.user.forbids(ctx, s.agent.plugins.policy, e.act(e.Disclosure)); err != nil {
		return &lookleap.Error{Code: CodePolicyVeto, Subject: e.Send.place(), Message: "the host's policy forbids the action", Err: err}
	}
	return s.gate.take(e.passage(), now)
}

// confirmTrust verifies anew what the call rests on (section 13.4).
func (s *Session) confirmTrust(ctx context.Context, e *effect) error {
	if e.Claim == nil {
		return nil
	}
	grant, err := s.trust.VerifyFresh(ctx, *e.Claim)
	if ended := ended(ctx, e.Send.place()); ended != nil {
		return ended
	}
	var needs []anmltrust.Section
	if e.Owned {
		needs = append(needs, anmltrust.Interact)
	}
	if e.Send.Response && e.Disclosure.Asker == e.Claim.Site {
		needs = append(needs, anmltrust.Knowledge) // the asks are the site's
	}
	for _, section := range needs {
		if err := anmltrust.Confirm(grant, err, section, s.now()); err != nil {
			code := anmltrust.CodeTrustRevoked
			if errors.Is(err, anmltrust.ErrTrustUnverified) {
				code = CodeTrustUnverified
			}
			return &lookleap.Error{Code: code, Subject: e.Claim.Site, Message: "the server may no longer act for the site, or that cannot be found out", Err: err}
		}
	}
	if len(needs) == 0 && (err != nil || grant == nil) {
		return &lookleap.Error{Code: CodeIdentityLost, Subject: e.Claim.Site, Err: errors.Join(errIdentityLost, err)}
	}
	return nil
}

// errIdentityLost is that a site which the user was shown can no longer be
// verified. The action is the server's own, so they may be asked without it.
var errIdentityLost = errors.New("the site that the user was shown can no longer be verified")

// recordOutcome writes down what became of a call that was sent. It can stop
// nothing any more, and is written although the caller may have left.
func (s *Session) recordOutcome(ctx context.Context, e *effect, plan string, err error) {
	ctx = context.WithoutCancel(ctx)
	entry := e.entry(plan, EntryOutcome, s.now())
	entry.Code = lookleap.CodeOf(err)
	if err := s.record(ctx, entry); err != nil {
		s.agent.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: lookleap.CodeIO, Subject: plan, Err: err})
	}
}

// Resume commits a call that ended with a *lookleap.PendingError: state is that
// error's State, decision what the user decided about its Request. The page is
// not loaded again; trust is verified afresh. A plan commits once, ever.
func (s *Session) Resume(ctx context.Context, state json.RawMessage, d lookleap.ConsentDecision) (*CallResult, error) {
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
