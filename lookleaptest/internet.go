package lookleaptest

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/internal/lab/zone"
)

// Internet is an internet in memory: its sites, its DNS, its clock and its journal. Its
// methods may be called from several goroutines at once, also while it is used.
//
// Methods that set something up panic if the test itself is wrong, for example if an
// address cannot be parsed.
type Internet struct {
	lab   *lab.Internet
	zones zones
}

// NewInternet returns an internet without sites. Close it after use.
func NewInternet() *Internet {
	n := &Internet{lab: lab.New()}
	n.zones.init(n.lab)
	return n
}

// Close ends all connections of the internet and closes the hosts and fetchers that it
// returned.
func (n *Internet) Close() { n.lab.Close() }

// Site returns the site with a host name or an IP address, and makes it at the first call:
// with a public address and a DNS record of its own, and with a TLS server on port 443 that
// answers 404 to everything.
func (n *Internet) Site(name string) *Site {
	if _, err := netip.ParseAddr(name); err != nil {
		n.zones.cover(name)
	}
	return &Site{n.lab.Site(name)}
}

// Name returns a name of the DNS, and sets its addresses if there are any. It needs no
// site: it may point anywhere.
func (n *Internet) Name(name string, addrs ...string) *Name {
	n.zones.cover(name)
	return &Name{n.lab.Name(name, addrs...)}
}

// Clock returns the clock of the internet. Hosts, certificates, DNSSEC signatures and
// faults that wait use it.
func (n *Internet) Clock() *Clock { return &Clock{n.lab.Clock()} }

// Journal returns the record of all connections, requests and queries.
func (n *Internet) Journal() *Journal { return &Journal{n.lab.Journal()} }

// Host returns a host with the guarded fetcher, the validating resolver and the clock of
// the internet, and defaults for the rest. It connects to sites of this internet and to
// nothing else. Its fields may be changed before its first use.
func (n *Internet) Host() *lookleap.Host {
	resolver, err := lookleap.NewResolver(n.ResolverOptions())
	if err != nil {
		panic(err) // the anchors and servers are our own
	}
	h := &lookleap.Host{Resolver: resolver, Now: n.lab.Clock().Now}
	o := n.FetcherOptions()
	o.Resolver = h
	fetcher := lookleap.NewFetcher(o)
	h.Fetcher = fetcher
	n.lab.CloseLater(h, fetcher, resolver)
	return h
}

// FetcherOptions returns options with which [lookleap.NewFetcher] makes a fetcher of this
// internet. They do not allow private addresses.
func (n *Internet) FetcherOptions() lookleap.FetcherOptions {
	return lookleap.FetcherOptions{
		Resolver: n.lab.Resolver(), RootCAs: n.lab.RootCAs(), Now: n.lab.Clock().Now, Dial: n.lab.Dialer("fetcher"),
	}
}

// ResolverOptions returns options with which [lookleap.NewResolver] makes a validating
// resolver of this internet.
func (n *Internet) ResolverOptions() lookleap.ResolverOptions {
	return lookleap.ResolverOptions{
		Servers: []string{"192.0.2.53"}, // never reached: DialContext goes to the DNS in memory
		Anchors: n.zones.anchor(), RootCAs: n.lab.RootCAs(), Now: n.lab.Clock().Now,
		DialContext: zone.Dial(n.lab.DNS()),
	}
}

// Unguarded returns a transport of this internet without any guard, which connects to
// private addresses too. With it, a test shows that a request that a host refuses would
// have arrived.
func (n *Internet) Unguarded() *http.Transport { return n.lab.ForeignTransport() }

// Dial connects to an address of this internet without any guard, for clients that do not
// use an [http.Transport]. It has the form of the DialContext field of [http.Transport].
func (n *Internet) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return n.lab.DialContext("foreign")(ctx, network, address)
}

// CertificateAuthority returns the certificate of the authority that all sites use, as a
// PEM file.
func (n *Internet) CertificateAuthority() []byte { return n.lab.CAPEM() }

// Clock is the clock of an internet: the system's time (in a bubble of testing/synctest,
// that of the bubble) until a test sets or stops it.
type Clock struct{ clock *lab.Clock }

// Now returns the time in UTC. It can be used as the Now field of options.
func (c *Clock) Now() time.Time { return c.clock.Now() }

// Advance moves the clock; d may be negative.
func (c *Clock) Advance(d time.Duration) { c.clock.Advance(d) }

// Set sets the clock. It runs on from there, unless it is stopped.
func (c *Clock) Set(t time.Time) { c.clock.Set(t) }

// Freeze stops the clock. Only Advance and Set move it from then on.
func (c *Clock) Freeze() { c.clock.Freeze() }

// Sleep waits until the clock has advanced by d or ctx ends.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error { return c.clock.Sleep(ctx, d) }

// Journal is the record of all connections, requests and DNS queries, the oldest first. Its
// methods return copies.
type Journal struct{ journal *lab.Journal }

// Request is one HTTP request that reached a site.
type Request struct {
	Time       time.Time
	Site       string         // host name of the site; "" if no site at that address has the name in Host
	Addr       netip.AddrPort // where it arrived
	SNI        string         // name in the TLS handshake; "" without TLS
	Proto      string         // "HTTP/1.1" or "HTTP/2.0"
	Method     string
	Host       string // as sent
	Target     string // path and query, as sent
	Path       string // path, as sent
	Header     http.Header
	Body       []byte // the first MiB
	BodySize   int64
	ClientCert bool // the client showed a certificate
}

// Dial is one attempt to connect, and what has happened to the connection so far.
type Dial struct {
	Time      time.Time
	By        string // "fetcher" for hosts and fetchers of the internet, "foreign" for clients without a guard
	Addr      netip.AddrPort
	Connected bool
	Err       error  // why it was not connected
	Sent      int64  // bytes that the client sent, with the TLS handshake
	Got       int64  // bytes that the server sent
	SNI       string // name in the TLS handshake
	TLS       uint16 // TLS version; 0 before the handshake is complete
	ALPN      string // "h2", "http/1.1" or ""
	Handshake error  // why the handshake failed, as the server saw it
	Closed    bool   // by the server
}

// Query is one question that reached the DNS.
type Query struct {
	Time time.Time
	Name string // in lower case, without the final dot
	Type lookleap.RRType
}

// Requests returns the requests that reached the named sites, or all.
func (j *Journal) Requests(sites ...string) []Request {
	var out []Request
	for _, r := range j.journal.Requests(sites...) {
		out = append(out, Request(r))
	}
	return out
}

// Paths returns the requests that reached a site in the form "GET /agents.txt".
func (j *Journal) Paths(site string) []string { return j.journal.Paths(site) }

// Dials returns the attempts to connect to the addresses ("10.0.0.1" for each port, or
// "10.0.0.1:443"), or all.
func (j *Journal) Dials(addrs ...string) []Dial {
	var out []Dial
	for _, d := range j.journal.Dials(addrs...) {
		out = append(out, Dial(d))
	}
	return out
}

// Queries returns the queries for the names, or all.
func (j *Journal) Queries(names ...string) []Query {
	var out []Query
	for _, q := range j.journal.Queries(names...) {
		out = append(out, Query{Time: q.Time, Name: q.Name, Type: lookleap.RRType(q.Type)})
	}
	return out
}

// Clear removes all that was recorded.
func (j *Journal) Clear() { j.journal.Clear() }
