package lookleaptest

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"testing"
)

// Internet is an internet in memory: its sites, its DNS, its clock and its journal. Its
// methods may be called from several goroutines at once, also while it is used. One that is
// used in a bubble of testing/synctest is made there.
//
// Methods that set something up panic if the test itself is wrong, for example if an
// address cannot be parsed.
type Internet struct {
	clock   *Clock
	journal *Journal
	ca      *authority
	rogue   *authority // signs for [CertificateUnknownCA]
	names   *directory
	web     *http.Server
	inbox   *inbox

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	busy   sync.WaitGroup // what Close waits for

	mu        sync.Mutex // also of the sites
	sites     []*Site
	listeners map[netip.AddrPort]*inbox
	nextAddr  netip.Addr
	open      map[io.Closer]struct{} // what Close closes
	closed    bool

	connections uint16 // so far
}

// firstAddr begins the made-up public unicast addresses of the sites. The ranges reserved for
// documentation would not do: the guard refuses them, rightly.
var firstAddr = netip.AddrFrom4([4]byte{93, 184, 216, 1})

// clientAddr is where every client in this process appears to be.
var clientAddr = netip.AddrFrom4([4]byte{93, 184, 200, 9})

// NewInternet returns an internet without sites. Close it after use.
func NewInternet() *Internet {
	n := &Internet{
		clock:     newClock(),
		journal:   &Journal{},
		inbox:     newInbox(),
		listeners: map[netip.AddrPort]*inbox{},
		nextAddr:  firstAddr,
		open:      map[io.Closer]struct{}{},
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.ca = newAuthority("lookleaptest CA", n.clock)
	n.rogue = newAuthority("unknown CA", n.clock)
	n.names = newDirectory(n)
	n.web = &http.Server{
		Handler:     http.HandlerFunc(n.serve),
		ErrorLog:    log.New(io.Discard, "", 0), // failed handshakes are what many tests are about
		ConnContext: withConnection,
	}
	n.busy.Go(func() { n.web.Serve(n.inbox) })
	return n
}

// ForTest returns an internet without sites that is closed when the test ends.
func ForTest(t testing.TB) *Internet {
	n := NewInternet()
	t.Cleanup(n.Close)
	return n
}

// Close ends all connections of the internet and closes the hosts and fetchers that it
// returned.
func (n *Internet) Close() {
	n.mu.Lock()
	n.closed = true
	open := n.open
	n.open = nil
	n.mu.Unlock()

	n.cancel()
	for c := range open {
		c.Close()
	}
	n.web.Close()
	n.busy.Wait()
}

// keep has c closed when the internet is, and does the rest in goroutines that Close waits for. After
// Close it says false, and c is closed at once.
func (n *Internet) keep(c io.Closer, rest ...func()) bool {
	n.mu.Lock()
	closed := n.closed
	if !closed {
		n.open[c] = struct{}{}
		for _, do := range rest {
			n.busy.Go(do)
		}
	}
	n.mu.Unlock()
	if closed {
		c.Close()
	}
	return !closed
}

// serveEach serves the connections of a real listener until closer is closed with the internet.
func (n *Internet) serveEach(l net.Listener, closer io.Closer, serve func(net.Conn)) error {
	if !n.keep(closer, func() {
		for {
			conn, err := l.Accept()
			if err != nil || !n.keep(conn, func() {
				defer n.release(conn)
				serve(conn)
			}) {
				return
			}
		}
	}) {
		return net.ErrClosed
	}
	return nil
}

// release forgets what [Internet.keep] was given.
func (n *Internet) release(c io.Closer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.open, c)
}

// Clock returns the clock of the internet. Hosts, certificates, DNSSEC signatures and
// faults that wait use it.
func (n *Internet) Clock() *Clock { return n.clock }

// Journal returns the record of all connections, requests and queries.
func (n *Internet) Journal() *Journal { return n.journal }

// Site returns the site with a host name or an IP address, and makes it at the first call:
// with a public address and a DNS record of its own, and with a TLS server on port 443 that
// answers 404 to everything.
func (n *Internet) Site(name string) *Site {
	name = plainName(name)
	n.mu.Lock()
	defer n.mu.Unlock()
	if site := named(n.sites, name); site != nil {
		return site
	}
	addr, err := netip.ParseAddr(name)
	if err != nil {
		addr, n.nextAddr = n.nextAddr, n.nextAddr.Next()
		n.names.name(name).point(addr.String())
	}
	site := &Site{
		internet: n, name: name, addrs: []netip.Addr{addr}, ports: []uint16{443}, maxTLS: tls.VersionTLS13,
		answers: map[string]http.Handler{}, faults: map[string][]Fault{},
	}
	n.sites = append(n.sites, site)
	return site
}

// named returns the site of that name, or nil.
func named(sites []*Site, name string) *Site {
	if i := slices.IndexFunc(sites, func(s *Site) bool { return s.name == plainName(name) }); i >= 0 {
		return sites[i]
	}
	return nil
}

// clientPort is a fresh source address for a connection.
func (n *Internet) clientPort() netip.AddrPort {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.connections++
	return netip.AddrPortFrom(clientAddr, 1024+n.connections%60000)
}

// Name returns a name of the DNS. Addresses replace those that the name had. It needs no
// site: it may point anywhere.
func (n *Internet) Name(name string, addrs ...string) *Name {
	entry := n.names.name(name)
	if len(addrs) > 0 {
		entry.point(addrs...)
	}
	return entry
}

// inbox is the listener through which every connection reaches the one HTTP server.
type inbox struct {
	conns chan net.Conn
	done  context.Context
	end   context.CancelFunc
}

func newInbox() *inbox {
	l := &inbox{conns: make(chan net.Conn)}
	l.done, l.end = context.WithCancel(context.Background())
	return l
}

func (l *inbox) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done.Done():
		return nil, net.ErrClosed
	}
}

func (l *inbox) put(c net.Conn) {
	select {
	case l.conns <- c:
	case <-l.done.Done():
		c.Close()
	}
}

func (l *inbox) Close() error {
	l.end()
	return nil
}

func (l *inbox) Addr() net.Addr { return &net.TCPAddr{} }
