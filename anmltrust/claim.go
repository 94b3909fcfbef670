package anmltrust

import (
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// Claim is a document's assertion to speak for a site. It is comparable.
type Claim struct {
	URL      string        `json:"url"`               // final URL of the document, after redirects
	Site     string        `json:"site"`              // the domain as the document writes it
	Form     Form          `json:"form"`              // how the document claims
	Response bool          `json:"response,omitzero"` // the document is an agent's response, which can claim nothing
	Verified time.Time     `json:"verified,omitzero"` // trust-verified (section 8.2): a hint, never evidence
	Refused  lookleap.Code `json:"refused,omitzero"`  // why the document's own shape refuses the claim; see [Document.Claims]
}

// Form says how a document claims a site.
type Form uint8

const (
	// SiteElement is a <site> of a document of several sites.
	SiteElement Form = iota
	// TrustElement is the <trust> in the head of a document of one site.
	TrustElement
)

// MaxSites is how many foreign sites of one document are verified.
const MaxSites = 8

// Document is what a document says about sites, as far as claims go.
type Document struct {
	URL      string // final URL
	Response bool   // role agent-response
	Trust    []TrustClaim
	Sites    []SiteClaim // in document order
}

// TrustClaim is a <trust> in the head of a document of one site.
type TrustClaim struct {
	Domain string
	Site   string // the tolerated alias of domain
}

// SiteClaim is a <site>.
type SiteClaim struct {
	Domain   string
	Verified time.Time // trust-verified; zero where absent or unparsable
}

// Claims lists what the document claims, in order, and what is wrong with how it
// does (rows A2 to A5, A7 and A9). Claims that the document's shape refuses come
// with their code and end in Tier 0. No claims: its sections are the server's own.
func (d Document) Claims() ([]Claim, []lookleap.Finding) {
	var findings []lookleap.Finding
	claims := d.trustClaims(&findings)
	claims = append(claims, d.siteClaims()...)
	if d.Response {
		for i := range claims {
			claims[i].Response = true
		}
	}
	return claims, findings
}

func (d Document) trustClaims(findings *[]lookleap.Finding) []Claim {
	var claim Claim
	for _, t := range d.Trust {
		name := t.Domain
		switch {
		case t.Domain == "" && t.Site == "":
			*findings = append(*findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeClaimMalformed, Requirement: "A4",
				Message: "the trust element names no site", Fix: "add its domain"})
			continue
		case t.Domain == "":
			name = t.Site
			*findings = append(*findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: "alias", Requirement: "A4",
				Message: "the trust element writes site for domain", Fix: "write domain"})
		case t.Site != "" && !sameSite(t.Domain, t.Site):
			claim.Refused = CodeClaimInvalid
		}
		if claim.Site != "" && !sameSite(claim.Site, name) {
			claim.Refused = CodeClaimInvalid
		}
		if claim.Site == "" {
			claim.Site = name
		}
	}
	if claim.Site == "" {
		return nil
	}
	claim.URL, claim.Form = d.URL, TrustElement
	return []Claim{claim}
}

func (d Document) siteClaims() []Claim {
	server, _ := ServerOf(d.URL)
	claims := make([]Claim, 0, len(d.Sites))
	names := make(map[string]int, len(d.Sites))
	for _, s := range d.Sites {
		names[normalOrRaw(s.Domain)]++
	}
	foreign := 0
	for _, s := range d.Sites {
		c := Claim{URL: d.URL, Site: s.Domain, Form: SiteElement, Verified: s.Verified}
		name := normalOrRaw(s.Domain)
		if kin(server, name) != self {
			foreign++
		}
		switch {
		case names[name] > 1:
			c.Refused = CodeClaimDuplicate
		case foreign > MaxSites && kin(server, name) != self:
			c.Refused = lookleap.CodeLimit
		}
		claims = append(claims, c)
	}
	return claims
}

func normalOrRaw(name string) string {
	if n, err := NormalizeSite(name); err == nil {
		return n
	}
	return name
}

func sameSite(a, b string) bool { return normalOrRaw(a) == normalOrRaw(b) }

// subject is a claim whose names are understood.
type subject struct {
	server Server
	site   string
}

// preCheck is part A of the procedure. The row and code are empty when the claim
// can be verified.
func (c Claim) preCheck() (s subject, row string, code lookleap.Code) {
	server, err := ServerOf(c.URL)
	hostCode := lookleap.Code("")
	if err != nil {
		hostCode = lookleap.CodeOf(err)
	}
	s.server = server
	switch {
	case hostCode == lookleap.CodeInsecureTransport:
		return s, "A1", hostCode
	case c.Response:
		return s, "A2", CodeNotServed
	case c.Site == "" && c.Refused == "":
		return s, "A3", CodeNoClaim
	case c.Refused == CodeClaimInvalid:
		return s, "A5", c.Refused
	}
	s.site, err = NormalizeSite(c.Site)
	suffix, icann := domain.PublicSuffix(s.site)
	if err == nil && suffix == s.site && !icann && s.site == server.Host {
		hostCode = "" // a private suffix may speak for itself
	} else if err != nil || suffix == s.site {
		return s, "A6", CodeSiteDomainInvalid
	}
	switch {
	case c.Refused == CodeClaimDuplicate:
		return s, "A7", c.Refused
	case hostCode != "":
		return s, "A8", hostCode
	case c.Refused != "":
		return s, "A9", c.Refused
	}
	return s, "", ""
}
