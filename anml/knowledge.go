package anml

import (
	"iter"
	"slices"
	"time"
)

// Knowledge is what one side tells and asks the other (section 8.7).
type Knowledge struct{ Node }

// Informs yields the informs in document order.
func (k Knowledge) Informs() iter.Seq[Inform] { return each[Inform](k.Node, kInform) }

// Asks yields the asks in document order.
func (k Knowledge) Asks() iter.Seq[Ask] { return each[Ask](k.Node, kAsk) }

// Answers yields the answers in document order.
func (k Knowledge) Answers() iter.Seq[Answer] { return each[Answer](k.Node, kAnswer) }

// Refuses yields the refusals in document order.
func (k Knowledge) Refuses() iter.Seq[Refuse] { return each[Refuse](k.Node, kRefuse) }

// Inform is a piece of information (section 8.7.1).
type Inform struct{ Node }

// Text returns the information.
func (i Inform) Text() string { return i.text() }

// Scope returns the id of the elements that the information is about, "" for the whole site.
func (i Inform) Scope() string { return i.n.value("scope") }

// TTL returns how long the information is valid, counted from the Date of the response, and
// whether the attribute is present. An invalid value is 0.
func (i Inform) TTL() (time.Duration, bool) { return i.duration("ttl") }

// Priority returns the priority, PriorityNormal for an unknown word.
func (i Inform) Priority() Priority { return parse[Priority](priorityWords[:], i.n.value("priority")) }

// Confidentiality returns Public if the attribute is absent, and Private for an unknown word.
func (i Inform) Confidentiality() Confidentiality {
	if !i.n.lookup("confidentiality").ok() {
		return Public
	}
	return parse[Confidentiality](confidentialityWords[:], i.n.value("confidentiality"))
}

// Ask is a request for information about the user (section 8.7.2). Refusing is always possible,
// even if the service states that it requires the information.
type Ask struct{ Node }

// Field returns the name of the field that the service asks for.
func (a Ask) Field() string { return a.n.value("field") }

// Action returns the id of the action that takes the answer.
func (a Ask) Action() string { return a.n.value("action") }

// Purpose returns what the service says it needs the field for.
func (a Ask) Purpose() string { return a.n.value("purpose") }

// Required reports whether the service states that it requires the field.
func (a Ask) Required() bool { return a.boolean("required", false, false) }

// Type returns the declared type, and TypeString for "enum", which only parameters have.
func (a Ask) Type() Type { return valueType(a.n.value("type")) }

// Dangling reports whether the ask names no action or an ambiguous one. Such an ask cannot be
// answered.
func (a Ask) Dangling() bool { return a.n.ok() && a.n.flags()&dangling != 0 }

// Answer is information that an agent tells (section 8.7.3).
type Answer struct{ Node }

// Field returns the name of the field.
func (a Answer) Field() string { return a.n.value("field") }

// Value returns the value as it is written.
func (a Answer) Value() string { return a.n.value("value") }

// Consent returns how the user agreed, ConsentUnstated for an unknown word.
func (a Answer) Consent() ConsentKind {
	return parse[ConsentKind](consentWords[:], a.n.value("consent"))
}

// ConsentGranted returns when the user agreed, and false if that is absent or malformed.
func (a Answer) ConsentGranted() (time.Time, bool) { return a.moment("consent-granted") }

// consentSkew is how far the clock of another machine may be ahead.
const consentSkew = time.Minute

// ConsentFresh reports whether the consent behind an answer is valid under a rule at a time. If
// the rule limits the time, consent without a time or with a time in the future is not valid.
func ConsentFresh(a Answer, rule Rule, now time.Time) bool {
	if !rule.Limited {
		return true
	}
	granted, ok := a.ConsentGranted()
	if !ok || rule.ValidFor == 0 || granted.After(now.Add(consentSkew)) {
		return false
	}
	return now.Sub(granted) <= rule.ValidFor
}

// Refuse is information that an agent withholds (section 8.7.4).
type Refuse struct{ Node }

// Field returns the name of the field.
func (r Refuse) Field() string { return r.n.value("field") }

// Reason returns the reason as it is written. [Reason.Known] reports whether the draft defines it.
func (r Refuse) Reason() Reason { return Reason(r.n.value("reason")) }

// Constraint returns the field of the disclosure rule that forbids the answer.
func (r Refuse) Constraint() string { return r.n.value("constraint") }

// Message returns the text for people.
func (r Refuse) Message() string { return r.n.value("message") }

// Constraints holds the disclosure rules of one site (section 8.4). If a site has several
// constraints elements, which is an error, all of them apply.
type Constraints struct{ Node }

// Disclosures yields the usable rules of the site in document order.
func (c Constraints) Disclosures() iter.Seq[Disclosure] {
	return func(yield func(Disclosure) bool) {
		for section := range c.n.all() {
			if !section.usable() {
				continue
			}
			for d := range each[Disclosure](Node{section, c.d}, kDisclosure) {
				if !yield(d) {
					return
				}
			}
		}
	}
}

