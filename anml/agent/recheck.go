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

// recheck applies the user's answers to what a call tells, right before it is sent. It checks again
// what may have changed: refused domains, deleted context and withdrawn consents (sections 14.1 and
// 14.2). Until is the end of the decision; if zero, it is for this call only.
//
// It returns the disclosures, of which those are sent that are not refused. It returns an error if an
// argument may no longer be sent or a store fails: then nothing may be sent. Only in the first case
// it returns the disclosures too.
func (s *Session) recheck(ctx context.Context, e *effect, plan string, approved func(item string) bool,
	until, now time.Time) ([]disclosure, error) {
	if len(e.Disclosures) == 0 {
		return nil, nil
	}
	if err := s.context.refresh(ctx); err != nil {
		return nil, err
	}
	if err := s.consents.refresh(ctx); err != nil {
		return nil, err
	}
	w := s.finalCheck(e.Exchange)
	w.plan, w.approved, w.until, w.now = plan, approved, until, now
	disclosures := slices.Clone(e.Disclosures)
	for i := range disclosures { // before a consent is used up
		if t := &disclosures[i]; t.Kind == disclosePlain {
			if code, reason := w.unsendable(t); code != "" {
				t.refuse(code, reason)
				return disclosures, w.unsent(t)
			}
		}
	}
	for i := range disclosures {
		t := &disclosures[i]
		if t.refused() || t.Kind == disclosePlain {
			continue
		}
		if err := w.item(ctx, t); err != nil {
			return nil, err
		}
		if t.refused() && t.Kind == discloseArg {
			return disclosures[:i+1], w.unsent(t)
		}
	}
	return disclosures, nil
}

// revoked returns why what was checked may not be sent again, or "". The user may have forbidden it
// since, or deleted the context that it depends on.
func (s *Session) revoked(e *effect) lookleap.Code {
	w := s.finalCheck(e.Exchange)
	for _, t := range e.Disclosures {
		if t.refused() {
			continue
		}
		if code, _ := w.unsendable(&t); code != "" {
			return code
		}
	}
	return ""
}

// finalCheck is one run of recheck.
type finalCheck struct {
	s          *Session
	plan       string
	e          exchange
	will       *will
	hosts      []string
	approved   func(item string) bool
	until, now time.Time

	authenticated bool  // again, in this run
	failed        error // of authenticating
}

func (s *Session) finalCheck(e exchange) *finalCheck {
	return &finalCheck{s: s, e: e, will: s.user.Policy.now(), hosts: e.hosts()}
}

// unsent returns the error for an argument that may no longer be sent.
func (w *finalCheck) unsent(t *disclosure) error {
	return &lookleap.Error{Code: t.Code, Subject: w.e.location(), Message: "the argument " + quote(t.Field) + " may not be sent"}
}

