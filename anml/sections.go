package anml

import (
	"iter"
	"time"
)

// Status is the outcome of a submitted action (section 8.13).
type Status struct{ Node }

func (s Status) Code() string    { return s.n.value("code") }
func (s Status) Message() string { return s.n.value("message") }

// Result is the outcome: anything unknown is an error, and an absent status no
// success either.
func (s Status) Result() Result { return parse[Result](resultWords[:], s.n.value("result")) }

// RetryAfter is how long to wait, and whether a valid time is given.
func (s Status) RetryAfter() (time.Duration, bool) {
	n, _, ok := s.integer("retry-after")
	return time.Duration(n) * time.Second, ok
}

// Persona is advice on how to present the service (section 8.8). All of it is
// untrusted text and ranks below the user and below every safety rule.
type Persona struct{ Node }

func (p Persona) Model() Model             { return child[Model](p.Node, kModel) }
func (p Persona) Language() Language       { return child[Language](p.Node, kLanguage) }
func (p Persona) Tone() string             { return p.n.child(kTone).value("value") }
func (p Persona) Voice() Voice             { return child[Voice](p.Node, kVoice) }
func (p Persona) Instructions() string     { return p.n.child(kInstructions).content() }
func (p Persona) Prefer() iter.Seq[string] { return texts(p.n.child(kVocabulary), kPrefer) }
func (p Persona) Avoid() iter.Seq[string]  { return texts(p.n.child(kVocabulary), kAvoid) }

// texts yields the texts of the usable children of a kind.
func texts(n node, k kind) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !n.ok() {
			return
		}
		for c := n.first(); c.ok(); c = c.next() {
			if c.kind() == k && c.usable() && !yield(c.content()) {
				return
			}
		}
	}
}

// Model is a wish for a language model (section 8.8.1).
type Model struct{ Node }

func (m Model) Name() string       { return m.n.value("name") }
func (m Model) Provider() string   { return m.n.value("provider") }
func (m Model) Capability() string { return m.n.value("capability") }

// Language is a wish for a language (section 8.8.2).
type Language struct{ Node }

func (l Language) Value() string { return l.n.value("value") }

// Policy is the policy; fixed without a value has no effect.
func (l Language) Policy() LanguagePolicy {
	p := parse[LanguagePolicy](languageWords[:], l.n.value("policy"))
	if p == LanguageFixed && l.Value() == "" {
		return LanguageUnstated
	}
	return p
}

// Voice is a wish for a voice (section 8.8.4).
type Voice struct{ Node }

func (v Voice) Name() string { return v.n.value("name") }
func (v Voice) Perspective() Perspective {
	return parse[Perspective](perspectiveWords[:], v.n.value("perspective"))
}

// Aesthetic is advice on looks (section 8.9). No part of it is identity.
type Aesthetic struct{ Node }

func (a Aesthetic) DisplayName() string   { return a.n.child(kDisplayName).content() }
func (a Aesthetic) Logos() iter.Seq[Logo] { return each[Logo](a.Node, kLogo) }
func (a Aesthetic) Colors() iter.Seq[Color] {
	return each[Color](a.sub(kColors), kColor)
}
func (a Aesthetic) Fonts() iter.Seq[Font] {
	return each[Font](a.sub(kTypography), kFont)
}

// Logo names an image, which this package never fetches.
type Logo struct{ Node }

func (l Logo) Src() string     { return l.n.value("src") }
func (l Logo) Alt() string     { return l.n.value("alt") }
func (l Logo) Type() string    { return l.n.value("type") }
func (l Logo) Variant() string { return l.n.value("variant") }

// Color is an opaque CSS colour for a role.
type Color struct{ Node }

func (c Color) Role() string  { return c.n.value("role") }
func (c Color) Value() string { return c.n.value("value") }

// Font is a font family for a role.
type Font struct{ Node }

func (f Font) Role() string     { return f.n.value("role") }
func (f Font) Family() string   { return f.n.value("family") }
func (f Font) Fallback() string { return f.n.value("fallback") }

// Footer is section 8.12: text, rights and attributions in any order.
type Footer struct{ Node }

func (f Footer) Text() string                        { return f.text() }
func (f Footer) Content() iter.Seq[Content]          { return contents(f.Node) }
func (f Footer) Rights() iter.Seq[Rights]            { return each[Rights](f.Node, kRights) }
func (f Footer) Attributions() iter.Seq[Attribution] { return each[Attribution](f.Node, kAttribution) }

// Rights is a statement of rights over the site, or over what its scope names.
type Rights struct{ Node }

func (r Rights) Text() string    { return r.text() }
func (r Rights) Holder() string  { return r.n.value("holder") }
func (r Rights) Year() string    { return r.n.value("year") }
func (r Rights) License() string { return r.n.value("license") }
func (r Rights) Scope() string   { return r.n.value("scope") }

// Usage is what the statement grants: none when it does not say.
func (r Rights) Usage() Usage { return ParseUsage(r.n.value("usage")) }

// Attribution is a credit, which is a duty when required.
type Attribution struct{ Node }

func (a Attribution) Text() string   { return a.text() }
func (a Attribution) Required() bool { return a.boolean("required", false, true) }
func (a Attribution) Scope() string  { return a.n.value("scope") }
