package agent

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// Verb is the result of a decision about an ask.
type Verb uint8

// The verbs, from the most restrictive on. The zero value refuses.
const (
	VerbRefuse Verb = iota // answered with a refusal
	VerbDefer              // left open: it needs an authorization of its own first, see [Page.AuthorizeTransfer]
	VerbPrompt             // the user is asked
	VerbAllow              // answered without asking, by the user's standing will
)

// String returns "refuse", "defer", "prompt" or "allow".
func (v Verb) String() string {
	return [...]string{"refuse", "defer", "prompt", "allow"}[min(v, VerbAllow)]
}

// Decision is the result for one ask, with the reason. It depends on the ask, the constraints, the
// trust verdict, the user's policy and stored consents. Every further input can only make it
// stricter (section 9.2).
type Decision struct {
	Ask       anml.Ask
	Site      string // for a [Call]: the domain of the site whose ask it is, "" in a single-site document
	Field     string
	Owner     Party // whose ask it is
	Verb      Verb
	Reason    anml.Reason   // of a refusal
	Code      lookleap.Code // why
	Basis     anml.ConsentKind
	Reference string    // what an allowance rests on: a rule or consent of the user's
	Rule      anml.Rule // what the document demands
	Sensitive bool
	From      []string // domains that the value came from, other than the recipient
	Warnings  []string // our words, to show the user
	value     Value
	also      []string // other fields whose value it holds
	standing  StandingRule
	granted   *consent // the earlier consent that it rests on
	purposes  []string // of all asks for the field that the action has
	category  string   // sensitive category, or ""
	lasting   bool     // a consent may be remembered
	unsure    bool     // a service of From is one that the session has read, and no more is known
}

// limit makes a decision stricter, never looser. Of several reasons for the same verb the first one
// counts.
func (d *Decision) limit(to Verb, why lookleap.Code, reason anml.Reason) {
	if to >= d.Verb {
		return
	}
	d.Verb, d.Code, d.Reason = to, why, reason
	d.Basis, d.Reference = anml.ConsentUnstated, ""
	if to == VerbPrompt {
		d.Basis = anml.ConsentExplicit
	}
}

func (d *Decision) refuse(why lookleap.Code, reason anml.Reason) { d.limit(VerbRefuse, why, reason) }
func (d *Decision) prompt(why lookleap.Code)                     { d.limit(VerbPrompt, why, "") }
func (d *Decision) warn(text string)                             { d.Warnings = append(d.Warnings, text) }

// inputs are all inputs of a decision about one field.
type inputs struct {
	kind       disclosureKind
	field      string
	purpose    string // that the profile and the user see
	stated     bool   // every ask for the field states a purpose
	owner      Party
	untrusted  lookleap.Code  // why the party that asks gets no answer, or ""
	unusable   lookleap.Code  // why the ask can have no answer, or ""
	rule       anml.Rule      // of the site that asks
	foreign    bool           // the rules are not those of the party that asks: they can only restrict
	recognised bool           // the field is a standard one or the host's own
	version    bool           // the document is of another major version
	standing   StandingRule   // the user's standing will about the field and all who would learn it
	ruled      bool           // a standing rule matched; asking is the default otherwise
	inferred   bool           // consent may be inferred: the user began this, and wants that
	host       anml.Reason    // the host refuses the field in this call, or ""
	judged     PurposeVerdict // what the purpose is worth
	category   string         // sensitive category, or ""
	sources    []source       // services that the value came from, other than the recipient
	transfer   *consent       // authorization for exactly this transfer
	held       *consent       // earlier explicit consent to exactly this
	prompter   bool           // the user can be asked
	authentic  bool           // there is a way to authenticate the user
	store      error          // what is remembered could not be read
	missing    lookleap.Code  // why there is no value to tell, or ""
}

// free reports whether the site leaves the field to the user's own policy: its rule is "none", or
// it has no rule (section 13.2). This alone is not a permission.
func (g *inputs) free() bool {
	if !g.recognised || g.foreign || g.kind.unasked() {
		return false
	}
	if !g.rule.Declared {
		return g.rule.Raised == ""
	}
	return g.rule.Requires == anml.RequiresNothing
}

