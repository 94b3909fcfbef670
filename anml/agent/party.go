package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
)

// Party is somebody who speaks in a document: the serving domain, or a site that
// the document claims to speak for.
type Party struct {
	Domain        string                   // normalised
	Serving       bool                     // it delivered the document
	Tier          anmltrust.Tier           // of the serving party for this domain, when the document was read
	Authorization *anmltrust.Authorization // nil: Tier 0, or the serving domain where it claims nothing
	Err           error                    // why it is Tier 0, or nil
	form          anmltrust.Form
	site          anml.Site // whose sections these are; absent: nobody's
	claimed       bool      // the document names the party; else its sections are the server's own
}

// identity is what a page knows about who speaks, beside its parties.
type identity struct {
	findings []lookleap.Finding // about the claims
	personas []*vetted          // one for each party that has a persona of its own
}

// identify finds out who speaks in the document and verifies every claim
// (sections 12.1 to 12.8), within the document's budget of requests. The only
// error is that ctx ended: everything else is Tier 0 for the site concerned.
func (p *Page) identify(ctx context.Context) error {
	outcomes, findings := p.session.trust.VerifyDocument(ctx, p.claims(), p.budget)
	if err := ctx.Err(); err != nil {
		return err
	}
	p.parties = p.assemble(outcomes)
	p.who.findings = findings
	for i := range findings {
		p.session.agent.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: findings[i].Code, Subject: p.location(), Finding: &findings[i]})
	}
	for _, party := range p.parties {
		p.alarm(ctx, party)
	}
	return p.vetPersonas(ctx)
}

// claims restates what the document says about sites for anmltrust. Claims that
// contradict one another are handed on as a contradiction.
func (p *Page) claims() anmltrust.Document {
	d := anmltrust.Document{URL: p.url.String(), Response: p.doc.Role() == anml.RoleAgentResponse}
	if p.doc.Multi() {
		for site := range p.doc.Sites() {
			verified, _ := site.TrustVerified()
			d.Sites = append(d.Sites, anmltrust.SiteClaim{Domain: site.Domain(), Verified: verified})
		}
		return d
	}
	for _, c := range p.doc.Claims() {
		claim := anmltrust.TrustClaim{Domain: c.Site}
		if c.Invalid != "" {
			claim.Site = "another site" // no domain is equal to it
		}
		d.Trust = append(d.Trust, claim)
	}
	return d
}

// assemble makes a party of each outcome, and of the serving domain where the
// document does not name it.
func (p *Page) assemble(outcomes []anmltrust.Outcome) []Party {
	serving := Party{Domain: p.server.Domain, Serving: true, Tier: anmltrust.Self}
	if p.opened.insecure {
		serving.Tier = anmltrust.Unlisted
	}
	if !p.doc.Multi() && len(outcomes) == 0 {
		serving.site = p.doc.Site
	}
	sites := []anml.Site{p.doc.Site}
	if p.doc.Multi() {
		sites = sites[:0]
		for site := range p.doc.Sites() {
			sites = append(sites, site)
		}
	}
	parties := make([]Party, 0, len(outcomes)+1)
	named := false
	for i, o := range outcomes {
		party := Party{Domain: o.Claim.Site, Authorization: o.Authorization, Err: o.Err, form: o.Claim.Form, site: sites[i], claimed: true}
		if name, err := anmltrust.NormalizeSite(o.Claim.Site); err == nil {
			party.Domain = name
		}
		if o.Authorization != nil {
			party.Tier = o.Authorization.Tier
		}
		party.Serving = party.Domain == p.server.Domain || party.Domain == p.server.Host
		named = named || party.Domain == p.server.Domain
		parties = append(parties, party)
	}
	if !named {
		parties = append([]Party{serving}, parties...)
	}
	return parties
}

// serving is the party that delivered the document: it speaks wherever no other
// one was verified.
func (p *Page) serving() Party {
	for _, party := range p.parties {
		if party.Domain == p.server.Domain {
			return party
		}
	}
	return Party{Domain: p.server.Domain, Serving: true}
}

// partyOf finds the party whose site element, or single-site document, it is.
func (p *Page) partyOf(site anml.Site) (Party, bool) {
	for _, party := range p.parties {
		if party.site.Element() != "" && party.site.Same(site.Node) {
			return party, true
		}
	}
	return Party{}, false
}

// owner tells whose a section of a site in this document is at a time: the
// domain that speaks, and how far it counts (rows X1 to X5 and X9 of section
// 12's procedure). OfSite is an assertion of the party's that was verified;
// OfServer is the serving domain's own content, whatever the document calls it.
// Dropped sections are not used: the party is then the one that they pretend to
// come from. Constraints and rights restrict whatever this says: see foreignRules
// and [Page.usage].
func (p *Page) owner(site anml.Site, section anmltrust.Section, now time.Time) (Party, anmltrust.Attribution) {
	party, ok := p.partyOf(site)
	switch {
	case !ok || p.opened.insecure:
		return party, anmltrust.Dropped
	case !party.claimed:
		return party, anmltrust.OfServer
	}
	return p.attributed(party, anmltrust.Attribute(party.Authorization, party.form, section, now))
}

// attributed names the domain that an attribution means.
func (p *Page) attributed(party Party, a anmltrust.Attribution) (Party, anmltrust.Attribution) {
	if a == anmltrust.OfServer {
		return p.serving(), a
	}
	return party, a
}

// location is the document's URL without its query, for logs.
func (p *Page) location() string { return p.url.Origin() + p.url.Path() }

// alarming tells the outcomes of a verification that look like an attack from
// those that look like an absence.
func alarming(code lookleap.Code) bool {
	switch code {
	case lookleap.CodeDNSSECBogus, anmltrust.CodeQueryTLS, anmltrust.CodeManifestTLS, anmltrust.CodeManifestSiteMismatch, anmltrust.CodeManifestRollback:
		return true
	}
	return false
}

// alarm tells the user, once in a session, of a verification that ended so.
func (p *Page) alarm(ctx context.Context, party Party) {
	code := lookleap.CodeOf(party.Err)
	if party.Err == nil || !alarming(code) {
		return
	}
	p.session.notices.tellOnce(ctx, fmt.Sprintf("trust %s %s %s", code, p.server.Domain, party.Domain), Notice{
		Kind: NoticeSecurity, Code: code, Origin: p.url.Origin(),
		Text: fmt.Sprintf("Whether %s may speak for %s could not be verified safely: %s. Nothing in the document counts as said by %s.", p.server.Domain, party.Domain, code.Title(), party.Domain),
	})
}

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
