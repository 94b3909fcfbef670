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
)

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
		return nil, &Error{Code: lookleap.CodeDNSSECBogus, Subject: name, Reason: "the DNS answer failed validation", Err: err}
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
		all.Go(func() { blocked[i] = leadsInside(ctx, r, t.Host) })
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

func leadsInside(ctx context.Context, r lookleap.Resolver, host string) bool {
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
