package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/lab"
)

// start is when tests begin, by a clock that stands still until they move it.
var start = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// newLab is an internet whose clock stands still at start.
func newLab(t testing.TB) *lab.Internet {
	t.Helper()
	net := lab.ForTest(t)
	net.Clock().Freeze()
	net.Clock().Set(start)
	return net
}

// newSession is a session of a user on a lab.
func newSession(t testing.TB, net *lab.Internet, u User, o Options) *Session {
	t.Helper()
	s, err := New(net.Host(), o).NewSession(u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// service wraps sections into a faultless service document.
func service(sections string) string {
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<anml xmlns="` + anml.Namespace + `" version="1.0" role="service">` + sections + `</anml>`
}

// pageFor serves a document (or its sections) at a URL of a lab and opens it.
func pageFor(t testing.TB, net *lab.Internet, s *Session, url, xml string) *Page {
	t.Helper()
	if !strings.HasPrefix(xml, "<?xml") {
		xml = service(xml)
	}
	host, path, _ := strings.Cut(strings.TrimPrefix(url, "https://"), "/")
	net.Site(host).Body("/"+path, anml.MediaTypeXML, xml)
	p, err := s.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
