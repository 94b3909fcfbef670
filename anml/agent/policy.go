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

// UserPolicy is what the user wants, whatever any document says (sections 1.2.2, 4
// and 14.1). It ranks above every document: what it denies is refused, and what
// it allows is still asked about where the draft demands the user's own word.
//
// The zero Policy allows nothing without asking. Rules, refused domains and
// choices may be changed from any goroutine at any time; a change holds from the
// next decision on, also for calls that are prepared and not yet sent. The
// functions are fixed before first use, and are called from several goroutines. One
// that does not return within 30 seconds counts as one that returned an error.
type UserPolicy struct {
	// Classify names the sensitive category of what is asked, "" for none; it adds
	// to the built-in words (section 14.2). Nil: those alone. An error or a panic
	// means that it is sensitive.
	Classify func(ctx context.Context, s Subject) (category string, err error)
	// Judge says whether a purpose is believable (section 14.3); nil:
	// [JudgePurpose]. An error or a panic refuses the field.
	Judge func(ctx context.Context, s Subject) (PurposeVerdict, error)
	// Veto looks at each decision last, and refuses the field by an error or a
	// panic. It can only make a decision stricter. It looks again right before the
	// value is sent, maybe in another process: Ask and Warnings are absent then, and
	// of Owner only the domain is known. Nil: no objection.
	Veto func(ctx context.Context, d Decision) error
	// Weigh says what the host thinks of an action's consequences (section 13.4);
	// nil: what the rules say. A panic means that the user is asked.
	Weigh func(ctx context.Context, a Act) Weight
	// VetoAct looks at each action last, right before it is sent, and stops it by
	// an error or a panic. Nil: no objection.
	VetoAct func(ctx context.Context, a Act) error

	mu   sync.Mutex // held by writers
	will atomic.Pointer[will]
}

// StandingRule is one sentence of the user's standing will. One that denies or asks
// holds for every spelling of its field that the user would take for the same:
// "E-Mail" is "email". One that allows holds for exactly its own.
type StandingRule struct {
	Field  string `json:"field"`  // name of a field, or "*" for any
	Domain string `json:"domain"` // who asks, with all names below it, or "*" for anybody
	Effect Effect `json:"effect"`
	// Since is when the user said so. It is told to services as the time of consent
	// (section 8.7.3); zero: they are told none.
	Since time.Time `json:"since,omitzero"`
}

// Effect is what a standing rule does about a field.
type Effect uint8

// The effects. The zero value refuses.
const (
	EffectDeny  Effect = iota
	EffectAsk          // the user is asked each time, which is what happens without any rule
	EffectAllow        // told without asking, where the draft leaves that to the user
)

// String gives deny, ask or allow.
func (e Effect) String() string { return [...]string{"deny", "ask", "allow"}[min(e, EffectAllow)] }

// will is one state of a policy; it never changes.
type will struct {
	rules    map[ruleKey][]StandingRule // one for each spelling
	refused  map[string]bool
	inferred bool
	training bool
}

// ruleKey is what rules are found by: see [fieldKey].
type ruleKey struct{ field, domain string }

// maxRules bounds the rules and the refused domains of a policy.
const maxRules = 10_000

// Set adds a rule, in place of the one for the same field and domain. Where
// several rules match, the strictest decides: no rule takes back another. An
// error is one of the domain's form, or of too many rules.
func (p *UserPolicy) Set(r StandingRule) error {
	name, err := ruleDomain(r.Domain)
	if err != nil {
		return err
	}
	if r.Field == "" || r.Effect > EffectAllow {
		return fmt.Errorf("anml/agent: a standing rule needs a field and a known effect, got %q and %d", r.Field, r.Effect)
	}
	r.Domain = name
	return p.change(func(w *will) error {
		w.without(r.Field, name)
		key := ruleKey{fieldKey(r.Field), name}
		w.rules[key] = append(w.rules[key], r)
		return tooMany(len(w.all()))
	})
}

// Remove takes back the rule for exactly this field and domain.
func (p *UserPolicy) Remove(field, domainName string) error {
	name, err := ruleDomain(domainName)
	if err != nil {
		return err
	}
	return p.change(func(w *will) error { w.without(field, name); return nil })
}

// without takes the rule for exactly this field and domain out of a will that is
// being made. Lists of rules are never changed: other states hold them too.
func (w *will) without(field, name string) {
	key := ruleKey{fieldKey(field), name}
	rest := slices.DeleteFunc(slices.Clone(w.rules[key]), func(r StandingRule) bool { return r.Field == field })
	if delete(w.rules, key); len(rest) > 0 {
		w.rules[key] = slices.Clip(rest)
	}
}

// all lists the rules, in any order.
func (w *will) all() []StandingRule {
	list := make([]StandingRule, 0, len(w.rules))
	for _, rules := range w.rules {
		list = append(list, rules...)
	}
	return list
}