// implicit reports whether the site's rule for the field is implicit consent.
func (g *inputs) implicit() bool {
	return g.recognised && !g.foreign && !g.kind.unasked() && g.rule.Declared && g.rule.Requires == anml.ImplicitConsent
}

// weigh decides. It is a pure function of its inputs: each rule looks at one input, which can only
// make the decision stricter.
func weigh(g *inputs) Decision {
	d := Decision{Field: g.field, Owner: g.owner, Rule: g.rule, Sensitive: g.category != "", standing: g.standing, category: g.category}
	d.Verb, d.From = VerbAllow, from(g.sources)
	d.unsure = slices.ContainsFunc(g.sources, func(s source) bool { return s.unsure })

	d.refuseUnsendable(g)
	if g.transfer == nil { // an authorization of this transfer is the consent to this value
		d.askEachTime(g)
	}
	d.rest(g)
	if (d.Verb == VerbPrompt || d.Verb == VerbDefer) && !g.prompter {
		d.refuse(lookleap.CodeConsentNoPrompter, unobtainable(g))
	}
	d.caution(g)
	return d
}

// refuseUnsendable refuses what is never sent.
func (d *Decision) refuseUnsendable(g *inputs) {
	if g.ruled && g.standing.Effect == EffectDeny {
		d.refuse(g.standing.code(), anml.UserDenied)
	}
	if g.host != "" {
		d.refuse(CodeHostRefused, g.host)
	}
	if g.untrusted != "" {
		d.refuse(g.untrusted, anml.TrustInsufficient)
	}
	if g.unusable != "" {
		d.refuse(g.unusable, anml.PolicyViolation)
	}
	if g.judged == PurposeImplausible {
		d.refuse(CodePurposeImplausible, anml.PolicyViolation)
	}
	if g.store != nil {
		d.refuse(lookleap.CodeOf(g.store), anml.PolicyViolation)
	}
	if g.missing == CodeNoValue || g.missing == CodeValueType {
		d.refuse(g.missing, anml.UnsupportedField)
	} else if g.missing != "" {
		d.refuse(g.missing, anml.PolicyViolation)
	}
	if f := flowFrom(g.sources); f.verb == VerbRefuse {
		d.refuse(f.code, f.reason)
	}
	if g.rule.Requires == anml.Authentication && !g.authentic {
		d.refuse(CodeAuthentication, anml.ConstraintViolation)
	}
}

// askEachTime asks about what needs the user's consent to this value each time.
func (d *Decision) askEachTime(g *inputs) {
	f := flowFrom(g.sources)
	d.limit(f.verb, f.code, f.reason)
	if g.category != "" {
		d.prompt(CodeSensitive)
	}
	if !g.recognised {
		d.prompt(CodeUnrecognisedField)
	}
	if g.version {
		d.prompt(CodeOtherVersion)
	}
	if !g.stated {
		d.prompt(anml.CodeNoPurpose)
	} else if g.judged == PurposeVague {
		d.prompt(CodePurposeVague)
	}
	if g.ruled && g.standing.Effect == EffectAsk {
		d.prompt(CodeUserRule)
	}
}

// rest finds the basis of an allowance, and asks the user if there is no basis.
func (d *Decision) rest(g *inputs) {
	if d.Verb != VerbAllow {
		return
	}
	allowed := g.ruled && g.standing.Effect == EffectAllow
	switch {
	case g.transfer != nil || g.held != nil:
		d.granted = cmp.Or(g.transfer, g.held)
		d.Code, d.Basis, d.Reference = CodeConsentHeld, anml.ConsentExplicit, d.granted.ID
	case allowed && g.implicit():
		d.Code, d.Basis = CodeUserRule, anml.ConsentImplicit
	case allowed && g.free():
		d.Code, d.Basis = CodeUserRule, anml.ConsentDelegated
	case g.inferred && g.implicit():
		d.Code, d.Basis, d.Reference = CodeConsentInferred, anml.ConsentImplicit, "initiation"
	case g.free() || g.implicit():
		d.prompt(lookleap.CodeNeedsConsent)
	default:
		d.prompt(CodeExplicitConsent)
	}
}

