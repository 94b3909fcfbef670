package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plugin"
	"github.com/lookleap/lookleap/internal/zero"
)

// UserPolicy is what the user wants, whatever a document says (sections 1.2.2, 4 and 14.1). What it
// denies is refused. What it allows is still asked about where the draft requires the user's
// consent.
//
// The zero value allows nothing without asking. Rules, refused domains and choices can be changed
// from any goroutine at any time. A change applies from the next decision on, also to calls that
// are prepared and not yet sent. Set the functions before first use; they are called from several
// goroutines. A function that takes longer than 30 seconds counts as one that returned an error.
type UserPolicy struct {
	// Classify returns the sensitive category of what is asked for, or "". It adds to the built-in
	// words (section 14.2). On an error or a panic the field counts as sensitive. If nil, only the
	// built-in words are used.
	Classify func(ctx context.Context, s Subject) (category string, err error)
	// Judge reports whether a purpose is believable (section 14.3). An error or a panic refuses the
	// field. If nil, a purpose is vague if it is blank, repeats the name of the field or is one of a
	// few empty words.
	Judge func(ctx context.Context, s Subject) (PurposeVerdict, error)
	// Veto is called last for each decision, and refuses the field with an error or a panic. It can
	// only make a decision stricter. It is called again right before the value is sent, maybe in
	// another process: then Ask and Warnings are missing, and Owner has only its domain. If nil,
	// nothing is refused here.
	Veto func(ctx context.Context, d Decision) error
	// Weigh returns what the host thinks of an action's consequences (section 13.4). On a panic the
	// user is asked. If nil, only the rules count.
	Weigh func(ctx context.Context, a Act) Weight
	// VetoAct is called last for each action, right before it is sent, and stops it with an error
	// or a panic. If nil, nothing is stopped here.
	VetoAct func(ctx context.Context, a Act) error
	// CrossService says when the user is asked before a value may go to another service than the
	// one that may have told it. Set it before first use.
	CrossService CrossService

	mu   sync.Mutex // held by writers
	will atomic.Pointer[will]
}

// StandingRule is one rule of the user. A rule that denies or asks applies to every spelling of its
// field that a person would take for the same name: "E-Mail" is "email". A rule that allows applies
// to exactly its own spelling. A rule that denies every field refuses the domain: see
// [Session.RefuseDomain].
type StandingRule struct {
	Field  string `json:"field"`  // name of a field, or "*" for any
	Domain string `json:"domain"` // who asks, including all names below it, or "*"
	Effect Effect `json:"effect"`
	// Since is when the user made the rule. Services receive it as the time of consent (section
	// 8.7.3). If zero, they receive no time.
	Since time.Time `json:"since,omitzero"`
}

// Effect is what a standing rule does with a field.
type Effect uint8

// The effects. The zero value refuses.
const (
	EffectDeny  Effect = iota
	EffectAsk          // the user is asked each time, which is what happens without any rule
	EffectAllow        // told without asking, where the draft leaves that to the user
)

// CrossService says when the user is asked before a value may go to a service although another
// service may have told it (section 14.1).
type CrossService uint8

const (
	// CrossServiceMatch asks if another service told the value or a part of it, in the same words.
	// A paraphrase is not recognised. It is the zero value.
	CrossServiceMatch CrossService = iota
	// CrossServiceStrict also asks about every argument and answer whose provenance is not stated,
	// once the session has read another service than the one that would receive it. Nothing is
	// compared for that. Defaults of the document and what the user supplied are not asked about.
	CrossServiceStrict
)

// will is one state of a policy. It is immutable.
type will struct {
	rules    []keyedRule
	inferred bool
	training bool
}

// keyedRule is a rule with the key of its field, see [fieldKey].
type keyedRule struct {
	StandingRule
	key string
}

// maxRules is the largest number of rules in a policy.
const maxRules = 10_000

// Set adds rules, or replaces those for the same field and domain. If several rules match, the
// strictest decides: no rule overrides a stricter one. Set returns an error, and changes nothing,
// if a rule is invalid or there are too many rules.
func (p *UserPolicy) Set(rules ...StandingRule) error {
	rules = slices.Clone(rules)
	for i := range rules {
		name, err := ruleDomain(rules[i].Domain)
		if err != nil {
			return err
		}
		if rules[i].Field == "" || rules[i].Effect > EffectAllow {
			return fmt.Errorf("a standing rule needs a field and a known effect, got %s and %d", quote(rules[i].Field), rules[i].Effect)
		}
		if _, err := rules[i].Since.MarshalText(); err != nil {
			return fmt.Errorf("the time of the standing rule about %s cannot be sent to a service: %w", quote(rules[i].Field), err)
		}
		rules[i].Domain = name
	}
	return p.change(func(w *will) error {
		places := make(map[[2]string]int, len(w.rules))
		for i, r := range w.rules {
			places[[2]string{r.Field, r.Domain}] = i
		}
		for _, r := range rules {
			of := [2]string{r.Field, r.Domain}
			i, known := places[of]
			if !known {
				i, w.rules = len(w.rules), append(w.rules, keyedRule{})
				places[of] = i
			}
			w.rules[i] = keyedRule{r, fieldKey(r.Field)}
		}
		if len(w.rules) > maxRules {
			return fmt.Errorf("a policy holds at most %d rules", maxRules)
		}
		return nil
	})
}

