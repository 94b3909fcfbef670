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
	// Nil: nobody covers for the endpoint.
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

// memory returns about how many bytes the discovery takes.
func (d *Discovery) memory() int {
	if d == nil {
		return 0
	}
	total := 4<<10 + d.Document.memory() + findingsMemory(d.Findings)
	for _, c := range d.Candidates {
		total += 256 + len(c.Endpoint.text)
	}
	return total + len(d.Targets)*(256+2*256) // two names each
}

func findingsMemory(findings []lookleap.Finding) (total int) {
	for _, f := range findings {
		total += 256 + len(f.Message) + len(f.Path)
	}
	return total
}

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
			return nil, &lookleap.Error{Code: CodeDiscoveryConflict, Subject: origin, Message: "the ways of advertising an endpoint disagree"}
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

// covers reports whether a document speaks for an endpoint: for that very one,
// or for paths below its own that nobody reads as lying elsewhere. The query is
// the caller's.
func (d *Descriptor) covers(u URI) bool {
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

// MaxLinks is the number of links of one answer, or of one page, that are looked
// at: 100.
const MaxLinks = weblink.MaxLinks

// Relation is the link relation type of the draft.
const Relation = "aiip"

// maxHead is the number of octets of a page in which its head has to end.
const maxHead = 512 << 10

// LinkTargets gives the targets of the links with the relation aiip in the values
// of Link headers (RFC 8288 section 3), in order. Links with another context, and
// those that are malformed, are passed over; which page the headers came with is
// not known here, so every anchor that is not empty is another context.
func LinkTargets(values []string) []string {
	return targets(weblink.ParseHeader(values), domain.URL{})
}

// ElementTargets gives the targets of the link elements with the relation aiip
// in a page's head, in order. The page is read as a stream up to the first thing
// that cannot stand in a head, so that nothing a user wrote into the body counts;
// comments, scripts, templates and noscript are passed over. A base element has
// no effect, because targets are absolute. The head has to end within 512 KiB.
func ElementTargets(page []byte) []string {
	return targets(weblink.ParseHead(page[:min(len(page), maxHead)]).Links, domain.URL{})
}

// targets are those of the links with our relation that are about the page; zero:
// which page that is, is not known.
func targets(links []weblink.Link, page domain.URL) []string {
	var found []string
	for _, l := range links {
		if l.HasRel(Relation) && l.About(page) && !l.Open { // an open quote is malformed (row AIU-3.1-02)
			found = append(found, l.Target)
		}
	}
	return found
}

// MaxTargets is the number of targets of one endpoint, those of the lowest priority
// values first.
const MaxTargets = 16

// Target is where a native connection to an endpoint is made (RFC 2782). It says
// nothing about what to trust. Its name and port were judged, and so were the addresses
// that the name had then. Names change: connect with [lookleap.DialControl].
type Target struct {
	Host             string
	Port             uint16
	Priority, Weight uint16
	// Names are what the server's certificate may be valid for: the domain that
	// was asked about, and the target itself only if the DNS answer is secure.
	Names []string
}

// bootstrap is what the DNS says about an origin's endpoint.
type bootstrap struct {
	endpoint URI // zero: none
	dnssec   lookleap.DNSSEC
	targets  []Target
	findings []lookleap.Finding
	ttl      time.Duration // 0: there was nothing
	failed   bool          // something could not be had, so that asking again is worthwhile
}

// lookupBootstrap asks for _aiip TXT and _aiip._tcp SRV. An answer that fails
// validation ends everything; one that could not be had is a finding, since the
// DNS gives hints only.
func lookupBootstrap(ctx context.Context, r lookleap.Resolver, domain string, ports []uint16) (*bootstrap, error) {
	b := &bootstrap{}
	txt, err := b.ask(ctx, r, "_aiip."+domain, lookleap.TypeTXT)
	if err != nil {
		return nil, err
	}
	if err := b.text(txt); err != nil {
		return nil, err
	}
	srv, err := b.ask(ctx, r, "_aiip._tcp."+domain, lookleap.TypeSRV)
	if err != nil {
		return nil, err
	}
	if err := b.service(srv, domain, ports); err != nil {
		return nil, err
	}
	b.judgeAddresses(ctx, r)
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
		b.findings = append(b.findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeDNSError, Requirement: "AIU-3.1-14", Message: "the DNS could not be asked for " + name})
		return &lookleap.DNSAnswer{}, nil
	}
	if len(answer.Records) > 0 && (b.ttl == 0 || answer.TTL < b.ttl) {
		b.ttl = max(answer.TTL, time.Second)
	}
	return answer, nil
}

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
		b.findings = append(b.findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeOf(bad), Requirement: "AIU-3.1-14", Message: "a TXT record names no ai: URI with authority"})
	}
	return nil
}

