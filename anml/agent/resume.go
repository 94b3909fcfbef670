package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
)

const effectType = "application/vnd.lookleap.anml-call+json;version=1"

// effect is all that a call does, complete by itself: what a plan carries, and
// what another process needs to commit it without the page.
type effect struct {
	Type       string           `json:"type"`
	Exchange   exchange         `json:"exchange"`
	Send       sending          `json:"send"`
	Disclosure *disclosure      `json:"disclosure"`
	Claim      *anmltrust.Claim `json:"claim,omitempty"` // to verify anew; nil: nothing rests on one
	Owned      bool             `json:"owned,omitempty"` // the action is the claimed site's, else the claim was only shown
}

// parseEffect reads the effect of a plan. It was digested and approved as a whole;
// what is checked here is that it is one of ours, and that its parts agree.
func parseEffect(data []byte) (*effect, error) {
	var e effect
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return nil, badState("its effect is no call: " + err.Error())
	}
	if e.Type != effectType {
		return nil, badState("its effect is no " + effectType)
	}
	if e.Disclosure == nil {
		return nil, badState("it lacks its disclosure")
	}
	u, err := endpointRules.Parse(e.Send.URL)
	if err != nil || u.String() != e.Send.URL {
		return nil, badState("its URL is not one that is sent to")
	}
	document, err := domain.Parse(e.Exchange.Document)
	if err != nil {
		return nil, badState("its document has no https URL")
	}
	site := ""
	if e.Owned {
		site = e.Exchange.Owner
	}
	to, err := resolveEndpoint(document, e.Send.Endpoint, site)
	switch {
	case err != nil || to.url.String() != e.Send.Endpoint || to.reach != e.Send.Reach || to.plain != e.Send.Plain:
		return nil, badState("its endpoint is not one that is sent to")
	case u.Origin() != to.url.Origin() || u.Path() != to.url.Path() || u.Host() != e.Exchange.Endpoint:
		return nil, badState("its URL is not that of its endpoint")
	case !executable(e.Send.Method):
		return nil, badState("its method is not one that is executed")
	case to.plain && (e.Send.Method != http.MethodGet && e.Send.Method != http.MethodHead || e.Disclosure.tells()):
		return nil, badState("nothing of it is sent over plain http")
	case !hasBody(e.Send.Method) && (e.Send.Response || len(e.Send.Body) > 0):
		return nil, badState("its method has no body")
	case e.Send.Format != anml.XML && e.Send.Format != anml.JSON:
		return nil, badState("its serialization is unknown")
	case strings.ContainsAny(e.Send.ContentType, "\r\n\x00"):
		return nil, badState("its media type is malformed")
	}
	return &e, nil
}

func badState(reason string) error {
	return &Error{Code: lookleap.CodePlanInvalid, Reason: reason, Err: lookleap.ErrPlanInvalid}
}

// executable reports whether a method is one of those that actions have.
func executable(method string) bool {
	return hasBody(method) || safeMethod(method) || method == http.MethodDelete
}

// passage is how the gate knows the call.
func (e *effect) passage() passage {
	document := e.Exchange.Document
	if u, err := domain.Parse(document); err == nil {
		document = u.Origin()
	}
	return passage{action: e.Send.key(), origin: e.Send.origin(), document: document}
}

// act is the call as a host's policy judges it.
func (e *effect) act(d *disclosure) Act {
	a := Act{
		Method: e.Send.Method, URL: e.Send.URL, ID: e.Exchange.Action, Description: e.Send.Says,
		Serving: e.Exchange.Serving, Owner: e.Exchange.Owner, Endpoint: e.Exchange.Endpoint, Idempotent: e.Send.Idempotent,
	}
	for _, t := range d.Tells {
		if !t.refused() {
			a.Fields = append(a.Fields, t.Field)
		}
	}
	return a
}

// body is what is sent, once it is settled what may be told. An argument that may
// no longer be has ended the call before: arguments are sent as they were shown.
func (e *effect) body(told *disclosure) (contentType string, body []byte, err error) {
	if !e.Send.Response {
		return e.Send.ContentType, e.Send.Body, nil
	}
	doc, err := told.response(e.Exchange)
	if err == nil && doc == nil {
		return "", nil, &Error{Code: lookleap.CodeConsentRefused, URL: e.Send.Endpoint, Reason: "nothing is left that may be told", Err: anml.ErrEmptyResponse}
	}
	if err == nil {
		body, err = anml.Marshal(doc, e.Send.Format, anml.WriteOptions{Role: anml.RoleAgentResponse})
	}
	if err != nil {
		return "", nil, &Error{Code: codeOf(err), URL: e.Send.Endpoint, Reason: "the response cannot be written", Err: err}
	}
	return e.Send.Format.MediaType(), body, nil
}

