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
	queries  []*Query
}

// Request is one HTTP request that reached a site.
type Request struct {
	Time       time.Time
	Site       string         // host name of the site; "" if no site at that address has the name in Host
	Addr       netip.AddrPort // where it arrived
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
	Addr netip.AddrPort
	Err  error // why it was not connected
	Sent int64 // bytes that the client sent, with the TLS handshake
}

// Query is one question that reached the DNS.
type Query struct {
	Name string // in lower case, without the final dot
	Type lookleap.RRType
}

// Requests returns the requests that reached the named sites, or all.
func (j *Journal) Requests(sites ...string) []Request {
	return recorded(j, &j.requests, func(r *Request) bool { return len(sites) == 0 || slices.Contains(sites, r.Site) })
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
	return recorded(j, &j.dials, func(d *Dial) bool {
		return len(addrs) == 0 || slices.Contains(addrs, d.Addr.Addr().String()) || slices.Contains(addrs, d.Addr.String())
	})
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
	return recorded(j, &j.queries, func(q *Query) bool { return len(names) == 0 || slices.Contains(names, q.Name) })
}

// Clear removes all that was recorded.
func (j *Journal) Clear() {
	j.update(func() { j.dials, j.requests, j.queries = nil, nil, nil })
}

func recorded[T any](j *Journal, entries *[]*T, wanted func(*T) bool) (out []T) {
	j.update(func() {
		for _, e := range *entries {
			if wanted(e) {
				out = append(out, *e)
			}
		}
	})
	return out
}

// update adds an entry, or changes one.
func (j *Journal) update(change func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change()
}

// plainName is a DNS name in lower case without its final dot.
func plainName(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }
