package lookleaptest

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/netip"
	"os"
)

// Connection is what happens to a connection before HTTP begins; see [Site.Connection].
type Connection uint8

// What can happen to a connection.
const (
	ConnectionWorks      Connection = iota
	ConnectionRefused               // nothing listens there
	ConnectionLost                  // packets are lost: the client waits until its own timeout
	ConnectionSilent                // accepted and never answered
	ConnectionReset                 // accepted and reset at once
	ConnectionResetInTLS            // reset after the first bytes of the client
	ConnectionNotTLS                // answered without TLS
)

// Listen returns a listener at an address such as 192.0.2.53:853, for servers of any protocol.
func (n *Internet) Listen(addr string) net.Listener {
	at := netip.MustParseAddrPort(addr)
	l := &rawListener{inbox: newInbox(), internet: n, at: at}
	n.mu.Lock()
	n.listeners[at] = l.inbox
	n.mu.Unlock()
	n.keep(l)
	return l
}

type rawListener struct {
	*inbox
	internet *Internet
	at       netip.AddrPort
}

func (l *rawListener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.at) }

func (l *rawListener) Close() error {
	l.internet.mu.Lock()
	if l.internet.listeners[l.at] == l.inbox {
		delete(l.internet.listeners, l.at)
	}
	l.internet.mu.Unlock()
	l.internet.release(l)
	return l.inbox.Close()
}

// place is who listens at an address and port: sites, or a listener of [Internet.Listen].
type place struct {
	tls   bool
	sites []*Site
	raw   *inbox
}

// arrive is who listens at a place, and the fate of one more connection there: what strikes one
// site strikes all.
func (n *Internet) arrive(at netip.AddrPort) (p place, fate Connection) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p = n.place(at); n.closed || p.raw == nil && len(p.sites) == 0 {
		return p, ConnectionRefused
	}
	for _, s := range p.sites {
		if f := s.nextConnection(); f != ConnectionWorks {
			fate = f
		}
	}
	return p, fate
}

// place is who listens there. The caller holds n.mu.
func (n *Internet) place(at netip.AddrPort) place {
	p := place{raw: n.listeners[at]}
	for _, s := range n.sites {
		if here, secure := s.listens(at); here && (len(p.sites) == 0 || secure == p.tls) {
			p.sites, p.tls = append(p.sites, s), secure
		}
	}
	return p
}

// dial connects in memory.
func (n *Internet) dial(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	entry := &Dial{Addr: addr}
	n.journal.update(func() { n.journal.dials = append(n.journal.dials, entry) })
	conn, err := n.connect(ctx, entry)
	if err != nil {
		err = &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(addr), Err: err}
		n.journal.update(func() { entry.Err = err })
		return nil, err
	}
	return conn, nil
}

func (n *Internet) connect(ctx context.Context, entry *Dial) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	at := netip.AddrPortFrom(entry.Addr.Addr().Unmap(), entry.Addr.Port())
	place, fate := n.arrive(at)
	switch fate {
	case ConnectionRefused:
		return nil, os.NewSyscallError("connect", errRefused)
	case ConnectionLost:
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-n.ctx.Done():
			return nil, os.NewSyscallError("connect", errTimeout)
		}
	}
	client, server := newConns(n.clientPort(), entry.Addr)
	c := &serverConn{Conn: server, internet: n, at: at, dial: entry}
	if !n.keep(c, func() { n.accept(c, place, fate) }) {
		return nil, os.NewSyscallError("connect", errRefused)
	}
	return client, nil
}

// accept is the server's side of a new connection.
func (n *Internet) accept(c *serverConn, place place, fate Connection) {
	switch fate {
	case ConnectionSilent:
		io.Copy(io.Discard, c)
		c.Close()
		return
	case ConnectionReset:
		c.Reset()
		return
	case ConnectionResetInTLS:
		c.Read(make([]byte, 1))
		c.Reset()
		return
	case ConnectionNotTLS:
		bufio.NewReader(c).ReadByte()
		io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nspeak clear text\n")
		c.Close()
		return
	}
	switch {
	case place.raw != nil:
		place.raw.put(c)
	case place.tls:
		n.handshake(c, place.sites)
	default:
		n.inbox.put(c)
	}
}

// handshake hands the connection on when TLS is agreed, with the site that the client asks for. A
// name that is not here gets the first site's certificate, as with real servers.
func (n *Internet) handshake(c *serverConn, sites []*Site) {
	choose := func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		return cmp.Or(named(sites, hello.ServerName), sites[0]).tlsConfig(), nil
	}
	secure := tls.Server(c, &tls.Config{Time: n.clock.Now, GetConfigForClient: choose})
	if err := secure.Handshake(); err != nil {
		c.Close()
		return
	}
	n.inbox.put(secure)
}

// serverConn is the server's end of a connection: it counts what it reads, and can be found from a request.
type serverConn struct {
	net.Conn
	internet *Internet
	at       netip.AddrPort // where it arrived
	dial     *Dial
}

func (c *serverConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.internet.journal.update(func() { c.dial.Sent += int64(n) })
	return n, err
}

func (c *serverConn) Close() error {
	c.internet.release(c)
	return c.Conn.Close()
}

// Reset breaks the connection so that the client notices an error, not an end.
func (c *serverConn) Reset() {
	switch conn := c.Conn.(type) {
	case *memoryConn:
		conn.Reset()
	case *guestConn:
		conn.SetLinger(0)
	}
	c.Close()
}
