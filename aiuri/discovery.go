package aiuri

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/netguard"
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

// Verifiable reports whether there are keys to verify results with. The keys are valid only
// for this origin and endpoint.
func (d *Discovery) Verifiable() bool {
	return d != nil && d.Document != nil && (d.Document.JWKS != "" || d.keys != nil)
}

// memory returns about how many bytes the discovery takes.
func (d *Discovery) memory() int {
	if d == nil {
		return 0
	}
	total := 4<<10 + 512*(len(d.Findings)+2*len(d.Targets)) // two names each
	if d.Document != nil {
		total += d.Document.memory
	}
	for _, c := range d.Candidates {
		total += 256 + len(c.Endpoint.text)
	}
	return total
}

// evidence is what the sources advertise; each may be empty.
type evidence struct {
	document *Descriptor
	links    []string // targets of Link headers
	elements []string // targets of link elements
	dns      *bootstrap
}

// candidates returns the advertisements by precedence, and a finding for each one that is not
// an ai: URI with an authority.
func (e *evidence) candidates() (all []Candidate, findings []lookleap.Finding) {
	add := func(s Source, texts ...string) {
		for _, text := range texts {
			u, err := Parse(text)
			if err != nil || !u.HasAuthority() {
				findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeNotAI,
					Requirement: "AIU-3.1-02", Message: "an advertised target is not an ai: URI with an authority (" + string(s) + ")"})
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

// chooseEndpoint returns the first candidate, and a finding for each one that disagrees.
func chooseEndpoint(origin string, e *evidence, failOnConflict bool) (*Discovery, error) {
	d := &Discovery{Origin: origin}
	d.Candidates, d.Findings = e.candidates()
	if len(d.Candidates) == 0 {
		return nil, &lookleap.Error{Code: CodeNoEndpoint, Subject: origin, Message: "the origin advertises no endpoint"}
	}
	first := d.Candidates[0]
	d.Endpoint, d.Source = first.Endpoint, first.Source
	for _, other := range d.Candidates[1:] {
		if other.Endpoint.Equal(first.Endpoint) {
			continue
		}
		if failOnConflict {
			return nil, &lookleap.Error{Code: CodeDiscoveryConflict, Subject: origin, Message: "the origin advertises different endpoints"}
		}
		d.Findings = append(d.Findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeDiscoveryConflict,
			Requirement: "AIU-3.1-19",
			Message: string(other.Source) + " names " + other.Endpoint.Redacted() + ", " + string(first.Source) +
				" " + first.Endpoint.Redacted(), Fix: "advertise one endpoint"})
	}
	if d.Source == SourceWellKnown {
		d.Document, d.DocumentOrigin = e.document, origin
	}
	if e.dns != nil {
		d.Targets = e.dns.targets
	}
	return d, nil
}

// covers reports whether a document is about an endpoint: its own one, or a path below it
// that all servers read in the same way. The caller chooses the query.
func (d *Descriptor) covers(u URI) bool {
	own, asked := d.Endpoint.Normalize(), u.Normalize()
	if own.kind != asked.kind || own.Authority() != asked.Authority() {
		return false
	}
	base := strings.TrimSuffix(own.path, "/")
	if rest, below := strings.CutPrefix(asked.path, base+"/"); below && asked.path != own.path {
		_, reason := ambiguous("/" + rest)
		return reason == ""
	}
	return asked.path == own.path
}

// MaxLinks is the number of links of one response, or of one page, that are read: 100.
const MaxLinks = weblink.MaxLinks

// Relation is the link relation type of the draft.
const Relation = "aiip"

// maxHead is the number of bytes of a page in which its head must end.
const maxHead = 512 << 10

// LinkTargets returns the targets of the links with the relation aiip in the values of Link
// headers (RFC 8288 section 3), in order. It skips malformed links and links with an anchor
// that is not empty, because the URL of the page is not known here.
func LinkTargets(values []string) []string {
	return targets(weblink.ParseHeader(values), domain.URL{})
}

// ElementTargets returns the targets of the link elements with the relation aiip in a page's
// head, in order. It reads up to the first tag that cannot be in a head, so that users who
// can write into the body cannot add links. It skips comments, scripts, templates and
// noscript. A base element has no effect, because targets are absolute. The head must end
// within 512 KiB.
func ElementTargets(page []byte) []string {
	return targets(weblink.ParseHead(page[:min(len(page), maxHead)]).Links, domain.URL{})
}

// targets returns the targets of the aiip links that are about the page. The page is zero if
// its URL is not known.
func targets(links []weblink.Link, page domain.URL) []string {
	var found []string
	for _, l := range links {
		if l.HasRel(Relation) && l.About(page) {
			found = append(found, l.Target)
		}
	}
	return found
}

// MaxTargets is the number of targets of one endpoint. Targets with lower priority values are
// preferred.
const MaxTargets = 16

// Target is a server for native connections to an endpoint (RFC 2782). It says nothing about
// trust. Its name, port and addresses were checked when it was discovered. Addresses may
// change, so connect with [lookleap.DialControl].
type Target struct {
	Host             string
	Port             uint16
	Priority, Weight uint16
	// Names are the names that the server's certificate may be valid for: the domain that
	// was looked up and, only if the DNS answer is secure, Host.
	Names []string
}

// bootstrap is what the DNS says about an origin's endpoint (section 3.1).
type bootstrap struct {
	endpoint URI // may be zero
	dnssec   lookleap.DNSSEC
	targets  []Target
	findings []lookleap.Finding
	ttl      time.Duration // 0 without records
	failed   bool          // a lookup failed and may work later
}

// lookupBootstrap looks up _aiip TXT and _aiip._tcp SRV. It returns an error if an answer
// fails validation. A lookup that fails is only a finding, because DNS records are only hints.
func lookupBootstrap(ctx context.Context, r lookleap.Resolver, name string, ports []uint16) (*bootstrap, error) {
	b := &bootstrap{}
	txt, err := b.ask(ctx, r, "_aiip."+name, lookleap.TypeTXT)
	if err != nil {
		return nil, err
	}
	if err := b.text(txt); err != nil {
		return nil, err
	}
	srv, err := b.ask(ctx, r, "_aiip._tcp."+name, lookleap.TypeSRV)
	if err != nil {
		return nil, err
	}
	if err := b.service(srv, name, ports); err != nil {
		return nil, err
	}
	b.checkAddresses(ctx, r)
	return b, ctx.Err()
}

func (b *bootstrap) ask(ctx context.Context, r lookleap.Resolver, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
	answer, err := r.Lookup(ctx, name, t)
	switch {
	case errors.Is(err, lookleap.ErrBogus):
		return nil, &lookleap.Error{Code: lookleap.CodeDNSSECBogus, Subject: name, Message: "the DNS answer failed validation", Err: err}
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		b.failed = true
		b.findings = append(b.findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeDNSError,
			Requirement: "AIU-3.1-14", Message: "the DNS lookup of " + name + " failed"})
		return &lookleap.DNSAnswer{}, nil
	}
	if len(answer.Records) > 0 && (b.ttl == 0 || answer.TTL < b.ttl) {
		b.ttl = max(answer.TTL, time.Second)
	}
	return answer, nil
}

