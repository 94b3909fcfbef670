package lookleap

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/netguard"
	"github.com/lookleap/lookleap/internal/roundtrip"
)

// refusal returns a guard's error as an [*Error] that is an [ErrDenied].
func refusal(err error) error {
	var no *netguard.Error
	if !errors.As(err, &no) {
		return err
	}
	e := &Error{Code: Code(no.Code), Message: no.Error(), Err: ErrDenied}
	if no.Range == netguard.FakeIP {
		e.Fix = "turn the fake-IP mode off for this program, or name " + no.Range.String() + " in FetcherOptions.AllowPrefixes"
	}
	return e
}

// ConnEvidence is an optional interface of connections. The connections of [NewFetcher]
// implement it below their [tls.Conn]. Those of another Fetcher may implement it too,
// for client certificates and for tests.
type ConnEvidence interface {
	ClientCertificate() bool // the client presented a certificate in the handshake
	PrivateAllowed() bool    // the Fetcher connects to this address although it may not be public
	// Route says how the connection reaches the server if not directly, such as
	// [RouteDevelopment]; "" if it does. It becomes [Evidence.Route].
	Route() string
}

// The routes of connections. A connection can have several, separated by ", ".
const (
	// RouteDevelopment leads to a server that is being developed, in the place of the one that
	// the URL names. Nothing of the connection is evidence.
	RouteDevelopment = "development"
	// RouteProxy leads through a proxy that was asked for the address.
	RouteProxy = "proxy"
	// RouteProxyByName leads through a proxy that was asked for the name. The address is that of
	// the proxy, and that of the server was not checked.
	RouteProxyByName = "proxy-by-name"
	// RouteAllowed leads to an address that is open by [FetcherOptions.AllowPrefixes].
	RouteAllowed = "allowed-prefix"
)

// guardedConn is a connection to an address that was checked.
type guardedConn struct {
	net.Conn
	private    bool
	routes     []string
	clientCert atomic.Bool
}

// Route returns how the connection was made, with what the connection below says of itself.
func (c *guardedConn) Route() string {
	routes := c.routes
	if below, ok := c.Conn.(interface{ Route() string }); ok && below.Route() != "" {
		if below.Route() == RouteDevelopment {
			return RouteDevelopment
		}
		routes = append(slices.Clip(routes), below.Route())
	}
	return strings.Join(routes, ", ")
}

func (c *guardedConn) ClientCertificate() bool { return c.clientCert.Load() }
func (c *guardedConn) PrivateAllowed() bool    { return c.private }

const (
	maxAddresses = 16                     // maximum number of addresses of a name that are tried
	attemptDelay = 250 * time.Millisecond // until the next address is tried in parallel (RFC 8305)
)

// guardedDialer turns a host and port into a connection to a public address.
type guardedDialer struct {
	resolver Resolver
	guard    netguard.Guard
	dial     func(context.Context, netip.AddrPort) (net.Conn, error)
	proxies  proxies
}

// route is how a dialer reaches one host.
type route struct {
	host  string
	dial  func(context.Context, netip.AddrPort) (net.Conn, error)
	proxy bool
}

func dialTCP(d *net.Dialer) func(context.Context, netip.AddrPort) (net.Conn, error) {
	return func(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
		network := "tcp6"
		if addr.Addr().Is4() {
			network = "tcp4"
		}
		return d.DialContext(ctx, network, addr.String())
	}
}

// dialTLS returns a connection whose handshake is complete.
func (d *guardedDialer) dialTLS(ctx context.Context, hostport string, config *tls.Config) (net.Conn, error) {
	host, portText, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, &Error{Code: CodeBadHost, Message: "the host is malformed"}
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil || port == 0 {
		return nil, &Error{Code: CodeBadPort, Message: "the port " + quote(portText, 20) + " is not valid"}
	}
	if err := d.guard.CheckPort(uint16(port)); err != nil {
		return nil, refusal(err)
	}
	conn, err := d.reach(ctx, host, uint16(port))
	if err != nil {
		return nil, d.proxies.unused(err)
	}
	return conn.handshake(ctx, host, config)
}

