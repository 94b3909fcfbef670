package lab

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
)

// Host is a Host whose fetcher, resolver and clock are the lab's. The fetcher is the real guarded
// one, and resolves through the Host. Fields may be changed before first use. It is closed with the
// lab.
func (n *Internet) Host() *lookleap.Host {
	h := &lookleap.Host{Resolver: n.Resolver(), Now: n.clock.Now}
	h.Fetcher = n.FetcherWith(lookleap.FetcherOptions{Resolver: h})
	n.keep(h)
	return h
}

// Fetcher is the real guarded fetcher, with the lab's names, addresses, CA and clock in place of
// the world's.
func (n *Internet) Fetcher() lookleap.Fetcher {
	return n.FetcherWith(lookleap.FetcherOptions{})
}

// FetcherWith is [Internet.Fetcher] with more options. The lab's are filled in where a field is
// empty; the CA, the clock and the network are the lab's always.
func (n *Internet) FetcherWith(o lookleap.FetcherOptions) lookleap.Fetcher {
	if o.Resolver == nil {
		o.Resolver = n.Resolver()
	}
	o.RootCAs, o.Now, o.Dial = n.RootCAs(), n.clock.Now, n.Dialer("fetcher")
	f := lookleap.NewFetcher(o)
	if c, ok := f.(io.Closer); ok {
		n.keep(c)
	}
	return f
}

// CloseLater closes parts with the lab, those that have a Close method.
func (n *Internet) CloseLater(parts ...any) {
	for _, part := range parts {
		if c, ok := part.(io.Closer); ok {
			n.keep(c)
		}
	}
}

// ForeignTransport is a transport as an embedding agent might bring its own: it resolves and dials
// in the lab without any guard, private addresses too, and negotiates HTTP/2.
func (n *Internet) ForeignTransport() *http.Transport {
	t := &http.Transport{
		DialContext:       n.DialContext("foreign"),
		TLSClientConfig:   &tls.Config{RootCAs: n.RootCAs(), Time: n.clock.Now},
		ForceAttemptHTTP2: true,
	}
	n.keep(idle{t})
	return t
}

// idle closes the idle connections of a transport.
type idle struct{ transport *http.Transport }

func (i idle) Close() error {
	i.transport.CloseIdleConnections()
	return nil
}

// DialContext returns a dial function without any guard that takes names too, in the shape that
// net.Dialer has.
func (n *Internet) DialContext(by string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
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
			if conn, err = n.dial(ctx, by, netip.AddrPortFrom(addr, uint16(port))); err == nil {
				return conn, nil
			}
		}
		return nil, err
	}
}

// lookup returns the addresses of a host, at least one.
func (n *Internet) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	var addrs []netip.Addr
	for _, rrtype := range []uint16{dns.TypeA, dns.TypeAAAA} {
		reply, err := n.ask(ctx, host, rrtype)
		if err != nil {
			return nil, err
		}
		for _, rr := range reply.Answer {
			if record, ok := recordOf(rr); ok && record.Addr.IsValid() {
				addrs = append(addrs, record.Addr)
			}
		}
	}
	if len(addrs) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, Server: "lab", IsNotFound: true}
	}
	return addrs, nil
}

func addrOf(ip net.IP) (netip.Addr, bool) { return netip.AddrFromSlice(ip) }
