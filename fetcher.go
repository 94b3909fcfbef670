package lookleap

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/netguard"
	"github.com/lookleap/lookleap/internal/roundtrip"
)

// Fetcher performs one HTTP exchange: it sends one request and returns the response. It
// does not follow redirects or retry, because each document has its own rules for both.
// Every [http.RoundTripper] is a Fetcher, including those that trace, cache or record.
//
// A Fetcher should report its connections through net/http/httptrace, as every
// [http.Transport] does. Each reported connection is checked before a byte of the
// request is sent, and a second request in the same exchange is refused, even if
// [http.Transport] would repeat it by itself. Responses of a Fetcher that reports no
// connections are not evidence, and only plain reads are sent through it.
//
// A Fetcher that sends requests of its own to the same host, for example to get a token,
// must use another context for them. A Fetcher is called from several goroutines at once.
type Fetcher interface {
	RoundTrip(*http.Request) (*http.Response, error)
}

// ErrDenied is the error of a request that a guard refused, such as an agents.txt policy or
// the check of addresses. It is final: do not retry, and do not send the request another way.
var ErrDenied = coded.Denied

// Bounds of the guarded fetcher.
const (
	dialTimeout      = 10 * time.Second
	handshakeTimeout = 10 * time.Second
	headerTimeout    = 10 * time.Second
	continueTimeout  = time.Second
	idleTimeout      = 30 * time.Second
	maxHeaderBytes   = 32 << 10
	exchangeTimeout  = 5 * time.Minute
	leastRate        = 256     // bytes of a body per second
	window           = 1 << 20 // bytes of a body that are received before they are read
)

// FetcherOptions are the options of [NewFetcher]. The zero value is safe.
type FetcherOptions struct {
	Resolver Resolver       // resolves names; nil: the system's resolver
	Ports    []uint16       // allowed ports; empty: 443
	RootCAs  *x509.CertPool // nil: the system's
	MinTLS   uint16         // tls.VersionTLS12 or tls.VersionTLS13; 0: TLS 1.2

	// Now is the clock for the validity of certificates; nil: time.Now.
	Now func() time.Time

	// ClientCertificates are offered to servers that ask for one.
	ClientCertificates []tls.Certificate

	// Dial opens a TCP connection; nil: a [net.Dialer]. The address is checked before
	// Dial is called, and the remote address of the connection is checked afterwards.
	Dial func(ctx context.Context, addr netip.AddrPort) (net.Conn, error)

	// Proxy returns the forward proxy through which a server is reached, nil to connect directly.
	// [http.ProxyFromEnvironment] and [http.ProxyURL] have this form. If it is nil, no proxy is
	// used, whatever the environment says. It gets a request that has only the URL
	// https://HOST:PORT. The scheme of a proxy is http or https, for the method CONNECT, or
	// socks5. The proxy itself may have a private address, and may be at any port.
	//
	// The proxy is asked for an address that was looked up and checked here. The name of the
	// server is only in the TLS handshake. [Evidence.Route] is [RouteProxy].
	Proxy func(*http.Request) (*url.URL, error)

	// ProxyByName asks the proxy for the name of the server, for proxies that filter by name and
	// for networks in which names cannot be looked up. Where the proxy connects to is then not
	// known, so a server in its network can be reached: [Evidence.Route] is
	// [RouteProxyByName], and the address is that of the proxy. IP addresses, special-use names
	// and names that have a private address here are refused in any case.
	ProxyByName bool

	// AllowPrefixes opens ranges of addresses that are not public, each for the hosts that it
	// names: a network of one's own, or the range of a VPN in fake-IP mode. Addresses of cloud
	// metadata, all link-local ones, and forms that hide another address are never opened.
	// [Evidence.Route] then contains [RouteAllowed].
	AllowPrefixes []AllowPrefix

	// Time limits an exchange, from the lookup of the name to the end of the response
	// body; 0: 5 minutes, negative: no limit.
	Time time.Duration

	// Rate is the minimum number of body bytes per second, measured over each 5 seconds
	// that the reader waits; 0: 256, negative: no minimum. Event streams, which may be
	// silent for a long time, need a Fetcher without a minimum.
	Rate int

	// InsecureAllowPrivate allows connections to private, loopback and all other
	// addresses. Use it only in tests: with it, anyone who chooses a URL can reach
	// everything that this machine can reach.
	InsecureAllowPrivate bool
}

