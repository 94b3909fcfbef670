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

// maxTargets is the number of targets of one endpoint. Targets with lower priority values are
// preferred.
const maxTargets = 16

// Target is a server for native connections to an endpoint (RFC 2782). It says nothing about
// trust. Its name, port and addresses were checked when it was discovered. Addresses may
// change, so connect with the guard of contrib/netguard.
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
	endpoints []string // at most one
	secure    bool     // the record that names it is
	targets   []Target
	findings  []lookleap.Finding
	ttl       time.Duration // 0 without records
}

// lookupBootstrap looks up _aiip TXT and _aiip._tcp SRV. It returns an error if an answer
// fails validation. A lookup that fails is only a finding, because DNS records are only hints.
func lookupBootstrap(ctx context.Context, r lookleap.Resolver, name string, ports []uint16) (bootstrap, error) {
	var b bootstrap
	txt, err := b.lookup(ctx, r, "_aiip."+name, lookleap.TypeTXT)
	if err == nil {
		err = b.readText(txt)
	}
	if err != nil {
		return b, err
	}
	srv, err := b.lookup(ctx, r, "_aiip._tcp."+name, lookleap.TypeSRV)
	if err == nil {
		err = b.readServices(srv, name, ports)
	}
	if err != nil {
		return b, err
	}
	b.dropInsideTargets(ctx, r)
	return b, ctx.Err()
}

func (b *bootstrap) lookup(ctx context.Context, r lookleap.Resolver, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
	answer, err := r.Lookup(ctx, name, t)
	switch {
	case errors.Is(err, lookleap.ErrBogus):
		return nil, failOn(lookleap.CodeDNSSECBogus, name, "the DNS answer failed validation", "", err)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		b.ttl = time.Second // it may work later
		b.note(warning(lookleap.CodeDNSError, "AIU-3.1-14", "the DNS lookup of "+name+" failed", ""))
		return &lookleap.DNSAnswer{}, nil
	}
	if len(answer.Records) > 0 && (b.ttl == 0 || answer.TTL < b.ttl) {
		b.ttl = max(answer.TTL, time.Second)
	}
	return answer, nil
}

// readText reads the endpoint of the TXT records.
func (b *bootstrap) readText(a *lookleap.DNSAnswer) error {
	var endpoint URI
	for _, record := range a.Records {
		for field := range strings.FieldsSeq(record.Text) {
			value, ok := strings.CutPrefix(field, "endpoint=")
			if !ok {
				continue
			}
			u, err := Parse(value)
			if err == nil && u.kind != Authority {
				err = fail(CodeNoAuthority, "", "")
			}
			switch {
			case err != nil:
				b.note(warning(lookleap.CodeOf(err), "AIU-3.1-14", "a TXT record does not name an ai: URI with an authority", ""))
			case endpoint.IsZero():
				endpoint, b.endpoints, b.secure = u, []string{value}, a.DNSSEC == lookleap.Secure
			case !endpoint.Equal(u):
				return fail(codeAmbiguousDNS, "two TXT records name different endpoints", "publish one")
			}
		}
	}
	return nil
}

// note adds a finding, once for each message.
func (b *bootstrap) note(f lookleap.Finding) {
	if !slices.ContainsFunc(b.findings, func(g lookleap.Finding) bool { return f.Message == g.Message }) {
		b.findings = append(b.findings, f)
	}
}

// refuseTarget notes that a target is left out.
func (b *bootstrap) refuseTarget(why string) {
	b.note(warning(lookleap.CodeBlockedAddress, "AIU-3.1-13", "an SRV record names a host "+why, "name a public host at an allowed port"))
}

// readServices reads the targets of the SRV records whose name and port may be used.
func (b *bootstrap) readServices(a *lookleap.DNSAnswer, name string, ports []uint16) error {
	for _, record := range a.Records {
		srv := record.SRV
		if srv == nil {
			continue
		}
		if srv.Target == "" {
			return fail(CodeServiceUnavailable, "the SRV record says that the service does not exist", "")
		}
		host, err := domain.ParseHost(srv.Target)
		if err != nil || isInside(host) || (&netguard.Guard{Ports: ports}).CheckPort(srv.Port) != nil {
			b.refuseTarget("or a port that is not allowed")
			continue
		}
		t := Target{Host: host, Port: srv.Port, Priority: srv.Priority, Weight: srv.Weight, Names: []string{name}}
		if a.DNSSEC == lookleap.Secure {
			t.Names = append(t.Names, host)
		}
		b.targets = append(b.targets, t)
	}
	slices.SortStableFunc(b.targets, func(a, b Target) int { return cmp.Compare(a.Priority, b.Priority) })
	b.targets = b.targets[:min(len(b.targets), maxTargets)]
	return nil
}

// isInside reports whether a name looks like a public one, but belongs to the metadata service of a
// cloud or to private networks.
func isInside(host string) bool {
	return slices.ContainsFunc([]string{"metadata.goog", "metadata.tencentyun.com", "metadata.packet.net", "metadata.platformequinix.com",
		"corp", "home", "intranet", "lan", "localdomain", "private", "svc"},
		func(inside string) bool { return strings.HasSuffix("."+host, "."+inside) })
}

// dropInsideTargets removes targets with an address that is not public. A name without addresses
// stays, because nothing can connect to it.
func (b *bootstrap) dropInsideTargets(ctx context.Context, r lookleap.Resolver) {
	inside := make([]bool, len(b.targets))
	var all sync.WaitGroup
	for i, t := range b.targets {
		all.Go(func() { inside[i] = resolvesInside(ctx, r, t.Host) })
	}
	all.Wait()
	for i := len(inside) - 1; i >= 0; i-- {
		if inside[i] {
			b.targets = slices.Delete(b.targets, i, i+1)
			b.refuseTarget("with an address that is not public")
		}
	}
}

func resolvesInside(ctx context.Context, r lookleap.Resolver, host string) bool {
	for _, family := range []lookleap.RRType{lookleap.TypeA, lookleap.TypeAAAA} {
		answer, err := r.Lookup(ctx, host, family)
		if errors.Is(err, lookleap.ErrBogus) ||
			err == nil && slices.ContainsFunc(answer.Records, func(a lookleap.Record) bool { return netguard.Check(a.Addr) != nil }) {
			return true
		}
	}
	return false
}

// inOrder returns targets in the order in which to try them (RFC 2782): by rising priority, and
// within one priority at random in proportion to the weights. The least of exponentially
// distributed times with the weights as rates belongs to each target in that proportion.
func inOrder(targets []Target) []Target {
	type draw struct {
		target Target
		at     float64
	}
	draws := make([]draw, len(targets))
	for i, t := range targets {
		draws[i] = draw{t, rand.ExpFloat64() / max(float64(t.Weight), 0.01)} // a weight of 0 is a very small one
	}
	slices.SortFunc(draws, func(a, b draw) int {
		return cmp.Or(cmp.Compare(a.target.Priority, b.target.Priority), cmp.Compare(a.at, b.at))
	})
	ordered := make([]Target, 0, len(targets))
	for _, d := range draws {
		ordered = append(ordered, d.target)
	}
	return ordered
}
