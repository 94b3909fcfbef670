// Package policy reads the policy of an organisation: one file that says what its agents may do
// with skills, agents.txt, ANML, AI endpoints, tools and the user's data.
//
//	rules, err := policy.Load("/etc/example/agents.json")
//	if err != nil {
//		log.Print(err) // rules allows nothing, and every refusal says why
//	}
//	loader := dvs.NewLoader(host, rules.Skills(dvs.Options{}))
//
// Each method that takes options returns options that are at least as strict: a policy never
// loosens what a program chose, and several policies can be applied one after the other. A policy
// that cannot be read allows nothing. docs/schemas/policy.json is the JSON Schema of the file.
package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/dvs"
)

// MediaType is the type of a policy file, the value of its member "type".
const MediaType = "application/vnd.lookleap.policy+json;version=1"

// Policy is the policy of an organisation, with those that it extends. [Load] and [Parse] return
// it. The zero Policy and nil allow nothing. It is safe for concurrent use.
type Policy struct {
	name  string
	parts []part // this file and those that it extends; each has to permit what is done
	bad   error  // why nothing is allowed
}

// part is what one file says.
type part struct {
	name      string
	extends   []string
	skills    dvs.Policy
	feeds     []Feed
	agentsTxt agentsTxtPart
	anmlTrust anmlTrustPart
	aiuri     aiuriPart
	agent     agentPart
	tools     toolsPart
}

type agentsTxtPart struct {
	restrictForeign bool   // files of other formats restrict the origin
	robotsToken     string // robots.txt is obeyed under this name
	refuseHTTP      bool
}

type anmlTrustPart struct {
	requireSecure bool
	minTier       anmltrust.Tier
}

type aiuriPart struct {
	requireBinding bool     // a result has to prove which call it answers
	authorities    []string // that may be called; nil: the program's
	credentials    []string // authorities that may get credentials; nil: the program's
}

type agentPart struct{ neverTell []string }

// toolsPart has patterns of names of tools, as of gate.Match.
type toolsPart struct {
	allow  []string // that may run at all; nil: all
	refuse []string // that never run
	ask    []string // that a person decides about, whatever the program's rules say
}

// Feed is a revocation feed that a policy names.
type Feed struct {
	URL   string
	Keys  []byte        // a JWK Set: the feed has to be signed with one of the keys; nil: TLS alone
	Stale time.Duration // how long an old copy is used if the feed is unreachable; 0: not at all
}

// options returns the feed for a loader.
func (f Feed) options() dvs.FeedOptions {
	o := dvs.FeedOptions{URL: f.URL, Stale: f.Stale}
	if f.Keys != nil {
		o.Verify = f.Verify
	}
	return o
}

// Verify returns the payload of a feed that is signed with one of the keys of the policy. It
// returns an error if the key was withdrawn. A signature does not expire: the loader recognises an
// old feed by its sequence number.
func (f Feed) Verify(data []byte, withdrawn func(kid string) bool) ([]byte, error) {
	keys, err := aiuri.ParseKeySet(f.Keys)
	if err != nil {
		return nil, err
	}
	result, err := aiuri.VerifyResult(aiuri.SignedResult{JWS: strings.TrimSpace(string(data))}, keys, time.Now(), aiuri.Expectation{})
	if err != nil {
		return nil, err
	}
	if withdrawn(result.KeyID) {
		return nil, &lookleap.Error{Code: dvs.CodeWithdrawn, Subject: result.KeyID,
			Message: "the feed is signed with a key that was withdrawn", Fix: "sign it with another key of the policy"}
	}
	return result.Payload, nil
}

// Name returns the name of the policy: that in the file, or the file's.
func (p *Policy) Name() string {
	if p == nil {
		return ""
	}
	return p.name
}

// Err returns why the policy allows nothing, or nil.
func (p *Policy) Err() error {
	switch {
	case p == nil || len(p.parts) == 0 && p.bad == nil:
		return &lookleap.Error{Code: dvs.CodePolicyUnreadable, Message: "there is no policy, so nothing is allowed",
			Fix: "read it with Load"}
	case p.bad != nil:
		return p.bad
	}
	return nil
}

// Skills returns options for skills that are at least as strict as o.
func (p *Policy) Skills(o dvs.Options) dvs.Options {
	o.Policies = slices.Clone(o.Policies)
	if err := p.Err(); err != nil {
		o.Policies = append(o.Policies, dvs.UnreadablePolicy(p.Name(), err))
		return o
	}
	o.Feeds = slices.Clone(o.Feeds)
	for i := range p.parts {
		skills := p.parts[i].skills
		o.Policies = append(o.Policies, &skills)
		for _, f := range p.parts[i].feeds {
			o.Feeds = append(o.Feeds, f.options())
		}
	}
	return o
}

