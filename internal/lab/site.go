package lab

import (
	"crypto/tls"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/http2"
)

// Site is one host of the lab's internet. Its methods may be called at any time, also while it is
// being used, and give the site back, so that calls chain.
//
// A path is compared as it was sent, still escaped: nothing is cleaned, no slash is added. A path
// that ends in "*" stands for everything that begins that way, and "*" alone for the whole site;
// the longest one wins.
type Site struct {
	lab  *Internet
	name string

	mu          sync.Mutex
	addrs       []netip.Addr
	ports       []uint16
	plain       bool // also in clear text on port 80
	answers     map[string]http.Handler
	faults      map[string][]Fault
	certificate Certificate
	maxTLS      uint16
	http1       bool
	clientAuth  tls.ClientAuthType
	connections []Connection
	dialled     int
	frames      func(*http2.Framer, uint32) error // nil: HTTP/2 by net/http
}

func newSite(n *Internet, name string, addr netip.Addr) *Site {
	return &Site{
		lab: n, name: name,
		addrs:   []netip.Addr{addr},
		ports:   []uint16{443},
		answers: map[string]http.Handler{},
		faults:  map[string][]Fault{},
		maxTLS:  tls.VersionTLS13,
	}
}

// Name is the site's host name.
func (s *Site) Name() string { return s.name }

// URL is the https URL of a path at the site.
func (s *Site) URL(path string) string {
	if strings.Contains(s.name, ":") {
		return "https://[" + s.name + "]" + path
	}
	return "https://" + s.name + path
}

// Addr is the site's first address.
func (s *Site) Addr() netip.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addrs[0]
}

// At moves the site to the addresses, private ones if need be, and its DNS record with it. Several
// sites may share an address.
func (s *Site) At(addrs ...string) *Site {
	s.change(func() {
		s.addrs = nil
		for _, a := range addrs {
			s.addrs = append(s.addrs, netip.MustParseAddr(a))
		}
	})
	if _, err := netip.ParseAddr(s.name); err != nil {
		s.lab.Name(s.name, addrs...)
	}
	return s
}

// Ports are where the site speaks TLS, in place of 443.
func (s *Site) Ports(ports ...uint16) *Site {
	return s.change(func() { s.ports = ports })
}

// Plain makes the site answer in clear text too, on port 80.
func (s *Site) Plain() *Site {
	return s.change(func() { s.plain = true })
}

// change alters where the site listens.
func (s *Site) change(alter func()) *Site {
	s.mu.Lock()
	before := s.listensAt()
	alter()
	after := s.listensAt()
	s.mu.Unlock()
	s.lab.mu.Lock()
	defer s.lab.mu.Unlock()
	s.lab.move(s, before, after)
	return s
}

// listensAt maps each of the site's listening places to whether TLS is spoken there.
func (s *Site) listensAt() map[netip.AddrPort]bool {
	at := map[netip.AddrPort]bool{}
	for _, addr := range s.addrs {
		for _, port := range s.ports {
			at[netip.AddrPortFrom(addr, port)] = true
		}
		if s.plain {
			at[netip.AddrPortFrom(addr, 80)] = false
		}
	}
	return at
}

// Certificate sets what the site shows for itself.
func (s *Site) Certificate(c Certificate) *Site {
	return s.set(func() { s.certificate = c })
}

// MaxTLS sets the newest version that the site speaks, such as tls.VersionTLS11.
func (s *Site) MaxTLS(version uint16) *Site {
	return s.set(func() { s.maxTLS = version })
}

// HTTP1 makes the site speak HTTP/1.1 only. Without it the client may choose HTTP/2.
func (s *Site) HTTP1() *Site {
	return s.set(func() { s.http1 = true })
}

// ClientAuth makes the site ask for a client certificate; those of the lab's CA verify.
func (s *Site) ClientAuth(how tls.ClientAuthType) *Site {
	return s.set(func() { s.clientAuth = how })
}