// unobtainable returns the reason of a refusal when there is no prompter: the constraint if a rule
// of the site requires consent, otherwise the agent's own policy.
func unobtainable(g *inputs) anml.Reason {
	if g.rule.Declared && g.rule.Requires.Rank() >= anml.ExplicitConsent.Rank() {
		return anml.ConstraintViolation
	}
	return anml.PolicyViolation
}

// caution adds warnings that the user should see before agreeing.
func (d *Decision) caution(g *inputs) {
	if d.Verb == VerbRefuse {
		return
	}
	switch {
	case !g.stated:
		d.warn("no purpose stated")
	case g.judged == PurposeVague:
		d.warn("the stated purpose is vague")
	}
	if g.category != "" {
		d.warn("this is sensitive: " + g.category)
	}
	if g.version {
		d.warn("the document is of a version that is not understood")
	}
	if g.foreign {
		d.warn("the rules in the document do not come from the party that asks")
	}
	if !g.recognised {
		d.warn("the field is not a standard one")
	}
}

// code returns the code of what a rule decides.
func (r StandingRule) code() lookleap.Code {
	if r.refuses() && r.Domain != "*" {
		return CodeDomainRefused
	}
	return CodeUserRule
}

// name returns how a ledger refers to a rule.
func (r StandingRule) name() string { return "rule " + r.Field + " " + r.Domain }

// Act is an action, as a host's policy sees it. Its texts come from the service: treat them as
// data, never as instructions.
type Act struct {
	Method      string
	URL         string // exactly what is requested
	ID          string // of the action
	Description string // untrusted
	Serving     string // domain that delivered the document
	Owner       string // domain whose action it is
	Endpoint    string // host that receives it
	Fields      []string
	Idempotent  bool // as the service says
}

// Weight is what a host thinks of an action's consequences (section 13.4).
type Weight uint8

const (
	// WeighedByRule leaves the choice to the rules. They ask for every unsafe method, for
	// everything that carries user data, for actions that are named like buying or deleting, and
	// for confirm="true".
	WeighedByRule Weight = iota
	// Consequential asks the user even if no rule does.
	Consequential
	// Harmless does not ask because of an unsafe method alone. All other reasons to ask still
	// apply.
	Harmless
)

// consequential returns the first reason why the user has to confirm an act, or "" (section 13.4).
// A stated confirm="false" does not prevent asking.
func consequential(a Act, confirm, tells bool, host Weight) (why string) {
	switch {
	case confirm:
		return "the service demands confirmation"
	case tells:
		return "it tells something about you"
	case a.Method == http.MethodDelete, weighty(a):
		return "it may buy, book or delete something"
	case host == Consequential:
		return "your policy demands it"
	case !safeMethod(a.Method) && host != Harmless:
		return "it may change something"
	}
	return ""
}

// safeMethod reports whether a method is safe (RFC 9110 section 9.2.1).
func safeMethod(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// weightyWords are names of actions that cost or destroy something. An action with another name is
// still caught by its method.
var weightyWords = [...]string{
	"buy", "purchase", "pay", "payment", "checkout", "order", "book",
	"reserve", "subscribe", "donate", "charge", "transfer", "bid", "deposit",
	"withdraw", "refund", "upgrade", "renew", "invoice",
	"delete", "remove", "erase", "cancel", "terminate", "unsubscribe",
	"destroy", "drop", "revoke", "wipe", "purge", "close", "deactivate",
}

// weighty reports whether the name of an act says that it costs or destroys something.
func weighty(a Act) bool {
	named := append(words(a.ID), words(path(a.URL))...)
	if said := words(a.Description); len(said) > 0 {
		named = append(named, said[0]) // "pay for the seats", and not "trips that you can book"
	}
	return slices.ContainsFunc(named, func(word string) bool { return slices.Contains(weightyWords[:], word) })
}

func path(url string) string {
	u, err := endpointRules.Parse(url)
	if err != nil {
		return url
	}
	return u.Path()
}

// words splits a text into words in lower case, and splits camelCase too.
func words(text string) []string {
	var divided strings.Builder
	lower := false
	for _, r := range text {
		if !unicode.IsLetter(r) || unicode.IsUpper(r) && lower {
			divided.WriteByte(' ')
		}
		if unicode.IsLetter(r) {
			divided.WriteRune(unicode.ToLower(r))
		}
		lower = unicode.IsLower(r)
	}
	return strings.Fields(divided.String())
}
