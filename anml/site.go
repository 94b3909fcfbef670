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