// Remove removes the rule for exactly this field and domain.
func (p *UserPolicy) Remove(field, domainName string) error {
	name, err := ruleDomain(domainName)
	if err != nil {
		return err
	}
	return p.without(func(r StandingRule) bool { return r.Field == field && r.Domain == name })
}

// Rules returns the rules, ordered by domain and field.
func (p *UserPolicy) Rules() []StandingRule {
	var all []StandingRule
	for _, r := range p.now().rules {
		all = append(all, r.StandingRule)
	}
	slices.SortFunc(all, func(a, b StandingRule) int {
		return cmp.Or(strings.Compare(a.Domain, b.Domain), strings.Compare(a.Field, b.Field))
	})
	return all
}

// InferConsentFromInitiation sets whether fields with the rule implicit-consent are sent without
// asking in an interaction that the user began. Sensitive fields are always asked about (section
// 16.6). It is off by default.
func (p *UserPolicy) InferConsentFromInitiation(yes bool) {
	_ = p.change(func(w *will) error { w.inferred = yes; return nil })
}

// SetTrainingConsent sets whether content that permits training may be used to train models
// (section 14.4). It is off by default.
func (p *UserPolicy) SetTrainingConsent(yes bool) {
	_ = p.change(func(w *will) error { w.training = yes; return nil })
}