// text reads the endpoint of the TXT records.
func (b *bootstrap) text(a *lookleap.DNSAnswer) error {
	var bad error // the first one
	for _, record := range a.Records {
		for field := range strings.FieldsSeq(record.Text) {
			value, ok := strings.CutPrefix(field, "endpoint=")
			if !ok {
				continue
			}
			u, err := Parse(value)
			if err == nil && !u.HasAuthority() {
				err = fail(CodeNoAuthority, "", "")
			}
			switch {
			case err != nil:
				bad = cmp.Or(bad, err)
			case b.endpoint.IsZero():
				b.endpoint, b.dnssec = u.Normalize(), a.DNSSEC
			case !b.endpoint.Equal(u):
				return fail(CodeAmbiguousDNS, "two TXT records name different endpoints", "publish one")
			}
		}
	}
	if bad != nil {
		b.findings = append(b.findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeOf(bad),
			Requirement: "AIU-3.1-14", Message: "a TXT record does not name an ai: URI with an authority"})
	}
	return nil
}

// service reads the targets of the SRV records whose name and port may be used.
func (b *bootstrap) service(a *lookleap.DNSAnswer, name string, ports []uint16) error {
	for _, record := range a.Records {
		srv := record.SRV
		if srv == nil {
			continue
		}
		if srv.Target == "" {
			return fail(CodeServiceUnavailable, "the SRV record says that the service does not exist", "")
		}
		host, err := targetHost(srv.Target)
		if err == nil {
			err = (&netguard.Guard{Ports: ports}).CheckPort(srv.Port)
		}
		if err != nil {
			b.refuseTarget("an SRV record names a port or a host that is not allowed")
			continue
		}
		t := Target{Host: host, Port: srv.Port, Priority: srv.Priority, Weight: srv.Weight, Names: []string{name}}
		if a.DNSSEC == lookleap.Secure {
			t.Names = append(t.Names, host)
		}
		b.targets = append(b.targets, t)
	}
	b.targets = firstTargets(b.targets)
	return nil
}

