package lookleaptest

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/test/zone"
)

// Host returns a host with the guarded fetcher, the validating resolver and the clock of
// the internet, and defaults for the rest. It connects to sites of this internet and to
// nothing else. Its fields may be changed before its first use.
func (n *Internet) Host() *lookleap.Host {
	resolver := must(lookleap.NewResolver(n.ResolverOptions()))
	n.closeLater(resolver)
	return n.hostWith(resolver)
}

// StubHost returns a host as [Internet.Host] does, whose resolver is [Internet.Stub].
func (n *Internet) StubHost() *lookleap.Host { return n.hostWith(n.Stub()) }

func (n *Internet) hostWith(resolver lookleap.Resolver) *lookleap.Host {
	h := &lookleap.Host{Resolver: resolver, Now: n.clock.Now}
	h.Fetcher = n.Fetcher(lookleap.FetcherOptions{Resolver: h})
	n.closeLater(h)
	return h
}

// FetcherOptions returns options with which [lookleap.NewFetcher] makes a fetcher of this
// internet. They do not allow private addresses.
func (n *Internet) FetcherOptions() lookleap.FetcherOptions {
	return lookleap.FetcherOptions{Resolver: n.Stub(), RootCAs: n.RootCAs(), Now: n.clock.Now, Dial: n.dial}
}

// Fetcher returns the guarded fetcher of production with the options, but for the certificate
// authority, the clock and the connections, which are those of the internet. Without a Resolver
// it uses [Internet.Stub]. It is closed with the internet.
func (n *Internet) Fetcher(o lookleap.FetcherOptions) lookleap.Fetcher {
	own := n.FetcherOptions()
	o.RootCAs, o.Now, o.Dial = own.RootCAs, own.Now, own.Dial
	if o.Resolver == nil {
		o.Resolver = own.Resolver
	}
	f := lookleap.NewFetcher(o)
	n.closeLater(f)
	return f
}

// ResolverOptions returns options with which [lookleap.NewResolver] makes a validating
// resolver of this internet.
func (n *Internet) ResolverOptions() lookleap.ResolverOptions {
	return lookleap.ResolverOptions{
		Servers: []string{"192.0.2.53"}, // never reached: DialContext goes to the DNS in memory
		Anchors: n.Anchors(), RootCAs: n.RootCAs(), Now: n.clock.Now, DialContext: zone.Dial(n.names),
	}
}

// closeLater closes a part with the internet, if it has a Close method.
func (n *Internet) closeLater(part any) {
	if c, ok := part.(io.Closer); ok {
		n.keep(c)
	}
}

// Unguarded returns a transport of this internet without any guard, which connects to
// private addresses too. With it, a test shows that a request that a host refuses would
// have arrived.
func (n *Internet) Unguarded() *http.Transport {
	t := &http.Transport{
		DialContext:       n.Dial,
		TLSClientConfig:   &tls.Config{RootCAs: n.RootCAs(), Time: n.clock.Now},
		ForceAttemptHTTP2: true,
	}
	n.keep(idle{t})
	return t
}

type idle struct{ *http.Transport }

func (i idle) Close() error {
	i.CloseIdleConnections()
	return nil
}

// Dial connects to an address of this internet without any guard, for clients that do not
// use an [http.Transport]. It has the form of the DialContext field of [http.Transport].
func (n *Internet) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if !strings.HasPrefix(network, "tcp") {
		return nil, &net.OpError{Op: "dial", Net: network, Err: net.UnknownNetworkError(network)}
	}
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, err
	}
	addrs, err := n.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	for _, addr := range addrs {
		var conn net.Conn
		if conn, err = n.dial(ctx, netip.AddrPortFrom(addr, uint16(port))); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// lookup returns the addresses of a host, at least one.
func (n *Internet) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	var addrs []netip.Addr
	for _, rrtype := range []uint16{dns.TypeA, dns.TypeAAAA} {
		answer, err := n.ask(ctx, host, rrtype)
		if err != nil {
			return nil, err
		}
		for _, record := range answer.Records {
			addrs = append(addrs, record.Addr)
		}
	}
	if len(addrs) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, Server: dnsServer, IsNotFound: true}
	}
	return addrs, nil
}