// Feeds returns the revocation feeds that the policy names.
func (p *Policy) Feeds() (all []Feed) {
	if p.Err() != nil {
		return nil
	}
	for i := range p.parts {
		all = append(all, p.parts[i].feeds...)
	}
	return all
}

// AgentsTxt returns options for agents.txt that are at least as strict as o.
func (p *Policy) AgentsTxt(o agentstxt.Options) agentstxt.Options {
	if p.Err() != nil {
		return agentstxt.Options{Strict: true, RefuseHTTP: true, Unlisted: agentstxt.UnlistedDeny, DenyUnknownParams: true}
	}
	for i := range p.parts {
		say := p.parts[i].agentsTxt
		if say.restrictForeign {
			o.Foreign = agentstxt.ForeignRestrict
		}
		if say.robotsToken != "" {
			o.Robots.Tokens = append(slices.Clone(o.Robots.Tokens), say.robotsToken) // the stricter of all counts
		}
		o.RefuseHTTP = o.RefuseHTTP || say.refuseHTTP
	}
	return o
}

// Trust returns rules for the verification of ANML servers that are at least as strict as o.
func (p *Policy) Trust(o anmltrust.Rules) anmltrust.Rules {
	if p.Err() != nil {
		o.RequireDNSSECForQuery, o.MinTier = true, anmltrust.Self
		return o
	}
	for i := range p.parts {
		say := p.parts[i].anmlTrust
		o.RequireDNSSECForQuery = o.RequireDNSSECForQuery || say.requireSecure
		o.MinTier = max(o.MinTier, say.minTier)
	}
	return o
}

// Endpoints returns options for AI endpoints that are at least as strict as o.
func (p *Policy) Endpoints(o aiuri.ClientOptions) aiuri.ClientOptions {
	if err := p.Err(); err != nil {
		o.Permit = func(aiuri.URI) error { return err }
		o.Expect.RequireBinding = true
		o.Credentials = nil
		o.Tokens = nil
		o.Harmless = nil
		return o
	}
	for i := range p.parts {
		say := &p.parts[i].aiuri
		o.Expect.RequireBinding = o.Expect.RequireBinding || say.requireBinding
		if say.authorities != nil {
			o.Permit = p.parts[i].permit(o.Permit)
		}
		if say.credentials != nil {
			o.Credentials = slices.DeleteFunc(slices.Clone(o.Credentials),
				func(a string) bool { return !slices.Contains(say.credentials, a) })
		}
	}
	return o
}

// permit returns a decision about endpoints that is at least as strict as next, which may be nil.
func (p *part) permit(next func(aiuri.URI) error) func(aiuri.URI) error {
	return func(u aiuri.URI) error {
		if on, err := aiuri.MatchAuthority(u, p.aiuri.authorities); !on {
			return &lookleap.Error{Code: dvs.CodePolicyDenied,
				Message: fmt.Sprintf("the policy %q does not allow this authority", p.name),
				Fix:     "ask the administrator who maintains the policy", Err: err}
		}
		if next != nil {
			return next(u)
		}
		return nil
	}
}

// Tools returns options for the gate of tools that are at least as strict as o.
func (p *Policy) Tools(o gate.Options) gate.Options {
	next := o.Decide
	o.Decide = func(ctx context.Context, c gate.Call) gate.Verb {
		verb := p.tool(c.Tool)
		if next != nil && verb != gate.Refuse {
			verb = gate.Stricter(verb, next(ctx, c))
		}
		return verb
	}
	return o
}

// tool returns the strictest that all files say about a tool.
func (p *Policy) tool(name string) gate.Verb {
	if p.Err() != nil {
		return gate.Refuse
	}
	is := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool { matched, err := gate.Match(pattern, name); return matched || err != nil })
	}
	verb := gate.Pass
	for i := range p.parts {
		switch say := p.parts[i].tools; {
		case is(say.refuse), say.allow != nil && !is(say.allow):
			return gate.Refuse
		case is(say.ask):
			verb = gate.Ask
		}
	}
	return verb
}