// refuseTarget adds a finding about a target that is left out, once for each message.
func (b *bootstrap) refuseTarget(message string) {
	if !slices.ContainsFunc(b.findings, func(f lookleap.Finding) bool { return f.Message == message }) {
		b.findings = append(b.findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeBlockedAddress,
			Requirement: "AIU-3.1-13", Message: message, Fix: "name a public host at an allowed port"})
	}
}

// insideNames look like public names, but belong to the metadata services of clouds and to private
// networks.
var insideNames = []string{"metadata.goog", "metadata.tencentyun.com", "metadata.packet.net", "metadata.platformequinix.com",
	"corp", "home", "intranet", "lan", "localdomain", "private", "svc"}

// targetHost returns the canonical form of a target's name. Its addresses are checked later.
func targetHost(name string) (string, error) {
	host, err := domain.ParseHost(name)
	if err == nil && slices.ContainsFunc(insideNames, func(inside string) bool { return strings.HasSuffix("."+host, "."+inside) }) {
		err = fail(lookleap.CodeBlockedAddress, "the name belongs to a private network or a metadata service", "")
	}
	return host, err
}

// firstTargets returns the first MaxTargets by priority.
func firstTargets(targets []Target) []Target {
	slices.SortStableFunc(targets, func(a, b Target) int { return cmp.Compare(a.Priority, b.Priority) })
	return targets[:min(len(targets), MaxTargets)]
}

// checkAddresses removes targets with an address that is not public. A name without addresses
// stays, because nothing can connect to it.
func (b *bootstrap) checkAddresses(ctx context.Context, r lookleap.Resolver) {
	blocked := make([]bool, len(b.targets))
	var all sync.WaitGroup
	for i, t := range b.targets {
		all.Go(func() { blocked[i] = resolvesToNonPublic(ctx, r, t.Host) })
	}
	all.Wait()
	public := b.targets[:0]
	for i, t := range b.targets {
		if blocked[i] {
			b.refuseTarget("an SRV record names a host with an address that is not public")
			continue
		}
		public = append(public, t)
	}
	b.targets = public
}

func resolvesToNonPublic(ctx context.Context, r lookleap.Resolver, host string) bool {
	for _, family := range []lookleap.RRType{lookleap.TypeA, lookleap.TypeAAAA} {
		answer, err := r.Lookup(ctx, host, family)
		if errors.Is(err, lookleap.ErrBogus) {
			return true
		}
		if err == nil && slices.ContainsFunc(answer.Records, func(a lookleap.Record) bool { return netguard.Check(a.Addr) != nil }) {
			return true
		}
	}
	return false
}

// OrderTargets returns targets in the order in which to try them (RFC 2782): by rising
// priority, and within one priority at random in proportion to the weights. It returns at
// most MaxTargets. random(n) returns a number in [0, n); nil uses math/rand/v2.
func OrderTargets(targets []Target, random func(int) int) []Target {
	if random == nil {
		random = rand.IntN
	}
	left := firstTargets(slices.Clone(targets))
	slices.SortStableFunc(left, func(a, b Target) int { // those without weight come first
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Weight, b.Weight))
	})
	ordered := make([]Target, 0, len(left))
	for len(left) > 0 {
		sum, n := 0, 0
		for n < len(left) && left[n].Priority == left[0].Priority {
			sum += int(left[n].Weight)
			n++
		}
		pick, running := min(random(sum+1), sum), 0 // a bad random function still picks a target
		for i := range n {
			running += int(left[i].Weight)
			if running >= pick {
				ordered = append(ordered, left[i])
				left = slices.Delete(left, i, i+1)
				break
			}
		}
	}
	return ordered
}
