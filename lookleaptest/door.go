package lookleaptest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/lookleap/lookleap/internal/test/zone"
)

// Door is how other processes reach an internet: a DNS server and one port that leads to all
// sites, both on loopback addresses.
//
// The DNS returns the public addresses of the sites, so that the guard of the other process
// decides as in production. That process then connects to the door instead of the address.
// The door finds the site by the name in the TLS handshake, or by a header of the PROXY
// protocol, version 1, which [Via] sends.
type Door struct {
	DNS    string // HOST:PORT of the DNS server, over UDP and TCP
	Addr   string // HOST:PORT of the door
	CAFile string // the certificate authority of the sites, as a PEM file; Close removes it
	// AnchorFile has the trust anchors of the DNS; Close removes it.
	AnchorFile string

	opened []func() error // how to close what is open
	once   sync.Once
}

// OpenDoor opens the internet for other processes. It uses real sockets, so it does not work
// in a bubble of testing/synctest. The door is closed with the internet, or by its Close.
func (n *Internet) OpenDoor() (*Door, error) {
	d := &Door{}
	if err := d.open(n); err != nil {
		d.Close()
		return nil, fmt.Errorf("opening the door of an internet: %w", err)
	}
	return d, nil
}

func (d *Door) open(n *Internet) error {
	dir, err := os.MkdirTemp("", "lookleaptest-")
	if err != nil {
		return err
	}
	d.opened = append(d.opened, func() error { return os.RemoveAll(dir) })
	d.CAFile, d.AnchorFile = filepath.Join(dir, "ca.pem"), filepath.Join(dir, "anchors")
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: n.ca.certificateRoot().Raw})
	if err := os.WriteFile(d.CAFile, authority, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(d.AnchorFile, []byte(n.Anchors()+"\n"), 0o600); err != nil {
		return err
	}
	names, err := zone.Listen(n.names)
	if err != nil {
		return err
	}
	d.opened = append(d.opened, names.Close)
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	d.opened = append(d.opened, door.Close)
	d.DNS, d.Addr = names.Addr, door.Addr().String()
	return n.serveEach(door, d, n.welcome)
}

// Close closes the door and its DNS server.
func (d *Door) Close() error {
	var errs []error
	d.once.Do(func() {
		for _, end := range d.opened {
			errs = append(errs, end())
		}
	})
	return errors.Join(errs...)
}

// Args returns the flags with which cmd/lookleap uses the door.
func (d *Door) Args() []string {
	return []string{"--dns", d.DNS, "--ca", d.CAFile, "--connect", d.Addr, "--anchor", d.AnchorFile}
}

// Via returns a function that connects to the sites of another process through its door, for
// the Dial field of lookleap.FetcherOptions.
func Via(door string) func(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
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

// welcome finds out where a guest wants to go, and leads it there.
func (n *Internet) welcome(conn net.Conn) {
	guest := &guestConn{TCPConn: conn.(*net.TCPConn), in: bufio.NewReaderSize(conn, 32<<10)}
	addr, err := guest.destination(n)
	entry := &Dial{Addr: addr, Err: err}
	c := &serverConn{Conn: guest, internet: n, at: addr, dial: entry}
	n.journal.update(func() { n.journal.dials = append(n.journal.dials, entry) })
	if err != nil {
		c.Reset()
		return
	}
	if !n.keep(c) {
		return
	}
	switch place, fate := n.arrive(addr); fate {
	case ConnectionRefused: // as near as one can get to it behind an open door
		c.Reset()
	case ConnectionLost:
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
	defer n.mu.Unlock()
	site := named(n.sites, name)
	if site == nil {
		return netip.AddrPort{}, fmt.Errorf("no PROXY header and no site in the handshake: %q", name)
	}
	return netip.AddrPortFrom(site.addrs[0], site.ports[0]), nil
}

// helloReader lets a TLS server read a ClientHello and say nothing.
type helloReader struct {
	net.Conn
	in io.Reader
}

func (c *helloReader) Read(b []byte) (int, error)  { return c.in.Read(b) }
func (c *helloReader) Write(b []byte) (int, error) { return len(b), nil }
