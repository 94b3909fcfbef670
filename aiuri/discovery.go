package aiuri

import (
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/weblink"
)

// Source is a way of advertising an endpoint (section 3.1).
type Source string

// The sources by precedence. A signed DNS record is harder to forge than markup; an unsigned
// one is easier to forge.
const (
	SourceWellKnown Source = "well-known"
	SourceLink      Source = "link-header"
	SourceDNSSecure Source = "dns-secure"
	SourceElement   Source = "link-element"
	SourceDNS       Source = "dns"
)

// SourceLocal is the [LocalResolver] of the host. It is not an advertisement, so it has no place
// in that order.
const SourceLocal Source = "local"

// Candidate is one advertisement.
type Candidate struct {
	Source   Source
	Endpoint URI
}

// Discovery is a discovered endpoint with its document. Callers share it: do not change it.
type Discovery struct {
	Origin     string      // https origin that advertised the endpoint
	Endpoint   URI         // normalized, with authority
	Source     Source      // of the advertisement that was chosen
	Candidates []Candidate // all advertisements, by precedence

	// Document has keys and policy. It is the document of the endpoint's authority if that
	// is a DNS name, else the document of Origin. Nil: no document names the endpoint.
	Document       *Descriptor
	DocumentOrigin string  // https origin that served Document
	Confirmed      bool    // the authority's own document names the endpoint
	System         string  // the local system of an endpoint without authority; "" for others
	keys           *KeySet // of a local endpoint

	// Targets are the servers for a native connection, from the DNS of Origin. It is empty
	// if the endpoint belongs to another origin, whose callers must not be diverted.
	Targets  []Target
	Findings []lookleap.Finding
	Verdict  *lookleap.Verdict
	Expires  time.Time // until when it is cached
}

// discovery returns the discovery of an endpoint by the document of its own authority.
func (d *Descriptor) discovery(source Source, origin string, until time.Time) *Discovery {
	return &Discovery{Origin: origin, Endpoint: d.Endpoint, Source: source, Candidates: []Candidate{{source, d.Endpoint}},
		Document: d, DocumentOrigin: origin, Confirmed: true, Findings: d.Findings, Expires: until}
}

// Verifiable reports whether there are keys to verify results with. The keys are valid only
// for this origin and endpoint.
func (d *Discovery) Verifiable() bool {
	return d != nil && d.Document != nil && (d.Document.JWKS != "" || d.keys != nil)
}

// memory returns about how many bytes the discovery takes.
func (d *Discovery) memory() int {
	total := 4<<10 + 512*(len(d.Findings)+2*len(d.Targets)) // two names each
	if d.Document != nil {
		total += d.Document.memory
	}
	for _, c := range d.Candidates {
		total += 256 + 3*len(c.Endpoint.text) // its parts are strings of their own
	}
	return total
}

// evidence is what the sources advertise; each may be empty.
type evidence struct {
	document *Descriptor
	links    []string // targets of Link headers
	elements []string // targets of link elements
	dns      bootstrap
	until    time.Time // when the first of it expires
}

// candidates returns the advertisements by precedence, and a finding for each one that is not
// an ai: URI with an authority.
func (e *evidence) candidates() (all []Candidate, findings []lookleap.Finding) {
	if e.document != nil {
		all = append(all, Candidate{SourceWellKnown, e.document.Endpoint})
		findings = append(findings, e.document.Findings...)
	}
	secure, insecure := e.dns.endpoints, []string(nil)
	if !e.dns.secure {
		secure, insecure = insecure, secure
	}
	for _, by := range []struct {
		source  Source
		targets []string
	}{{SourceLink, e.links}, {SourceDNSSecure, secure}, {SourceElement, e.elements}, {SourceDNS, insecure}} {
		for _, text := range by.targets {
			u, err := Parse(text)
			if err != nil || u.kind != Authority {
				findings = append(findings, warning(codeNotAI, "AIU-3.1-02",
					"an advertised target is not an ai: URI with an authority ("+string(by.source)+")", ""))
				continue
			}
			all = append(all, Candidate{by.source, u.Normalize()})
		}
	}
	return all, append(findings, e.dns.findings...)
}

