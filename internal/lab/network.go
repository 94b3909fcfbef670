package lab

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
)

// Connection is the fate of a connection.
type Connection uint8

// The fates of a connection.
const (
	Healthy    Connection = iota
	Refused               // nothing listens there
	Blackhole             // packets are lost: the dial waits until the client ends it
	Silent                // accepted, read, never answered
	ResetFirst            // accepted and reset at once
	ResetHello            // reset after the first bytes from the client
	Hangup                // closed after the first bytes from the client
	NotTLS                // answers in clear text where TLS is expected
)

// Dialer connects to addresses of the lab. It has the shape of the Dial hook of
// lookleap.FetcherOptions.
type Dialer func(ctx context.Context, addr netip.AddrPort) (net.Conn, error)

// Dialer returns a dialer without any guard. The journal shows its dials under this name.
func (n *Internet) Dialer(by string) Dialer {
	return func(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
		return n.dial(ctx, by, addr)
	}
}

// Listen returns a listener in memory for any protocol, DNS over TLS for one.
func (n *Internet) Listen(addr string) net.Listener {
	at := netip.MustParseAddrPort(addr)
	l := &rawListener{inbox: newInbox(), lab: n, at: at}
	n.mu.Lock()
	n.endpoints[at] = &endpoint{raw: l.inbox}
	n.mu.Unlock()
	n.keep(l)
	return l
}

type rawListener struct {
	*inbox
	lab *Internet
	at  netip.AddrPort
}

func (l *rawListener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.at) }

func (l *rawListener) Close() error {
	l.lab.mu.Lock()
	if e := l.lab.endpoints[l.at]; e != nil && e.raw == l.inbox {
		delete(l.lab.endpoints, l.at)
	}
	l.lab.mu.Unlock()
	l.lab.release(l)
	return l.inbox.Close()
}

// endpoint is one address and port with a listener: sites, or a listener of [Internet.Listen].
type endpoint struct {
	tls   bool
	sites []*Site
	raw   *inbox
}

// move makes a site listen at other places. The caller holds n.mu.
func (n *Internet) move(s *Site, before, after map[netip.AddrPort]bool) {
	for at := range before {
		e := n.endpoints[at]
		e.sites = slices.DeleteFunc(slices.Clone(e.sites), func(other *Site) bool { return other == s })
		if len(e.sites) == 0 {
			delete(n.endpoints, at)
		}
	}
	for at, secure := range after {
		e := n.endpoints[at]
		if e == nil {
			e = &endpoint{tls: secure}
			n.endpoints[at] = e
		}
		if e.tls != secure || e.raw != nil {
			panic(fmt.Sprintf("lab: %s speaks another protocol at %v", s.name, at))
		}
		e.sites = append(slices.Clone(e.sites), s)
	}
}

// arrive is who listens at a place, and the fate of one more connection there: what strikes one
// site strikes all.
func (n *Internet) arrive(at netip.AddrPort) (endpoint, Connection) {
	place := n.place(at)
	if place.raw == nil && len(place.sites) == 0 {
		return place, Refused
	}
	fate := Healthy
	for _, s := range place.sites {
		if f := s.nextConnection(); f != Healthy {
			fate = f
		}
	}
	return place, fate
}

func (n *Internet) place(at netip.AddrPort) endpoint {
	n.mu.Lock()
	defer n.mu.Unlock()
	if e := n.endpoints[at]; e != nil && !n.closed {
		return *e
	}
	return endpoint{}
}

// dial connects in memory.
func (n *Internet) dial(ctx context.Context, by string, addr netip.AddrPort) (net.Conn, error) {
	entry := &Dial{Time: n.clock.Now(), By: by, Addr: addr}
	n.journal.dial(entry)
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
	case Refused:
		return nil, os.NewSyscallError("connect", ErrRefused)
	case Blackhole:
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-n.ctx.Done():
			return nil, os.NewSyscallError("connect", ErrTimeout)
		}
	}
	client, server := newConns(n.clientPort(), entry.Addr)
	c := &serverConn{Conn: server, lab: n, at: at, dial: entry}
	if !n.keep(c) || !n.enter() {
		return nil, os.NewSyscallError("connect", ErrRefused)
	}
	n.journal.update(func() { entry.Connected = true })
	go func() {
		defer n.busy.Done()
		n.accept(c, place, fate)
	}()
	return client, nil
}

// accept is the server's side of a new connection.
func (n *Internet) accept(c *serverConn, place endpoint, fate Connection) {
	switch fate {
	case Silent:
		io.Copy(io.Discard, c)
		c.Close()
		return
	case ResetFirst:
		c.Reset()
		return
	case ResetHello, Hangup:
		c.Read(make([]byte, 1))
		if fate == ResetHello {
			c.Reset()
		}
		c.Close()
		return
	case NotTLS:
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

// handshake hands the connection on when TLS is agreed.
func (n *Internet) handshake(c *serverConn, sites []*Site) {
	secure := tls.Server(c, n.greet(c, sites))
	if err := secure.Handshake(); err != nil {
		n.journal.update(func() { c.dial.Handshake = err })
		c.Close()
		return
	}
	state := secure.ConnectionState()
	n.journal.update(func() { c.dial.TLS, c.dial.ALPN = state.Version, state.NegotiatedProtocol })
	if site := siteFor(sites, state.ServerName); state.NegotiatedProtocol == "h2" {
		if answer := site.answersFrames(); answer != nil {
			n.serveFrames(secure, c, site, answer)
			return
		}
	}
	n.inbox.put(secure)
}

// siteFor is the site that a client asks for, or the first one.
func siteFor(sites []*Site, name string) *Site {
	return sites[max(0, slices.IndexFunc(sites, func(s *Site) bool { return s.name == plainName(name) }))]
}

// greet makes the TLS configuration that chooses the site by the name that the client asks for. A
// name that is not here gets the first site's certificate, as with real servers.
func (n *Internet) greet(c *serverConn, sites []*Site) *tls.Config {
	return &tls.Config{
		Time: n.clock.Now,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			n.journal.update(func() { c.dial.SNI = hello.ServerName })
			return siteFor(sites, hello.ServerName).TLSConfig(), nil
		},
	}
}

// serverConn is the server's end of a connection: it counts, and can be found from a request.
type serverConn struct {
	net.Conn
	lab  *Internet
	at   netip.AddrPort // where it arrived
	dial *Dial
}

func (c *serverConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.lab.journal.update(func() { c.dial.Sent += int64(n) })
	return n, err
}

func (c *serverConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.lab.journal.update(func() { c.dial.Got += int64(n) })
	return n, err
}

func (c *serverConn) Close() error {
	c.lab.release(c)
	c.lab.journal.update(func() { c.dial.Closed = true })
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