// reach connects to a host, directly or through a proxy.
func (d *guardedDialer) reach(ctx context.Context, host string, port uint16) (*guardedConn, error) {
	proxy, err := d.proxies.of(host, port)
	if err != nil {
		return nil, err
	}
	to := route{host: host, dial: d.dial}
	switch {
	case proxy != nil && d.proxies.byName:
		return d.reachByName(ctx, proxy, host, port)
	case proxy != nil:
		to.proxy, to.dial = true, proxy.dialAddress
	}
	addrs, err := d.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	return d.connect(ctx, addrs, port, to)
}

// reachByName asks a proxy for a host by its name. What is known here about the name still counts.
func (d *guardedDialer) reachByName(ctx context.Context, proxy *proxy, host string, port uint16) (*guardedConn, error) {
	if _, err := domain.ParseHost(host); err != nil && !d.guard.AllowPrivate {
		return nil, &Error{Code: CodeSpecialHost, Message: quote(host, 253) + " is not a name that a proxy is asked for", Err: ErrDenied}
	}
	found, err := d.lookups(ctx, host)
	switch {
	case errors.Is(err, ErrBogus):
		return nil, err
	case err == nil:
		for _, addr := range found {
			if _, err := d.guard.CheckAddr(addr, host); err != nil {
				return nil, refusal(err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := proxy.tunnel(ctx, net.JoinHostPort(host, strconv.Itoa(int(port))))
	if err != nil {
		return nil, err
	}
	return &guardedConn{Conn: conn, private: true, routes: []string{RouteProxyByName}}, nil
}

// handshake notes on the connection whether it presented a certificate.
func (c *guardedConn) handshake(ctx context.Context, host string, base *tls.Config) (_ net.Conn, err error) {
	defer func() {
		if err != nil {
			_ = c.Close()
		}
	}()
	defer partClock.guard(&err)
	config := base.Clone()
	config.ServerName = host
	config.GetClientCertificate = func(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		for i := range base.Certificates {
			if cert := &base.Certificates[i]; asked.SupportsCertificate(cert) == nil {
				c.clientCert.Store(true)
				return cert, nil
			}
		}
		return new(tls.Certificate), nil // no certificate
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	conn := tls.Client(c, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	return conn, nil
}

// resolving marks the lookups of a dialer. A resolver that fetches through the same
// fetcher is refused, because it would wait for itself.
type resolving struct{ *guardedDialer }

// addresses returns the allowed addresses of a host, IPv6 and IPv4 alternating.
func (d *guardedDialer) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	found := make([]netip.Addr, 1)
	var err error
	if found[0], err = netip.ParseAddr(host); err != nil {
		if found, err = d.lookups(ctx, host); err != nil {
			return nil, err
		}
	}
	var allowed []netip.Addr
	var refused error
	for _, addr := range found {
		switch _, err := d.guard.CheckAddr(addr, host); {
		case err == nil:
			allowed = append(allowed, addr)
		case refused == nil:
			refused = err
		}
	}
	if len(allowed) == 0 {
		return nil, refusal(refused)
	}
	return allowed, nil
}

// lookups looks up both kinds of addresses of a host. If DNSSEC validation fails for one, the host
// is refused.
func (d *guardedDialer) lookups(ctx context.Context, host string) ([]netip.Addr, error) {
	if ctx.Value(resolving{d}) != nil {
		return nil, &Error{Code: CodeDNSError, Message: "the resolver uses the fetcher that is waiting for it"}
	}
	ctx = context.WithValue(roundtrip.Apart(ctx), resolving{d}, true) // a resolver may fetch
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var (
		both sync.WaitGroup
		four []netip.Addr
		six  []netip.Addr
		err4 error
		err6 error
	)
	both.Go(func() { four, err4 = d.lookup(ctx, host, TypeA) })
	both.Go(func() { six, err6 = d.lookup(ctx, host, TypeAAAA) })
	both.Wait()
	for _, err := range []error{err4, err6} {
		if errors.Is(err, ErrBogus) {
			return nil, err
		}
	}
	if found := interleave(six, four); len(found) > 0 {
		return found, nil
	}
	if err := errors.Join(err4, err6); err != nil {
		return nil, &Error{Code: CodeDNSError, Message: "the addresses of " + quote(host, 253) + " could not be looked up", Err: err}
	}
	return nil, &Error{Code: CodeNoAddress, Message: quote(host, 253) + " has no address"}
}

func (d *guardedDialer) lookup(ctx context.Context, host string, t RRType) (_ []netip.Addr, err error) {
	defer partResolver.guard(&err)
	answer, err := d.resolver.Lookup(ctx, host, t)
	if err != nil {
		return nil, err
	}
	if answer == nil {
		return nil, partResolver.failed("it returned neither an answer nor an error")
	}
	var addrs []netip.Addr
	for _, r := range answer.Records {
		if r.Addr.IsValid() && len(addrs) < maxAddresses {
			addrs = append(addrs, r.Addr)
		}
	}
	return addrs, nil
}

func interleave(a, b []netip.Addr) []netip.Addr {
	var all []netip.Addr
	for i := range max(len(a), len(b)) {
		if i < len(a) {
			all = append(all, a[i])
		}
		if i < len(b) {
			all = append(all, b[i])
		}
	}
	return all[:min(len(all), maxAddresses)]
}

// connect tries the addresses in order and returns the first connection. It tries the
// next address when an attempt fails or has taken attemptDelay.
func (d *guardedDialer) connect(ctx context.Context, addrs []netip.Addr, port uint16, to route) (*guardedConn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	type outcome struct {
		conn *guardedConn
		err  error
	}
	outcomes := make(chan outcome, len(addrs)) // with room for all, so that no late attempt blocks
	next, running := 0, 0
	start := func() {
		dst := netip.AddrPortFrom(addrs[next], port)
		next++
		running++
		go func() {
			conn, err := d.attempt(ctx, dst, to)
			outcomes <- outcome{conn, err}
		}()
	}
	var errs []error
	for start(); running > 0; {
		var later <-chan time.Time
		if next < len(addrs) {
			later = time.After(attemptDelay)
		}
		select {
		case o := <-outcomes:
			running--
			if o.err == nil {
				go func() { // the others lost
					for range running {
						if o := <-outcomes; o.conn != nil {
							_ = o.conn.Close()
						}
					}
				}()
				return o.conn, nil
			}
			errs = append(errs, o.err)
			if next < len(addrs) && ctx.Err() == nil {
				start()
			}
		case <-later:
			start()
		}
	}
	return nil, errors.Join(errs...)
}

// attempt checks the address and port before dialling, and the connection afterwards.
func (d *guardedDialer) attempt(ctx context.Context, dst netip.AddrPort, to route) (_ *guardedConn, err error) {
	defer partDial.guard(&err)
	if err := d.guard.CheckPort(dst.Port()); err != nil {
		return nil, refusal(err)
	}
	opened, err := d.guard.CheckAddr(dst.Addr(), to.host)
	if err != nil {
		return nil, refusal(err)
	}
	conn, err := to.dial(ctx, dst)
	if err != nil {
		return nil, refusal(err)
	}
	if conn == nil {
		return nil, partDial.failed("it returned neither a connection nor an error")
	}
	if !d.guard.AllowPrivate {
		if opened, err = d.checkRemote(conn, to.host); err != nil {
			_ = conn.Close()
			return nil, refusal(err)
		}
	}
	made := &guardedConn{Conn: conn, private: opened}
	if to.proxy {
		made.routes = append(made.routes, RouteProxy)
	}
	if opened && !d.guard.AllowPrivate {
		made.routes = append(made.routes, RouteAllowed)
	}
	return made, nil
}

// checkRemote checks the remote address of a connection. The port is not checked,
// because a Dial hook may map ports.
func (d *guardedDialer) checkRemote(conn net.Conn, host string) (opened bool, err error) {
	remote, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return false, &netguard.Error{Code: netguard.CodeBlockedNetwork, Network: conn.RemoteAddr().Network(),
			Reason: "its remote end is not an address and port"}
	}
	return d.guard.CheckAddr(remote.Addr(), host)
}
