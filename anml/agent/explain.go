package agent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/zero"
)

// Explanation says who speaks in which part of a document (sections 12.7 and 8.8). It
// marshals to JSON; String renders it as a tree for people.
type Explanation struct {
	Document   string             `json:"document"` // URL without its query
	Serving    string             `json:"serving"`  // serving domain
	At         time.Time          `json:"at"`
	Assertions []Assertion        `json:"assertions"`         // every section of every site, in the order of the document
	Unused     []lookleap.Finding `json:"unused,omitempty"`   // sites that are not used because the document is malformed
	Personas   []PersonaReport    `json:"personas,omitempty"` // of every party that has one
	SiteRefs   []RefReport        `json:"siteRefs,omitempty"`
	Findings   []lookleap.Finding `json:"findings,omitempty"` // as [Page.Findings]
}

// Assertion is one section of a document: who claims to speak in it, and how it counts.
type Assertion struct {
	Site     string            `json:"site"` // that the document claims, or its own
	Section  anmltrust.Section `json:"section"`
	Owner    string            `json:"owner,omitempty"`  // domain whose content it counts as; "" if it is not used
	Tier     int               `json:"tier"`             // 0 to 3: how far the server may speak for the site now
	Source   []string          `json:"source,omitempty"` // the site's URIs that authorized it
	Reason   lookleap.Code     `json:"reason"`           // why the tier is what it is
	DNSSEC   string            `json:"dnssec,omitempty"` // of the site's record
	Until    time.Time         `json:"until,omitzero"`   // when the authorization ends
	Applied  bool              `json:"applied"`          // it is used as content of its owner
	Why      lookleap.Code     `json:"why,omitempty"`    // why it is not the site's, or is not used
	Restrict bool              `json:"restricts,omitempty"`
	Note     string            `json:"note,omitempty"` // which parts are left out
}

// RefReport is the result of one site-ref.
type RefReport struct {
	Site   string        `json:"site"`
	Known  bool          `json:"known"` // its own document was read, at Tier 3
	Reason lookleap.Code `json:"reason"`
}

// reason returns why a party has its tier.
func (p *Page) reason(party Party) lookleap.Code {
	switch {
	case p.opened.insecure:
		return lookleap.CodeInsecureTransport
	case party.Err != nil:
		return lookleap.CodeOf(party.Err)
	case party.Authorization != nil:
		return party.Authorization.Reason
	}
	return anmltrust.CodeNoClaim
}

// Owner returns the party that a section of a site belongs to now, and whether the
// section is its assertion, counts as the serving domain's content, or is not used
// (section 12.7). Present content only under the name and with the persona of its owner.
func (p *Page) Owner(site anml.Site, section anmltrust.Section) (Party, anmltrust.Attribution) {
	p = zero.Or(p)
	return p.owner(site, section, p.session.now())
}

// Explain returns which party makes which assertion of the document, at which tier, why,
// and whether it is used. It sends no requests.
func (p *Page) Explain() Explanation {
	p = zero.Or(p)
	now := p.session.now()
	e := Explanation{Document: p.location(), Serving: p.server.Domain, At: now, Findings: p.Findings()}
	for _, party := range p.parties {
		site := party.site
		if site.Element() == "" {
			continue
		}
		for _, s := range []struct {
			section anmltrust.Section
			present bool
		}{
			{anmltrust.Head, site.Head().Exists()}, {anmltrust.Status, site.Status().Exists()},
			{anmltrust.Constraints, site.Constraints().Exists()}, {anmltrust.State, site.State().Exists()},
			{anmltrust.Interact, site.Interact().Exists()}, {anmltrust.Knowledge, site.Knowledge().Exists()},
			{anmltrust.Persona, site.Persona().Exists()}, {anmltrust.Aesthetic, site.Aesthetic().Exists()},
			{anmltrust.Body, site.Body().Exists()}, {anmltrust.Footer, site.Footer().Exists()},
		} {
			if s.present {
				e.Assertions = append(e.Assertions, p.assertion(party, s.section, now))
			}
		}
		if site.Persona().Exists() {
			e.Personas = append(e.Personas, p.Persona(party.Domain).Report)
		}
	}
	for _, f := range p.doc.Findings() {
		if f.Severity == lookleap.SeverityError && strings.Contains(f.Path, "/site") && strings.Count(f.Path, "/") == 2 {
			e.Unused = append(e.Unused, f)
		}
	}
	for _, r := range p.refs {
		report := RefReport{Site: r.Domain, Known: r.Page != nil, Reason: anmltrust.CodeSelf}
		if r.Page == nil { // the error says no more than "unknown"
			report.Reason = lookleap.CodeOf(cmp.Or(errors.Unwrap(r.Err), r.Err))
		}
		e.SiteRefs = append(e.SiteRefs, report)
	}
	return e
}

