package agent

import (
	"time"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
)

// ownerOfAsk is [Page.owner] for the asks of a site: at Tier 1 none is the
// site's, even where knowledge is in scope (section 12.1).
func (p *Page) ownerOfAsk(site anml.Site, now time.Time) (Party, anmltrust.Attribution) {
	party, a := p.owner(site, anmltrust.Knowledge, now)
	if a == anmltrust.OfSite && !party.Authorization.PermitsAsk(now) {
		return p.beyond(party)
	}
	return party, a
}

// ownerOfInform is [Page.owner] for an inform of a site: at Tier 1 only public
// ones are the site's.
func (p *Page) ownerOfInform(site anml.Site, inform anml.Inform, now time.Time) (Party, anmltrust.Attribution) {
	party, a := p.owner(site, anmltrust.Knowledge, now)
	if a == anmltrust.OfSite && !party.Authorization.PermitsInform(inform.Confidentiality().String(), now) {
		return p.beyond(party)
	}
	return party, a
}

// beyond is whose a part of a section is that the tier cuts out of it: what a
// section out of scope would be.
func (p *Page) beyond(party Party) (Party, anmltrust.Attribution) {
	return p.attributed(party, anmltrust.Attribute(nil, party.form, anmltrust.Knowledge, time.Time{}))
}

// foreignRules reports whether the constraints of a site come from somebody else
// than whoever would be told. Then they still restrict, and permit nothing: a
// field that they leave free is one that needs explicit consent (row X6).
func (p *Page) foreignRules(site anml.Site, told Party, now time.Time) bool {
	from, a := p.owner(site, anmltrust.Constraints, now)
	return a == anmltrust.Dropped || from.Domain != told.Domain
}

// usage is what may be done with an element of a section of a site. Limits count
// whoever wrote them; beside a footer, where rights are stated, that does not come
// from the owner of the section nothing permits more than display (row X6,
// section 14.4).
func (p *Page) usage(site anml.Site, section anmltrust.Section, element anml.Node, now time.Time) anml.Usage {
	u := element.Usage()
	owner, a := p.owner(site, section, now)
	if a == anmltrust.Dropped {
		return min(u, anml.UsageDisplay)
	}
	if from, fa := p.owner(site, anmltrust.Footer, now); site.Footer().Exists() && (fa == anmltrust.Dropped || from.Domain != owner.Domain) {
		return min(u, anml.UsageDisplay)
	}
	return u
}
