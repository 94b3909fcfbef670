package agent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
)

// Party is a domain that speaks in a document: the serving domain, or a site that the
// document claims to speak for.
type Party struct {
	Domain        string                   // normalised
	Serving       bool                     // it served the document
	Tier          anmltrust.Tier           // of the server for this domain, when the document was read
	Authorization *anmltrust.Authorization // nil for Tier 0, and for a serving domain without a claim
	Err           error                    // why the Tier is 0, or nil
	form          anmltrust.Form
	site          anml.Site // whose sections these are; may be absent
	claimed       bool      // the document names the party; otherwise its sections are the server's own
	persona       *vetted   // nil if it has none that may be used
}

// identify verifies every claim of the document to speak for a site (sections 12.1 to
// 12.8), within the document's budget of requests. It returns an error only if ctx
// ended: a failed verification is Tier 0 for the site.
func (p *Page) identify(ctx context.Context) error {
	outcomes, _ := p.session.trust.VerifyDocument(ctx, p.claims(), p.budget) // the document has these findings
	if err := ctx.Err(); err != nil {
		return err
	}
	p.parties = p.assemble(outcomes)
	for _, party := range p.parties {
		code := lookleap.CodeOf(party.Err)
		if slices.Contains(attackCodes, code) {
			p.session.notify(ctx, fmt.Sprintf("%s %s %s", code, p.server.Domain, party.Domain), NoticeSecurity, code, p.url.Origin(),
				fmt.Sprintf("Whether %s may speak for %s could not be verified: %s. No part of the document counts as a statement of %s.",
					p.server.Domain, party.Domain, code.Title(), party.Domain))
		}
	}
	return p.vetPersonas(ctx)
}

// claims returns the document's claims as anmltrust verifies them. It passes on
// claims that contradict each other.
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

// assemble returns a party for each outcome, and one for the serving domain if the
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
		sites = slices.Collect(p.doc.Sites())
	}
	parties := make([]Party, 0, len(outcomes)+1)
	named := false
	for i, o := range outcomes {
		party := Party{Domain: o.Claim.Site, Authorization: o.Authorization, Err: o.Err, form: o.Claim.Form, site: sites[i], claimed: true}
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

// serving returns the party that served the document. It speaks wherever no other party
// was verified.
func (p *Page) serving() Party {
	if at := slices.IndexFunc(p.parties, func(party Party) bool { return party.Domain == p.server.Domain }); at >= 0 {
		return p.parties[at]
	}
	return Party{Domain: p.server.Domain, Serving: true}
}

// owner returns the party that a section of a site belongs to at a time, and how it
// counts (rows X1 to X5 and X9 of docs/trust-procedure.md). OfSite is a verified
// assertion of the party. OfServer is the serving domain's own content, no matter what
// the document calls it. Dropped sections are not used; the party is the claimed one.
// Constraints and rights also restrict sections that are not the site's: see
// foreignRules and [Page.usage].
func (p *Page) owner(site anml.Site, section anmltrust.Section, now time.Time) (Party, anmltrust.Attribution) {
	at := slices.IndexFunc(p.parties, func(party Party) bool { return party.site.Element() != "" && party.site.Same(site.Node) })
	if at < 0 {
		return Party{}, anmltrust.Dropped
	}
	party := p.parties[at]
	switch {
	case p.opened.insecure:
		return party, anmltrust.Dropped
	case !party.claimed:
		return party, anmltrust.OfServer
	}
	return p.attributed(party, anmltrust.Attribute(party.Authorization, party.form, section, now))
}

// attributed returns the party that an attribution means.
func (p *Page) attributed(party Party, a anmltrust.Attribution) (Party, anmltrust.Attribution) {
	if a == anmltrust.OfServer {
		return p.serving(), a
	}
	return party, a
}

func (p *Page) location() string { return p.url.Origin() + p.url.Path() }

// attackCodes are the outcomes of a verification that look like an attack and not like an absence. The
// user is told of each once in a session.
var attackCodes = []lookleap.Code{lookleap.CodeDNSSECBogus, anmltrust.CodeQueryTLS, anmltrust.CodeManifestTLS,
	anmltrust.CodeManifestSiteMismatch, anmltrust.CodeManifestRollback}

// ownerOfAsk is [Page.owner] for the asks of a site. At Tier 1 they are not the site's,
// even if knowledge is in scope (section 12.1).
func (p *Page) ownerOfAsk(site anml.Site, now time.Time) (Party, anmltrust.Attribution) {
	return p.ownerOfKnowledge(site, now, func(a *anmltrust.Authorization) bool { return a.PermitsAsk(now) })
}

// ownerOfInform is [Page.owner] for an inform of a site. At Tier 1 only public informs
// are the site's.
func (p *Page) ownerOfInform(site anml.Site, inform anml.Inform, now time.Time) (Party, anmltrust.Attribution) {
	return p.ownerOfKnowledge(site, now, func(a *anmltrust.Authorization) bool {
		return a.PermitsInform(inform.Confidentiality().String(), now)
	})
}

// ownerOfKnowledge is [Page.owner] for a part of knowledge. What the tier does not permit has the owner
// of a section that is out of scope.
func (p *Page) ownerOfKnowledge(site anml.Site, now time.Time, permits func(*anmltrust.Authorization) bool) (Party, anmltrust.Attribution) {
	party, a := p.owner(site, anmltrust.Knowledge, now)
	if a == anmltrust.OfSite && !permits(party.Authorization) {
		return p.attributed(party, anmltrust.Attribute(nil, party.form, anmltrust.Knowledge, time.Time{}))
	}
	return party, a
}

// foreignRules reports whether the constraints of a site come from another party than
// the recipient. Such constraints can only restrict: a field that they leave free
// needs explicit consent (row X6).
func (p *Page) foreignRules(site anml.Site, told Party, now time.Time) bool {
	from, a := p.owner(site, anmltrust.Constraints, now)
	return a == anmltrust.Dropped || from.Domain != told.Domain
}

// usage returns what may be done with an element of a section of a site: the lowest usage of everything
// that covers it, no matter who wrote it. It is at most display if the owner is not verified, or if the
// footer, which states rights, is not from the owner of the section (row X6). If the response must not
// be stored, it is only showing at once (sections 8.1.1, 14.4 and 16.5).
func (p *Page) usage(site anml.Site, section anmltrust.Section, element anml.Node, now time.Time) anml.Usage {
	if p.opened.noStore {
		return anml.UsageNone
	}
	u := element.Usage()
	owner, a := p.owner(site, section, now)
	if a == anmltrust.Dropped {
		return min(u, anml.UsageDisplay)
	}
	if from, fa := p.owner(site, anmltrust.Footer, now); site.Footer().Exists() &&
		(fa == anmltrust.Dropped || from.Domain != owner.Domain) {
		return min(u, anml.UsageDisplay)
	}
	return u
}
