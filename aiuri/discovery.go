package aiuri

import (
	"strings"
	"time"

	"github.com/lookleap/lookleap"
)

// Source is a way of advertising an endpoint (section 3.1), in the order in which
// they are believed.
type Source string

// The sources by precedence. A signed DNS record is harder to forge than markup,
// an unsigned one easier.
const (
	SourceWellKnown Source = "well-known"
	SourceLink      Source = "link-header"
	SourceDNSSecure Source = "dns-secure"
	SourceElement   Source = "link-element"
	SourceDNS       Source = "dns"
)

// Candidate is one advertisement.
type Candidate struct {
	Source   Source
	Endpoint URI
}

// Discovery is what was found out about an endpoint. It is shared between
// callers: do not change it.
type Discovery struct {
	Origin     string      // who advertised it: an https origin
	Endpoint   URI         // normalized, with authority
	Source     Source      // the advertisement that counts
	Candidates []Candidate // all of them, by precedence

	// Document gives keys and policy, and DocumentOrigin is whose it is: that of
	// the endpoint's authority where that is a DNS name, else the origin's own.
	// Nil: nobody vouches for the endpoint.
	Document       *Descriptor
	DocumentOrigin string
	Confirmed      bool // the authority's own document names the endpoint

	// Targets is where a native connection is made, if the DNS of Origin says. It is
	// empty where the endpoint is another origin's: nobody diverts its callers.
	Targets  []Target
	Findings []lookleap.Finding
	Verdict  *lookleap.Verdict
	Expires  time.Time // until when it is kept
}

// Verifiable reports whether there are keys by which results can be verified.
// The keys count for this origin and endpoint alone.
func (d *Discovery) Verifiable() bool { return d != nil && d.Document != nil && d.Document.JWKS != "" }

// evidence is what the ways of advertising gave, each perhaps nothing.
type evidence struct {
	document *Descriptor
	links    []string // targets of Link headers
	elements []string // targets of link elements
	dns      *bootstrap
}

// candidates lists the advertisements by precedence. What is no ai: URI with
// authority is a finding.
func (e *evidence) candidates() (all []Candidate, findings []lookleap.Finding) {
	add := func(s Source, texts ...string) {
		for _, text := range texts {
			u, err := Parse(text)
			if err != nil || !u.HasAuthority() {
				findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeNotAI, Requirement: "AIU-3.1-02", Message: "an advertised target is no ai: URI with authority (" + string(s) + ")"})
				continue
			}
			all = append(all, Candidate{s, u.Normalize()})
		}
	}
	if e.document != nil {
		all = append(all, Candidate{SourceWellKnown, e.document.Endpoint})
		findings = append(findings, e.document.Findings...)
	}
	add(SourceLink, e.links...)
	hasDNS := e.dns != nil && !e.dns.endpoint.IsZero()
	if hasDNS && e.dns.dnssec == lookleap.Secure {
		add(SourceDNSSecure, e.dns.endpoint.String())
	}
	add(SourceElement, e.elements...)
	if hasDNS && e.dns.dnssec != lookleap.Secure {
		add(SourceDNS, e.dns.endpoint.String())
	}
	if e.dns != nil {
		findings = append(findings, e.dns.findings...)
	}
	return all, findings
}

// choose takes the first candidate and compares the others with it.
func choose(origin string, e *evidence, failOnConflict bool) (*Discovery, error) {
	d := &Discovery{Origin: origin}
	d.Candidates, d.Findings = e.candidates()
	if len(d.Candidates) == 0 {
		return nil, &Error{Code: CodeNoEndpoint, Subject: origin, Reason: "the origin advertises no endpoint"}
	}
	first := d.Candidates[0]
	d.Endpoint, d.Source = first.Endpoint, first.Source
	for _, other := range d.Candidates[1:] {
		if other.Endpoint.Equal(first.Endpoint) {
			continue
		}
		if failOnConflict {
			return nil, &Error{Code: CodeDiscoveryConflict, Subject: origin, Reason: "the ways of advertising an endpoint disagree"}
		}
		d.Findings = append(d.Findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeDiscoveryConflict, Requirement: "AIU-3.1-19",
			Message: string(other.Source) + " names " + other.Endpoint.Redacted() + ", " + string(first.Source) + " " + first.Endpoint.Redacted(), Fix: "advertise one endpoint"})
	}
	if d.Source == SourceWellKnown {
		d.Document, d.DocumentOrigin = e.document, origin
	}
	if e.dns != nil {
		d.Targets = e.dns.targets
	}
	return d, nil
}

// vouches reports whether a document speaks for an endpoint: for that very one,
// or for paths below its own that nobody reads as lying elsewhere. The query is
// the caller's.
func (d *Descriptor) vouches(u URI) bool {
	own, asked := d.Endpoint.Normalize(), u.Normalize()
	if own.Authority() != asked.Authority() {
		return false
	}
	base := own.path
	if base != "" && base[len(base)-1] == '/' {
		base = base[:len(base)-1]
	}
	if rest, below := strings.CutPrefix(asked.path, base+"/"); below && asked.path != own.path {
		_, ambiguous := ambiguousAt("/" + rest)
		return ambiguous == ""
	}
	return asked.path == own.path
}
