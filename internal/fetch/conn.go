package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptrace"
	"net/netip"
	"sync"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/netguard"
	"github.com/lookleap/lookleap/internal/roundtrip"
)

// Conn is what the Fetcher reported about the connection of a response.
type Conn struct {
	Address           netip.AddrPort // the remote end
	TLS               uint16         // protocol version
	Resumed           bool           // the TLS session was resumed
	Reused            bool           // the connection served a request before
	ClientCertificate bool           // this side presented a certificate
	Leaf              *x509.Certificate
	Route             string // how the connection reached the server, if not directly
}

// Reported reports whether the Fetcher reported a connection.
func (c Conn) Reported() bool { return c.Address.IsValid() }

// ValidFor reports whether the server's certificate is valid for a host.
func (c Conn) ValidFor(host string) bool {
	return c.Leaf != nil && c.Leaf.VerifyHostname(host) == nil
}

// Evidence returns what the connection is evidence of: its address, TLS version and route. In
// development mode it is evidence of nothing.
func (c Conn) Evidence() lookleap.Evidence {
	e := lookleap.Evidence{Route: c.Route}
	if c.Route == lookleap.RouteDevelopment {
		return e
	}
	if c.Reported() {
		e.Address = c.Address.String()
	}
	if c.TLS != 0 {
		e.TLS = tls.VersionName(c.TLS)
	}
	return e
}

// watch judges every connection that a Fetcher uses for one request. It does so in
// httptrace.GotConn, which is called before the request is written. If a connection fails, watch
// closes it and cancels the request.
type watch struct {
	request *Request
	host    string
	plain   bool // the URL is http
	proof   bool // over https, the server's certificate must have been verified for host
	cancel  context.CancelCauseFunc

	mu     sync.Mutex
	asked  int  // how often the Fetcher asked for a connection
	taken  int  // how many connections it got
	first  Conn // the first one that it got
	conn   Conn // the last one
	failed error
}

func (w *watch) getConn(string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
}

func (w *watch) gotConn(info httptrace.GotConnInfo) {
	conn, err := w.judge(info)
	w.mu.Lock()
	w.taken++
	if w.taken == 1 {
		w.first = conn
	}
	w.conn = conn
	if err != nil && w.failed == nil {
		w.failed = err
	}
	w.mu.Unlock()
	if err != nil {
		w.cancel(err)
		roundtrip.Close(info.Conn)
	}
}

// evidence returns what a connection, or the one below its TLS, reports about itself.
func evidence(conn net.Conn) (clientCert, private bool, route string) {
	for range 4 {
		if e, ok := conn.(lookleap.ConnEvidence); ok {
			return e.ClientCertificate(), e.PrivateAllowed(), e.Route()
		}
		conn = roundtrip.Below(conn)
	}
	return false, false, ""
}

func (w *watch) judge(info httptrace.GotConnInfo) (Conn, error) {
	if info.Conn == nil {
		return Conn{}, coded(lookleap.CodeNoConnection, "the fetcher reports a connection without the connection itself")
	}
	c := Conn{Reused: info.Reused}
	var private bool
	c.ClientCertificate, private, c.Route = evidence(info.Conn)
	remote := info.Conn.RemoteAddr()
	if remote == nil {
		return c, denied(lookleap.CodeBlockedNetwork, "the connection has no remote address")
	}
	address, err := netip.ParseAddrPort(remote.String())
	if err != nil {
		return c, denied(lookleap.CodeBlockedNetwork, "the remote address of the connection is not an IP address and port")
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
		return c, coded(lookleap.CodeTLS, "the connection does not report its TLS state")
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
		return c, coded(lookleap.CodeTLSTooOld, "the connection uses %s, and at least %s is required",
			tls.VersionName(state.Version), tls.VersionName(least))
	case w.proof && (len(state.VerifiedChains) == 0 || !c.ValidFor(w.host)):
		return c, coded(lookleap.CodeTLS, "the fetcher did not verify the server's certificate for this host")
	case w.request.ClientCertificate && !c.ClientCertificate:
		return c, coded(lookleap.CodeClientCert, "the connection presented no client certificate, or does not report it")
	}
	return c, nil
}

// outcome returns the last connection and the first failure.
func (w *watch) outcome() (Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.conn, w.failed
}

// stale reports whether the server closed an idle connection, so that the Fetcher was about to
// send the request again.
func (w *watch) stale(err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	code, _ := classify(err)
	return w.first.Reused && max(w.asked, w.taken) > 1 && code == lookleap.CodeConnReset
}

// mayHaveSent reports whether the Fetcher may have sent the request.
func (w *watch) mayHaveSent() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.taken > 0 || w.asked == 0
}