// AllowPrefix is a range of addresses that is open for some hosts.
type AllowPrefix struct {
	Prefix netip.Prefix
	// Hosts are names in lower case, "*.corp.example.com" for all names below one, "*" for
	// every name, and IP addresses as they are in a URL. Without hosts, nothing is open.
	Hosts []string
}

// NewFetcher returns the guarded fetcher. It uses only https, connects only to public
// addresses (checked again on each socket), and only to port 443 unless the options
// allow others. It requires TLS 1.2 or later and speaks HTTP/1.1 and HTTP/2. It uses no
// cookies, no decompression, and no proxy unless the options name one. It accepts at most 32 KiB of header, and of an
// HTTP/2 body at most 1 MiB more than was read. If DNSSEC validation fails, it does not
// connect.
//
// Each call of RoundTrip sends the request at most once. Where the standard client would
// repeat it, because the server closed a connection or reset a stream, RoundTrip returns
// an error with [CodeConnReset]. Reading the body returns an error with [CodeTooSlow] or
// [CodeTimeout] if a limit of the options ends the exchange.
//
// The fetcher has its own connections. It is also an [io.Closer]: Close closes idle
// connections, and later requests return [ErrClosed].
func NewFetcher(o FetcherOptions) Fetcher {
	if o.Resolver == nil {
		o.Resolver = NetResolver(nil)
	}
	o.MinTLS = max(o.MinTLS, tls.VersionTLS12)
	guard := netguard.Guard{Ports: slices.Clone(o.Ports), AllowPrivate: o.InsecureAllowPrivate}
	for _, a := range o.AllowPrefixes {
		guard.Allow = append(guard.Allow, netguard.Allow{Prefix: a.Prefix, Hosts: slices.Clone(a.Hosts)})
	}
	dialer := &guardedDialer{resolver: o.Resolver, guard: guard, dial: o.Dial,
		proxies: proxies{choose: o.Proxy, byName: o.ProxyByName, tls: &tls.Config{RootCAs: o.RootCAs, Time: o.Now}}}
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
			return nil, refusal(&netguard.Error{Code: netguard.CodeBlockedNetwork, Network: "http", Reason: "only https is allowed"})
		},
		Protocols:              &protocols,
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerStream: window},
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
		ResponseHeaderTimeout:  headerTimeout,
		ExpectContinueTimeout:  continueTimeout,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConns:           100,
	}}
}

// guardedFetcher checks requests before its own http.Transport sends them.
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
	if err != nil && CodeOf(err) == CodeInternal {
		if known := (*Error)(nil); !errors.As(err, &known) {
			err = &Error{Code: CodeUnreachable, Message: "the exchange failed", Err: err}
		}
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
		return &Error{Code: CodeNotHTTPS, Message: "the scheme is " + quote(u.Scheme, 40) + ", and only https is allowed"}
	case u.User != nil:
		return &Error{Code: CodeUserinfo, Message: "the URL contains user information"}
	case strings.HasSuffix(u.Hostname(), "."):
		return &Error{Code: CodeTrailingDot, Message: "the host ends with a dot"}
	case req.Host != "" && !strings.EqualFold(strings.TrimSuffix(req.Host, ":"), strings.TrimSuffix(u.Host, ":")):
		return &Error{Code: CodeBadHost, Message: "the Host header and the URL name different hosts"}
	case req.Method == http.MethodConnect || leavesHTTP(req.Header):
		return &Error{Code: CodeUsage, Message: "tunnels and protocol upgrades are not supported"}
	}
	return nil
}

// leavesHTTP reports whether a header asks for another protocol or makes a proxy drop
// other headers. The letter case of header names does not matter.
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

// Close closes idle connections. Later requests return [ErrClosed].
func (f *guardedFetcher) Close() error {
	f.closed.Store(true)
	f.transport.CloseIdleConnections()
	return nil
}

// CloseIdleConnections is what [http.Client.CloseIdleConnections] calls.
func (f *guardedFetcher) CloseIdleConnections() { f.transport.CloseIdleConnections() }

// fetchError makes the errors of [roundtrip.Do].
func fetchError(code, reason string) error {
	return &Error{Code: Code(code), Message: reason}
}
