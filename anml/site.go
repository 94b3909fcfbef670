package anml

import (
	"iter"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// Site holds sections: it is a <site> of a multi-site document, or the root of a
// single-site document (sections 8.1 and 8.2). Constraints, actions, asks and ids apply
// only to the site that contains them.
type Site struct{ Node }

// Domain returns the site's domain with A-labels, in lower case and without a trailing dot.
// It returns "" for a single-site document; [Head.Trust] returns the claim of that.
func (s Site) Domain() string {
	if !s.n.ok() || s.n.kind() != kSite {
		return ""
	}
	return normalDomain(s.n.value("domain"))
}

// TrustVerified returns when the document says that authorization was last checked, and
// false if it does not say. It is a hint and never replaces a check (section 8.2).
func (s Site) TrustVerified() (time.Time, bool) { return s.moment("trust-verified") }

// Head returns title, metadata and trust claim (section 8.3).
func (s Site) Head() Head { return child[Head](s.Node, kHead) }

// Constraints returns the disclosure rules of the site (section 8.4).
func (s Site) Constraints() Constraints { return Constraints(s) }

// State returns the workflow and the position in it (section 8.5).
func (s Site) State() State { return child[State](s.Node, kState) }

// Interact returns the actions (section 8.6).
func (s Site) Interact() Interact { return child[Interact](s.Node, kInteract) }

// Knowledge returns informs, asks, answers and refusals (section 8.7).
func (s Site) Knowledge() Knowledge { return child[Knowledge](s.Node, kKnowledge) }

// Persona returns advice on how to present the service (section 8.8).
func (s Site) Persona() Persona { return child[Persona](s.Node, kPersona) }

// Aesthetic returns advice on looks (section 8.9).
func (s Site) Aesthetic() Aesthetic { return child[Aesthetic](s.Node, kAesthetic) }

// Body returns the content (section 8.10).
func (s Site) Body() Body { return child[Body](s.Node, kBody) }

// Footer returns rights and attributions (section 8.12).
func (s Site) Footer() Footer { return child[Footer](s.Node, kFooter) }

// Status returns the outcome of a submitted action (section 8.13).
func (s Site) Status() Status { return child[Status](s.Node, kStatus) }

// SiteRefs yields the references to documents of other sites, first those in the head, then
// those in the site itself (section 12.6).
func (s Site) SiteRefs() iter.Seq[SiteRef] {
	return func(yield func(SiteRef) bool) {
		for _, parent := range []Node{s.Head().Node, s.Node} {
			for ref := range each[SiteRef](parent, kSiteRef) {
				if !yield(ref) {
					return
				}
			}
		}
	}
}

// Head is the head of a site (section 8.3).
type Head struct{ Node }

// Title returns the title as it is written (section 8.3.1).
func (h Head) Title() string { return h.n.child(kTitle).content() }

// Metas yields the name and value pairs in document order (section 8.3.2).
func (h Head) Metas() iter.Seq[Meta] { return each[Meta](h.Node, kMeta) }

// Meta returns the value of the first meta with that name, and false if there is no such meta.
func (h Head) Meta(name string) (string, bool) {
	for m := range h.Metas() {
		if m.Name() == name {
			return m.Value(), true
		}
	}
	return "", false
}

// Trust returns the domain that a single-site document claims to speak for, in the form of
// [Site.Domain] (section 12.5). It returns "" without a claim that can be verified.
func (h Head) Trust() string {
	t := h.n.child(kTrust)
	if !t.ok() {
		return ""
	}
	return normalDomain(t.value("domain"))
}

// Meta is one name and value pair of a head.
type Meta struct{ Node }

// Name returns the name.
func (m Meta) Name() string { return m.n.value("name") }

// Value returns the value.
func (m Meta) Value() string { return m.n.value("value") }

// SiteRef refers to another site's own document (section 12.6). It is not a claim.
type SiteRef struct{ Node }

// Domain returns the other site's domain in the form of [Site.Domain].
func (r SiteRef) Domain() string { return normalDomain(r.n.value("domain")) }

// Canonical returns the https URL of the other site's document.
func (r SiteRef) Canonical() string { return r.n.value("canonical") }

// Relationship returns the relationship as it is written, "" if it is absent.
// [Relationship.Known] reports whether it is registered.
func (r SiteRef) Relationship() Relationship { return Relationship(r.n.value("relationship")) }

// normalDomain returns a domain name with A-labels in lower case. It returns "" for anything
// but one domain name: addresses, ports, schemes, lists, wildcards.
func normalDomain(s string) string {
	host, err := domain.ParseHost(strings.TrimSuffix(s, "."))
	if err != nil {
		return ""
	}
	return host
}

// Claim is what a document says about the site that it speaks for (section 12.5). It proves
// nothing until package anmltrust verifies it.
type Claim struct {
	Site    string        // in the form of Site.Domain
	Form    string        // "trust" or "site"
	Invalid lookleap.Code // reason code of a claim that cannot be verified, or ""
}

// Claims returns the claims of a document: one for each usable site of a multi-site
// document, or the trust in the head of a single-site document. Claims that contradict each
// other are all invalid. An agent response has no claims.
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
	for n := range head.all() {
		name := normalDomain(n.value("domain"))
		if n.kind() != kTrust || name == "" || len(claims) > 0 && claims[0].Site == name {
			continue
		}
		c := Claim{Site: name, Form: "trust"}
		if n.flags()&malformed != 0 {
			c.Invalid = codeClaim
		}
		claims = append(claims, c)
	}
	if len(claims) > 1 && claims[0].Form == "trust" {
		for i := range claims {
			claims[i].Invalid = codeClaim
		}
	}
	return claims
}

