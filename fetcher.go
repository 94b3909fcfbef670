package lookleap

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/netguard"
	"github.com/lookleap/lookleap/internal/roundtrip"
)

// Fetcher performs exactly one HTTP exchange: it sends one request, and never
// follows a redirect or tries again. Any [http.RoundTripper] is one, tracing,
// caching and recording ones included. Redirects and failures come back to the
// caller because each document has its own rule about what follows.
//
// A Fetcher that reports its connections through net/http/httptrace, as every
// [http.Transport] does, has each of them checked before a byte of a request is
// sent. A second request in the same exchange is refused before it is sent,
// also one that [http.Transport] would repeat by itself. A Fetcher that sends
// requests of its own to the same host, for a token perhaps, gives them another
// context. The answers of a Fetcher that reports nothing are no evidence, and
// nothing but plain reads is sent through it.
//
// A Fetcher is called from several goroutines at once.
type Fetcher interface {
	RoundTrip(*http.Request) (*http.Response, error)
}

// ErrDenied is what a guard's refusal wraps (an agents.txt policy, an address
// that must not be dialled). It is final: nobody retries it or goes around it.
var ErrDenied = coded.New(string(CodeDenied), "denied by a guard")

// Bounds of the guarded fetcher.
const (
	dialTimeout      = 10 * time.Second
	handshakeTimeout = 10 * time.Second
	headerTimeout    = 10 * time.Second
	continueTimeout  = time.Second
	idleTimeout      = 30 * time.Second
	maxHeaderBytes   = 32 << 10
	exchangeTimeout  = 5 * time.Minute
	leastRate        = 256 // bytes of a body per second
)

// FetcherOptions are the choices of [NewFetcher]. The zero value is the safe one.
type FetcherOptions struct {
	Resolver Resolver       // who resolves names; nil: the system's resolver
	Ports    []uint16       // that may be dialled; empty: 443
	RootCAs  *x509.CertPool // nil: the system's
	MinTLS   uint16         // tls.VersionTLS12 or tls.VersionTLS13; 0: TLS 1.2

	// Now is the clock by which certificates are valid; nil: time.Now.
	Now func() time.Time

	// ClientCertificates are offered to servers that ask for one.
	ClientCertificates []tls.Certificate

	// Dial opens a TCP connection; nil dials with a [net.Dialer]. The address is
	// judged before Dial is called, and the remote address of the connection
	// after, so that a Dial may go another way but not to another kind of place.
	Dial func(ctx context.Context, addr netip.AddrPort) (net.Conn, error)

	// Time is how long an exchange may take, from the lookup of the name to the end
	// of the answer's body; 0: 5 minutes, negative: no bound.
	Time time.Duration

	// Rate is how many bytes of a body must arrive per second, measured over each
	// 5 s that its reader waits; 0: 256, negative: no bound. Event streams, which may
	// be silent for long, need a Fetcher without it.
	Rate int

	// InsecureAllowPrivate lets private, loopback and all other addresses be
	// dialled. It is for test beds: with it, whoever chooses a URL reaches what
	// this machine reaches.
	InsecureAllowPrivate bool
}

