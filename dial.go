package lookleap

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/lookleap/lookleap/internal/netguard"
	"github.com/lookleap/lookleap/internal/roundtrip"
)

// DialControl returns a function for [net.Dialer.Control] of hosts that have their own
// dialer. It allows TCP connections over IPv4 and IPv6 to public addresses at the given
// ports (default: 443), and refuses all others with [ErrDenied]. It checks the address of
// the socket, so a name that changes between two lookups does not help an attacker.
func DialControl(ports ...uint16) func(network, address string, c syscall.RawConn) error {
	control := netguard.Control(ports...)
	return func(network, address string, c syscall.RawConn) error {
		return refusal(control(network, address, c))
	}
}

// refusal returns a guard's error as an [*Error] that is an [ErrDenied].
func refusal(err error) error {
	var no *netguard.Error
	if errors.As(err, &no) {
		return &Error{Code: Code(no.Code), Message: no.Error(), Err: ErrDenied}
	}
	return err
}

// ConnEvidence is an optional interface of connections. The connections of [NewFetcher]
// implement it below their [tls.Conn]. Those of another Fetcher may implement it too,
// for client certificates and for tests.
type ConnEvidence interface {
	ClientCertificate() bool // the client presented a certificate in the handshake
	PrivateAllowed() bool    // the Fetcher does not check addresses

	// Route says how the connection reaches the server if not directly, such as
	// [RouteDevelopment]; "" if it does. It becomes [Evidence.Route].
	Route() string
}

// RouteDevelopment is the route of a connection to a server that is being developed, in the place
// of the one that the URL names. Nothing of the connection is evidence.
const RouteDevelopment = "development"

// guardedConn is a connection to an address that was checked.
type guardedConn struct {
	net.Conn
	private    bool
	clientCert atomic.Bool
}

// Route returns what the connection below says of itself.
func (c *guardedConn) Route() string {
	if below, ok := c.Conn.(interface{ Route() string }); ok {
		return below.Route()
	}
	return ""
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
	addrs, err := d.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	conn, err := d.connect(ctx, addrs, uint16(port))
	if err != nil {
		return nil, err
	}
	return conn.handshake(ctx, host, config)
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

// addresses returns the allowed addresses of a host, IPv6 and IPv4 alternating. If
// DNSSEC validation fails for one family, the host is refused.
func (d *guardedDialer) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return d.dialable([]netip.Addr{addr})
	}
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
	found := interleave(six, four)
	if len(found) > 0 {
		return d.dialable(found)
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

// dialable returns the allowed addresses. It returns an error if none is allowed.
func (d *guardedDialer) dialable(found []netip.Addr) ([]netip.Addr, error) {
	if d.guard.AllowPrivate {
		return found, nil
	}
	var public []netip.Addr
	var refused error
	for _, addr := range found {
		switch err := netguard.Check(addr); {
		case err == nil:
			public = append(public, addr)
		case refused == nil:
			refused = err
		}
	}
	if len(public) == 0 {
		return nil, refusal(refused)
	}
	return public, nil
}

// connect tries the addresses in order and returns the first connection. It tries the
// next address when an attempt fails or has taken attemptDelay.
func (d *guardedDialer) connect(ctx context.Context, addrs []netip.Addr, port uint16) (*guardedConn, error) {
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
			conn, err := d.attempt(ctx, dst)
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

// attempt checks the address before dialling, and the connection afterwards.
func (d *guardedDialer) attempt(ctx context.Context, dst netip.AddrPort) (_ *guardedConn, err error) {
	defer partDial.guard(&err)
	if err := d.guard.Check(dst); err != nil {
		return nil, refusal(err)
	}
	conn, err := d.dial(ctx, dst)
	if err != nil {
		return nil, refusal(err)
	}
	if conn == nil {
		return nil, partDial.failed("it returned neither a connection nor an error")
	}
	if err := d.checkRemote(conn); err != nil {
		_ = conn.Close()
		return nil, refusal(err)
	}
	return &guardedConn{Conn: conn, private: d.guard.AllowPrivate}, nil
}

// checkRemote checks the remote address of a connection. The port is not checked,
// because a Dial hook may map ports.
func (d *guardedDialer) checkRemote(conn net.Conn) error {
	if d.guard.AllowPrivate {
		return nil
	}
	remote, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return &netguard.Error{Code: netguard.CodeBlockedNetwork, Network: conn.RemoteAddr().Network(),
			Reason: "its remote end is not an address and port"}
	}
	return netguard.Check(remote.Addr())
}