// Rules lists the rules, by domain and field.
func (p *UserPolicy) Rules() []StandingRule {
	all := p.now().all()
	slices.SortFunc(all, func(a, b StandingRule) int {
		return cmp.Or(strings.Compare(a.Domain, b.Domain), strings.Compare(a.Field, b.Field))
	})
	return all
}

// RefuseDomain refuses every ask from a domain and from all names below it, from
// now on and whatever a document, a rule or an earlier consent says (section
// 14.1). [Session.RefuseDomain] makes it last.
func (p *UserPolicy) RefuseDomain(domainName string) error {
	name, err := policyHost(domainName)
	if err != nil {
		return err
	}
	return p.change(func(w *will) error { w.refused[name] = true; return tooMany(len(w.refused)) })
}

// AcceptDomain takes back a refusal of exactly this domain. Only the user may
// want that.
func (p *UserPolicy) AcceptDomain(domainName string) error {
	name, err := policyHost(domainName)
	if err != nil {
		return err
	}
	return p.change(func(w *will) error { delete(w.refused, name); return nil })
}

// RefusedDomains lists the refused domains in alphabetical order.
func (p *UserPolicy) RefusedDomains() []string { return slices.Sorted(maps.Keys(p.now().refused)) }

// InferConsentFromInitiation lets fields whose rule is implicit-consent be told
// without asking in an interaction that the user began, unless they are
// sensitive (section 16.6). It is off by default.
func (p *UserPolicy) InferConsentFromInitiation(yes bool) {
	_ = p.change(func(w *will) error { w.inferred = yes; return nil })
}

// SetTrainingConsent says whether the user agrees that content which permits it
// trains models (section 14.4). It is off by default.
func (p *UserPolicy) SetTrainingConsent(yes bool) {
	_ = p.change(func(w *will) error { w.training = yes; return nil })
}

// TrainingConsent reports whether the user agreed to training.
func (p *UserPolicy) TrainingConsent() bool { return p.now().training }

func tooMany(n int) error {
	if n > maxRules {
		return fmt.Errorf("anml/agent: a policy holds at most %d rules and as many domains", maxRules)
	}
	return nil
}

