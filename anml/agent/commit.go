package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/plugin"
)

// commit executes an approved plan once: it verifies trust again, spends the plan,
// decides what may still be disclosed, writes the ledger, and sends the request.
func (s *Session) commit(ctx context.Context, a *lookleap.Approval, e *effect, budget *fetch.Budget) (*CallResult, error) {
	early := s.gate.check(ctx, e.key()) // the action must not be sent yet; a plan that is done says so first
	if early == nil {
		if err := s.trusted(ctx, a, e); err != nil {
			return nil, err
		}
	}
	var checked *effect // with what may still be disclosed
	var result *CallResult
	var refused error // the service answered that it did not do the action
	prepare := func(ctx context.Context, a *lookleap.Approval) (err error) {
		if early != nil {
			return early
		}
		checked, err = s.release(ctx, a, e)
		return err
	}
	// A plan that the service refused is done, too: what became of it is known.
	send := func(ctx context.Context, a *lookleap.Approval) ([]byte, error) {
		var sent bool
		var err error
		result, sent, err = s.submit(ctx, checked, a.Plan(), budget)
		outcome := e.Exchange.entry(a.Plan().ID(), EntryOutcome, s.now())
		outcome.Code = lookleap.CodeOf(err) // written also if the caller has left; no failure can stop the call now
		s.report(ctx, outcome.Plan, lookleap.CodeIO, s.record(context.WithoutCancel(ctx), outcome))
		s.doubts.note(e, a.Plan(), err)
		switch {
		case !sent:
			return nil, lookleap.NothingSent(err)
		case errors.Is(err, lookleap.ErrInDoubt) || result == nil:
			return nil, err
		}
		refused = err
		return json.Marshal(map[string]any{"status": result.Status, "code": lookleap.CodeOf(err)}) // the receipt
	}
	_, err := s.agent.host.CommitApproved(ctx, a, lookleap.Effect{Prepare: prepare, Send: send})
	return result, cmp.Or(err, refused)
}

// trusted verifies the claim of a call again. What a plan must not do any more is recorded.
func (s *Session) trusted(ctx context.Context, a *lookleap.Approval, e *effect) error {
	err := s.confirmTrust(ctx, e)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errIdentityLost): // another plan replaces this one: with both, the action could be done twice
		_, used := s.agent.host.Commit(ctx, a, func(context.Context, []byte) ([]byte, error) { return []byte(`{"replaced":true}`), nil })
		return cmp.Or(used, err)
	case ended(ctx, "") == nil:
		return s.recordRefusal(ctx, e.Exchange, a.Plan().ID(), withheld(e.Disclosures, lookleap.CodeOf(err), anml.TrustInsufficient), err)
	}
	return err
}

// release decides what is sent, and writes it to the user's ledger.
func (s *Session) release(ctx context.Context, a *lookleap.Approval, e *effect) (*effect, error) {
	plan, now, checked := a.Plan().ID(), s.now(), *e
	disclosures, err := s.recheck(ctx, e, plan, a.Has, a.Until(), now)
	if err != nil && disclosures == nil {
		return nil, err
	}
	checked.Disclosures = disclosures
	if err == nil {
		err = checked.write()
	}
	if err == nil { // the host's policy is asked a last time
		if err = veto(ctx, s, s.user.Policy.VetoAct, checked.act()); err != nil {
			err = &lookleap.Error{Code: CodePolicyVeto, Subject: e.Send.place(), Message: "the host's policy forbids the action", Err: err}
		}
	}
	if err == nil {
		err = s.gate.take(ctx, e.key())
	}
	if err != nil {
		return nil, s.recordRefusal(ctx, e.Exchange, plan, disclosures, err)
	}
	entries := append(s.entries(e.Exchange, plan, disclosures, now), e.Exchange.entry(plan, EntryAction, now))
	if err := s.record(ctx, entries...); err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodeIO, Subject: e.Send.place(),
			Message: "the ledger could not be written, so nothing was sent", Err: err}
	}
	if e.Send.Reach == atDomain && a.Has(itemOrigin) { // for another domain the user is asked every time
		s.gate.agree(e.key().document, e.Send.origin())
	}
	if a.Has(itemPlain) {
		s.gate.agree("", e.Send.origin())
	}
	return &checked, nil
}

