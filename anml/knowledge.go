package anml

import (
	"iter"
	"slices"
	"time"
)

// Knowledge is what one side tells and asks the other (section 8.7).
type Knowledge struct{ Node }

func (k Knowledge) Informs() iter.Seq[Inform] { return each[Inform](k.Node, kInform) }
func (k Knowledge) Asks() iter.Seq[Ask]       { return each[Ask](k.Node, kAsk) }
func (k Knowledge) Answers() iter.Seq[Answer] { return each[Answer](k.Node, kAnswer) }
func (k Knowledge) Refuses() iter.Seq[Refuse] { return each[Refuse](k.Node, kRefuse) }

// Inform is a piece of information (section 8.7.1).
type Inform struct{ Node }

func (i Inform) Text() string  { return i.text() }
func (i Inform) Scope() string { return i.n.value("scope") }

// TTL counts from the Date of the response; an invalid one is 0.
func (i Inform) TTL() (time.Duration, bool) { return i.duration("ttl") }

func (i Inform) Priority() Priority { return parse[Priority](priorityWords[:], i.n.value("priority")) }

// Confidentiality is public when absent and private when unknown.
func (i Inform) Confidentiality() Confidentiality {
	if !i.n.lookup("confidentiality").ok() {
		return Public
	}
	return parse[Confidentiality](confidentialityWords[:], i.n.value("confidentiality"))
}

// Ask is a request for information (section 8.7.2). It binds nobody: required
// states what the service needs, and refusing is always possible.
type Ask struct{ Node }

func (a Ask) Field() string   { return a.n.value("field") }
func (a Ask) Action() string  { return a.n.value("action") }
func (a Ask) Purpose() string { return a.n.value("purpose") }
func (a Ask) Required() bool  { return a.boolean("required", false, false) }

// Type is the declared type; enum, which only parameters have, reads as string.
func (a Ask) Type() Type { return valueType(a.n.value("type")) }

// Dangling reports whether the action that the ask names is not there, or not
// one. Such an ask cannot be answered.
func (a Ask) Dangling() bool { return a.n.ok() && a.n.flags()&dangling != 0 }

// Answer is information given (section 8.7.3).
type Answer struct{ Node }

func (a Answer) Field() string { return a.n.value("field") }
func (a Answer) Value() string { return a.n.value("value") }
func (a Answer) Consent() ConsentKind {
	return parse[ConsentKind](consentWords[:], a.n.value("consent"))
}

// ConsentGranted is when the user agreed; false when absent or malformed.
func (a Answer) ConsentGranted() (time.Time, bool) { return a.moment("consent-granted") }

// consentSkew is how far ahead another clock may be.
const consentSkew = time.Minute

// ConsentFresh reports whether the consent behind an answer is still valid under
// a rule at a time: never when it has no time or one in the future.
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

// Refuse is information withheld (section 8.7.4).
type Refuse struct{ Node }

func (r Refuse) Field() string      { return r.n.value("field") }
func (r Refuse) Reason() Reason     { return Reason(r.n.value("reason")) }
func (r Refuse) Constraint() string { return r.n.value("constraint") }
func (r Refuse) Message() string    { return r.n.value("message") }

// Constraints are the disclosure rules of one site (section 8.4). A site that
// has several constraints elements, which it should not, is bound by all of them.
type Constraints struct{ Node }

