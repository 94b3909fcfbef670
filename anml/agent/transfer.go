package agent

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/planowner"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Transfer names one value that one service told and that another one would receive.
type Transfer struct {
	Site   string // domain of the asking site; "" in a single-site document
	Action string // id of the action that would send it
	Field  string // the ask's field; or
	Param  string // the parameter whose argument it is; or
	Inform bool   // the agent tells it unasked
	// Value is the value of an argument or inform, or the one that the reply of the call
	// will contain. Nil means the profile's value of the field.
	Value *Value
}

// AuthorizeTransfer asks the user, in a prompt of its own, whether one value that a
// service told may be disclosed to another service (section 14.2). It is needed if a
// decision is [VerbDefer], or if a call ends with the code restricted-context. The
// authorization covers exactly this value, these services, this field, and one
// disclosure. AuthorizeTransfer sends nothing.
//
// If the prompter suspends, it returns a *lookleap.PendingError; see
// [Session.ResumeTransfer].
func (p *Page) AuthorizeTransfer(ctx context.Context, t Transfer) error {
	if err := p.ready(); err != nil {
		return err
	}
	s := p.session
	ctx, done, err := s.during(ctx)
	if err != nil {
		return err
	}
	defer done()
	plan, err := p.planTransfer(ctx, t)
	if err != nil {
		return err
	}
	approval, err := s.agent.host.Ask(s.asUser(ctx), plan)
	if err != nil {
		return s.recordRefusedTransfer(ctx, plan, err)
	}
	return s.commitTransfer(ctx, approval)
}

// recordRefusedTransfer records that the user refused a transfer. A pending question is not
// recorded.
func (s *Session) recordRefusedTransfer(ctx context.Context, plan *lookleap.Plan, err error) error {
	if !errors.Is(err, lookleap.ErrConsentRefused) {
		return err
	}
	effect, _ := parseTransfer(plan) // it was made or parsed as one of a transfer before
	c := effect.Cover
	entry := Entry{
		Time: s.now(), Plan: plan.ID(), Kind: EntryRefused, Field: c.Field, Serving: c.Serving, Owner: c.Owner,
		Endpoint: c.Endpoint, Reason: anml.UserDenied, Code: lookleap.CodeOf(err),
	}
	return joined(err, s.record(context.WithoutCancel(ctx), entry))
}

// joined returns an error joined with another one, which may be nil.
func joined(err, other error) error {
	if other != nil {
		return errors.Join(err, other)
	}
	return err
}

// ResumeTransfer completes an [Page.AuthorizeTransfer] that ended with a
// *lookleap.PendingError. State is that error's State, d the user's decision.
func (s *Session) ResumeTransfer(ctx context.Context, state json.RawMessage, d lookleap.ConsentDecision) error {
	ctx, done, err := s.during(ctx)
	if err != nil {
		return err
	}
	defer done()
	plan, approval, err := s.decided(ctx, state, d, func(plan *lookleap.Plan) (string, error) {
		effect, err := parseTransfer(plan)
		return effect.User, err
	})
	if lookleap.CodeOf(err) == lookleap.CodeConsentRefused {
		return s.recordRefusedTransfer(ctx, plan, err)
	}
	if err != nil {
		return err
	}
	return s.commitTransfer(ctx, approval)
}

// transferType marks the effect of an authorization, to distinguish it from a call.
const transferType = "anml-transfer"

// transferFor is how long an authorization is valid.
const transferFor = time.Hour

// transferEffect is the effect of a plan of AuthorizeTransfer.
type transferEffect struct {
	Type  string `json:"type"`
	Cover cover  `json:"cover"`
	User  string `json:"user,omitempty"` // whose plan it is, see [Session.owns]
}