// change replaces the state as a whole, so that deciding needs no lock.
func (p *UserPolicy) change(edit func(*will) error) error {
	if p == nil {
		return missing("there is no policy to change", "use a pointer to a zero Policy")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	next := *p.now()
	next.rules, next.refused = maps.Clone(next.rules), maps.Clone(next.refused)
	if next.rules == nil {
		next.rules, next.refused = make(map[ruleKey][]StandingRule), make(map[string]bool)
	}
	if err := edit(&next); err != nil {
		return err
	}
	p.will.Store(&next)
	return nil
}

// now is the state in force.
func (p *UserPolicy) now() *will {
	if p == nil {
		return &will{}
	}
	if w := p.will.Load(); w != nil {
		return w
	}
	return &will{}
}

// ruleDomain normalises the domain of a rule.
func ruleDomain(s string) (string, error) {
	if s == "*" {
		return s, nil
	}
	return policyHost(s)
}

// policyHost normalises a domain of the user's will: also names of private
// networks and addresses, which the user may want to keep anything from.
func policyHost(s string) (string, error) {
	if name, err := hostKey(s); err == nil {
		return name, nil
	}
	return domain.Rules{AllowIP: true, AllowSpecial: true}.ParseHost(strings.TrimSuffix(s, "."))
}

// refuses reports whether one of the hosts is a refused domain or lies below one.
func (w *will) refuses(hosts []string) bool {
	if len(w.refused) == 0 {
		return false
	}
	for _, host := range hosts {
		for name := host; name != ""; name = parent(name) {
			if w.refused[name] {
				return true
			}
		}
	}
	return false
}

// standing is the user's will about telling a field, and others with it, to all of
// the hosts that would learn them: one that is forbidden is enough, while all
// have to be allowed. The rule is the strictest that matched; false when none did,
// which is to ask.
func (w *will) standing(hosts []string, field string, also ...string) (strictest StandingRule, ruled bool) {
	if len(w.rules) == 0 {
		return StandingRule{Effect: EffectAsk}, false
	}
	complete := len(hosts) > 0
	match := func(field string) {
		key := fieldKey(field)
		for _, host := range hosts {
			r, ok := w.rule(field, key, host)
			if ok && (!ruled || r.Effect < strictest.Effect) {
				strictest, ruled = r, true
			}
			complete = complete && ok
		}
	}
	match(field)
	for _, other := range also {
		match(other)
	}
	if !ruled || !complete && strictest.Effect == EffectAllow {
		return StandingRule{Effect: EffectAsk}, false
	}
	return strictest, true
}

// rule is the strictest of the rules that match a field, whose key is given too, at
// one host. What permits matches the very name alone.
func (w *will) rule(field, key, host string) (found StandingRule, matched bool) {
	try := func(name string) {
		for _, k := range [2]string{key, "*"} {
			for _, r := range w.rules[ruleKey{k, name}] {
				applies := r.Effect < EffectAllow || r.Field == field || r.Field == "*"
				if applies && (!matched || r.Effect < found.Effect) {
					found, matched = r, true
				}
			}
		}
	}
	try("*")
	for name := host; name != ""; name = parent(name) {
		try(name)
	}
	return found, matched
}

// fields lists the fields that standing rules name.
func (w *will) fields() (names []string) {
	for _, r := range w.all() {
		if r.Field != "*" {
			names = append(names, r.Field)
		}
	}
	return names
}

// names reports whether a standing rule names a field, in whichever spelling.
func (w *will) names(field string) bool {
	key := fieldKey(field)
	for at := range w.rules {
		if at.field == key && key != "*" {
			return true
		}
	}
	return false
}

// parent is the name above a host, "" at the top.
func parent(host string) string {
	_, rest, _ := strings.Cut(host, ".")
	return rest
}

// judge, classify and veto ask the host's functions; one that fails has said the
// strictest that it can.

func (p *UserPolicy) judge(ctx context.Context, b *plugin.Bound, s Subject) PurposeVerdict {
	f := p.Judge
	if f == nil {
		f, b = JudgePurpose, nil
	}
	verdict, err := plugin.Await(ctx, b, func(ctx context.Context) (PurposeVerdict, error) { return f(ctx, s) })
	if err != nil || verdict > PurposeOK {
		return PurposeImplausible
	}
	return verdict
}

func (p *UserPolicy) classify(ctx context.Context, b *plugin.Bound, s Subject) string {
	if p.Classify == nil {
		return ""
	}
	category, err := plugin.Await(ctx, b, func(ctx context.Context) (string, error) { return p.Classify(ctx, s) })
	if err != nil {
		return "unknown"
	}
	return category
}

func (p *UserPolicy) veto(ctx context.Context, b *plugin.Bound, d Decision) error {
	if p.Veto == nil {
		return nil
	}
	return do(ctx, b, func(ctx context.Context) error { return p.Veto(ctx, d) })
}

// RefuseDomain refuses every ask from a domain and the names below it, as the
// user directs, whatever a document, a rule or an earlier consent says (section
// 14.1). It holds at once, also for calls that are prepared and not yet sent, and
// in later sessions with the same [Store], until [Session.AllowDomain]. The error
// is one of the domain's form or of the store; it holds for this session even if
// the store fails.
func (s *Session) RefuseDomain(ctx context.Context, domain string) error {
	if err := s.ready(); err != nil {
		return err
	}
	name, err := policyHost(domain)
	if err != nil {
		return err
	}
	if err := s.user.Policy.RefuseDomain(name); err != nil {
		return err
	}
	now, err := s.now().UTC().MarshalText()
	if err == nil {
		err = s.store().Put(ctx, keyRefused+name, now)
	}
	if err != nil {
		return contextFailed(err)
	}
	return s.context.knowRefused(name)
}

// AllowDomain takes back the refusal of exactly this domain. Only the user may
// want that. With an error the domain stays refused.
func (s *Session) AllowDomain(ctx context.Context, domain string) error {
	if err := s.ready(); err != nil {
		return err
	}
	name, err := policyHost(domain)
	if err != nil {
		return err
	}
	if err := s.store().Delete(ctx, keyRefused+name); err != nil {
		return contextFailed(err)
	}
	s.context.knowAllowed(name)
	return s.user.Policy.AcceptDomain(name)
}

// RefusedDomains lists the domains that the user refuses, in alphabetical order.
func (s *Session) RefusedDomains() []string { return zero.Or(s).user.Policy.RefusedDomains() }

// refusals are the domains that the store says are refused, each with the turn at
// which the session got to know it.
type refusals struct {
	known map[string]int
	turn  int
}

func (r *refusals) know(name string) {
	r.turn++
	r.known[name] = r.turn
}

// knowRefused takes note of a refusal that is in the store now. The policy is told
// again, since somebody may have taken back an earlier refusal meanwhile.
func (c *Context) knowRefused(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused.know(name)
	return c.session.user.Policy.RefuseDomain(name)
}

func (c *Context) knowAllowed(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.refused.known, name)
}

// refreshRefused takes up what the store says about refused domains, and what
// other sessions have taken back. A refusal that comes while the store is read is
// not one that was taken back.
func (c *Context) refreshRefused(ctx context.Context) error {
	c.mu.RLock()
	before := maps.Clone(c.refused.known)
	c.mu.RUnlock()
	keys, err := c.session.store().Keys(ctx, keyRefused)
	if err != nil {
		return contextFailed(err)
	}
	policy := c.session.user.Policy
	stored := make(map[string]bool, len(keys))
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		name := strings.TrimPrefix(key, keyRefused)
		stored[name] = true
		if c.refused.known[name] == 0 {
			c.refused.know(name)
		}
		if err := policy.RefuseDomain(name); err != nil {
			return contextFailed(err)
		}
	}
	for name, turn := range before {
		if !c.session.keeps() || stored[name] || c.refused.known[name] != turn {
			continue
		}
		delete(c.refused.known, name)
		if err := policy.AcceptDomain(name); err != nil {
			return contextFailed(err)
		}
	}
	return nil
}