// change replaces the state as a whole, so that decisions need no lock.
func (p *UserPolicy) change(edit func(*will) error) error {
	if p == nil {
		return missing("there is no policy to change", "use a pointer to a zero UserPolicy")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	next := *p.now()
	next.rules = slices.Clone(next.rules)
	if err := edit(&next); err != nil {
		return err
	}
	p.will.Store(&next)
	return nil
}

// now returns the current state.
func (p *UserPolicy) now() *will {
	if p != nil {
		if w := p.will.Load(); w != nil {
			return w
		}
	}
	return &will{}
}

// ruleDomain normalises the domain of a rule. It accepts names of private networks and IP addresses,
// because the user may want to refuse those too.
func ruleDomain(s string) (string, error) {
	if s == "*" {
		return s, nil
	}
	if name, err := hostKey(s); err == nil {
		return name, nil
	}
	return domain.Rules{AllowIP: true, AllowSpecial: true}.ParseHost(strings.TrimSuffix(s, "."))
}

// standing returns the strictest rule about a field, and other fields with it, for all hosts that
// would learn them. One denial is enough, while an allowance needs a rule for every host. It
// returns false if no rule decides; then the user is asked.
func (w *will) standing(hosts []string, field string, also ...string) (strictest StandingRule, ruled bool) {
	complete := true
	for _, field := range append([]string{field}, also...) {
		key := fieldKey(field)
		for _, host := range hosts {
			r, ok := w.rule(field, key, host)
			if ok && (!ruled || r.Effect < strictest.Effect) {
				strictest, ruled = r, true
			}
			complete = complete && ok
		}
	}
	if !ruled || !complete && strictest.Effect == EffectAllow {
		return StandingRule{Effect: EffectAsk}, false
	}
	return strictest, true
}

// rule returns the strictest rule that matches a field at one host. Key is the field's key. A rule
// that allows matches only the exact name.
func (w *will) rule(field, key, host string) (found StandingRule, matched bool) {
	for _, r := range w.rules {
		applies := r.Field == "*" || r.Field == field || r.Effect < EffectAllow && r.key == key
		if applies && (r.Domain == "*" || under(r.Domain, host)) && (!matched || r.Effect < found.Effect) {
			found, matched = r.StandingRule, true
		}
	}
	return found, matched
}

// names reports whether a standing rule names a field, in any spelling.
func (w *will) names(field string) bool {
	key := fieldKey(field)
	return slices.ContainsFunc(w.rules, func(r keyedRule) bool { return r.key == key && r.Field != "*" })
}

// ofPolicy calls a function of the user's policy. Unset is what a nil function says. One that fails has
// said the strictest that it can.
func ofPolicy[X, T any](ctx context.Context, s *Session, f func(context.Context, X) (T, error), about X, unset, strictest T) T {
	if f == nil {
		return unset
	}
	v, err := plugin.Await(ctx, s.agent.plugins.policy, func(ctx context.Context) (T, error) { return f(ctx, about) })
	if err != nil {
		return strictest
	}
	return v
}

func (s *Session) judge(ctx context.Context, x Subject) PurposeVerdict {
	verdict := ofPolicy(ctx, s, s.user.Policy.Judge, x, judgePurpose(x), PurposeImplausible)
	if verdict > PurposeOK {
		return PurposeImplausible
	}
	return verdict
}

func (s *Session) classify(ctx context.Context, x Subject) string {
	return ofPolicy(ctx, s, s.user.Policy.Classify, x, "", "unknown")
}

func (s *Session) weigh(ctx context.Context, a Act) Weight {
	var f func(context.Context, Act) (Weight, error)
	if p := s.user.Policy; p.Weigh != nil {
		f = func(ctx context.Context, a Act) (Weight, error) { return p.Weigh(ctx, a), nil }
	}
	if w := ofPolicy(ctx, s, f, a, WeighedByRule, Consequential); w <= Harmless {
		return w
	}
	return Consequential
}

// veto asks one of the policy's functions that can say no; nil says nothing.
func veto[T any](ctx context.Context, s *Session, f func(context.Context, T) error, about T) error {
	if f == nil {
		return nil
	}
	return plugin.Do(ctx, s.agent.plugins.policy, func(ctx context.Context) error { return f(ctx, about) })
}

// RefuseDomain refuses every ask from a domain and the names below it, whatever a document, a rule
// or an earlier consent says (section 14.1). It takes effect at once, also for calls that are
// prepared and not yet sent. It stays in effect in later sessions with the same [Store], until
// [Session.AllowDomain].
//
// It returns an error if the domain is invalid or the store fails. If the store fails, the refusal
// applies to this session only.
func (s *Session) RefuseDomain(ctx context.Context, domain string) error {
	return s.changeRefusal(ctx, domain, true)
}

// AllowDomain undoes the refusal of exactly this domain. Call it only when the user asks for it. If
// it returns an error, the domain stays refused.
func (s *Session) AllowDomain(ctx context.Context, domain string) error {
	return s.changeRefusal(ctx, domain, false)
}

func (s *Session) changeRefusal(ctx context.Context, domain string, refuse bool) error {
	if err := s.ready(); err != nil {
		return err
	}
	name, err := ruleDomain(domain)
	if err == nil && name == "*" {
		err = missing("a refusal needs a domain", "deny every field with a StandingRule instead")
	}
	if err != nil {
		return err
	}
	set := func() error { return s.user.Policy.Set(StandingRule{Field: "*", Domain: name}) }
	if refuse { // at once
		if err := set(); err != nil {
			return err
		}
	}
	return s.context.refusals(ctx, func(stored map[string]bool) error {
		if refuse {
			if err := put(ctx, s.store, keyRefused+name, s.now().UTC().AppendFormat(nil, time.RFC3339Nano)); err != nil {
				return storeFailed(err)
			}
			stored[name] = true
			return set() // another goroutine may have undone it in the meantime
		}
		if err := s.store.Delete(ctx, keyRefused+name); err != nil {
			return storeFailed(err)
		}
		delete(stored, name)
		return s.user.Policy.accept(name)
	})
}

func (p *UserPolicy) without(which func(StandingRule) bool) error {
	return p.change(func(w *will) error {
		w.rules = slices.DeleteFunc(w.rules, func(r keyedRule) bool { return which(r.StandingRule) })
		return nil
	})
}

// accept undoes the refusal of exactly this domain.
func (p *UserPolicy) accept(name string) error {
	return p.without(func(r StandingRule) bool { return r.refuses() && r.Domain == name })
}

// refuses reports whether a rule refuses a domain as a whole.
func (r StandingRule) refuses() bool { return r.Field == "*" && r.Effect == EffectDeny }

// RefusedDomains returns the domains that the user refuses, in alphabetical order.
func (s *Session) RefusedDomains() (names []string) {
	for _, r := range zero.Or(s).user.Policy.Rules() {
		if r.refuses() {
			names = append(names, r.Domain)
		}
	}
	return names
}

// refusals calls f with the refused domains that the session knows to be in the store, while no other
// call of it changes them or the store. A caller who has left does not wait for its turn.
func (c *Context) refusals(ctx context.Context, f func(stored map[string]bool) error) error {
	leave, err := c.refusing.Wait(ctx, struct{}{})
	if err != nil {
		return err
	}
	defer leave()
	return f(c.refused)
}

// refreshRefused reads the refused domains from the store, and drops those that other sessions have
// undone.
func (c *Context) refreshRefused(ctx context.Context) error {
	return c.refusals(ctx, func(stored map[string]bool) error {
		keys, err := c.session.store.Keys(ctx, keyRefused)
		gone := maps.Clone(stored)
		var rules []StandingRule
		for _, key := range keys {
			name := strings.TrimPrefix(key, keyRefused)
			rules = append(rules, StandingRule{Field: "*", Domain: name})
			stored[name] = true
			delete(gone, name)
		}
		if err == nil {
			err = c.session.user.Policy.Set(rules...)
		}
		if err != nil {
			return storeFailed(err)
		}
		for name := range gone {
			delete(stored, name)
			if err := c.session.user.Policy.accept(name); err != nil {
				return storeFailed(err)
			}
		}
		return nil
	})
}
