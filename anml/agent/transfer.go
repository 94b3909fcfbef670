package agent

import (
	"context"
	"encoding/json"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// Transfer names one value that a service told and that another one would learn.
type Transfer struct {
	Site   string // domain of the site that asks; "" in a single-site document
	Action string // id of the action that would carry it
	Field  string // the ask's field
	// Value is the host's own, where the reply of the call will give one; nil: the
	// profile's.
	Value *Value
}

// AuthorizeTransfer asks the user, by itself and about nothing else, whether one
// value that a service told may be told to another (section 14.2). It is needed
// where a decision is [VerbDefer]: restricted content is never one item among
// several. The authorization is for exactly this value, these services and this
// field, and for one disclosure. Nothing is sent here.
//
// Where the user has to be waited for, it ends with a *lookleap.PendingError; see
// [Session.ResumeTransfer].
func (p *Page) AuthorizeTransfer(ctx context.Context, t Transfer) error {
	s := p.session
	ctx, done, err := s.life.during(ctx)
	if err != nil {
		return err
	}
	defer done()
	plan, err := p.planTransfer(ctx, t)
	if err != nil {
		return err
	}
	approval, err := s.agent.host.Ask(ctx, plan)
	if err != nil {
		return err
	}
	return s.commitTransfer(ctx, approval)
}

// ResumeTransfer goes on with an AuthorizeTransfer that ended with a
// *lookleap.PendingError.
func (s *Session) ResumeTransfer(ctx context.Context, state json.RawMessage, d lookleap.ConsentDecision) error {
	ctx, done, err := s.life.during(ctx)
	if err != nil {
		return err
	}
	defer done()
	plan, err := lookleap.ParsePlan(state)
	if err != nil {
		return err
	}
	approval, err := plan.Approve(d, s.agent.host.Time())
	if err != nil {
		return err
	}
	return s.commitTransfer(ctx, approval)
}

// transferType marks the effect of an authorization, so that it is never taken
// for a call.
const transferType = "anml-transfer"

// transferFor is how long an authorization waits for its disclosure.
const transferFor = time.Hour

// transferEffect is what a plan of AuthorizeTransfer does.
type transferEffect struct {
	Type  string `json:"type"`
	Cover cover  `json:"cover"`
}

// planTransfer prepares the question.
func (p *Page) planTransfer(ctx context.Context, t Transfer) (*lookleap.Plan, error) {
	site, ok := p.container(t.Site)
	if !ok {
		return nil, p.refusal(lookleap.CodeNotAsked, "the document has no such site")
	}
	f := p.frame(site, p.session.agent.host.Time(), false)
	to := f.route(t.Action)
	if to.unusable != nil {
		return nil, to.unusable
	}
	act, err := site.Interact().Action(t.Action)
	if err != nil {
		return nil, p.refusal(anml.CodeDangling, "the site has no such action")
	}
	for _, it := range merge(asksFor(site, act)) {
		if it.field != t.Field {
			continue
		}
		it.given = t.Value
		d := f.decide(ctx, &to, it)
		switch {
		case d.Verb == VerbRefuse:
			return nil, p.refusal(d.Code, "the field "+quote(t.Field)+" is refused whatever the user says now")
		case len(d.From) == 0:
			return nil, p.refusal(lookleap.CodeUsage, "the value came from no other service")
		case d.granted != nil:
			return nil, p.refusal(lookleap.CodeUsage, "the transfer is authorized already")
		}
		return p.ask(to.exchange, f.asker.Domain, it, d)
	}
	return nil, p.refusal(lookleap.CodeNotAsked, "the action has no ask for the field "+quote(t.Field))
}

// ask makes the plan of one transfer.
func (p *Page) ask(e exchange, asker string, it item, d Decision) (*lookleap.Plan, error) {
	told := &tell{Kind: it.kind, Field: it.field, Value: d.value.Text, Purposes: it.purposes, From: d.From, Item: "transfer"}
	effect, err := json.Marshal(transferEffect{transferType, e.cover(asker, told)})
	if err != nil {
		return nil, err
	}
	question := e.item(asker, told, d.Warnings)
	question.Optional = false
	return lookleap.NewPlan(lookleap.ConsentRequest{
		Kind: lookleap.ConsentDisclose, Origin: p.url.Origin(), Summary: "let one service learn what another one told, once",
		Items: []lookleap.ConsentItem{question},
	}, effect, p.session.agent.host.Time())
}

// commitTransfer records an authorization.
func (s *Session) commitTransfer(ctx context.Context, a *lookleap.Approval) error {
	var effect transferEffect
	if err := json.Unmarshal(a.Plan().Effect(), &effect); err != nil || effect.Type != transferType {
		return &Error{Code: lookleap.CodePlanInvalid, Reason: "the plan authorizes no transfer", Err: err}
	}
	return s.agent.host.Commit(ctx, a, func(ctx context.Context, _ []byte) error {
		now := s.agent.host.Time()
		given := effect.Cover.consent(a.Plan().ID(), now, now.Add(transferFor))
		given.Once = true
		return s.consents.remember(ctx, keyTransfer, given)
	})
}
