package lookleaptest

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Site is one web site. Its methods may be called at any time, also while it is used, and
// return the site, so that calls can be chained.
//
// A path is compared as it was sent, still escaped, and without its query. A path that ends
// in "*" stands for all paths that begin that way; the longest one is used.
type Site struct {
	internet *Internet
	name     string

	// The rest is guarded by the lock of the internet.
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
}

// Name returns the host name of the site.
func (s *Site) Name() string { return s.name }

// URL returns the https URL of a path of the site.
func (s *Site) URL(path string) string {
	if strings.Contains(s.name, ":") {
		return "https://[" + s.name + "]" + path
	}
	return "https://" + s.name + path
}

// Addr returns the first address of the site.
func (s *Site) Addr() netip.Addr {
	s.internet.mu.Lock()
	defer s.internet.mu.Unlock()
	return s.addrs[0]
}

// At moves the site to other addresses, private ones too, and changes its DNS record.
// Several sites may have the same address.
func (s *Site) At(addrs ...string) *Site {
	s.set(func() { s.addrs = parseAddrs(addrs) })
	if _, err := netip.ParseAddr(s.name); err != nil {
		s.internet.Name(s.name, addrs...)
	}
	return s
}

// Ports sets the ports on which the site uses TLS, instead of 443.
func (s *Site) Ports(ports ...uint16) *Site {
	return s.set(func() { s.ports = ports })
}

// Plain makes the site answer without TLS too, on port 80.
func (s *Site) Plain() *Site {
	return s.set(func() { s.plain = true })
}

// listens says whether the site is at a place, and whether TLS is spoken there. The caller holds the
// lock of the internet.
func (s *Site) listens(at netip.AddrPort) (here, secure bool) {
	secure = slices.Contains(s.ports, at.Port())
	return slices.Contains(s.addrs, at.Addr()) && (secure || s.plain && at.Port() == 80), secure
}

// Certificate sets the certificate of the site.
func (s *Site) Certificate(c Certificate) *Site {
	return s.set(func() { s.certificate = c })
}

// MaxTLS sets the newest TLS version of the site, such as tls.VersionTLS11.
func (s *Site) MaxTLS(version uint16) *Site {
	return s.set(func() { s.maxTLS = version })
}

// HTTP1 makes the site use HTTP/1.1 only. Without it, the client may choose HTTP/2.
func (s *Site) HTTP1() *Site {
	return s.set(func() { s.http1 = true })
}

// ClientAuth says whether the site asks for a client certificate. It accepts those of the
// internet's certificate authority.
func (s *Site) ClientAuth(how tls.ClientAuthType) *Site {
	return s.set(func() { s.clientAuth = how })
}

// Connection says what happens to new connections of the site: the first value is for the
// first one and so on, and the last one is for all others. Without values they work again.
func (s *Site) Connection(faults ...Connection) *Site {
	return s.set(func() { s.connections, s.dialled = faults, 0 })
}

// Handle answers a path with a handler. The handler reads the whole body of a request, at
// most 1 MiB, without waiting.
func (s *Site) Handle(path string, h http.Handler) *Site {
	return s.set(func() { s.answers[path] = h })
}

// HandleFunc answers a path with a function.
func (s *Site) HandleFunc(path string, h func(http.ResponseWriter, *http.Request)) *Site {
	return s.Handle(path, http.HandlerFunc(h))
}

// File answers a path with 200, a media type and a content.
func (s *Site) File(path, mediaType, content string) *Site {
	return s.Handle(path, Body(mediaType, content))
}

// Status answers a path with a status code and a short text. The header consists of pairs
// of name and value.
func (s *Site) Status(path string, code int, header ...string) *Site {
	return s.Handle(path, Status(code, header...))
}

// Redirect answers a path with 302 Found and a location, absolute or relative.
func (s *Site) Redirect(path, location string) *Site {
	return s.Status(path, http.StatusFound, "Location", location)
}

// Fault changes the responses of a path. The first fault changes what the second one made,
// and so on. It replaces the faults that were set before; without faults the path works
// again.
func (s *Site) Fault(path string, faults ...Fault) *Site {
	return s.set(func() {
		s.faults[path] = faults
		s.http1 = s.http1 || slices.ContainsFunc(faults, func(f Fault) bool { return f.http1 })
	})
}

// Remove removes the answer and the faults of a path.
func (s *Site) Remove(path string) *Site {
	return s.set(func() {
		delete(s.answers, path)
		delete(s.faults, path)
	})
}

func (s *Site) set(change func()) *Site {
	s.internet.mu.Lock()
	defer s.internet.mu.Unlock()
	change()
	return s
}

// handler is what answers a path, spoilt as it should be.
func (s *Site) handler(path string) http.Handler {
	s.internet.mu.Lock()
	defer s.internet.mu.Unlock()
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

// nextConnection is the fate of the next connection. The caller holds the lock of the internet.
func (s *Site) nextConnection() Connection {
	if len(s.connections) == 0 {
		return ConnectionWorks
	}
	fate := s.connections[min(s.dialled, len(s.connections)-1)]
	s.dialled++
	return fate
}

// tlsConfig returns how the site uses TLS at present.
func (s *Site) tlsConfig() *tls.Config {
	s.internet.mu.Lock()
	defer s.internet.mu.Unlock()
	ca := s.internet.ca
	if s.certificate == CertificateUnknownCA {
		ca = s.internet.rogue
	}
	c := &tls.Config{
		Certificates:           []tls.Certificate{*ca.certificate(s.name, s.certificate)},
		MinVersion:             tls.VersionTLS10,
		MaxVersion:             s.maxTLS,
		NextProtos:             []string{"h2", "http/1.1"},
		ClientAuth:             s.clientAuth,
		ClientCAs:              s.internet.RootCAs(),
		Time:                   s.internet.clock.Now,
		SessionTicketsDisabled: true,
	}
	if s.http1 || s.maxTLS < tls.VersionTLS12 {
		c.NextProtos = []string{"http/1.1"}
	}
	return c
}

// Body returns a handler that answers 200 with a media type and a content.
func Body(mediaType, content string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		io.WriteString(w, content)
	})
}

// Status returns a handler that answers with a status code and a short text. The header
// consists of pairs of name and value; a name that comes twice makes two fields.
func Status(code int, header ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		for i := 0; i < len(header); i += 2 {
			w.Header().Del(header[i])
		}
		for i := 0; i < len(header); i += 2 {
			w.Header().Add(header[i], header[i+1])
		}
		w.WriteHeader(code)
		if code != http.StatusNoContent && code != http.StatusNotModified {
			fmt.Fprintln(w, http.StatusText(code))
		}
	})
}

// Sequence returns a handler that answers the first request with the first handler and so
// on. The last one answers all others.
func Sequence(answers ...http.Handler) http.Handler {
	var mu sync.Mutex
	next := 0
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		h := answers[next]
		next = min(next+1, len(answers)-1)
		mu.Unlock()
		h.ServeHTTP(w, r)
	})
}

// RedirectChain makes path redirect to path/1 and so on, n times; path/n redirects to location, or,
// if that is empty, answers 200. With location equal to path it is a loop.
func (s *Site) RedirectChain(path string, n int, location string) *Site {
	at := path
	for i := range n {
		next := path + "/" + strconv.Itoa(i+1)
		s.Redirect(at, next)
		at = next
	}
	if location == "" {
		return s.File(at, "text/plain; charset=utf-8", "the end of the chain\n")
	}
	return s.Redirect(at, location)
}