// Exists reports whether the site has constraints.
func (c Constraints) Exists() bool { return c.n.child(kConstraints).ok() }

// Disclosure is one rule about one field (section 8.4.1).
type Disclosure struct{ Node }

// Field returns the name of the field.
func (d Disclosure) Field() string { return d.n.value("field") }

// Requires returns what the rule demands, ExplicitConsent for an unknown word.
func (d Disclosure) Requires() Requires { return parseRequires(d.n.value("requires")) }

// ValidFor returns how long a consent stays valid, and false if the rule sets no limit. An
// invalid value is 0, so the user is asked each time.
func (d Disclosure) ValidFor() (time.Duration, bool) { return d.duration("valid-for") }

// Rule is what the constraints of a site demand for one field, all rules combined.
type Rule struct {
	Field    string
	Requires Requires
	Declared bool          // at least one rule names the field
	ValidFor time.Duration // the shortest of the rules, if Limited
	Limited  bool          // a rule limits how long a consent is valid
	// Raised says why Requires is stricter than the rules as written: "unrecognised-field",
	// "malformed-rule" or "unknown-constraint". It is "" otherwise, also for a field without
	// any rule.
	Raised string
}

var standardFields = []string{"fn", "email", "tel", "adr", "bday", "gender", "lang", "tz", "nickname", "org", "title", "url"}

// IsStandardField reports whether section 16.3 registers the name. The comparison is exact.
func IsStandardField(name string) bool { return slices.Contains(standardFields, name) }

// StandardFields returns the field names that section 16.3 registers.
func StandardFields() []string { return slices.Clone(standardFields) }

// Rule returns the effective rule for a field: the most restrictive of all rules that name it.
// It is at least explicit consent for a field that has no rule or is not recognised, and while
// the site has a rule that cannot be read (sections 8.7.2 and 11.4). Recognised reports
// further field names that the host knows besides the standard ones; it may be nil.
//
// RequiresNothing is what the service demands. It is not a permission: the host's own policy
// decides, and asks the user by default.
func (c Constraints) Rule(field string, recognised func(string) bool) Rule {
	return c.Rules(recognised).Rule(field)
}

// Rules holds the constraints of a site, read once for lookups of many fields.
type Rules struct {
	declared   map[string]Rule
	raises     map[string][]raise // by field, "" for every field
	recognised func(string) bool
}

// raise is what a part of the constraints that cannot be read as a rule demands.
type raise struct {
	to  Requires
	why string
}

// Rules reads the constraints once. [Constraints.Rule] explains recognised.
func (c Constraints) Rules(recognised func(string) bool) Rules {
	rules := Rules{declared: make(map[string]Rule), raises: c.raises(), recognised: recognised}
	for d := range c.Disclosures() {
		field := d.Field()
		r, ok := rules.declared[field]
		if !ok {
			r = Rule{Field: field, Requires: RequiresNothing, Declared: true}
		}
		r.Requires = r.Requires.Stricter(d.Requires())
		if v, ok := d.ValidFor(); ok && (!r.Limited || v < r.ValidFor) {
			r.ValidFor, r.Limited = v, true
		}
		rules.declared[field] = r
	}
	return rules
}

// Rule returns the effective rule for a field, as [Constraints.Rule] does.
func (rules Rules) Rule(field string) Rule {
	r, declared := rules.declared[field]
	if !declared {
		r = Rule{Field: field, Requires: RequiresNothing}
	}
	apply := func(all ...raise) {
		for _, x := range all {
			if x.to.Rank() > r.Requires.Rank() {
				r.Requires, r.Raised = x.to, x.why
			}
		}
	}
	if !IsStandardField(field) && (rules.recognised == nil || !rules.recognised(field)) {
		apply(raise{ExplicitConsent, "unrecognised-field"})
	}
	apply(rules.raises[""]...)
	apply(rules.raises[field]...)
	if !declared {
		r.Requires = r.Requires.Stricter(ExplicitConsent) // the default, so it does not count as raised
	}
	return r
}

// raises collects what the site's constraints demand beyond the rules that can be read.
func (c Constraints) raises() map[string][]raise {
	all := make(map[string][]raise)
	add := func(field string, to Requires, why string) {
		if x := (raise{to, why}); !slices.Contains(all[field], x) {
			all[field] = append(all[field], x)
		}
	}
	for section := range c.n.all() {
		if section.kind() != kConstraints {
			continue
		}
		if len(section.t.rare[section.e].keys) > 0 {
			add("", ExplicitConsent, "unknown-constraint") // an unknown JSON key
		}
		for n := range section.all() {
			switch {
			case n.flags()&malformed != 0: // a rule
				add(n.value("field"), ExplicitConsent.Stricter(parseRequires(n.value("requires"))), "malformed-rule")
			case n.kind() == kUnknown:
				add("", ExplicitConsent, "unknown-constraint")
			}
		}
	}
	return all
}