// assertion returns the explanation of one section.
func (p *Page) assertion(party Party, section anmltrust.Section, now time.Time) Assertion {
	a := Assertion{Site: party.Domain, Section: section, Tier: int(party.Tier), Reason: p.reason(party)}
	if auth := party.Authorization; auth != nil {
		a.Source, a.Until = slices.Clone(auth.Sources), auth.Expires
		if len(auth.Sources) > 0 {
			a.DNSSEC = auth.DNSSEC.String()
		}
		if !auth.Holds(now) {
			a.Tier = 0
		}
	}
	owner, attribution := p.owner(party.site, section, now)
	a.Applied = attribution != anmltrust.Dropped
	if a.Applied {
		a.Owner = owner.Domain
	}
	if attribution != anmltrust.OfSite && party.claimed || !a.Applied {
		a.Why = p.whyNot(party, now)
		a.Restrict = section == anmltrust.Constraints || section == anmltrust.Footer
	}
	switch {
	case section == anmltrust.Persona && a.Applied:
		if r := p.Persona(party.Domain).Report; r.Withheld != "" {
			a.Applied, a.Why = false, r.Withheld
		}
	case section == anmltrust.Knowledge && attribution == anmltrust.OfSite:
		a.Note = p.cutKnowledge(party, now)
	}
	return a
}

// whyNot returns why a section is not an assertion of its site.
func (p *Page) whyNot(party Party, now time.Time) lookleap.Code {
	switch auth := party.Authorization; {
	case p.opened.insecure || auth == nil:
		return p.reason(party)
	case !auth.Holds(now):
		return CodeAuthorizationOver
	}
	return CodeNotInScope
}

// cutKnowledge returns what Tier 1 removes from a permitted knowledge section.
func (p *Page) cutKnowledge(party Party, now time.Time) string {
	asks, informs := 0, 0
	for range party.site.Knowledge().Asks() {
		if owner, a := p.ownerOfAsk(party.site, now); a != anmltrust.OfSite || owner.Domain != party.Domain {
			asks++
		}
	}
	for inform := range party.site.Knowledge().Informs() {
		if owner, a := p.ownerOfInform(party.site, inform, now); a != anmltrust.OfSite || owner.Domain != party.Domain {
			informs++
		}
	}
	if asks+informs == 0 {
		return ""
	}
	return fmt.Sprintf("%d asks and %d informs are beyond the tier", asks, informs)
}

// String returns the explanation as a tree. Remote text cannot hide or forge a line.
func (e Explanation) String() string {
	var b strings.Builder
	line := func(depth int, format string, args ...any) {
		b.WriteString(strings.Repeat("  ", depth) + plaintext.Line(fmt.Sprintf(format, args...)) + "\n")
	}
	line(0, "%s, served by %s", e.Document, plaintext.Host(e.Serving))
	site := ""
	for _, a := range e.Assertions {
		if a.Site != site {
			site = a.Site
			source := ""
			if len(a.Source) > 0 {
				source = fmt.Sprintf(" (%s, DNSSEC %s, until %s)", strings.Join(a.Source, ", "), a.DNSSEC, a.Until.UTC().Format(time.RFC3339))
			}
			line(1, "%s: Tier %d, %s%s", plaintext.Host(site), a.Tier, a.Reason.Title(), source)
		}
		line(2, "%s", a.sentence())
	}
	for _, f := range e.Unused {
		line(1, "not used: %s", f)
	}
	for _, r := range e.Personas {
		r.print(line)
	}
	for _, r := range e.SiteRefs {
		if r.Known {
			line(1, "site-ref %s: read from the site itself", plaintext.Host(r.Site))
		} else {
			line(1, "site-ref %s: unknown, %s", plaintext.Host(r.Site), r.Reason.Title())
		}
	}
	for _, f := range e.Findings {
		line(1, "finding: %s", f)
	}
	return b.String()
}

// sentence returns in words how a section counts.
func (a Assertion) sentence() string {
	var s string
	switch {
	case !a.Applied:
		s = fmt.Sprintf("%s: not used, %s", a.Section, a.Why.Title())
	case a.Owner != a.Site:
		s = fmt.Sprintf("%s: %s's own, %s", a.Section, a.Owner, a.Why.Title())
	default:
		s = fmt.Sprintf("%s: said by %s", a.Section, a.Owner)
	}
	if a.Restrict {
		s += "; what it forbids still holds"
	}
	if a.Note != "" {
		s += "; " + a.Note
	}
	return s
}

// print writes the persona's lines to a tree.
func (r PersonaReport) print(line func(depth int, format string, args ...any)) {
	if r.Withheld != "" {
		by := ""
		if r.By != "" {
			by = ", found by " + r.By
		}
		line(1, "persona of %s: withheld, %s%s", r.Owner, r.Withheld.Title(), by)
		return
	}
	line(1, "persona of %s", r.Owner)
	for _, part := range []struct {
		word string
		list []Guidance
	}{{"applied", r.Applied}, {"overridden", r.Overridden}, {"informational", r.Informational}} {
		for _, g := range part.list {
			text := string(g.Item)
			if !g.Value.Empty() {
				text = g.Value.Label() + " " + plaintext.Quote(g.Value.Raw(), 80)
			}
			if g.Reason != "" {
				text += ": " + g.Reason
			}
			line(2, "%s: %s", part.word, text)
		}
	}
}