// service takes the targets that may be connected to, by name and port.
func (b *bootstrap) service(a *lookleap.DNSAnswer, domain string, ports []uint16) error {
	for _, record := range a.Records {
		srv := record.SRV
		if srv == nil {
			continue
		}
		if srv.Target == "" {
			return fail(CodeServiceUnavailable, "the SRV record says that there is no such service", "")
		}
		host, err := publicName(srv.Target)
		if err == nil {
			err = (&netguard.Guard{Ports: ports}).CheckPort(srv.Port)
		}
		if err != nil {
			b.refuseTarget("an SRV record names a port or a host that is not connected to")
			continue
		}
		t := Target{Host: host, Port: srv.Port, Priority: srv.Priority, Weight: srv.Weight, Names: []string{domain}}
		if a.DNSSEC == lookleap.Secure {
			t.Names = append(t.Names, host)
		}
		b.targets = append(b.targets, t)
	}
	b.targets = firstTargets(b.targets)
	return nil
}

// refuseTarget reports the first of the targets that are left out.
func (b *bootstrap) refuseTarget(message string) {
	if !slices.ContainsFunc(b.findings, func(f lookleap.Finding) bool { return f.Message == message }) {
		b.findings = append(b.findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeBlockedAddress, Requirement: "AIU-3.1-13", Message: message, Fix: "name a public host at an allowed port"})
	}
}

// metadataNames resolve to the metadata service of the cloud that a program runs in,
// although they look like public names.
var metadataNames = []string{"metadata.goog", "metadata.tencentyun.com", "metadata.packet.net", "metadata.platformequinix.com"}

// privateSuffixes are top-level names that the public DNS does not have and that private
// networks and clusters use.
var privateSuffixes = []string{".corp", ".home", ".intranet", ".lan", ".localdomain", ".private", ".svc"}

// publicName returns the canonical form of a host's name. Single labels, special-use
// names and IP addresses are errors, and so are names of metadata services and of private
// networks.
func publicName(name string) (string, error) {
	host, err := domain.ParseHost(name)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(privateSuffixes, func(suffix string) bool { return strings.HasSuffix(host, suffix) }) {
		return "", fail(lookleap.CodeBlockedAddress, "the name is that of a private network", "")
	}
	for _, blocked := range metadataNames {
		if host == blocked || strings.HasSuffix(host, "."+blocked) {
			return "", fail(lookleap.CodeBlockedAddress, "the name is that of a metadata service", "")
		}
	}
	return host, nil
}

// firstTargets returns the first MaxTargets by priority.
func firstTargets(targets []Target) []Target {
	slices.SortStableFunc(targets, func(a, b Target) int { return cmp.Compare(a.Priority, b.Priority) })
	return targets[:min(len(targets), MaxTargets)]
}

// judgeAddresses drops targets that lead to an address which is not public. A name
// without addresses stays, since nothing is reached by it.
func (b *bootstrap) judgeAddresses(ctx context.Context, r lookleap.Resolver) {
	blocked := make([]bool, len(b.targets))
	var all sync.WaitGroup
	for i, t := range b.targets {
		all.Go(func() { blocked[i] = resolvesToNonPublic(ctx, r, t.Host) })
	}
	all.Wait()
	public := b.targets[:0]
	for i, t := range b.targets {
		if blocked[i] {
			b.refuseTarget("an SRV record leads to an address that is not public")
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

// OrderTargets returns the order in which targets are tried (RFC 2782): by rising
// priority, and within one priority at random in proportion to the weights. Of more than
// MaxTargets it returns the first. random returns a number from 0 up to, and not
// including, its argument; nil: a random one.
func OrderTargets(targets []Target, random func(int) int) []Target {
	if random == nil {
		random = rand.IntN
	}
	left := firstTargets(slices.Clone(targets))
	slices.SortStableFunc(left, func(a, b Target) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(min(a.Weight, 1), min(b.Weight, 1)))
	})
	ordered := make([]Target, 0, len(left))
	for len(left) > 0 {
		sum, n := 0, 0
		for n < len(left) && left[n].Priority == left[0].Priority {
			sum += int(left[n].Weight)
			n++
		}
		pick, running := min(random(sum+1), sum), 0 // whatever it gives, somebody is next
		for i := range n {
			if running += int(left[i].Weight); running >= pick {
				ordered = append(ordered, left[i])
				left = slices.Delete(left, i, i+1)
				break
			}
		}
	}
	return ordered
}
