package agent

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

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
	standing  StandingRule
	granted   *consent // the earlier consent that it rests on
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

// inputs are all inputs of a decision about one item.
type inputs struct {
	item
	stated     bool // every ask for the field states a purpose
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
	judged     PurposeVerdict // what the purpose is worth
	category   string         // sensitive category, or ""
	services   []source       // that the value came from, other than the recipient
	transfer   *consent       // authorization for exactly this transfer
	held       *consent       // earlier explicit consent to exactly this
	prompter   bool           // the user can be asked
	authentic  bool           // there is a way to authenticate the user
	store      error          // what is remembered could not be read
	missing    lookleap.Code  // why there is no value to tell, or ""
}

// decisionFor decides. It is a pure function of its inputs: each rule looks at one input, which can only
// make the decision stricter.
func decisionFor(g *inputs) Decision {
	d := Decision{Field: g.field, Owner: g.owner, Verb: VerbAllow, Rule: g.rule, Sensitive: g.category != "", From: from(g.services),
		standing: g.standing, category: g.category, unsure: slices.ContainsFunc(g.services, func(s source) bool { return s.unsure })}
	flows, effect := flowFrom(g.services), EffectAllow
	if g.ruled {
		effect = g.standing.Effect
	}
	each := g.transfer == nil // an authorization of this transfer is the consent to this value
	for _, rule := range []struct {
		holds  bool
		verb   Verb
		code   lookleap.Code
		reason anml.Reason
	}{
		// What is never sent.
		{effect == EffectDeny, VerbRefuse, g.standing.code(), anml.UserDenied},
		{g.refuse != "", VerbRefuse, CodeHostRefused, g.refuse},
		{g.untrusted != "", VerbRefuse, g.untrusted, anml.TrustInsufficient},
		{g.unusable != "", VerbRefuse, g.unusable, anml.PolicyViolation},
		{g.judged == PurposeImplausible, VerbRefuse, CodePurposeImplausible, anml.PolicyViolation},
		{g.store != nil, VerbRefuse, lookleap.CodeOf(g.store), anml.PolicyViolation},
		{g.missing == CodeNoValue || g.missing == CodeValueType, VerbRefuse, g.missing, anml.UnsupportedField},
		{g.missing != "", VerbRefuse, g.missing, anml.PolicyViolation},
		{flows.verb == VerbRefuse, VerbRefuse, flows.code, flows.reason},
		{g.rule.Requires == anml.Authentication && !g.authentic, VerbRefuse, CodeAuthentication, anml.ConstraintViolation},
		// What the user is asked about each time.
		{each, flows.verb, flows.code, flows.reason},
		{each && g.category != "", VerbPrompt, CodeSensitive, ""},
		{each && !g.recognised, VerbPrompt, CodeUnrecognisedField, ""},
		{each && g.version, VerbPrompt, CodeOtherVersion, ""},
		{each && !g.stated, VerbPrompt, anml.CodeNoPurpose, ""},
		{each && g.judged == PurposeVague, VerbPrompt, CodePurposeVague, ""},
		{each && effect == EffectAsk, VerbPrompt, CodeUserRule, ""},
	} {
		if rule.holds {
			d.limit(rule.verb, rule.code, rule.reason)
		}
	}
	if d.Verb == VerbAllow {
		d.rest(g)
	}
	if (d.Verb == VerbPrompt || d.Verb == VerbDefer) && !g.prompter {
		reason := anml.PolicyViolation
		if g.rule.Declared && g.rule.Requires.Rank() >= anml.ExplicitConsent.Rank() { // a rule of the site requires consent
			reason = anml.ConstraintViolation
		}
		d.refuse(lookleap.CodeConsentNoPrompter, reason)
	}
	if d.Verb != VerbRefuse {
		d.caution(g)
	}
	return d
}

// rest finds the basis of an allowance, and asks the user if there is no basis.
func (d *Decision) rest(g *inputs) {
	own := g.recognised && !g.foreign && !g.kind.unasked() // the rule can permit something
	implicit := own && g.rule.Declared && g.rule.Requires == anml.ImplicitConsent
	// The site leaves the field to the user's own policy: its rule is "none", or it has no rule
	// (section 13.2). This alone is not a permission.
	free := own && (g.rule.Declared && g.rule.Requires == anml.RequiresNothing || !g.rule.Declared && g.rule.Raised == "")
	allowed := g.ruled && g.standing.Effect == EffectAllow
	switch {
	case g.transfer != nil || g.held != nil:
		d.granted = cmp.Or(g.transfer, g.held)
		d.Code, d.Basis, d.Reference = CodeConsentHeld, anml.ConsentExplicit, d.granted.ID
	case allowed && implicit:
		d.Code, d.Basis, d.Reference = CodeUserRule, anml.ConsentImplicit, d.standing.name()
	case allowed && free:
		d.Code, d.Basis, d.Reference = CodeUserRule, anml.ConsentDelegated, d.standing.name()
	case g.inferred && implicit:
		d.Code, d.Basis, d.Reference = CodeConsentInferred, anml.ConsentImplicit, "initiation"
	case free || implicit:
		d.prompt(lookleap.CodeNeedsConsent)
	default:
		d.prompt(CodeExplicitConsent)
	}
}