// choose returns the first candidate, and a finding for each one that disagrees.
func (e *evidence) choose(origin string, failOnConflict bool) (*Discovery, error) {
	d := &Discovery{Origin: origin, Targets: e.dns.targets, Expires: e.until}
	d.Candidates, d.Findings = e.candidates()
	if len(d.Candidates) == 0 {
		return nil, failOn(CodeNoEndpoint, origin, "the origin advertises no endpoint", "", nil)
	}
	first := d.Candidates[0]
	d.Endpoint, d.Source = first.Endpoint, first.Source
	for _, other := range d.Candidates[1:] {
		if other.Endpoint.Equal(first.Endpoint) {
			continue
		}
		if failOnConflict {
			return nil, failOn(CodeDiscoveryConflict, origin, "the origin advertises different endpoints", "", nil)
		}
		d.Findings = append(d.Findings, warning(CodeDiscoveryConflict, "AIU-3.1-19",
			string(other.Source)+" names "+other.Endpoint.Redacted()+", "+string(first.Source)+" "+first.Endpoint.Redacted(),
			"advertise one endpoint"))
	}
	if d.Source == SourceWellKnown {
		d.Document, d.DocumentOrigin = e.document, origin
	}
	return d, nil
}

// conclude bounds the expiry of a discovery, and sets its verdict.
func (d *Discovery) conclude(now time.Time) *Discovery {
	d.Expires = cacheUntil(now, d.Expires)
	v := &lookleap.Verdict{Document: Draft, Subject: d.Origin + " for " + d.Endpoint.Redacted(), OK: true,
		Code: lookleap.CodeOK, Summary: "the endpoint was found", CheckedAt: now, Expires: d.Expires, Findings: d.Findings}
	check := func(requirement string, ok bool, yes, no string) {
		c := lookleap.Check{Requirement: requirement, Code: lookleap.CodeOK, Status: lookleap.Passed, Message: yes}
		if !ok {
			c.Status, c.Code, c.Message = lookleap.Noted, CodeNoTrustAnchor, no
		}
		v.Checks = append(v.Checks, c)
	}
	if d.System != "" {
		check("AIU-2-04", true, "the host's local resolver names the endpoint, at "+d.System, "")
	} else {
		check("AIU-3.1-17", true, "the endpoint is advertised by "+string(d.Source), "")
		check("AIU-3.1-21", d.Confirmed, "the authority's own document confirms it", "only the origin names it, not its own authority")
	}
	check("AIU-3.1-18", d.Verifiable(), "results can be verified with the keys of "+d.DocumentOrigin,
		"no document names keys to verify results with")
	if !d.Verifiable() {
		v.Summary += ", but its results cannot be verified"
	}
	d.Verdict = v
	return d
}

// relation is the link relation type of the draft.
const relation = "aiip"

// maxHead is the number of bytes of a page in which its head must end.
const maxHead = 512 << 10

// LinkTargets returns the targets of the links with the relation aiip in the values of Link
// headers (RFC 8288 section 3), in order, among the first 100 links. It skips malformed links and
// links with an anchor that is not empty, because the URL of the page is not known here.
func LinkTargets(values []string) []string {
	return targets(weblink.ParseHeader(values), domain.URL{})
}

// ElementTargets returns the targets of the link elements with the relation aiip in a page's
// head, in order, among its first 100 links. It reads up to the first tag that cannot be in a head,
// so that users who can write into the body cannot add links. It skips comments, scripts, templates
// and noscript. A base element has no effect, because targets are absolute. The head must end
// within 512 KiB.
func ElementTargets(page []byte) []string {
	return targets(weblink.ParseHead(page[:min(len(page), maxHead)]).Links, domain.URL{})
}

// targets returns the targets of the aiip links that are about the page. The page is zero if
// its URL is not known.
func targets(links []weblink.Link, page domain.URL) []string {
	var found []string
	for _, l := range links {
		if l.HasRel(relation) && l.About(page) {
			found = append(found, l.Target)
		}
	}
	return found
}
