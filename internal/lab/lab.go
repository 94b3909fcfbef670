package lab

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"github.com/lookleap/lookleap/internal/lab/zone"
)

// Internet is one small internet: its sites, its names, its clock and the journal of what went on.
// All its methods may be called from several goroutines at once.
//
// One that is used in a synctest bubble must be made there.
type Internet struct {
	clock   *Clock
	journal *Journal
	ca      *authority
	rogue   *authority // signs for [UnknownCA]
	names   *directory
	web     *http.Server
	inbox   *inbox

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	busy   sync.WaitGroup // what Close waits for

	mu        sync.Mutex
	sites     map[string]*Site
	endpoints map[netip.AddrPort]*endpoint
	nextAddr  netip.Addr
	nextPort  uint16
	open      map[io.Closer]struct{} // what Close closes
	closed    bool
}

// firstAddr begins the made-up public unicast addresses of the sites. The ranges reserved for
// documentation would not do: the guard refuses them, rightly.
var firstAddr = netip.AddrFrom4([4]byte{93, 184, 216, 1})

// clientAddr is where every client in this process appears to be.
var clientAddr = netip.AddrFrom4([4]byte{93, 184, 200, 9})

// New makes an internet without sites. Close it after use.
func New() *Internet {
	n := &Internet{
		clock:     newClock(),
		journal:   &Journal{},
		inbox:     newInbox(),
		sites:     map[string]*Site{},
		endpoints: map[netip.AddrPort]*endpoint{},
		nextAddr:  firstAddr,
		nextPort:  40000,
		open:      map[io.Closer]struct{}{},
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.ca = newAuthority("lookleap lab CA", n.clock)
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

// TB is the part of testing.TB that [ForTest] needs.
type TB interface {
	Helper()
	Cleanup(func())
}

// ForTest makes an internet that is closed when the test ends.
func ForTest(t TB) *Internet {
	t.Helper()
	n := New()
	t.Cleanup(n.Close)
	return n
}

// Close ends every connection and every goroutine of the internet, and waits for them.
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

// keep has c closed when the internet is. After Close it says false, and c is closed at once.
func (n *Internet) keep(c io.Closer) bool {
	n.mu.Lock()
	closed := n.closed
	if !closed {
		n.open[c] = struct{}{}
	}
	n.mu.Unlock()
	if closed {
		c.Close()
	}
	return !closed
}

// enter counts one more goroutine that Close waits for, which must call n.busy.Done. It fails after
// Close.
func (n *Internet) enter() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.closed {
		n.busy.Add(1)
	}
	return !n.closed
}

// release forgets what [Internet.keep] was given.
func (n *Internet) release(c io.Closer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.open, c)
}

// Context ends when the internet is closed.
func (n *Internet) Context() context.Context { return n.ctx }

// Clock is the lab's time.
func (n *Internet) Clock() *Clock { return n.clock }

// Journal is the record of every dial, request and DNS query.
func (n *Internet) Journal() *Journal { return n.journal }

// Site returns the site of that name, an A-label or an IP address without brackets. At its first
// mention it comes into being: with a made-up public address (or, for an IP address, that one), a
// DNS record and, on port 443, a TLS server that knows no path yet.
func (n *Internet) Site(name string) *Site {
	name = plainName(name)
	n.mu.Lock()
	defer n.mu.Unlock()
	if site := n.sites[name]; site != nil {
		return site
	}
	addr, err := netip.ParseAddr(name)
	if err != nil {
		addr, n.nextAddr = n.nextAddr, n.nextAddr.Next()
		n.names.name(name).Addrs(addr.String())
	}
	site := newSite(n, name, addr)
	n.sites[name] = site
	n.move(site, nil, site.listensAt())
	return site
}

// clientPort is a fresh source address for a connection.
func (n *Internet) clientPort() netip.AddrPort {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.nextPort++
	if n.nextPort < 1024 {
		n.nextPort = 40000
	}
	return netip.AddrPortFrom(clientAddr, n.nextPort)
}

// Name returns the DNS name, and sets its addresses when there are any. A name needs no site: it
// may point anywhere.
func (n *Internet) Name(name string, addrs ...string) *Name {
	entry := n.names.name(name)
	if len(addrs) > 0 {
		entry.Addrs(addrs...)
	}
	return entry
}

// PutZones adds zones, signed ones too, each in place of the one with the same name. The records of
// sites and names that lie in them are added to what they hold.
func (n *Internet) PutZones(zones ...*zone.Zone) { n.names.putZones(zones) }

// DNS is the lab's DNS: it answers like a recursive resolver that does not validate, and writes
// each query into the journal.
func (n *Internet) DNS() zone.Handler { return n.names }

// WrapDNS puts something before the lab's DNS that may change what it says, such as a zone.Mangler,
// in place of the one put there before. Nil removes it.
func (n *Internet) WrapDNS(wrap func(zone.Handler) zone.Handler) { n.names.wrapWith(wrap) }

// inbox is the listener through which every connection reaches the one HTTP server.
type inbox struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newInbox() *inbox { return &inbox{conns: make(chan net.Conn), done: make(chan struct{})} }

func (l *inbox) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *inbox) put(c net.Conn) {
	select {
	case l.conns <- c:
	case <-l.done:
		c.Close()
	}
}

func (l *inbox) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *inbox) Addr() net.Addr { return &net.TCPAddr{} }