// Agent makes the policy of a user at least as strict: fields that are never told are denied to
// everyone, and vetoed again right before a value is sent, so that a rule of the user's cannot
// allow them.
func (p *Policy) Agent(user *agent.UserPolicy) error {
	if err := p.Err(); err != nil {
		user.Veto = func(context.Context, agent.Decision) error { return err }
		return nil
	}
	never := make(map[string]string)
	var rules []agent.StandingRule
	for i := range p.parts {
		for _, field := range p.parts[i].agent.neverTell {
			rules = append(rules, agent.StandingRule{Field: field, Domain: "*", Effect: agent.EffectDeny})
			never[fieldKey(field)] = p.parts[i].name
		}
	}
	if err := user.Set(rules...); err != nil {
		return err
	}
	next := user.Veto
	user.Veto = func(ctx context.Context, d agent.Decision) error {
		if name, ok := never[fieldKey(d.Field)]; ok {
			return &lookleap.Error{Code: dvs.CodePolicyDenied, Subject: d.Field,
				Message: fmt.Sprintf("the policy %q never tells this field", name), Fix: "ask the administrator who maintains the policy"}
		}
		if next != nil {
			return next(ctx, d)
		}
		return nil
	}
	return nil
}

// fieldKey returns what equal names of fields have in common: letters and digits in lower case.
func fieldKey(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// Check returns an error if the policy refuses the skill at a URL, by the URL alone.
func (p *Policy) Check(url string) error {
	if err := p.Err(); err != nil {
		return err
	}
	u, err := dvs.ParseSkillURL(url, dvs.Rules{})
	if err != nil {
		return err
	}
	for i := range p.parts {
		if err := p.parts[i].skills.Check(u, dvs.Rules{}); err != nil {
			return err
		}
	}
	return nil
}

// Explanation is what one file of a policy says, in sentences.
type Explanation struct {
	Name      string   `json:"name"`
	Sentences []string `json:"sentences"`
}

// Explain explains the policy, one entry for each file. What one of them refuses is refused.
func (p *Policy) Explain() []Explanation {
	if err := p.Err(); err != nil {
		return []Explanation{{p.Name(), []string{"Nothing is allowed, because the policy could not be read."}}}
	}
	var all []Explanation
	for i := range p.parts {
		all = append(all, Explanation{p.parts[i].name, p.parts[i].sentences()})
	}
	return all
}

func (p *part) sentences() []string {
	all := p.skills.Sentences()
	add := func(is bool, format string, args ...any) {
		if is {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	for _, f := range p.feeds {
		signed, stale := "verified by TLS", "If it cannot be reached, nothing is allowed."
		if f.Keys != nil {
			signed = "signed with a key of this policy"
		}
		if f.Stale > 0 {
			stale = fmt.Sprintf("If it cannot be reached, a copy of up to %s is used.", f.Stale)
		}
		add(true, "The revocation feed %q is obeyed, %s. %s", f.URL, signed, stale)
	}
	add(p.agentsTxt.restrictForeign, "An agents.txt of another format restricts its whole site.")
	add(p.agentsTxt.robotsToken != "", "robots.txt is obeyed under the name %q.", p.agentsTxt.robotsToken)
	add(p.agentsTxt.refuseHTTP, "Sites without TLS are not visited.")
	add(p.anmlTrust.requireSecure, "ANML servers are trusted only by signed DNS.")
	add(p.anmlTrust.minTier > 0, "ANML servers that a site authorizes for less than the tier %q are refused.", p.anmlTrust.minTier)
	add(p.aiuri.authorities != nil, "Only these AI authorities are called: %q.", p.aiuri.authorities)
	add(p.aiuri.requireBinding, "Results of AI endpoints must be signed and prove which call they answer.")
	add(p.aiuri.credentials != nil, "Only these AI authorities may get credentials: %q.", p.aiuri.credentials)
	add(p.tools.allow != nil, "Only these tools may run: %q.", p.tools.allow)
	add(len(p.tools.refuse) > 0, "These tools never run: %q.", p.tools.refuse)
	add(len(p.tools.ask) > 0, "A person decides about each call of these tools: %q.", p.tools.ask)
	add(len(p.agent.neverTell) > 0, "These fields of the user are never told to anyone: %q.", p.agent.neverTell)
	return all
}

// unreadable returns a policy that allows nothing, and the error.
func unreadable(name string, err error) (*Policy, error) {
	var e *lookleap.Error
	if !errors.As(err, &e) {
		err = &lookleap.Error{Code: dvs.CodePolicyUnreadable, Subject: name,
			Message: "the policy could not be read, so nothing is allowed", Err: err}
	}
	return &Policy{name: name, bad: err}, err
}
