package lab

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// Journal is the record of everything that went on: dials, requests and DNS queries, each oldest
// first. What it returns out are copies. It is safe for concurrent use.
type Journal struct {
	mu       sync.Mutex
	dials    []*Dial
	requests []*Request
	queries  []Query
}

// Dial is one attempt to connect, and what became of the connection so far.
type Dial struct {
	Time      time.Time
	By        string         // who dialled: "fetcher", "foreign", "loopback" or what [Internet.Dialer] was given
	Addr      netip.AddrPort // what was dialled
	Connected bool           // there was a connection
	Err       error          // why there was none; nil: there was, or the client still waits
	Sent      int64          // bytes that the client sent, handshake included, as far as the server took them
	Got       int64          // bytes that the server sent
	SNI       string         // the name in the TLS handshake, if one began
	TLS       uint16         // the TLS version, once both sides have agreed; 0: they have not
	ALPN      string         // "h2", "http/1.1" or none, likewise
	Handshake error          // why they did not, as the server saw it
	Closed    bool           // the server's side is closed
}

// Request is one HTTP request that reached a site. It is written down before the site answers.
type Request struct {
	Time       time.Time
	Site       string // whose handler got it; "" for a host that is not a site at that address
	Addr       netip.AddrPort
	SNI        string // "" for plain HTTP
	Proto      string // "HTTP/1.1", "HTTP/2.0"
	Method     string
	Host       string // as sent
	Target     string // path and query, as sent
	Path       string // the path alone, escaped as it was sent
	Header     http.Header
	Body       []byte // the first MiB
	BodySize   int64
	ClientCert bool // the client showed a certificate
}

// Query is one question that reached the lab's DNS.
type Query struct {
	Time   time.Time
	Name   string // in lower case, without the final dot
	Type   uint16
	DO, CD bool
}

// Requests are those that reached the named sites, or all.
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

// Paths are the targets of the requests that reached the site, for short assertions: "GET
// /agents.txt".
func (j *Journal) Paths(site string) []string {
	var out []string
	for _, r := range j.Requests(site) {
		out = append(out, r.Method+" "+r.Target)
	}
	return out
}

// Dials are the attempts to reach the addresses ("10.0.0.1" for any port, or "10.0.0.1:443"), or
// all.
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

// Queries are the questions about the names, or all.
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

// Clear forgets what has happened so far.
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
