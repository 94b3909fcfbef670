package dnssec

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/miekg/dns"
)

// NetResolver makes a resolver out of a [net.Resolver]. It validates nothing: every result is Indeterminate, with a TTL
// of 0, since the standard library passes neither on. Nor does it tell a name that does not exist from one without
// records of the type; both read as the former.
type NetResolver struct {
	Resolver *net.Resolver // nil: net.DefaultResolver
}

// Lookup answers for TXT, SRV, A and AAAA records. Other types are a *[NameError].
func (r NetResolver) Lookup(ctx context.Context, text string, rrtype uint16) (*Result, error) {
	n, err := parseName(text)
	if err != nil {
		return nil, err
	}
	resolver := r.Resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	result := &Result{Name: n.text(), Exists: true}
	absolute := n.String() // with the final dot, so that no search list is applied
	switch rrtype {
	case dns.TypeTXT:
		var texts []string
		texts, err = resolver.LookupTXT(ctx, absolute)
		for _, t := range texts {
			result.Records = append(result.Records, Record{Type: rrtype, Text: t})
		}
	case dns.TypeA, dns.TypeAAAA:
		network := "ip4"
		if rrtype == dns.TypeAAAA {
			network = "ip6"
		}
		var addrs []netip.Addr
		addrs, err = resolver.LookupNetIP(ctx, network, absolute)
		for _, a := range addrs {
			if rrtype == dns.TypeA {
				a = a.Unmap()
			}
			result.Records = append(result.Records, Record{Type: rrtype, Addr: a, Text: a.String()})
		}
	case dns.TypeSRV:
		var services []*net.SRV
		_, services, err = resolver.LookupSRV(ctx, "", "", absolute)
		for _, s := range services {
			target := strings.ToLower(strings.TrimSuffix(s.Target, "."))
			result.Records = append(result.Records, Record{
				Type: rrtype, Text: fmt.Sprintf("%d %d %d %s", s.Priority, s.Weight, s.Port, s.Target),
				SRV: &SRV{Priority: s.Priority, Weight: s.Weight, Port: s.Port, Target: target},
			})
		}
	default:
		return nil, &NameError{text, fmt.Sprintf("type %s cannot be looked up through net.Resolver", dns.Type(rrtype))}
	}
	var notFound *net.DNSError
	switch {
	case errors.As(err, &notFound) && notFound.IsNotFound:
		return &Result{Name: n.text()}, nil
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, &ServerError{Reason: "the system's resolver failed", Err: err}
	}
	return result, nil
}