// Connection says what becomes of connections to the site's addresses: the first fault strikes the
// first one and so on, and the last stays. Without arguments all is well again.
func (s *Site) Connection(faults ...Connection) *Site {
	return s.set(func() { s.connections, s.dialled = faults, 0 })
}

// Handle answers a path.
func (s *Site) Handle(path string, h http.Handler) *Site {
	return s.set(func() { s.answers[path] = h })
}

// HandleFunc answers a path.
func (s *Site) HandleFunc(path string, h func(http.ResponseWriter, *http.Request)) *Site {
	return s.Handle(path, http.HandlerFunc(h))
}

// Body answers a path with 200 and a body of that media type.
func (s *Site) Body(path, mediaType, body string) *Site {
	return s.Handle(path, Body(mediaType, body))
}

// Status answers a path with a status code, pairs of header name and value, and a short text.
func (s *Site) Status(path string, code int, header ...string) *Site {
	return s.Handle(path, Status(code, header...))
}

// Redirect answers a path with 302 Found and a location, absolute or relative.
func (s *Site) Redirect(path, location string) *Site {
	return s.Status(path, http.StatusFound, "Location", location)
}

// Fault spoils the answers of a path: the first fault sees what the second one made, and so on.
// What was set before is replaced; no faults heal the path. At a path without an answer there is
// "200 text/plain" to spoil.
func (s *Site) Fault(path string, faults ...Fault) *Site {
	return s.set(func() {
		s.faults[path] = faults
		s.http1 = s.http1 || slices.ContainsFunc(faults, func(f Fault) bool { return f.http1 })
	})
}

// Remove forgets the answer and the faults of a path.
func (s *Site) Remove(path string) *Site {
	return s.set(func() {
		delete(s.answers, path)
		delete(s.faults, path)
	})
}

func (s *Site) set(change func()) *Site {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	return s
}

// handler is what answers a path, spoilt as it should be.
func (s *Site) handler(path string) http.Handler {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, found := match(s.answers, path)
	faults, spoilt := match(s.faults, path)
	switch {
	case !found && spoilt:
		h = Body("text/plain; charset=utf-8", "nothing was set for "+path+"\n")
	case !found:
		h = Status(http.StatusNotFound)
	}
	for _, f := range slices.Backward(faults) {
		h = f.wrap(h)
	}
	return h
}

// match finds the entry for a path: the exact one, or the longest that ends in "*".
func match[T any](entries map[string]T, path string) (found T, ok bool) {
	if found, ok = entries[path]; ok {
		return found, true
	}
	longest := -1
	for pattern, entry := range entries {
		prefix, wild := strings.CutSuffix(pattern, "*")
		if wild && len(prefix) > longest && strings.HasPrefix(path, prefix) {
			found, ok, longest = entry, true, len(prefix)
		}
	}
	return found, ok
}

// answersFrames is what [Site.Frames] set.
func (s *Site) answersFrames() func(*http2.Framer, uint32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.frames
}

// nextConnection is the fate of the next connection.
func (s *Site) nextConnection() Connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.connections) == 0 {
		return Healthy
	}
	fate := s.connections[min(s.dialled, len(s.connections)-1)]
	s.dialled++
	return fate
}

// TLSConfig is how the site speaks TLS at present, for a listener of its own (see
// [Internet.Listen]).
func (s *Site) TLSConfig() *tls.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	ca := s.lab.ca
	if s.certificate == UnknownCA {
		ca = s.lab.rogue
	}
	c := &tls.Config{
		Certificates:           []tls.Certificate{*ca.certificate(s.name, s.certificate)},
		MinVersion:             tls.VersionTLS10,
		MaxVersion:             s.maxTLS,
		NextProtos:             []string{"h2", "http/1.1"},
		ClientAuth:             s.clientAuth,
		ClientCAs:              s.lab.RootCAs(),
		Time:                   s.lab.clock.Now,
		SessionTicketsDisabled: true,
	}
	if s.http1 || s.maxTLS < tls.VersionTLS12 {
		c.NextProtos = []string{"http/1.1"}
	}
	return c
}