// Disclosures yields the usable rules of the site in document order.
func (c Constraints) Disclosures() iter.Seq[Disclosure] {
	return func(yield func(Disclosure) bool) {
		if !c.n.ok() {
			return
		}
		for section := c.n.first(); section.ok(); section = section.next() {
			if section.kind() != kConstraints || !section.usable() {
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

func (d Disclosure) Field() string      { return d.n.value("field") }
func (d Disclosure) Requires() Requires { return ParseRequires(d.n.value("requires")) }

// ValidFor is how long a consent stays valid; an invalid value is 0, so that
// consent is always asked for anew. False: the rule sets no limit.
func (d Disclosure) ValidFor() (time.Duration, bool) { return d.duration("valid-for") }

// Rule is what the constraints of a site demand for one field, after every rule
// about it was counted.
type Rule struct {
	Field    string
	Requires Requires
	Declared bool          // some rule names the field
	ValidFor time.Duration // smallest of the rules; only when Limited
	Limited  bool
	// Raised says why the result is stricter than the rules that were written:
	// "unrecognised-field", "malformed-rule" or "unknown-constraint"; else "". A
	// field without any rule has none: it is neither Declared nor Raised.
	Raised string
}

// StandardFields are the field names of section 16.3, matched exactly.
var standardFields = []string{"fn", "email", "tel", "adr", "bday", "gender", "lang", "tz", "nickname", "org", "title", "url"}

// IsStandardField reports whether section 16.3 registers the name.
func IsStandardField(name string) bool { return slices.Contains(standardFields, name) }

// StandardFields lists the field names of section 16.3.
func StandardFields() []string { return slices.Clone(standardFields) }

// Rule gives the effective rule for a field: the most restrictive of all that
// name it, never less than explicit consent for a field that is not recognised
// or has no rule, nor while a rule of the site cannot be read (sections 8.7.2
// and 11.4). Recognised adds to the standard field names those that the host
// registered; it may be nil.
//
// RequiresNothing states what the service demands. It is no permission: the
// host's own policy decides, and asking is the default.
func (c Constraints) Rule(field string, recognised func(string) bool) Rule {
	return c.Rules(recognised).Rule(field)
}

// Rules are the constraints of a site, read once to be asked about many fields.
type Rules struct {
	declared   map[string]Rule
	raises     map[string][]raising // by field, "" for any field
	recognised func(string) bool
}

// raising is what something in constraints that cannot be read as a rule demands.
type raising struct {
	to  Requires
	why string
}

// Rules reads the constraints; for recognised see [Constraints.Rule].
func (c Constraints) Rules(recognised func(string) bool) Rules {
	n := 0
	for range c.Disclosures() {
		n++
	}
	rules := Rules{declared: make(map[string]Rule, n), raises: c.raises(), recognised: recognised}
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

// Rule is [Constraints.Rule] for one field.
func (rules Rules) Rule(field string) Rule {
	r, declared := rules.declared[field]
	if !declared {
		r = Rule{Field: field, Requires: RequiresNothing}
	}
	raise := func(all ...raising) {
		for _, x := range all {
			if x.to.Rank() > r.Requires.Rank() {
				r.Requires, r.Raised = x.to, x.why
			}
		}
	}
	if !IsStandardField(field) && (rules.recognised == nil || !rules.recognised(field)) {
		raise(raising{ExplicitConsent, "unrecognised-field"})
	}
	raise(rules.raises[""]...)
	raise(rules.raises[field]...)
	if !declared {
		r.Requires = r.Requires.Stricter(ExplicitConsent) // what nobody ruled is not raised
	}
	return r
}

// raises collects what the site's constraints say that cannot be read as a rule.
func (c Constraints) raises() map[string][]raising {
	if !c.n.ok() {
		return nil
	}
	all := make(map[string][]raising)
	add := func(field string, to Requires, why string) {
		if x := (raising{to, why}); !slices.Contains(all[field], x) {
			all[field] = append(all[field], x)
		}
	}
	for section := c.n.first(); section.ok(); section = section.next() {
		if section.kind() != kConstraints {
			continue
		}
		if section.more() != nil {
			add("", ExplicitConsent, "unknown-constraint") // a key that JSON alone has
		}
		for n := section.first(); n.ok(); n = n.next() {
			switch {
			case n.kind() == kDisclosure && n.flags()&malformed != 0:
				add(n.value("field"), ExplicitConsent.Stricter(requiresOf(n)), "malformed-rule")
			case n.kind() == kUnknown:
				add("", ExplicitConsent, "unknown-constraint")
			}
		}
	}
	return all
}

// requiresOf reads what a malformed rule still says.
func requiresOf(n node) Requires { return ParseRequires(n.value("requires")) }
