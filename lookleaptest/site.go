package lookleaptest

import (
	"crypto/tls"
	"io/fs"
	"net/http"
	"net/netip"

	"github.com/lookleap/lookleap/internal/lab"
)

// Site is one web site. Its methods may be called at any time, also while it is used, and
// return the site, so that calls can be chained.
//
// A path is compared as it was sent, still escaped, and without its query. A path that ends
// in "*" stands for all paths that begin that way; the longest one is used.
type Site struct{ site *lab.Site }

// Name returns the host name of the site.
func (s *Site) Name() string { return s.site.Name() }

// URL returns the https URL of a path of the site.
func (s *Site) URL(path string) string { return s.site.URL(path) }

// Addr returns the first address of the site.
func (s *Site) Addr() netip.Addr { return s.site.Addr() }

// File answers a path with 200, a media type and a content.
func (s *Site) File(path, mediaType, content string) *Site {
	return s.Handle(path, Body(mediaType, content))
}

// Files answers all paths that have no other answer with the files of a file system, such
// as a testing/fstest.MapFS or an embed.FS.
func (s *Site) Files(fsys fs.FS) *Site { return s.Handle("*", http.FileServerFS(fsys)) }

// Handle answers a path with a handler. The handler reads the whole body of a request, at
// most 1 MiB, without waiting.
func (s *Site) Handle(path string, h http.Handler) *Site {
	s.site.Handle(path, h)
	return s
}

// HandleFunc answers a path with a function.
func (s *Site) HandleFunc(path string, h func(http.ResponseWriter, *http.Request)) *Site {
	return s.Handle(path, http.HandlerFunc(h))
}

// Status answers a path with a status code and a short text. The header consists of pairs
// of name and value.
func (s *Site) Status(path string, code int, header ...string) *Site {
	return s.Handle(path, Status(code, header...))
}

// Redirect answers a path with 302 Found and a location, absolute or relative.
func (s *Site) Redirect(path, location string) *Site {
	s.site.Redirect(path, location)
	return s
}

// Fault changes the responses of a path. The first fault changes what the second one made,
// and so on. It replaces the faults that were set before; without faults the path works
// again.
func (s *Site) Fault(path string, faults ...Fault) *Site {
	inner := make([]lab.Fault, len(faults))
	for i, f := range faults {
		inner[i] = f.fault
	}
	s.site.Fault(path, inner...)
	return s
}

// Remove removes the answer and the faults of a path.
func (s *Site) Remove(path string) *Site {
	s.site.Remove(path)
	return s
}

// At moves the site to other addresses, private ones too, and changes its DNS record.
// Several sites may have the same address.
func (s *Site) At(addrs ...string) *Site {
	s.site.At(addrs...)
	return s
}

// Ports sets the ports on which the site uses TLS, instead of 443.
func (s *Site) Ports(ports ...uint16) *Site {
	s.site.Ports(ports...)
	return s
}

// Plain makes the site answer without TLS too, on port 80.
func (s *Site) Plain() *Site {
	s.site.Plain()
	return s
}

// Certificate sets the certificate of the site.
func (s *Site) Certificate(c Certificate) *Site {
	s.site.Certificate(c.lab())
	return s
}

// MaxTLS sets the newest TLS version of the site, such as tls.VersionTLS11.
func (s *Site) MaxTLS(version uint16) *Site {
	s.site.MaxTLS(version)
	return s
}

// HTTP1 makes the site use HTTP/1.1 only. Without it, the client may choose HTTP/2.
func (s *Site) HTTP1() *Site {
	s.site.HTTP1()
	return s
}

// ClientAuth says whether the site asks for a client certificate. It accepts those of the
// internet's certificate authority.
func (s *Site) ClientAuth(how tls.ClientAuthType) *Site {
	s.site.ClientAuth(how)
	return s
}

// Connection says what happens to new connections of the site: the first value is for the
// first one and so on, and the last one is for all others. Without values they work again.
func (s *Site) Connection(faults ...Connection) *Site {
	inner := make([]lab.Connection, len(faults))
	for i, f := range faults {
		inner[i] = f.lab()
	}
	s.site.Connection(inner...)
	return s
}

// Body returns a handler that answers 200 with a media type and a content.
func Body(mediaType, content string) http.Handler { return lab.Body(mediaType, content) }

// Status returns a handler that answers with a status code and a short text. The header
// consists of pairs of name and value.
func Status(code int, header ...string) http.Handler { return lab.Status(code, header...) }

// Sequence returns a handler that answers the first request with the first handler and so
// on. The last one answers all others.
func Sequence(handlers ...http.Handler) http.Handler { return lab.Sequence(handlers...) }
