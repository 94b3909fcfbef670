package agent

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

func TestOpenReads(t *testing.T) {
	net := newLab(t)
	s := newSession(t, net, User{}, Options{})
	p := pageFor(t, net, s, "https://shop.example.com/a", "<head><title>Tea</title></head>")
	if p.Document().Head().Title() != "Tea" || p.ServingDomain() != "example.com" {
		t.Error(p.URL(), p.ServingDomain())
	}
}

// mustParse is a canonical URL.
func mustParse(t testing.TB, raw string) domain.URL {
	t.Helper()
	u, err := domain.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// first is the first candidate: its path, or its URL when it is not the shop's.
func first(found []candidate) string {
	if len(found) == 0 {
		return ""
	}
	return strings.TrimPrefix(found[0].url.String(), "https://shop.example")
}

func contextWithTimeout(t testing.TB, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}

func BenchmarkOpenCached(b *testing.B) {
	net := newLab(b)
	body := strings.Repeat("<section id=\"s\" label=\"x\">Some text of a section.</section>", 50)
	net.Site("shop.example").Handle("/page", document(titled+"<body>"+body+"</body>", "Cache-Control", "max-age=3600"))
	s := newSession(b, net, User{}, Options{})
	if _, err := s.Open(b.Context(), pageURL); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Open(b.Context(), pageURL); err != nil {
			b.Fatal(err)
		}
	}
	if n := len(net.Journal().Requests("shop.example")); n != 1 {
		b.Fatalf("%d requests", n)
	}
}

// FuzzDNSText holds that a TXT record gives nothing but an absolute path of a
// canonical URL.
func FuzzDNSText(f *testing.F) {
	f.Add("v=anml1;path=/a")
	f.Add("v=anml1path=//evil.example.net")
	f.Add("v=anml1 path=/%2e%2e/a x=y;")
	f.Fuzz(func(t *testing.T, text string) {
		path, ours := parseDNSText(text)
		if path == "" {
			return
		}
		u, err := domain.Parse("https://shop.example" + path)
		if !ours || err != nil || u.Origin() != shopOrigin || u.HasQuery() || u.FragmentDropped() {
			t.Errorf("%q: %q", text, path)
		}
	})
}

// FuzzAdvertised holds that a web page leads to canonical https URLs only, however
// it is written.
func FuzzAdvertised(f *testing.F) {
	f.Add(`</a>; rel=alternate; type="application/anml+xml"`, []byte(`<base href=//x><link rel=alternate type=application/anml+xml href=a>`))
	agent := New(&lookleap.Host{}, Options{})
	page := mustParse(f, "https://shop.example/x")
	f.Fuzz(func(t *testing.T, link string, html []byte) {
		for _, c := range agent.advertised(page, http.Header{"Link": {link}}, html) {
			if u, err := domain.Parse(c.url.String()); err != nil || u.String() != c.url.String() {
				t.Errorf("%q: %v", c.url.String(), err)
			}
		}
	})
}