// item checks one disclosure. Its checks are in the order of [decisionFor].
func (w *finalCheck) item(ctx context.Context, t *disclosure) error {
	code, reason := w.forbidden(t), anml.UserDenied
	if code == "" && t.Item != "" && !w.approved(t.Item) {
		code = lookleap.CodeConsentRefused
	}
	if code == "" {
		code, reason = w.flows(t)
	}
	if code == "" && t.authentic() && !w.authentic(ctx, t) {
		code, reason = CodeAuthentication, anml.ConstraintViolation
	}
	if code == "" && veto(ctx, w.s, w.s.user.Policy.Veto, t.decision(w.e)) != nil {
		code, reason = CodePolicyVeto, anml.PolicyViolation
	}
	if code == "" && t.Item == "" {
		switch holds, err := w.holds(ctx, t); {
		case err != nil:
			return err
		case !holds:
			code, reason = CodeConsentWithdrawn, anml.UserDenied
		}
	}
	if code != "" {
		t.refuse(code, reason)
		return nil
	}
	if t.Item != "" {
		if err := w.grant(ctx, t); err != nil {
			return err
		}
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

// unsendable returns why a disclosure may not be sent now, whatever the user agreed to. For an argument
// that says nothing about the user, only a rule about its name counts.
func (w *finalCheck) unsendable(t *disclosure) (lookleap.Code, anml.Reason) {
	if t.Kind != disclosePlain || w.will.names(t.Field) {
		if code := w.forbidden(t); code != "" {
			return code, anml.UserDenied
		}
	}
	return w.flows(t)
}

// forbidden returns why the user's policy forbids a disclosure, or "".
func (w *finalCheck) forbidden(t *disclosure) lookleap.Code {
	if rule, _ := w.standing(t); rule.Effect == EffectDeny {
		return rule.code()
	}
	return ""
}

func (w *finalCheck) standing(t *disclosure) (StandingRule, bool) {
	return w.will.standing(w.hosts, t.subject(), t.Also...)
}

// flows checks again where a value comes from, and returns why it may not be sent, or "". It looks
// for context that was deleted since, and for services that told the value since or with more
// confidentiality, which the user was not asked about.
func (w *finalCheck) flows(t *disclosure) (lookleap.Code, anml.Reason) {
	for _, s := range w.s.sources(registrable(w.e.Endpoint), Value{Text: t.Value, Provenance: t.Provenance}) {
		f := flowFrom([]source{s})
		switch {
		case f.verb == VerbRefuse:
			return f.code, f.reason
		case !slices.Contains(t.From, s.serving):
			return CodeCrossService, anml.UserDenied
		case f.verb == VerbDefer && t.Code != CodeConsentHeld:
			return f.code, anml.UserDenied
		}
	}
	return "", ""
}

// authentic reports whether the user was authenticated recently.
func (w *finalCheck) authentic(ctx context.Context, t *disclosure) bool {
	if age := w.now.Sub(t.Shown); age >= 0 && age <= authenticFor {
		return true
	}
	if !w.authenticated {
		w.authenticated = true
		w.failed = w.s.authenticate(ctx, w.e.Asker)
	}
	return w.failed == nil
}

// holds reports whether the basis of a disclosure that needs no question still exists.
func (w *finalCheck) holds(ctx context.Context, t *disclosure) (bool, error) {
	rule, ruled := w.standing(t)
	asks := ruled && rule.Effect == EffectAsk
	if len(t.From) == 0 && slices.ContainsFunc(t.fields(), func(field string) bool { return w.s.consents.sensitive(field) != "" }) {
		return false, nil // it was told for a sensitive purpose meanwhile
	}
	switch t.Code {
	case CodeUserRule:
		return rule.Effect == EffectAllow, nil
	case CodeConsentInferred:
		return w.will.inferred && !asks, nil
	case CodeConsentHeld:
	default:
		return false, nil // no other code allows anything
	}
	prefix := keyConsent
	if len(t.From) > 0 {
		prefix = keyTransfer
	}
	found, err := w.s.consents.find(ctx, prefix, w.e.cover(t), t.Rule)
	switch {
	case found == nil:
		return false, err
	case found.Once: // it is for one transfer, and used up now
		return w.s.consents.useUp(ctx, found)
	}
	return !asks, nil
}

// grant records a new consent, and stores it if the user agreed to more than this call.
func (w *finalCheck) grant(ctx context.Context, t *disclosure) error {
	t.Basis, t.Granted = anml.ConsentExplicit, w.now
	t.Reference = w.plan + "#" + t.Item
	if !t.Lasting || !w.until.After(w.now) || t.Rule.Limited && t.Rule.ValidFor == 0 {
		return nil
	}
	return w.s.consents.remember(ctx, keyConsent, w.e.cover(t).consent(t.Reference, w.now, w.until))
}

// entry returns a ledger entry of the call, without values.
func (e exchange) entry(plan string, kind EntryKind, now time.Time) Entry {
	return Entry{Time: now, Plan: plan, Kind: kind, Serving: e.Serving, Owner: e.Owner, Endpoint: e.Endpoint,
		Document: e.location(), Action: e.Action}
}

// entries returns the ledger's entries for checked disclosures.
func (s *Session) entries(e exchange, plan string, disclosures []disclosure, now time.Time) (list []Entry) {
	for _, t := range disclosures {
		x := e.entry(plan, EntryDisclosed, now)
		x.Field, x.Owner, x.Reason, x.Code = t.subject(), e.Asker, t.Reason, t.Code
		x.Reference, x.Granted = t.Reference, t.Granted
		switch {
		case t.refused():
			x.Kind = EntryRefused
		case t.Kind == disclosePlain:
			continue
		default:
			x.From, x.Basis, x.ValueHash = strings.Join(t.From, " "), t.Basis.String(), s.valueHash(t.subject(), t.Value)
		}
		list = append(list, x)
	}
	return list
}

// recordRefusal records a call that a decision ended before anything was sent: the disclosures that were
// refused, and the action itself, with the code of the error (sections 13.2 and 14.1). It returns
// the error, joined with that of the ledger. Plan is "" if there is none. The entry is written even
// if the caller's context has ended.
func (s *Session) recordRefusal(ctx context.Context, e exchange, plan string, disclosures []disclosure, err error) error {
	now := s.now()
	refused := slices.DeleteFunc(s.entries(e, plan, disclosures, now), func(x Entry) bool { return x.Kind != EntryRefused })
	action := e.entry(plan, EntryRefused, now)
	action.Code, action.Reason = lookleap.CodeOf(err), refusalReason(err)
	return joined(err, s.record(context.WithoutCancel(ctx), append(refused, action)...))
}

// refusalReason returns the reason of a refusal: the user's, or that no one could be asked.
func refusalReason(err error) anml.Reason {
	if lookleap.CodeOf(err) == lookleap.CodeConsentRefused {
		return anml.UserDenied
	}
	return anml.PolicyViolation
}

// recordUndecided handles a plan that is not committed because the user's consent is missing. It records
// that, unless the plan still waits for an answer.
func (s *Session) recordUndecided(ctx context.Context, plan *lookleap.Plan, e *effect, err error) error {
	if !errors.Is(err, lookleap.ErrConsentRefused) {
		return err
	}
	return s.recordRefusal(ctx, e.Exchange, plan.ID(), withheld(e.Disclosures, lookleap.CodeOf(err), refusalReason(err)), err)
}
