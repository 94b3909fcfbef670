package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// authenticFor is how long an authentication is valid. If a plan waits longer for the user's
// consent, the user is authenticated again.
const authenticFor = 5 * time.Minute

// settle applies the user's answers to a disclosure right before it is sent. It checks again what
// may have changed: refused domains, deleted context and withdrawn consents (sections 14.1 and
// 14.2). Until is the end of the decision; if zero, it is for this call only.
//
// It returns what is really sent, and the ledger's entries for it, with refusals. It returns an
// error if an argument may no longer be sent or a store fails: then nothing may be sent. In the
// first case it returns the entries too.
func (s *Session) settle(ctx context.Context, plan string, e exchange, d *disclosure, approved func(item string) bool,
	until, now time.Time) (*disclosure, []Entry, error) {
	if len(d.Tells) == 0 && len(d.Plain) == 0 {
		return d, nil, nil
	}
	if err := s.context.refresh(ctx); err != nil {
		return nil, nil, err
	}
	if err := s.consents.refresh(ctx); err != nil {
		return nil, nil, err
	}
	w := &settling{s: s, plan: plan, e: e, asker: d.Asker, will: s.user.Policy.now(), hosts: e.hosts(d.Asker),
		approved: approved, until: until, now: now}
	for _, a := range d.Plain {
		t := a.tell()
		if code, reason := w.unplain(t); code != "" {
			t.refuse(code, reason)
			return nil, []Entry{w.entry(t)}, w.unsent(a.Name, code)
		}
	}
	out := &disclosure{Asker: d.Asker}
	var entries []Entry
	for _, t := range d.Tells {
		if err := w.settle(ctx, &t); err != nil {
			return nil, nil, err
		}
		entries = append(entries, w.entry(&t))
		if t.refused() && t.Kind == tellArg {
			return nil, entries, w.unsent(t.Field, t.Code)
		}
		if t.refused() && t.Kind != tellAnswer {
			continue // the service did not ask for it, so the refusal is not sent
		}
		out.Tells = append(out.Tells, t)
	}
	return out, entries, nil
}

// revoked returns why a settled disclosure may not be sent again, or "". The user may have
// forbidden it since, or deleted the context that it depends on.
func (s *Session) revoked(e exchange, d *disclosure) lookleap.Code {
	if d == nil {
		return ""
	}
	w := &settling{s: s, e: e, asker: d.Asker, will: s.user.Policy.now(), hosts: e.hosts(d.Asker)}
	for _, a := range d.Plain {
		if code, _ := w.unplain(a.tell()); code != "" {
			return code
		}
	}
	for _, t := range d.Tells {
		if t.refused() {
			continue
		}
		if code, _, _ := w.forbidden(&t); code != "" {
			return code
		}
		if code, _ := w.flows(&t); code != "" {
			return code
		}
	}
	return ""
}

// location returns the document's URL without its query.
func (e exchange) location() string {
	document, _, _ := strings.Cut(e.Document, "?")
	return document
}

// settling is one run of settle.
type settling struct {
	s          *Session
	plan       string
	e          exchange
	asker      string
	will       *will
	hosts      []string
	approved   func(item string) bool
	until, now time.Time

	authenticated bool  // again, in this run
	failed        error // of authenticating
}

// unsent returns the error for an argument that may no longer be sent.
func (w *settling) unsent(arg string, why lookleap.Code) error {
	return &lookleap.Error{Code: why, Subject: w.e.location(), Message: "the argument " + quote(arg) + " may not be sent"}
}

// settle settles one tell. Its checks are in the order of [weigh].
func (w *settling) settle(ctx context.Context, t *tell) error {
	if t.refused() {
		return nil
	}
	code, rule, ruled := w.forbidden(t)
	if code == "" && t.Item != "" && !w.approved(t.Item) {
		code = lookleap.CodeConsentRefused
	}
	if code != "" {
		t.refuse(code, anml.UserDenied)
		return nil
	}
	if code, reason := w.flows(t); code != "" {
		t.refuse(code, reason)
		return nil
	}
	if t.authentic() && !w.authentic(ctx, t) {
		t.refuse(CodeAuthentication, anml.ConstraintViolation)
		return nil
	}
	if w.s.user.Policy.veto(ctx, w.s.agent.plugins.policy, t.decision(w.e, w.asker)) != nil {
		t.refuse(CodePolicyVeto, anml.PolicyViolation)
		return nil
	}
	if t.Item == "" {
		holds, err := w.holds(ctx, t, rule, ruled)
		if err != nil {
			return err
		}
		if !holds {
			t.refuse(CodeConsentWithdrawn, anml.UserDenied)
			return nil
		}
	} else if err := w.grant(ctx, t); err != nil {
		return err
	}
	if t.Provenance == "" && len(w.s.sources("", Value{Text: t.Value})) == 0 {
		w.s.context.Supplied(t.Value) // no service told it yet, so one that quotes it from now on is not where it is from
	}
	if t.Category == "" {
		return nil
	}
	for _, field := range t.fields() {
		if err := w.s.consents.mark(ctx, field, t.Category); err != nil {
			return err
		}
	}
	return nil
}

