package hostflags

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"

	"github.com/lookleap/lookleap"
)

// newResolver returns a resolver that asks the servers of --dns and trusts the keys of --anchor;
// without either it is nil, the Host's own resolver. An https server is reached as web sites are.
func (f *Flags) newResolver(web lookleap.FetcherOptions) (lookleap.Resolver, error) {
	if f.Dev {
		return noRecords{}, nil
	}
	if len(f.DNS) == 0 && f.Anchor == "" {
		return nil, nil
	}
	var anchors string
	if f.Anchor != "" {
		text, err := readFile("--anchor", f.Anchor)
		if err != nil {
			return nil, err
		}
		anchors = strings.TrimSpace(string(text))
		if anchors == "" { // no text would mean IANA's keys
			return nil, usage("--anchor: "+f.Anchor+" has no record", "put DS or DNSKEY records into it")
		}
	}
	web.Resolver = lookleap.NetResolver(nil) // the server's own name cannot be looked up through the server
	r, err := lookleap.NewResolver(lookleap.ResolverOptions{
		Servers: f.DNS, Anchors: anchors, RootCAs: web.RootCAs, Now: f.Now, Fetcher: lookleap.NewFetcher(web),
	})
	if err != nil {
		name := "--dns"
		if len(f.DNS) == 0 {
			name = "--anchor"
		}
		return nil, usage(name+": "+err.Error(), "")
	}
	return r, nil
}

// noRecords is the DNS of the development mode: there is none.
type noRecords struct{}

func (noRecords) Lookup(_ context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
	return &lookleap.DNSAnswer{Name: name}, nil
}

// oneAddress answers every question for an address with the server of --connect.
type oneAddress struct{ server string }

func (o oneAddress) Lookup(ctx context.Context, name string, t lookleap.RRType) (*lookleap.DNSAnswer, error) {
	host, _, err := net.SplitHostPort(o.server)
	if err != nil {
		return nil, err
	}
	addrs, err := new(net.Resolver).LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	for _, addr := range addrs {
		addr = addr.Unmap()
		if addr.Is4() == (t == lookleap.TypeA) {
			return &lookleap.DNSAnswer{Name: name, Exists: true, Records: []lookleap.Record{{Addr: addr}}}, nil
		}
	}
	return &lookleap.DNSAnswer{Name: name}, nil
}

// closers closes several things.
type closers []interface{ Close() error }

func (all closers) Close() error {
	var err error
	for _, c := range all {
		err = errors.Join(err, c.Close())
	}
	return err
}

// meantConn says that it leads where it was meant to lead.
type meantConn struct {
	net.Conn
	meant netip.AddrPort
}

func (c meantConn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.meant) }
