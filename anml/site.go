package anml

import (
	"iter"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// Site is what holds sections: a <site> of a multi-site document, or the root of
// a single-site one (sections 8.1 and 8.2). Constraints, actions, asks and ids
// belong to the site that contains them and to no other.
type Site struct{ Node }

// Domain is the site's domain in its normal form: A-labels, lower case, without
// a trailing dot. It is "" for a single-site document, whose claim, if it makes
// one, is in Head().Trust().
func (s Site) Domain() string {
	if !s.n.ok() || s.n.kind() != kSite {
		return ""
	}
	return normalDomain(s.n.value("domain"))
}

// TrustVerified is a hint about when authorization was last checked. It never
// replaces checking.
func (s Site) TrustVerified() (time.Time, bool) { return s.moment("trust-verified") }

func (s Site) Head() Head               { return child[Head](s.Node, kHead) }
func (s Site) Constraints() Constraints { return Constraints(s) }
func (s Site) State() State             { return child[State](s.Node, kState) }
func (s Site) Interact() Interact       { return child[Interact](s.Node, kInteract) }
func (s Site) Knowledge() Knowledge     { return child[Knowledge](s.Node, kKnowledge) }
func (s Site) Persona() Persona         { return child[Persona](s.Node, kPersona) }
func (s Site) Aesthetic() Aesthetic     { return child[Aesthetic](s.Node, kAesthetic) }
func (s Site) Body() Body               { return child[Body](s.Node, kBody) }
func (s Site) Footer() Footer           { return child[Footer](s.Node, kFooter) }
func (s Site) Status() Status           { return child[Status](s.Node, kStatus) }

// SiteRefs yields the pointers to other sites' documents, which stand in the
// head or in the site itself (section 12.6).
func (s Site) SiteRefs() iter.Seq[SiteRef] {
	return func(yield func(SiteRef) bool) {
		for ref := range each[SiteRef](s.Head().Node, kSiteRef) {
			if !yield(ref) {
				return
			}
		}
		for ref := range each[SiteRef](s.Node, kSiteRef) {
			if !yield(ref) {
				return
			}
		}
	}
}

// Head is section 8.3.
type Head struct{ Node }

// Title is the title, verbatim.
func (h Head) Title() string { return h.n.child(kTitle).content() }

// Metas yields the name and value pairs.
func (h Head) Metas() iter.Seq[Meta] { return each[Meta](h.Node, kMeta) }

// Meta gives the value of the first meta of that name.
func (h Head) Meta(name string) (string, bool) {
	for m := range h.Metas() {
		if m.Name() == name {
			return m.Value(), true
		}
	}
	return "", false
}

// Trust is the claim of a single-site document to speak for another site
// (section 12.5): its domain in normal form, or "" when it makes none or none
// that can be verified.
func (h Head) Trust() string {
	t := h.n.child(kTrust)
	if !t.ok() {
		return ""
	}
	return normalDomain(t.value("domain"))
}

// Meta is one name and value pair.
type Meta struct{ Node }

func (m Meta) Name() string  { return m.n.value("name") }
func (m Meta) Value() string { return m.n.value("value") }

// SiteRef points to the own document of another site (section 12.6). It never
// makes a claim.
type SiteRef struct{ Node }

// Domain is the other site in normal form; Canonical the https URL of its document.
func (r SiteRef) Domain() string    { return normalDomain(r.n.value("domain")) }
func (r SiteRef) Canonical() string { return r.n.value("canonical") }

// Relationship is as written; absent is "". See Relationship.Known.
func (r SiteRef) Relationship() Relationship { return Relationship(r.n.value("relationship")) }

// normalDomain gives A-labels in lower case, or "" for what is not exactly one
// domain name: no address, port, scheme, list or wildcard.
func normalDomain(s string) string {
	host, err := domain.ParseHost(strings.TrimSuffix(s, "."))
	if err != nil {
		return ""
	}
	return host
}

// Claim is what a document says about whose site it speaks for (section 12.5).
// It proves nothing.
type Claim struct {
	Site    string        // domain in normal form
	Form    string        // "trust" or "site"
	Invalid lookleap.Code // reason code of a claim that cannot be verified, or ""
}

// Claims lists the claims of a document: each usable site of a multi-site
// document, or the trust in the head of a single-site one. Claims that
// contradict each other are all invalid. An agent response claims nothing.
func (d *Document) Claims() (claims []Claim) {
	if d.Role() == RoleAgentResponse {
		return nil
	}
	for s := range d.Sites() {
		claims = append(claims, Claim{Site: s.Domain(), Form: "site"})
	}
	head := d.root().child(kHead)
	if !head.ok() {
		return claims
	}
	for n := head.first(); n.ok(); n = n.next() {
		name := normalDomain(n.value("domain"))
		if n.kind() != kTrust || name == "" {
			continue
		}
		c := Claim{Site: name, Form: "trust"}
		if n.flags()&malformed != 0 {
			c.Invalid = CodeClaim
		}
		if len(claims) > 0 && claims[0].Site == name {
			continue
		}
		claims = append(claims, c)
	}
	if len(claims) > 1 && claims[0].Form == "trust" {
		for i := range claims {
			claims[i].Invalid = CodeClaim
		}
	}
	return claims
}

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