// forbidden returns why the user's policy forbids a tell, or "", and the standing rule about it.
func (w *settling) forbidden(t *tell) (why lookleap.Code, rule StandingRule, ruled bool) {
	rule, ruled = w.will.standing(w.hosts, t.subject(), t.Also...)
	switch {
	case w.will.refuses(w.hosts):
		why = CodeDomainRefused
	case rule.Effect == EffectDeny:
		why = CodeUserRule
	}
	return why, rule, ruled
}

// unplain returns why an argument that needed no consent may not be sent now: the user made a rule
// about its name since, or a service told its value.
func (w *settling) unplain(t *tell) (lookleap.Code, anml.Reason) {
	if w.will.names(t.Field) {
		if code, _, _ := w.forbidden(t); code != "" {
			return code, anml.UserDenied
		}
	}
	return w.flows(t)
}

// flows checks again where a value comes from, and returns why it may not be sent, or "". It looks
// for context that was deleted since, and for services that told the value since or with more
// confidentiality, which the user was not asked about.
func (w *settling) flows(t *tell) (lookleap.Code, anml.Reason) {
	for _, s := range w.s.sources(w.e.recipient(), Value{Text: t.Value, Provenance: t.Provenance}) {
		f := flowFrom([]source{s})
		asked := slices.Contains(t.From, s.serving)
		switch {
		case f.verb == VerbRefuse:
			return f.code, f.reason
		case !asked:
			return CodeCrossService, anml.UserDenied
		case f.verb == VerbDefer && t.Code != CodeConsentHeld:
			return f.code, anml.UserDenied
		}
	}
	return "", ""
}

// authentic reports whether the user was authenticated recently.
func (w *settling) authentic(ctx context.Context, t *tell) bool {
	if age := w.now.Sub(t.Shown); age >= 0 && age <= authenticFor {
		return true
	}
	if !w.authenticated {
		w.authenticated = true
		w.failed = w.s.authenticate(ctx, w.asker)
	}
	return w.failed == nil
}

// holds reports whether the basis of a tell that needs no question still exists.
func (w *settling) holds(ctx context.Context, t *tell, rule StandingRule, ruled bool) (bool, error) {
	asks := ruled && rule.Effect == EffectAsk
	if len(t.From) == 0 && slices.ContainsFunc(t.fields(), w.s.consents.isSensitive) {
		return false, nil // it was told for a sensitive purpose meanwhile
	}
	switch t.Code {
	case CodeUserRule:
		return rule.Effect == EffectAllow, nil
	case CodeConsentInferred:
		return w.will.inferred && !asks, nil
	case CodeConsentHeld:
		return w.held(ctx, t, asks)
	}
	return false, nil // no other code allows anything
}

// held reports whether an earlier consent still exists, and uses it up if it was for one transfer.
func (w *settling) held(ctx context.Context, t *tell, asks bool) (bool, error) {
	prefix := keyConsent
	if len(t.From) > 0 {
		prefix = keyTransfer
	}
	found, err := w.s.consents.find(ctx, prefix, w.e.cover(w.asker, t), t.Rule)
	if found == nil {
		return false, err
	}
	if found.Once {
		return w.s.consents.spend(ctx, found, w.now)
	}
	return !asks, nil
}

// grant records a new consent, and stores it if the user agreed to more than this call.
func (w *settling) grant(ctx context.Context, t *tell) error {
	t.Basis, t.Granted = anml.ConsentExplicit, w.now
	t.Reference = w.plan + "#" + t.Item
	if !t.Lasting || !w.until.After(w.now) || t.Rule.Limited && t.Rule.ValidFor == 0 {
		return nil
	}
	is := w.e.cover(w.asker, t)
	return w.s.consents.remember(ctx, keyConsent, is.consent(t.Reference, w.now, w.until))
}

// entry returns the ledger's entry for a settled tell.
func (w *settling) entry(t *tell) Entry {
	x := Entry{
		Time: w.now, Plan: w.plan, Kind: EntryDisclosed, Field: t.subject(), Serving: w.e.Serving, Owner: w.asker,
		Endpoint: w.e.Endpoint, Document: w.e.location(), Action: w.e.Action, Reason: t.Reason, Code: t.Code,
		Reference: t.Reference, Granted: t.Granted, From: strings.Join(t.From, " "),
	}
	if t.refused() {
		x.Kind, x.From = EntryRefused, ""
		return x
	}
	x.Basis = t.Basis.String()
	x.ValueHash = w.s.valueHash(t.subject(), t.Value)
	return x
}

// turnDown records a call that a decision ended before anything was sent: what was refused, and the
// action itself, with the code of the error (sections 13.2 and 14.1). It returns the error, joined
// with that of the ledger. Plan is "" if there is none. The entry is written even if the caller's
// context has ended.
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

// refusals returns the entries of what a disclosure refuses, before it is settled.
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

// withheld returns a copy of a disclosure in which everything is refused for one reason. Earlier
// refusals keep their own.
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

// undecided handles a plan that is not committed because the user's consent is missing. It records
// that, unless the plan still waits for an answer.
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
