package lookleaptest

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
)

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