// Status is the outcome of a submitted action (section 8.13).
type Status struct{ Node }

// Code returns the service's code for the outcome.
func (s Status) Code() string { return s.n.value("code") }

// Message returns the service's text about the outcome.
func (s Status) Message() string { return s.n.value("message") }

// Result returns the outcome. An absent status and an unknown word are errors.
func (s Status) Result() Result { return parse[Result](resultWords[:], s.n.value("result")) }

// RetryAfter returns how long to wait, and false without a valid time.
func (s Status) RetryAfter() (time.Duration, bool) {
	n, _, ok := s.integer("retry-after")
	return time.Duration(n) * time.Second, ok
}

// Persona is advice on how to present the service (section 8.8). It is untrusted text and
// never overrides the user or a safety rule.
type Persona struct{ Node }

// Model returns the language model that the service prefers (section 8.8.1).
func (p Persona) Model() Model { return child[Model](p.Node, kModel) }

// Language returns the language that the service prefers (section 8.8.2).
func (p Persona) Language() Language { return child[Language](p.Node, kLanguage) }

// Tone returns the tone that the service prefers (section 8.8.3).
func (p Persona) Tone() string { return p.n.child(kTone).value("value") }

// Voice returns the voice that the service prefers (section 8.8.4).
func (p Persona) Voice() Voice { return child[Voice](p.Node, kVoice) }

// Instructions returns the service's instructions as untrusted text (section 8.8.5).
func (p Persona) Instructions() string { return p.n.child(kInstructions).content() }

// Prefer yields the words to prefer (section 8.8.7).
func (p Persona) Prefer() iter.Seq[string] { return childTexts(p.n.child(kVocabulary), kPrefer) }

// Avoid yields the words to avoid (section 8.8.8).
func (p Persona) Avoid() iter.Seq[string] { return childTexts(p.n.child(kVocabulary), kAvoid) }

// childTexts yields the texts of the usable children of a kind.
func childTexts(n node, k kind) iter.Seq[string] {
	return func(yield func(string) bool) {
		for c := range n.all() {
			if c.kind() == k && c.usable() && !yield(c.content()) {
				return
			}
		}
	}
}

// Model is a preference for a language model (section 8.8.1).
type Model struct{ Node }

// Name returns the name of the model.
func (m Model) Name() string { return m.n.value("name") }

// Provider returns the provider of the model.
func (m Model) Provider() string { return m.n.value("provider") }

// Capability returns what the model has to be able to do.
func (m Model) Capability() string { return m.n.value("capability") }

// Language is a preference for a language (section 8.8.2).
type Language struct{ Node }

// Value returns the language tag.
func (l Language) Value() string { return l.n.value("value") }

// Policy returns the policy, and LanguageUnstated for "fixed" without a value.
func (l Language) Policy() LanguagePolicy {
	p := parse[LanguagePolicy](languageWords[:], l.n.value("policy"))
	if p == LanguageFixed && l.Value() == "" {
		return LanguageUnstated
	}
	return p
}

