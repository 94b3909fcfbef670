package anml

import (
	"iter"
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