// caution adds warnings that the user should see before agreeing.
func (d *Decision) caution(g *inputs) {
	for _, warning := range []struct {
		holds bool
		text  string
	}{
		{!g.stated, "no purpose stated"},
		{g.stated && g.judged == PurposeVague, "the stated purpose is vague"},
		{g.category != "", "this is sensitive: " + g.category},
		{g.version, "the document is of a version that is not understood"},
		{g.foreign, "the rules in the document do not come from the party that asks"},
		{!g.recognised, "the field is not a standard one"},
	} {
		if warning.holds {
			d.Warnings = append(d.Warnings, warning.text)
		}
	}
}

func (r StandingRule) code() lookleap.Code {
	if r.refuses() && r.Domain != "*" {
		return CodeDomainRefused
	}
	return CodeUserRule
}

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

// Subject is what a service asks for, as the functions of a [UserPolicy] see it. Its texts come
// from the service and are untrusted.
type Subject struct {
	Field     string
	Purpose   string // "" if no purpose is stated
	Category  string // of the value in the profile, or ""
	Owner     string // domain whose ask it is
	Recipient string // host that would receive the value
}

// PurposeVerdict is the judgement of a stated purpose (section 14.3).
type PurposeVerdict uint8

// The verdicts. The zero value refuses.
const (
	PurposeImplausible PurposeVerdict = iota // it does not fit the field: refused
	PurposeVague                             // the user is asked, with a warning
	PurposeOK
)

// vaguePurposes are folded purposes that do not say what a value is for.
var vaguePurposes = sync.OnceValue(func() map[string]bool {
	vague := map[string]bool{"": true}
	for _, word := range [...]string{"data", "info", "information", "required", "other", "misc", "miscellaneous", "n/a", "none"} {
		vague[fold(word).text] = true
	}
	return vague
})

// judgePurpose judges a purpose by its words alone. It is vague if it is blank, repeats the name of
// the field or is one of a few empty words. All others pass, because words alone cannot show what
// is plausible.
func judgePurpose(s Subject) PurposeVerdict {
	if purpose := fold(s.Purpose).text; vaguePurposes()[purpose] || purpose == fold(s.Field).text {
		return PurposeVague
	}
	return PurposeOK
}

// The sensitive categories of section 14.2.
const (
	CategoryHealth   = "health"
	CategoryFinance  = "finance"
	CategoryLocation = "location"
)

// sensitiveWords are searched anywhere in a field's name or a purpose, in any case. A false match
// only asks the user once more.
var sensitiveWords = [...][2]string{
	{"health", CategoryHealth}, {"medical", CategoryHealth}, {"diagnos", CategoryHealth},
	{"insurance", CategoryFinance}, {"financ", CategoryFinance}, {"bank", CategoryFinance},
	{"payment", CategoryFinance}, {"credit", CategoryFinance}, {"income", CategoryFinance},
	{"location", CategoryLocation}, {"geo", CategoryLocation}, {"whereabouts", CategoryLocation},
}

// sensitiveCategory returns the category of a text by its words, or "". It looks at the text as it
// is written, and as a person reads it: without invisible characters, and with plain letters.
func sensitiveCategory(text string) string {
	written, read := strings.ToLower(text), ""
	if !isASCII(text) {
		read = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(strings.Map(func(r rune) rune {
			if unseen(r) {
				return -1
			}
			return r
		}, text))))
	}
	for _, word := range sensitiveWords {
		if strings.Contains(written, word[0]) || strings.Contains(read, word[0]) {
			return word[1]
		}
	}
	return ""
}

// secretNames are the keys of names of credentials and official numbers: see [fieldKey]. An
// argument with such a name counts as the user's, whatever its value.
var secretNames = sync.OnceValue(func() map[string]bool {
	names := make(map[string]bool)
	for _, name := range [...]string{
		"password", "passwd", "passphrase", "pin", "cvv", "cvc", "otp", "secret", "api key", "access token", "card number",
		"passport", "passport number", "ssn", "social security number", "national id", "tax id", "iban", "account number",
		"driving licence", "driver license", "date of birth", "birthday", "birthdate", "dob",
	} {
		names[fieldKey(name)] = true
	}
	return names
})