func (p *Page) planTransfer(ctx context.Context, t Transfer) (*lookleap.Plan, error) {
	s := p.session
	site, ok := p.container(t.Site)
	if !ok {
		return nil, p.refusal(CodeNotAsked, "the document has no such site")
	}
	f := p.decider(site, s.now(), false)
	to := f.route(t.Action)
	if t.Param != "" && lookleap.CodeOf(to.unusable) == CodeNoBodyMethod {
		to.unusable = nil // this is only about answers
	}
	if to.unusable != nil {
		return nil, to.unusable
	}
	act, _ := site.Interact().Action(t.Action) // the route found it
	it, err := p.transferred(ctx, f, &to, site, act, t)
	if err != nil {
		return nil, err
	}
	d := f.decide(ctx, &to, it)
	switch {
	case d.Verb == VerbRefuse:
		what := map[bool]string{true: "the inform", false: "the field " + quote(t.Field)}[t.Inform]
		if t.Param != "" {
			what = "the argument " + quote(t.Param)
		}
		return nil, p.refusal(d.Code, what+" is refused whatever the user says now")
	case len(d.From) == 0:
		return nil, p.refusal(lookleap.CodeUsage, "the value came from no other service")
	case d.granted != nil:
		return nil, p.refusal(lookleap.CodeUsage, "the transfer is authorized already")
	}
	told := &disclosure{Kind: it.kind, Field: it.field, Value: d.value.Text, Purposes: it.purposes, From: d.From, Unsure: d.unsure, Item: "transfer"}
	if t.Param != "" && t.Param != it.field {
		told.Field, told.Means = t.Param, it.field
	}
	effect, err := json.Marshal(transferEffect{transferType, to.cover(told), planowner.Mark(s.owner())})
	if err != nil {
		return nil, err
	}
	question := to.item(told, d.Warnings)
	question.Optional = false
	return lookleap.NewPlan(lookleap.ConsentRequest{
		Kind: lookleap.ConsentDisclose, Origin: p.url.Origin(), Summary: "tell it what another service told, once",
		Items: []lookleap.ConsentItem{question},
	}, effect, s.now())
}

// transferred returns the item that a transfer would disclose.
func (p *Page) transferred(ctx context.Context, f *decider, to *route, site anml.Site, act anml.Action, t Transfer) (item, error) {
	b := &disclosureBuilder{decider: f, to: *to, named: []string{t.Param}}
	switch {
	case (t.Param != "" || t.Inform) && (t.Value == nil || t.Field != "" || t.Param != "" && t.Inform):
		return item{}, p.refusal(lookleap.CodeUsage, "a transfer names one field, argument or inform; arguments and informs need a value")
	case t.Param != "":
		for param := range act.Params() {
			if param.Name() != t.Param {
				continue
			}
			it, personal := b.argument(ctx, act, t.Param, *t.Value)
			if !personal {
				return item{}, p.refusal(lookleap.CodeUsage, "the value came from no other service")
			}
			return it, nil
		}
		return item{}, p.refusal(anml.CodeParamUnknown, "the action has no parameter "+quote(t.Param))
	case t.Inform:
		return item{kind: discloseInform, field: "inform", also: b.otherFields(ctx, "", t.Value.Text), given: t.Value}, nil
	}
	for _, it := range merge(asksByAction(site)[act.ID()]) {
		if it.field != t.Field {
			continue
		}
		it.given = t.Value
		if it.given != nil {
			it.also = b.values(ctx).fieldsIn(ctx, it.field, it.given.Text)
		}
		return it, nil
	}
	return item{}, p.refusal(CodeNotAsked, "the action has no ask for the field "+quote(t.Field))
}

func parseTransfer(plan *lookleap.Plan) (effect transferEffect, err error) {
	if err := strictjson.Decode(plan.Effect(), &effect); err != nil || effect.Type != transferType {
		return effect, &lookleap.Error{Code: lookleap.CodePlanInvalid, Message: "the plan is not about a transfer", Err: err}
	}
	return effect, nil
}

func (s *Session) commitTransfer(ctx context.Context, a *lookleap.Approval) error {
	effect, err := parseTransfer(a.Plan())
	if err != nil {
		return err
	}
	_, err = s.agent.host.Commit(ctx, a, func(ctx context.Context, _ []byte) ([]byte, error) {
		now := s.now()
		given := effect.Cover.consent(a.Plan().ID(), now, now.Add(transferFor))
		given.Once = true
		return nil, s.consents.remember(ctx, keyTransfer, given)
	})
	return err
}
