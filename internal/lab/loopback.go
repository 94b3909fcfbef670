package lab

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/lookleap/lookleap/internal/lab/zone"
)

// Loopback is how other processes take part: a DNS server and one door to all sites, on ephemeral
// loopback ports that need no privilege.
//
// The DNS returns the sites' made-up addresses, so that a guard in the other process decides as in
// production. The other process then connects to the door instead of the address, whatever that is
// (curl calls this --connect-to, cmd/lookleap --connect). The door finds the site by the name
// in the TLS handshake. A client that begins with a header of the PROXY protocol, version 1, also
// says which address it means; [Via] does. Then other ports, clear text, shared addresses and
// several addresses of one site work as in memory.
type Loopback struct {
	DNS    string // HOST:PORT, over UDP and TCP
	Door   string // HOST:PORT
	CAFile string // PEM, in a temporary directory that Close removes

	opened []io.Closer
	once   sync.Once
}

// Loopback opens the lab for other processes. It uses real sockets, and so has no place in a
// synctest bubble. It is closed with the lab, or earlier by its own Close.
func (n *Internet) Loopback() (*Loopback, error) {
	l := &Loopback{}
	if err := l.open(n); err != nil {
		l.Close()
		return nil, fmt.Errorf("lab: opening the loopback door: %w", err)
	}
	return l, nil
}

func (l *Loopback) open(n *Internet) error {
	dir, err := os.MkdirTemp("", "lookleap-lab-")
	if err != nil {
		return err
	}
	l.opened = append(l.opened, directoryOnDisk(dir))
	l.CAFile = filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(l.CAFile, n.CAPEM(), 0o600); err != nil {
		return err
	}
	names, err := zone.Listen(n.names)
	if err != nil {
		return err
	}
	l.opened = append(l.opened, names)
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	l.opened = append(l.opened, door)
	l.DNS, l.Door = names.Addr, door.Addr().String()
	if !n.keep(l) || !n.enter() {
		return net.ErrClosed
	}
	go func() {
		defer n.busy.Done()
		n.answerDoor(door)
	}()
	return nil
}

// Close shuts the door and the DNS. Guests that are inside stay until the lab closes.
func (l *Loopback) Close() error {
	var errs []error
	l.once.Do(func() {
		for _, c := range l.opened {
			errs = append(errs, c.Close())
		}
	})
	return errors.Join(errs...)
}

// directoryOnDisk is a temporary directory that Close removes.
type directoryOnDisk string

func (d directoryOnDisk) Close() error { return os.RemoveAll(string(d)) }

// Args are the flags with which cmd/lookleap takes part.
func (l *Loopback) Args() []string {
	return []string{"--dns", l.DNS, "--ca", l.CAFile, "--connect", l.Door}
}

// CurlArgs are the flags with which curl takes part.
func (l *Loopback) CurlArgs() []string {
	return []string{"--cacert", l.CAFile, "--connect-to", "::" + l.Door}
}

// Via returns a dialer that reaches the lab of another process through its door. Its connections
// have the addresses of the lab, not of the door.
func Via(door string) Dialer {
	return func(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", door)
		if err != nil {
			return nil, err
		}
		family, source := "TCP4", "127.0.0.1"
		if addr.Addr().Is6() {
			family, source = "TCP6", "::1"
		}
		if _, err := fmt.Fprintf(conn, "PROXY %s %s %s 1 %d\r\n", family, source, addr.Addr(), addr.Port()); err != nil {
			conn.Close()
			return nil, err
		}
		return &viaConn{Conn: conn, remote: addr}, nil
	}
}

type viaConn struct {
	net.Conn
	remote netip.AddrPort
}

func (c *viaConn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.remote) }

// answerDoor serves the door until it is closed.
func (n *Internet) answerDoor(door net.Listener) {
	for {
		conn, err := door.Accept()
		if err != nil {
			return
		}
		entry := &Dial{Time: n.clock.Now(), By: "loopback"}
		guest := &guestConn{TCPConn: conn.(*net.TCPConn), in: bufio.NewReaderSize(conn, 32<<10)}
		c := &serverConn{Conn: guest, lab: n, dial: entry}
		if !n.keep(c) || !n.enter() {
			return
		}
		go func() {
			defer n.busy.Done()
			n.welcome(c, guest)
		}()
	}
}

// welcome finds out where a guest wants to go, and leads it there.
func (n *Internet) welcome(c *serverConn, guest *guestConn) {
	addr, err := guest.destination(n)
	n.journal.update(func() { c.dial.Addr, c.dial.Err, c.dial.Connected = addr, err, err == nil })
	n.journal.dial(c.dial)
	if err != nil {
		c.Reset()
		return
	}
	c.at = addr
	switch place, fate := n.arrive(addr); fate {
	case Refused: // as near as one can get to it behind an open door
		c.Reset()
	case Blackhole:
		<-n.ctx.Done()
		c.Close()
	default:
		n.accept(c, place, fate)
	}
}

// guestConn is a connection through the door, whose first bytes have been looked at.
type guestConn struct {
	*net.TCPConn
	in *bufio.Reader
}

func (c *guestConn) Read(b []byte) (int, error) { return c.in.Read(b) }

// destination is the address in the PROXY header, or that of the site whose name is in the TLS
// handshake.
func (c *guestConn) destination(n *Internet) (netip.AddrPort, error) {
	const header = "PROXY "
	if begin, err := c.in.Peek(len(header)); err != nil || string(begin) != header {
		if err != nil {
			return netip.AddrPort{}, err
		}
		return c.byName(n)
	}
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return netip.AddrPort{}, err
	}
	fields := strings.Fields(string(line)) // PROXY TCP4 source destination port port
	if len(fields) != 6 {
		return netip.AddrPort{}, fmt.Errorf("bad PROXY header %q", line)
	}
	addr, err := netip.ParseAddrPort(net.JoinHostPort(fields[3], fields[5]))
	return netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port()), err
}

func (c *guestConn) byName(n *Internet) (netip.AddrPort, error) {
	var peeked bytes.Buffer
	hello := &helloReader{Conn: c.TCPConn, in: io.TeeReader(c.in, &peeked)}
	name := ""
	seen := errors.New("seen")
	tls.Server(hello, &tls.Config{GetConfigForClient: func(info *tls.ClientHelloInfo) (*tls.Config, error) {
		name = info.ServerName
		return nil, seen
	}}).Handshake()
	c.in = bufio.NewReader(io.MultiReader(&peeked, c.in))
	n.mu.Lock()
	site := n.sites[plainName(name)]
	n.mu.Unlock()
	if site == nil {
		return netip.AddrPort{}, fmt.Errorf("no PROXY header and no site in the handshake: %q", name)
	}
	site.mu.Lock()
	defer site.mu.Unlock()
	return netip.AddrPortFrom(site.addrs[0], site.ports[0]), nil
}

// helloReader lets a TLS server read a ClientHello and say nothing.
type helloReader struct {
	net.Conn
	in io.Reader
}

func (c *helloReader) Read(b []byte) (int, error)  { return c.in.Read(b) }
func (c *helloReader) Write(b []byte) (int, error) { return len(b), nil }
