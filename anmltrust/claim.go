package anmltrust

import (
	"cmp"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
)

// Claim is a document's assertion to speak for a site. It is comparable.
type Claim struct {
	URL      string        `json:"url"`               // final URL of the document, after redirects
	Site     string        `json:"site"`              // the domain as the document writes it
	Form     Form          `json:"form"`              // how the document claims
	Response bool          `json:"response,omitzero"` // the document is an agent's response, which can claim nothing
	Verified time.Time     `json:"verified,omitzero"` // trust-verified (section 8.2): a hint, never evidence
	Refused  lookleap.Code `json:"refused,omitzero"`  // why the document itself makes the claim invalid; see [Document.Claims]
}

// Form says how a document claims a site.
type Form uint8

const (
	// SiteElement is a <site> of a document of several sites.
	SiteElement Form = iota
	// TrustElement is the <trust> in the head of a document of one site.
	TrustElement
)

// maxSites is how many foreign sites of one document are verified.
const maxSites = 8

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
	Site   string // the attribute site, which is accepted in place of domain
}

// SiteClaim is a <site>.
type SiteClaim struct {
	Domain   string
	Verified time.Time // trust-verified; zero where absent or unparsable
}

// Claims returns the claims of the document, in order, and findings about them
// (rows A2 to A5, A7 and A9). A claim that the document itself makes invalid has
// its code in Refused and ends in Tier 0. Without claims, all sections are the
// server's own.
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
	claim := Claim{URL: d.URL, Form: TrustElement}
	for _, t := range d.Trust {
		name := t.Domain
		switch {
		case t.Domain == "" && t.Site == "":
			*findings = append(*findings, warn(CodeClaimMalformed, "A4", "the trust element names no site", "add its domain"))
			continue
		case t.Domain == "":
			name = t.Site
			*findings = append(*findings, warn("alias", "A4", "the trust element writes site for domain", "write domain"))
		case t.Site != "" && normalOrRaw(t.Domain) != normalOrRaw(t.Site):
			claim.Refused = CodeClaimInvalid
		}
		if claim.Site = cmp.Or(claim.Site, name); normalOrRaw(claim.Site) != normalOrRaw(name) {
			claim.Refused = CodeClaimInvalid
		}
	}
	if claim.Site == "" {
		return nil
	}
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
		c, name := Claim{URL: d.URL, Site: s.Domain, Form: SiteElement, Verified: s.Verified}, normalOrRaw(s.Domain)
		isForeign := kin(server, name) != self
		if isForeign {
			foreign++
		}
		switch {
		case names[name] > 1:
			c.Refused = CodeClaimDuplicate
		case isForeign && foreign > maxSites:
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

// subject is a claim whose names are understood.
type subject struct {
	server Server
	site   string
}

// preCheck is part A of the procedure. The row and code are empty when the claim
// can be verified.
func (c Claim) preCheck() (s subject, row string, code lookleap.Code) {
	server, err := ServerOf(c.URL)
	s.server = server
	var hostCode lookleap.Code
	if err != nil {
		hostCode = lookleap.CodeOf(err)
	}
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

// Server is the party that delivered a document. It is taken from the final URL
// only, never from a certificate (section 3).
type Server struct {
	Host   string `json:"host"`   // A-labels, lower case, no port, no final dot
	Domain string `json:"domain"` // registrable domain by the Public Suffix List, private section included; the host itself if it has no such domain
}

// ServerOf returns the server of a document's final https URL. Its error is an
// [*lookleap.Error]: insecure-transport for another scheme, serving-host-invalid for a
// host that cannot take part in a delegation (an IP address, a single label, a
// public suffix). In the latter case the Server is still set if the host is a name,
// because such a host may speak for itself.
func ServerOf(documentURL string) (Server, error) {
	rules := domain.Rules{Schemes: []string{"https", "http"}}
	u, err := rules.Parse(documentURL)
	var bad *domain.Error
	if errors.As(err, &bad) && bad.Code == domain.CodeTrailingDot {
		if parsed, perr := url.Parse(documentURL); perr == nil {
			parsed.Host = strings.TrimSuffix(parsed.Hostname(), ".") + ":" + parsed.Port()
			u, err = rules.Parse(parsed.String())
		}
	}
	if errors.As(err, &bad) && bad.Code == domain.CodeNotHTTPS || err == nil && u.Scheme() != "https" {
		return Server{}, refuse(lookleap.CodeInsecureTransport, lookleap.Position{}, "serve the document over https",
			"the document did not come over https")
	}
	if err != nil {
		return Server{}, refuse(CodeServingHostInvalid, lookleap.Position{}, "", "%s",
			fetch.URLError("", "the document's URL names no usable host", err).Message)
	}
	s := Server{Host: u.Host(), Domain: u.Host()}
	registrable, ok := domain.Registrable(s.Host)
	if !ok {
		return s, refuse(CodeServingHostInvalid, lookleap.Position{}, "", "%s has no registrable domain", s.Host)
	}
	s.Domain = registrable
	return s, nil
}

var (
	errPublicSuffix = errors.New("it is a public suffix")
	errNameTooLong  = errors.New("it is too long to carry an _anml record")
)

// maxSite leaves room for "_anml." in a name of 253 bytes.
const maxSite = 253 - len(recordPrefix)

const recordPrefix = "_anml."

// NormalizeSite returns a site's domain in the form that is compared: A-labels, in
// lower case, without a final dot. It returns an error for anything but a domain
// name.
func NormalizeSite(name string) (string, error) {
	host, err := domain.ParseHost(strings.TrimSuffix(name, "."))
	if err != nil {
		bad := fetch.URLError("", "", err)
		bad.Code = CodeSiteDomainInvalid
		return "", bad
	}
	if len(host) > maxSite {
		return "", errNameTooLong
	}
	return host, nil
}

// kinship is what a server is to a site (rows B1 and B2 to B6).
type kinship uint8

const (
	third kinship = iota
	self          // row B1
	below         // the site is the serving domain, the host another one below it
)

func kin(s Server, site string) kinship {
	switch {
	case site == s.Host, site == s.Domain && s.Host == "www."+site:
		return self
	case site == s.Domain:
		return below
	}
	return third
}