// NewFetcher builds the guarded fetcher: https alone; only the public unicast
// addresses that the resolver answered, each checked again on the socket that is
// dialled; port 443 unless others are allowed; TLS 1.2 or better, HTTP/1.1 or
// HTTP/2; no proxy, whatever the environment says; no cookies, no decompression,
// and no more than 32 KiB of header. A DNSSEC failure means no connection.
//
// Each call of RoundTrip sends one request. Where the standard client would send
// it again, because the server closed a connection or reset a stream, it returns
// an error with the code connection-reset. An error that came while the body was
// read has a code too: too-slow or timeout where a bound of the options ended it.
//
// It is an [io.Closer] too: Close ends its idle connections and refuses later
// requests. Its connections belong to it alone.
func NewFetcher(o FetcherOptions) Fetcher {
	if o.Resolver == nil {
		o.Resolver = NetResolver(nil)
	}
	o.MinTLS = max(o.MinTLS, tls.VersionTLS12)
	guard := netguard.Guard{Ports: slices.Clone(o.Ports), AllowPrivate: o.InsecureAllowPrivate}
	dialer := &guardedDialer{resolver: o.Resolver, guard: guard, dial: o.Dial}
	if dialer.dial == nil {
		net := &net.Dialer{Control: guard.Control, Timeout: dialTimeout}
		dialer.dial = dialTCP(net)
	}
	handshake := &tls.Config{
		RootCAs:      o.RootCAs,
		Time:         o.Now,
		MinVersion:   o.MinTLS,
		Certificates: slices.Clone(o.ClientCertificates),
		NextProtos:   []string{"h2", "http/1.1"},
	}
	o.Time, o.Rate = cmp.Or(o.Time, exchangeTimeout), cmp.Or(o.Rate, leastRate)
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	bounds := roundtrip.Options{Time: max(o.Time, 0), Rate: max(o.Rate, 0), Fail: fetchError}
	return &guardedFetcher{guard: guard, bounds: bounds, transport: &http.Transport{
		DialTLSContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			return dialer.dialTLS(ctx, addr, handshake)
		},
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, refusal(&netguard.Error{Code: netguard.CodeBlockedNetwork, Network: "http", Reason: "only https is fetched"})
		},
		Protocols:              &protocols,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
		ResponseHeaderTimeout:  headerTimeout,
		ExpectContinueTimeout:  continueTimeout,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConns:           100,
	}}
}

// guardedFetcher is an http.Transport of its own behind the checks that need no
// connection.
type guardedFetcher struct {
	guard     netguard.Guard
	bounds    roundtrip.Options
	transport *http.Transport
	closed    atomic.Bool
}

// RoundTrip performs one exchange.
func (f *guardedFetcher) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := f.check(req); err != nil {
		closeBody(req)
		return nil, err
	}
	resp, err := roundtrip.Do(f.transport, req, f.bounds)
	if known := (*Error)(nil); err != nil && CodeOf(err) == CodeInternal && !errors.As(err, &known) {
		err = &Error{Code: CodeUnreachable, Message: "the exchange failed", Err: err}
	}
	return resp, err
}

func (f *guardedFetcher) check(req *http.Request) error {
	switch u := req.URL; {
	case f.closed.Load():
		return ErrClosed
	case u == nil || u.Host == "" || u.Opaque != "":
		return &Error{Code: CodeBadURL, Message: "the request has no URL with a host and a path"}
	case u.Scheme != "https":
		return &Error{Code: CodeNotHTTPS, Message: fmt.Sprintf("only https is fetched, not %q", u.Scheme)}
	case u.User != nil:
		return &Error{Code: CodeUserinfo, Message: "the URL carries user information"}
	case strings.HasSuffix(u.Hostname(), "."):
		return &Error{Code: CodeTrailingDot, Message: "the host ends with a dot"}
	case req.Host != "" && !strings.EqualFold(strings.TrimSuffix(req.Host, ":"), strings.TrimSuffix(u.Host, ":")):
		return &Error{Code: CodeBadHost, Message: "the Host header names another host than the URL"}
	case req.Method == http.MethodConnect || leavesHTTP(req.Header):
		return &Error{Code: CodeUsage, Message: "tunnels and upgrades are no exchanges"}
	}
	return nil
}

// leavesHTTP reports whether a header, in whatever letters its names are written,
// asks for another protocol or makes a proxy drop other headers.
func leavesHTTP(h http.Header) bool {
	h = roundtrip.Canonical(h)
	for _, line := range h["Connection"] {
		for token := range strings.SplitSeq(line, ",") {
			switch strings.ToLower(strings.Trim(token, " \t")) {
			case "", "close", "keep-alive":
			default:
				return true
			}
		}
	}
	return len(h["Upgrade"]) > 0
}

// Close ends the idle connections.
func (f *guardedFetcher) Close() error {
	f.closed.Store(true)
	f.transport.CloseIdleConnections()
	return nil
}

// CloseIdleConnections is what [http.Client.CloseIdleConnections] calls.
func (f *guardedFetcher) CloseIdleConnections() { f.transport.CloseIdleConnections() }

// fetchError is the form that errors of [roundtrip.Do] take here.
func fetchError(code, reason string) error {
	return &Error{Code: Code(code), Message: reason}
}