func (s *Session) resume(ctx context.Context, state json.RawMessage, d lookleap.ConsentDecision) (*Result, error) {
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
	if e.Send.Reach != atOrigin && s.agent.options.SameOriginOnly {
		return nil, &Error{Code: lookleap.CodeEndpointForeign, URL: e.Send.Endpoint, Reason: "only actions at the document's own origin are executed"}
	}
	approval, err := plan.Approve(d, s.agent.host.Time())
	if err != nil {
		return nil, s.declined(ctx, plan, e, err)
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
func (s *Session) run(ctx context.Context, in *intent, budget *fetch.Budget) (*Result, error) {
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
		return nil, nil, &Error{Code: lookleap.CodeInternal, URL: in.effect.Send.Endpoint, Err: err}
	}
	plan, err := lookleap.NewPlan(in.request(), bytes, host.Time())
	if err != nil {
		return nil, nil, &Error{Code: lookleap.CodeOf(err), URL: in.effect.Send.Endpoint, Reason: "no plan can be made of the call", Err: err}
	}
	var approval *lookleap.Approval
	if in.asks {
		approval, err = host.Ask(ctx, plan)
	} else {
		approval, err = plan.Approve(permitted(plan.Request()), host.Time())
	}
	if err != nil {
		return plan, nil, s.declined(ctx, plan, in.effect, err)
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

// declined records that the user said no. Every other error passes.
func (s *Session) declined(ctx context.Context, plan *lookleap.Plan, e *effect, err error) error {
	if lookleap.CodeOf(err) != lookleap.CodeConsentRefused {
		return err
	}
	entry := e.entry(plan.ID(), EntryRefused, s.agent.host.Time())
	entry.Reason, entry.Code = anml.UserDenied, lookleap.CodeConsentRefused
	return errors.Join(err, s.record(ctx, entry))
}

// commit does what was approved, once: trust is verified anew, and only then is
// the plan spent, what is told settled, written down, and sent.
func (s *Session) commit(ctx context.Context, a *lookleap.Approval, e *effect, budget *fetch.Budget) (*Result, error) {
	host := s.agent.host
	if err := s.gate.check(e.passage(), host.Time()); err != nil {
		return nil, err
	}
	if err := s.confirmTrust(ctx, e); err != nil {
		return nil, err
	}
	var result *Result
	err := host.Commit(ctx, a, func(ctx context.Context, _ []byte) (err error) {
		result, err = s.execute(ctx, a, e, budget)
		return err
	})
	return result, err
}

// execute is the effect of a plan.
func (s *Session) execute(ctx context.Context, a *lookleap.Approval, e *effect, budget *fetch.Budget) (*Result, error) {
	now, plan := s.agent.host.Time(), a.Plan().ID()
	told, entries, err := s.settle(ctx, plan, e.Exchange, e.Disclosure, a.Has, a.Until(), now)
	if err != nil {
		return nil, err
	}
	contentType, body, err := e.body(told)
	if err != nil {
		return nil, err
	}
	if err := s.user.forbids(ctx, e.act(told)); err != nil {
		return nil, &Error{Code: lookleap.CodePolicyVeto, URL: e.Send.Endpoint, Reason: "the host's policy forbids the action", Err: err}
	}
	if err := s.gate.take(e.passage(), now); err != nil {
		return nil, err
	}
	if err := s.record(ctx, append(entries, e.entry(plan, EntryAction, now))...); err != nil {
		return nil, &Error{Code: lookleap.CodeIO, URL: e.Send.Endpoint, Reason: "the ledger could not be written, so nothing was sent", Err: err}
	}
	if e.Send.Reach == atDomain && a.Has(itemOrigin) {
		s.gate.agree(e.passage().document, e.Send.origin())
	}
	if a.Has(itemPlain) {
		s.gate.acknowledge(e.Send.origin())
	}
	result, err := s.submit(ctx, e, plan, contentType, body, budget)
	s.recordOutcome(ctx, e, plan, err)
	return result, err
}

// confirmTrust verifies anew what the call rests on (section 13.4).
func (s *Session) confirmTrust(ctx context.Context, e *effect) error {
	if e.Claim == nil {
		return nil
	}
	grant, err := s.trust.VerifyFresh(ctx, *e.Claim)
	if ended := ended(ctx, e.Send.Endpoint); ended != nil {
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
		if err := anmltrust.Confirm(grant, err, section, s.agent.host.Time()); err != nil {
			code := lookleap.CodeTrustRevoked
			if errors.Is(err, anmltrust.ErrTrustUnverified) {
				code = lookleap.CodeTrustUnverified
			}
			return &Error{Code: code, URL: e.Claim.Site, Reason: "the server may no longer act for the site, or that cannot be found out", Err: err}
		}
	}
	if len(needs) == 0 && (err != nil || grant == nil) {
		return &Error{Code: lookleap.CodeIdentityLost, URL: e.Claim.Site, Err: errors.Join(errIdentityLost, err)}
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
	entry := e.entry(plan, EntryOutcome, s.agent.host.Time())
	entry.Code = codeOf(err)
	if err := s.record(ctx, entry); err != nil {
		s.agent.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: lookleap.CodeIO, Subject: plan, Err: err})
	}
}

// entry is the call in the ledger: no values, no query.
func (e *effect) entry(plan string, kind EntryKind, now time.Time) Entry {
	document, _, _ := strings.Cut(e.Exchange.Document, "?")
	return Entry{
		Time: now, Plan: plan, Kind: kind, Serving: e.Exchange.Serving, Owner: e.Exchange.Owner,
		Endpoint: e.Exchange.Endpoint, Document: document, Action: e.Exchange.Action,
	}
}
