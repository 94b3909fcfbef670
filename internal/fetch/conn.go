package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptrace"
	"net/netip"
	"net/textproto"
	"sync"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/netguard"
)

// Conn is what the Fetcher reported about the connection of an answer.
type Conn struct {
	Address           netip.AddrPort // the remote end
	TLS               uint16         // protocol version
	Resumed           bool           // the TLS session was resumed
	Reused            bool           // the connection served a request before
	ClientCertificate bool           // this side presented a certificate
	Leaf              *x509.Certificate
}

// Reported reports whether there was anything at all.
func (c Conn) Reported() bool { return c.Address.IsValid() }

// ValidFor reports whether the server's certificate is valid for a host.
func (c Conn) ValidFor(host string) bool {
	return c.Leaf != nil && c.Leaf.VerifyHostname(host) == nil
}

func (c Conn) address() string {
	if !c.Reported() {
		return ""
	}
	return c.Address.String()
}

func (c Conn) version() string {
	if c.TLS == 0 {
		return ""
	}
	return tls.VersionName(c.TLS)
}

// watch judges every connection that a Fetcher takes for one request, in
// httptrace.GotConn, which is called before the request is written. A connection
// that fails is closed and the request cancelled.
type watch struct {
	request *Request
	host    string
	plain   bool // the URL is http
	proof   bool // the server's certificate must have been verified for host
	cancel  context.CancelCauseFunc

	mu      sync.Mutex
	conn    Conn
	interim int // answers with a 1xx status so far
	failed  error
}

// trace gives a context in which only this request's connections are reported
// here: the reports of requests that a Fetcher makes while it serves this one
// (a guard that reads a policy, say) stay theirs.
func (w *watch) trace(ctx context.Context) context.Context {
	if outer, ok := ctx.Value(tracedBefore{}).(tracedBefore); ok {
		ctx = withTrace{ctx, outer.trace}
	}
	ctx = context.WithValue(ctx, tracedBefore{}, tracedBefore{httptrace.ContextClientTrace(ctx)})
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: w.gotConn, Got1xxResponse: w.gotInterim})
}

// tracedBefore is kept in a context under its own zero value: what was traced
// before this package came.
type tracedBefore struct{ trace *httptrace.ClientTrace }

// withTrace replaces the trace of a context.
type withTrace struct {
	context.Context
	trace *httptrace.ClientTrace
}

func (c withTrace) Value(key any) any {
	v := c.Context.Value(key)
	if _, ok := v.(*httptrace.ClientTrace); ok {
		if c.trace == nil {
			return nil
		}
		return c.trace
	}
	return v
}

func (w *watch) gotConn(info httptrace.GotConnInfo) {
	conn, err := w.judge(info)
	w.mu.Lock()
	if w.conn = conn; err != nil && w.failed == nil {
		w.failed = err
	}
	w.mu.Unlock()
	if err != nil {
		w.cancel(err)
		closeNow(info.Conn)
	}
}

// maxInterim is how many 1xx answers may come before the real one.
const maxInterim = 16

func (w *watch) gotInterim(int, textproto.MIMEHeader) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.interim++; w.interim <= maxInterim {
		return nil
	}
	if w.failed == nil {
		w.failed = coded(lookleap.CodeHeaderTooLarge, "more than %d interim answers came before the real one", maxInterim)
	}
	w.cancel(w.failed)
	return w.failed
}

// closeNow closes the connection below TLS too, so that nothing waits to be sent.
func closeNow(conn net.Conn) {
	if conn == nil {
		return
	}
	if below := netConn(conn); below != nil {
		_ = below.Close()
	}
	_ = conn.Close()
}

func netConn(conn net.Conn) net.Conn {
	if c, ok := conn.(interface{ NetConn() net.Conn }); ok {
		return c.NetConn()
	}
	return nil
}

// evidence finds what a connection, or the one below its TLS, tells about itself.
func evidence(conn net.Conn) (clientCert, private bool) {
	for range 4 {
		if conn == nil {
			break
		}
		if e, ok := conn.(lookleap.ConnEvidence); ok {
			return e.ClientCertificate(), e.PrivateAllowed()
		}
		conn = netConn(conn)
	}
	return false, false
}

func (w *watch) judge(info httptrace.GotConnInfo) (Conn, error) {
	if info.Conn == nil {
		return Conn{}, coded(lookleap.CodeNoConnection, "the fetcher reports a connection without saying which")
	}
	c := Conn{Reused: info.Reused}
	var private bool
	c.ClientCertificate, private = evidence(info.Conn)
	remote := info.Conn.RemoteAddr()
	if remote == nil {
		return c, denied(lookleap.CodeBlockedNetwork, "the connection has no remote address")
	}
	address, err := netip.ParseAddrPort(remote.String())
	if err != nil {
		return c, denied(lookleap.CodeBlockedNetwork, "the connection's remote end is no address and port")
	}
	if !private {
		if err := netguard.Check(address.Addr()); err != nil {
			return c, denied(lookleap.CodeBlockedAddress, err.Error())
		}
	}
	if w.plain {
		c.Address = address
		return c, nil
	}
	secured, ok := info.Conn.(interface{ ConnectionState() tls.ConnectionState })
	if !ok {
		return c, coded(lookleap.CodeTLS, "the connection does not tell its TLS state")
	}
	state := secured.ConnectionState()
	c.Address, c.TLS, c.Resumed = address, state.Version, state.DidResume
	if len(state.PeerCertificates) > 0 {
		c.Leaf = state.PeerCertificates[0]
	}
	switch least := max(w.request.MinTLS, tls.VersionTLS12); {
	case !state.HandshakeComplete:
		return c, coded(lookleap.CodeTLS, "the connection's TLS handshake is not complete")
	case state.Version < least:
		return c, coded(lookleap.CodeTLSTooOld, "the connection uses %s, and at least %s is demanded", tls.VersionName(state.Version), tls.VersionName(least))
	case w.proof && (len(state.VerifiedChains) == 0 || !c.ValidFor(w.host)):
		return c, coded(lookleap.CodeTLS, "the fetcher did not verify the server's certificate for this host")
	case w.request.ClientCertificate && !c.ClientCertificate:
		return c, coded(lookleap.CodeClientCert, "the connection presented no client certificate, or does not tell")
	}
	return c, nil
}

// outcome is the last connection taken, and the first failure.
func (w *watch) outcome() (Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.conn, w.failed
}