// Voice is a preference for a voice (section 8.8.4).
type Voice struct{ Node }

// Name returns the name of the voice.
func (v Voice) Name() string { return v.n.value("name") }

// Perspective returns the grammatical person, PerspectiveUnstated for an unknown word.
func (v Voice) Perspective() Perspective {
	return parse[Perspective](perspectiveWords[:], v.n.value("perspective"))
}

// Aesthetic is advice on looks (section 8.9). No part of it identifies the service.
type Aesthetic struct{ Node }

// DisplayName returns the name to show (section 8.9.1).
func (a Aesthetic) DisplayName() string { return a.n.child(kDisplayName).content() }

// Logos yields the logos in document order (section 8.9.2).
func (a Aesthetic) Logos() iter.Seq[Logo] { return each[Logo](a.Node, kLogo) }

// Colors yields the colours in document order (section 8.9.4).
func (a Aesthetic) Colors() iter.Seq[Color] {
	return each[Color](Node{a.n.child(kColors), a.d}, kColor)
}

// Fonts yields the fonts in document order (section 8.9.6).
func (a Aesthetic) Fonts() iter.Seq[Font] {
	return each[Font](Node{a.n.child(kTypography), a.d}, kFont)
}

// Logo refers to an image (section 8.9.2). This package never fetches it.
type Logo struct{ Node }

// Src returns the URI reference of the image.
func (l Logo) Src() string { return l.n.value("src") }

// Alt returns the text that replaces the image.
func (l Logo) Alt() string { return l.n.value("alt") }

// Type returns the media type of the image, "" if it is absent.
func (l Logo) Type() string { return l.n.value("type") }

// Variant returns which variant of the logo this is.
func (l Logo) Variant() string { return l.n.value("variant") }

// Color is a CSS colour for a role (section 8.9.4). This package does not interpret it.
type Color struct{ Node }

// Role returns what the colour is for.
func (c Color) Role() string { return c.n.value("role") }

// Value returns the colour as it is written.
func (c Color) Value() string { return c.n.value("value") }

// Font is a font family for a role (section 8.9.6).
type Font struct{ Node }

// Role returns what the font is for.
func (f Font) Role() string { return f.n.value("role") }

// Family returns the font family.
func (f Font) Family() string { return f.n.value("family") }

// Fallback returns the font family to use if the first is not available.
func (f Font) Fallback() string { return f.n.value("fallback") }

// Footer holds text, rights and attributions in any order (section 8.12).
type Footer struct{ Node }

// Text returns the footer's own text, without the text of its elements.
func (f Footer) Text() string { return f.text() }

// Content yields texts and elements in document order.
func (f Footer) Content() iter.Seq[Content] { return contents(f.Node) }

// Rights yields the rights statements in document order (section 8.12.1).
func (f Footer) Rights() iter.Seq[Rights] { return each[Rights](f.Node, kRights) }

// Attributions yields the credits in document order (section 8.12.2).
func (f Footer) Attributions() iter.Seq[Attribution] {
	return each[Attribution](f.Node, kAttribution)
}

// Rights is a rights statement about the site, or about the elements that its scope names
// (section 8.12.1).
type Rights struct{ Node }

// Text returns the wording of the statement.
func (r Rights) Text() string { return r.text() }

// Holder returns who holds the rights.
func (r Rights) Holder() string { return r.n.value("holder") }

// Year returns the year of the rights.
func (r Rights) Year() string { return r.n.value("year") }

// License returns the name or URI of the license.
func (r Rights) License() string { return r.n.value("license") }

// Scope returns the id of the elements that the statement covers, "" for the whole site.
func (r Rights) Scope() string { return r.n.value("scope") }

// Usage returns what the statement grants: UsageNone if the attribute is absent or unknown.
func (r Rights) Usage() Usage { return parseUsage(r.n.value("usage")) }

// Attribution is a credit (section 8.12.2).
type Attribution struct{ Node }

// Text returns the credit.
func (a Attribution) Text() string { return a.text() }

// Required reports whether the credit has to be shown. An invalid value counts as true.
func (a Attribution) Required() bool { return a.boolean("required", false, true) }

// Scope returns the id of the elements that the credit is about, "" for the whole site.
func (a Attribution) Scope() string { return a.n.value("scope") }