// confirmTrust verifies the claim of a call again (section 13.4).
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
	if e.Send.Response && e.Exchange.Asker == e.Claim.Site {
		needs = append(needs, anmltrust.Knowledge) // the asks are the site's
	}
	for _, section := range needs {
		if err := anmltrust.Confirm(grant, err, section, s.now()); err != nil {
			code := anmltrust.CodeTrustRevoked
			if errors.Is(err, anmltrust.ErrTrustUnverified) {
				code = CodeTrustUnverified
			}
			return &lookleap.Error{Code: code, Subject: e.Claim.Site,
				Message: "the server may no longer act for the site, or that could not be verified", Err: err}
		}
	}
	if err != nil { // the claim was only shown
		return &lookleap.Error{Code: CodeIdentityLost, Subject: e.Claim.Site, Err: errors.Join(errIdentityLost, err)}
	}
	return nil
}

// errIdentityLost means that a site which the user was shown can no longer be verified.
// The action is the server's own, so the user may be asked again without the site.
var errIdentityLost = errors.New("the site that the user was shown can no longer be verified")

// Resume commits a call that ended with a *lookleap.PendingError. State is that error's
// State, d the user's decision about its Request. Resume does not load the page again,
// and verifies trust again. A plan commits at most once.
func (s *Session) Resume(ctx context.Context, state json.RawMessage, d lookleap.ConsentDecision) (*CallResult, error) {
	ctx, done, err := s.during(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	var e *effect
	plan, approval, err := s.decided(ctx, state, d, func(plan *lookleap.Plan) (_ string, err error) {
		if plan.Request().Kind != lookleap.ConsentAct {
			return "", badState("it is not a plan of this package")
		}
		if e, err = parseEffect(plan.Effect()); err != nil {
			return "", err
		}
		return e.User, nil
	})
	switch {
	case lookleap.CodeOf(err) == lookleap.CodeConsentRefused:
		return nil, s.recordUndecided(ctx, plan, e, err)
	case err != nil:
		return nil, err // the decision is invalid; a valid one may follow
	case e.Send.Reach != atOrigin && s.agent.options.SameOriginOnly:
		return nil, &lookleap.Error{Code: CodeEndpointForeign, Subject: e.Send.place(),
			Message: "only actions at the document's own origin are executed"}
	}
	return s.complete(ctx, approval, e, fetch.NewBudget(s.agent.options.Limits.Requests))
}

// run asks about a prepared call and completes it.
func (s *Session) run(ctx context.Context, in *preparedCall, budget *fetch.Budget) (*CallResult, error) {
	approval, err := s.ask(ctx, in)
	if err != nil {
		return nil, err
	}
	return s.complete(ctx, approval, in.effect, budget)
}

// complete commits an approved call. If only the site that the user was shown can no longer be
// verified, the user is asked again without the site (R87).
func (s *Session) complete(ctx context.Context, a *lookleap.Approval, e *effect, budget *fetch.Budget) (*CallResult, error) {
	result, err := s.commit(ctx, a, e, budget)
	if errors.Is(err, errIdentityLost) {
		return s.run(ctx, without(a.Plan().Request(), e), budget)
	}
	return result, err
}

// ask makes the plan of a prepared call and returns its approval, by the user or, if there is
// nothing to ask, by their policy.
func (s *Session) ask(ctx context.Context, in *preparedCall) (*lookleap.Approval, error) {
	host := s.agent.host
	bytes, err := json.Marshal(in.effect)
	if err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodeInternal, Subject: in.effect.Send.place(), Err: err}
	}
	plan, err := s.again(ctx, in)
	if plan == nil && err == nil {
		plan, err = lookleap.NewPlan(in.request, bytes, host.Time())
	}
	if err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodeOf(err), Subject: in.effect.Send.place(),
			Message: "the call cannot be made a plan", Err: err}
	}
	var approval *lookleap.Approval
	if in.asks {
		// The prompt is withdrawn if the call cannot be sent any more.
		open := func() error { return s.gate.check(ctx, in.effect.key()) }
		approval, err = host.Ask(plugin.WithPromptCheck(s.asUser(ctx), open), plan)
	} else { // nothing needs a question
		all := lookleap.ConsentDecision{Digest: plan.Request().Digest}
		for _, item := range plan.Request().Items {
			all.Approved = append(all.Approved, item.ID)
		}
		approval, err = plan.Approve(all, host.Time())
	}
	if err != nil {
		return nil, s.recordUndecided(ctx, plan, in.effect, err)
	}
	return approval, nil
}

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
	if !errors.Is(err, lookleap.ErrInDoubt) {
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
