package lookleaptest

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
)

// Journal is the record of all connections, requests and DNS queries, the oldest first. Its
// methods return copies.
type Journal struct {
	mu       sync.Mutex
	dials    []*Dial
	requests []*Request
	queries  []Query
}

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

	do, cd bool // the flags of the same names
}

// Requests returns the requests that reached the named sites, or all.
func (j *Journal) Requests(sites ...string) []Request {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []Request
	for _, r := range j.requests {
		if len(sites) == 0 || slices.Contains(sites, r.Site) {
			out = append(out, *r)
		}
	}
	return out
}

// Paths returns the requests that reached a site in the form "GET /agents.txt".
func (j *Journal) Paths(site string) []string {
	var out []string
	for _, r := range j.Requests(site) {
		out = append(out, r.Method+" "+r.Target)
	}
	return out
}

// Dials returns the attempts to connect to the addresses ("10.0.0.1" for each port, or
// "10.0.0.1:443"), or all.
func (j *Journal) Dials(addrs ...string) []Dial {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []Dial
	for _, d := range j.dials {
		if len(addrs) == 0 || slices.Contains(addrs, d.Addr.Addr().String()) || slices.Contains(addrs, d.Addr.String()) {
			out = append(out, *d)
		}
	}
	return out
}

// Bytes counts what clients sent to the addresses, TLS handshakes included.
func (j *Journal) Bytes(addrs ...string) (sent int64) {
	for _, d := range j.Dials(addrs...) {
		sent += d.Sent
	}
	return sent
}

// Queries returns the queries for the names, or all.
func (j *Journal) Queries(names ...string) []Query {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []Query
	for _, q := range j.queries {
		if len(names) == 0 || slices.Contains(names, q.Name) {
			out = append(out, q)
		}
	}
	return out
}

// Clear removes all that was recorded.
func (j *Journal) Clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.dials, j.requests, j.queries = nil, nil, nil
}

func (j *Journal) dial(d *Dial) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.dials = append(j.dials, d)
}

func (j *Journal) request(r *Request) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.requests = append(j.requests, r)
}

func (j *Journal) query(q Query) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.queries = append(j.queries, q)
}

// update changes an entry that is already written.
func (j *Journal) update(change func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change()
}

// plainName is a DNS name in lower case without its final dot.
func plainName(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }
