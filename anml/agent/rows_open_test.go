package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/lab"
)

// The rows about finding and reading documents (sections 6.3, 6.5, 7, 8.1, 13.6,
// 15.1 and 16.2).

const (
	shopOrigin = "https://shop.example"
	shopDoc    = "https://shop.example/.well-known/anml"
	titled     = "<head><title>Shop</title></head>"
)

// finding is a lab with one shop, and a session that looks for its document.
type finding struct {
	*testing.T
	net  *lab.Internet
	site *lab.Site
	s    *Session
	told []Notice
}

func newFinding(t *testing.T, change ...func(*User, *Options)) *finding {
	t.Helper()
	f := &finding{T: t, net: newLab(t)}
	f.site = f.net.Site("shop.example")
	f.s = f.session(change...)
	return f
}

// session begins another session on the same lab.
func (f *finding) session(change ...func(*User, *Options)) *Session {
	f.Helper()
	u := User{Notify: func(_ context.Context, n Notice) { f.told = append(f.told, n) }}
	var o Options
	for _, c := range change {
		c(&u, &o)
	}
	return newSession(f.T, f.net, u, o)
}

// scripted is a handler with a status, a body, and pairs of header names and values.
func scripted(status int, body string, header ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Add(header[i], header[i+1])
		}
		if len(w.Header().Values("Content-Type")) == 0 && body != "" {
			w.Header().Set("Content-Type", anml.MediaTypeXML)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
}

// document answers with a document of these sections.
func document(sections string, header ...string) http.Handler {
	return scripted(http.StatusOK, service(sections), header...)
}

// asked lists the requests that reached a host since the last call of it.
func (f *finding) asked(host string) []string { return f.net.Journal().Paths(host) }

// wants checks the code of an error, and what it is made of.
func (f *finding) wants(err error, code lookleap.Code) {
	f.Helper()
	if got := lookleap.CodeOf(err); got != code {
		f.Errorf("code %s, want %s: %v", got, code, err)
	}
	var e *Error
	if err != nil && (!errors.As(err, &e) || e.Error() == "") {
		f.Errorf("%T is no *Error", err)
	}
}

// finds discovers the shop's document and checks its title.
func (f *finding) finds(s *Session, title string) *Page {
	f.Helper()
	p, err := s.Discover(f.Context(), shopOrigin)
	if err != nil {
		f.Fatal(err)
	}
	if got := p.Document().Head().Title(); got != title {
		f.Errorf("title %q, want %q", got, title)
	}
	return p
}

// fails discovers nothing, with a code.
func (f *finding) fails(s *Session, code lookleap.Code) *Error {
	f.Helper()
	p, err := s.Discover(f.Context(), shopOrigin)
	f.wants(err, code)
	var e *Error
	if p != nil || !errors.As(err, &e) {
		f.Fatalf("%v, %v", p, err)
	}
	return e
}

// requests checks how many requests reached a host.
func (f *finding) requests(host string, want ...string) {
	f.Helper()
	if got := f.asked(host); !slices.Equal(got, want) {
		f.Errorf("requests to %s: %q, want %q", host, got, want)
	}
}

const getWellKnown = "GET " + wellKnownPath

func TestNegotiation(t *testing.T) {
	for name, c := range map[string]struct {
		format *anml.Format
		want   string
	}{
		"xml-first":  {nil, "application/anml+xml, application/anml+json;q=0.9"},
		"json-first": {new(anml.JSON), "application/anml+xml;q=0.9, application/anml+json;q=1.0"},
	} {
		for _, id := range []string{"ANML-6.3-02", "ANML-7-03", "ANML-7.4-02"} {
			t.Run(id+"/accept-"+name, func(t *testing.T) {
				f := newFinding(t, func(_ *User, o *Options) { o.Format = c.format })
				f.site.Handle(wellKnownPath, document(titled)).Handle("/a", document(titled))
				f.finds(f.s, "Shop")
				if _, err := f.s.Open(t.Context(), shopOrigin+"/a"); err != nil {
					t.Fatal(err)
				}
				for _, r := range f.net.Journal().Requests("shop.example") {
					if got := r.Header.Values("Accept"); len(got) != 1 || got[0] != c.want {
						t.Errorf("Accept %q", got)
					}
					for _, name := range []string{"Accept-Language", "Cookie", "Authorization", "Referer", "From"} {
						if r.Header.Get(name) != "" {
							t.Errorf("%s: %s", name, r.Header.Get(name))
						}
					}
				}
			})
		}
	}
	twin := `{"anml":"1.0","role":"service","head":{"title":"Shop"}}`
	t.Run("ANML-7-04/accept-what-the-type-says", func(t *testing.T) {
		f := newFinding(t)
		f.site.Body(wellKnownPath, anml.MediaTypeJSON+"; charset=utf-8", twin)
		if p := f.finds(f.s, "Shop"); p.Document().Format() != anml.JSON {
			t.Error(p.Document().Format())
		}
	})
	t.Run("ANML-7-04/reject-another-body", func(t *testing.T) {
		f := newFinding(t)
		f.site.Body("/a", anml.MediaTypeXML, twin).Body("/b", anml.MediaTypeJSON, service(titled))
		for _, path := range []string{"/a", "/b"} {
			_, err := f.s.Open(t.Context(), shopOrigin+path)
			if !errors.Is(err, anml.ErrNotWellFormed) {
				t.Error(err)
			}
		}
	})
	t.Run("ANML-6.3-03/accept-generic-types", func(t *testing.T) {
		f := newFinding(t)
		f.site.Body(wellKnownPath, "application/xml", service(titled)).Body("/a", "application/json", twin)
		f.finds(f.s, "Shop")
		_, err := f.s.Open(t.Context(), shopOrigin+"/a")
		f.wants(err, lookleap.CodeMediaType)
		s := f.session(func(_ *User, o *Options) { o.Read.AcceptGenericTypes = true })
		if _, err := s.Open(t.Context(), shopOrigin+"/a"); err != nil {
			t.Error(err)
		}
	})
	for name, header := range map[string][]string{
		"html": {"Content-Type", "text/html"}, "plain": {"Content-Type", "text/plain"}, "octets": {"Content-Type", "application/octet-stream"},
		"none": {"Content-Type", ""}, "two": {"Content-Type", anml.MediaTypeXML, "Content-Type", "text/html"}, "xml": {"Content-Type", "text/xml"},
	} {
		t.Run("ANML-6.3-03/reject-"+name, func(t *testing.T) {
			f := newFinding(t)
			f.site.Handle("/a", scripted(200, service(titled), header...))
			_, err := f.s.Open(t.Context(), shopOrigin+"/a")
			f.wants(err, lookleap.CodeMediaType)
			if !errors.Is(err, anml.ErrNotANML) || len(f.told) != 0 {
				t.Error(err, f.told)
			}
		})
	}
	t.Run("ANML-6.3-03/reject-generic-without-proof", func(t *testing.T) {
		for body, mediaType := range map[string]string{
			"<html/>": "application/xml", "<anml role='service'><head><title>x</title></head></anml>": "text/xml",
			`{"error":"not found"}`: "application/json", "oops": "application/json",
		} {
			f := newFinding(t, func(_ *User, o *Options) { o.Read.AcceptMissingNamespace = true })
			f.site.Body(wellKnownPath, mediaType, body)
			f.fails(f.s, lookleap.CodeNoANML)
			if len(f.told) != 0 {
				t.Error(body, f.told)
			}
		}
	})
	t.Run("ANML-7.4-01/accept-as-a-hint", func(t *testing.T) {
		for name, want := range map[string]bool{"Accept-Patch": true, "Alternates": true, "X-Other": false} {
			f := newFinding(t)
			f.site.Handle(wellKnownPath, document(titled, name, `{"a" 1.0 {type application/anml+json}}`))
			if p := f.finds(f.s, "Shop"); p.OffersJSON() != want || p.opened.accept != nil {
				t.Error(name, p.OffersJSON())
			}
		}
	})
}

func TestDiscovery(t *testing.T) {
	for _, id := range []string{"ANML-6.5.1-01", "ANML-16.2-01"} {
		t.Run(id+"/accept", func(t *testing.T) {
			f := newFinding(t)
			f.site.Handle(wellKnownPath, document(titled))
			f.net.Site("port.example").Ports(8443)
			p := f.finds(f.s, "Shop")
			f.requests("shop.example", getWellKnown)
			if !p.opened.wellKnown || p.URL() != shopDoc || len(p.Trace()) != 1 || p.Trace()[0] != (Attempt{start, SourceWellKnown, shopDoc, lookleap.CodeOK, 0}) {
				t.Error(p.URL(), p.Trace())
			}
		})
		t.Run(id+"/reject-plain-http", func(t *testing.T) {
			f := newFinding(t)
			f.site.Plain().Handle(wellKnownPath, document(titled))
			_, err := f.s.Discover(t.Context(), "http://shop.example")
			f.wants(err, lookleap.CodeNotHTTPS)
			f.requests("shop.example")
		})
	}
	t.Run("ANML-6.5-01/accept-in-order", func(t *testing.T) {
		f := newFinding(t, func(_ *User, o *Options) { o.DNS = true })
		f.site.Handle("/by-link", scripted(404, "")).Handle("/by-html", scripted(404, "")).Handle("/by-dns", document(titled))
		f.net.Name("_anml._tcp.shop.example").TXT("v=anml1;path=/by-dns")
		p, err := f.s.Discover(t.Context(), shopOrigin, webPage())
		if err != nil {
			t.Fatal(err)
		}
		f.requests("shop.example", getWellKnown, "GET /by-link", "GET /by-html", "GET /by-dns")
		var got []string
		for _, a := range p.Trace() {
			got = append(got, string(a.Source)+" "+string(a.Code))
		}
		if want := []string{"well-known no-anml", "link bad-status", "html bad-status", "dns ok"}; !slices.Equal(got, want) {
			t.Error(got)
		}
	})
	t.Run("ANML-6.5-01/accept-the-first-that-is-valid", func(t *testing.T) {
		f := newFinding(t)
		f.site.Handle(wellKnownPath, scripted(200, "<anml")).Handle("/by-link", document(titled)).Handle("/by-html", document(titled))
		p, err := f.s.Discover(t.Context(), shopOrigin, webPage())
		if err != nil || p.URL() != shopOrigin+"/by-link" || p.opened.wellKnown {
			t.Fatal(p, err)
		}
		f.requests("shop.example", getWellKnown, "GET /by-link")
	})
	t.Run("ANML-6.5-01/reject-gone-stops", func(t *testing.T) {
		f := newFinding(t)
		f.site.Handle(wellKnownPath, scripted(410, "")).Handle("/by-link", document(titled))
		_, err := f.s.Discover(t.Context(), shopOrigin, webPage())
		f.wants(err, lookleap.CodeGone)
		f.requests("shop.example", getWellKnown)
	})
	t.Run("ANML-6.5-01/reject-a-page-of-another-origin", func(t *testing.T) {
		f := newFinding(t)
		page := webPage()
		page.URL = "https://evil.example.net/"
		_, err := f.s.Discover(t.Context(), shopOrigin, page)
		f.wants(err, lookleap.CodeUsage)
		f.requests("shop.example")
	})
	t.Run("ANML-6.5-01/reject-endless-candidates", func(t *testing.T) {
		f := newFinding(t)
		var links []string
		for i := range 50 {
			links = append(links, `</`+strings.Repeat("x", i+1)+`>; rel=alternate; type="application/anml+xml"`)
		}
		_, err := f.s.Discover(t.Context(), shopOrigin, WebPage{URL: shopOrigin, Header: http.Header{"Link": links}})
		f.wants(err, lookleap.CodeNoANML)
		if n := len(f.asked("shop.example")); n != maxAttempts {
			t.Errorf("%d requests", n)
		}
	})
}

// webPage is a page of the shop that advertises a document in its header and
// another one in its head.
func webPage() WebPage {
	return WebPage{URL: shopOrigin + "/x/", Header: http.Header{"Link": {`</by-link>; rel="alternate"; type="application/anml+xml"`}},
		HTML: []byte(`<head><base href="/y/"><link rel=alternate type="application/anml+xml" href="../by-html"></head>`)}
}

func TestWellKnownIdentity(t *testing.T) {
	const pretends = `<head><title>Bank</title></head><aesthetic display-name="Bank"/>`
	t.Run("ANML-6.5.1-02/accept-the-serving-domain", func(t *testing.T) {
		f := newFinding(t)
		f.site.Handle(wellKnownPath, document(pretends))
		if p := f.finds(f.s, "Bank"); p.ServingDomain() != "shop.example" || !p.opened.wellKnown || p.Parties()[0].Domain != "shop.example" {
			t.Errorf("%+v", p.Parties())
		}
	})
	t.Run("ANML-6.5.1-02/reject-after-leaving-the-domain", func(t *testing.T) {
		f := newFinding(t)
		f.site.Redirect(wellKnownPath, "https://bank.example/.well-known/anml")
		f.net.Site("bank.example").Handle(wellKnownPath, document(pretends))
		p := f.finds(f.s, "Bank")
		if p.ServingDomain() != "bank.example" || p.opened.wellKnown {
			t.Errorf("%+v", p.Parties())
		}
		if !hasFinding(p, lookleap.CodeRedirectCrossOrigin) || len(f.told) != 1 || f.told[0].Kind != NoticeMoved {
			t.Error(p.Findings(), f.told)
		}
	})
	t.Run("ANML-6.5.1-02/reject-leaving-and-coming-back", func(t *testing.T) {
		f := newFinding(t)
		f.site.Redirect(wellKnownPath, "https://bank.example/a").Handle("/b", document(pretends))
		f.net.Site("bank.example").Redirect("/a", "https://shop.example/b")
		if p := f.finds(f.s, "Bank"); p.opened.wellKnown {
			t.Error("the well-known identity survived another domain")
		}
	})
	t.Run("ANML-6.5.1-02/accept-within-the-domain", func(t *testing.T) {
		f := newFinding(t)
		f.site.Redirect(wellKnownPath, "https://www.shop.example/.well-known/anml")
		f.net.Site("www.shop.example").Handle(wellKnownPath, document(titled))
		if p := f.finds(f.s, "Shop"); !p.opened.wellKnown || hasFinding(p, lookleap.CodeRedirectCrossOrigin) {
			t.Error(p.Findings())
		}
	})
	t.Run("ANML-6.5.1-02/reject-other-paths", func(t *testing.T) {
		f := newFinding(t)
		f.site.Handle("/.well-known/anml", document(titled)).Handle("/.well-known/anml/x", document(titled))
		for _, path := range []string{"/.well-known/anml?x", "/.well-known/anml/x"} {
			p, err := f.s.Open(t.Context(), shopOrigin+path)
			if err != nil || p.opened.wellKnown {
				t.Error(path, err)
			}
		}
	})
	t.Run("ANML-6.5.1-03/reject-an-unverified-claim", func(t *testing.T) {
		f := newFinding(t)
		f.site.Handle(wellKnownPath, document(`<head><title>x</title><trust domain="bank.example"/></head>`))
		p := f.finds(f.s, "x")
		for _, party := range p.Parties() {
			if party.Domain == "bank.example" && (party.Tier != anmltrust.Unlisted || party.Authorization != nil) {
				t.Errorf("%+v", party)
			}
		}
		if p.ServingDomain() != "shop.example" || len(p.Parties()) != 2 {
			t.Errorf("%+v", p.Parties())
		}
	})
	t.Run("ANML-6.5.1-03/accept-a-claim-of-its-own", func(t *testing.T) {
		f := newFinding(t)
		f.site.Handle(wellKnownPath, document(`<head><title>x</title><trust domain="shop.example"/></head>`))
		p := f.finds(f.s, "x")
		if len(p.Parties()) != 1 || p.Parties()[0].Tier != anmltrust.Self {
			t.Errorf("%+v", p.Parties())
		}
	})
}

func hasFinding(p *Page, code lookleap.Code) bool {
	return slices.ContainsFunc(p.Findings(), func(f lookleap.Finding) bool { return f.Code == code && f.Message != "" })
}

func TestAbsent(t *testing.T) {
	t.Run("ANML-6.5.1-04/reject-404", func(t *testing.T) {
		f := newFinding(t)
		f.site.Status(wellKnownPath, 404)
		e := f.fails(f.s, lookleap.CodeNoANML)
		if e.URL != shopOrigin || e.Status != 404 || len(e.Trace) != 1 || e.Trace[0].Status != 404 || len(f.told) != 0 {
			t.Errorf("%+v", e)
		}
	})
	t.Run("ANML-6.5.1-04/reject-a-page-in-its-place", func(t *testing.T) {
		f := newFinding(t)
		f.site.Body(wellKnownPath, "text/html", "<title>oops</title>")
		f.fails(f.s, lookleap.CodeNoANML)
		f.fails(f.s, lookleap.CodeNoANML)
		f.requests("shop.example", getWellKnown)
	})
	t.Run("ANML-6.5.1-05/reject-a-second-request", func(t *testing.T) {
		f := newFinding(t)
		f.site.Status(wellKnownPath, 404)
		f.fails(f.s, lookleap.CodeNoANML)
		f.site.Handle(wellKnownPath, document(titled))
		f.net.Clock().Advance(time.Hour)
		f.fails(f.s, lookleap.CodeNoANML)
		_, err := f.s.Open(t.Context(), shopDoc)
		f.wants(err, lookleap.CodeNoANML)
		f.requests("shop.example", getWellKnown)
	})
	t.Run("ANML-6.5.1-05/accept-another-port", func(t *testing.T) {
		f := newFinding(t)
		f.site.Status(wellKnownPath, 404)
		f.fails(f.s, lookleap.CodeNoANML)
		f.net.Site("www.shop.example").Handle(wellKnownPath, document(titled))
		if _, err := f.s.Discover(t.Context(), "https://www.shop.example"); err != nil {
			t.Error(err)
		}
	})
	for _, c := range []struct {
		name    string
		header  []string
		refused time.Duration // still
		again   time.Duration
	}{
		{"after-its-lifetime", []string{"Cache-Control", "max-age=300"}, 299 * time.Second, 300 * time.Second},
		{"not-before-a-minute", []string{"Cache-Control", "max-age=1"}, 59 * time.Second, time.Minute},
		{"no-cache", []string{"Cache-Control", "no-cache"}, 59 * time.Second, time.Minute},
		{"not-beyond-a-day", []string{"Cache-Control", "max-age=9999999"}, 24*time.Hour - time.Second, 24 * time.Hour},
		{"silent", nil, 24*time.Hour - time.Second, 24 * time.Hour},
	} {
		t.Run("ANML-6.5.1-06/accept-"+c.name, func(t *testing.T) {
			f := newFinding(t)
			f.site.Status(wellKnownPath, 404, c.header...)
			f.fails(f.s, lookleap.CodeNoANML)
			f.site.Handle(wellKnownPath, document(titled))
			f.net.Clock().Advance(c.refused)
			f.fails(f.s, lookleap.CodeNoANML)
			f.net.Clock().Advance(c.again - c.refused)
			f.finds(f.s, "Shop")
		})
	}
	for _, id := range []string{"ANML-6.5.1-06", "ANML-6.5.1-07"} {
		t.Run(id+"/accept-a-new-session", func(t *testing.T) {
			store := NewMemoryStore()
			keep := func(u *User, _ *Options) { u.Store = store }
			f := newFinding(t, keep)
			f.site.Status(wellKnownPath, 404)
			f.fails(f.s, lookleap.CodeNoANML)
			if keys := placesIn(store); len(keys) != 0 {
				t.Error("a 404 was stored: ", keys)
			}
			f.site.Handle(wellKnownPath, document(titled))
			f.finds(f.session(keep), "Shop")
		})
	}
}

func TestMoved(t *testing.T) {
	permanent := func(f *finding, path, to string, status int) { f.site.Status(path, status, "Location", to) }
	for name, status := range map[string]int{"301": 301, "308": 308} {
		t.Run("ANML-6.5.1-08/accept-"+name, func(t *testing.T) {
			f := newFinding(t)
			permanent(f, wellKnownPath, "/new", status)
			f.site.Handle("/new", document(titled))
			if p := f.finds(f.s, "Shop"); p.URL() != shopOrigin+"/new" {
				t.Error(p.URL())
			}
			f.requests("shop.example", getWellKnown, "GET /new")
		})
	}
	t.Run("ANML-6.5.1-08/reject-too-far", func(t *testing.T) {
		f := newFinding(t)
		f.site.RedirectChain("/chain", 5, "/end").Handle("/end", document(titled))
		f.site.RedirectChain("/short", 4, "/end").RedirectChain("/loop", 3, "/loop")
		if _, err := f.s.Open(t.Context(), shopOrigin+"/short"); err != nil {
			t.Error(err)
		}
		for _, path := range []string{"/chain", "/loop"} {
			_, err := f.s.Open(t.Context(), shopOrigin+path)
			f.wants(err, lookleap.CodeTooManyRedirects)
		}
	})
	t.Run("ANML-6.5.1-08/reject-to-plain-http", func(t *testing.T) {
		for _, insecure := range []bool{false, true} {
			f := newFinding(t, func(_ *User, o *Options) { o.InsecureHTTP = insecure })
			f.site.Plain().Handle("/a", document(titled))
			permanent(f, wellKnownPath, "http://shop.example/a", 301)
			f.fails(f.s, lookleap.CodeNotHTTPS)
			f.requests("shop.example", getWellKnown)
		}
	})
	t.Run("ANML-6.5.1-08/reject-to-a-private-address", func(t *testing.T) {
		f := newFinding(t)
		f.net.Site("inside.example").At("10.0.0.1").Handle("/a", document(titled))
		permanent(f, wellKnownPath, "https://inside.example/a", 301)
		f.fails(f.s, lookleap.CodeBlockedAddress)
		if n := len(f.net.Journal().Dials("10.0.0.1")); n != 0 {
			t.Errorf("%d dials", n)
		}
	})
	t.Run("ANML-6.5.1-09/accept-the-target-next-time", func(t *testing.T) {
		store := NewMemoryStore()
		keep := func(u *User, _ *Options) { u.Store = store }
		f := newFinding(t, keep)
		permanent(f, wellKnownPath, "/new", 301)
		f.site.Handle("/new", document(titled))
		f.finds(f.s, "Shop")
		f.net.Journal().Clear()
		p := f.finds(f.s, "Shop")
		f.requests("shop.example", "GET /new")
		if p.Trace()[0].Source != SourceMoved || p.opened.wellKnown {
			t.Error(p.Trace())
		}
		f.net.Journal().Clear()
		f.finds(f.session(keep), "Shop")
		f.requests("shop.example", "GET /new")
		f.net.Clock().Advance(31 * 24 * time.Hour)
		f.net.Journal().Clear()
		f.finds(f.session(keep), "Shop")
		f.requests("shop.example", getWellKnown, "GET /new")
	})
	for name, dead := range map[string]func(*finding){
		"404":         func(f *finding) { f.site.Status("/new", 404) },
		"410":         func(f *finding) { f.site.Status("/new", 410) },
		"unreachable": func(f *finding) { f.site.Fault("/new", lab.Reset()) },
	} {
		t.Run("ANML-6.5.1-09/accept-back-from-a-dead-target-"+name, func(t *testing.T) {
			f := newFinding(t)
			permanent(f, wellKnownPath, "/new", 301)
			f.site.Handle("/new", document(titled))
			f.finds(f.s, "Shop")
			dead(f)
			f.site.Handle(wellKnownPath, document("<head><title>Back</title></head>"))
			f.net.Journal().Clear()
			p := f.finds(f.s, "Back")
			if got := f.asked("shop.example"); len(got) != 2 || got[0] != "GET /new" || got[1] != getWellKnown || len(p.Trace()) != 2 {
				t.Error(got, p.Trace())
			}
			f.net.Journal().Clear()
			f.finds(f.s, "Back")
			f.requests("shop.example", getWellKnown)
		})
	}
	t.Run("ANML-6.5.1-09/reject-crossing-domains-unseen", func(t *testing.T) {
		f := newFinding(t)
		permanent(f, wellKnownPath, "https://bank.example/a", 301)
		f.net.Site("bank.example").Handle("/a", document(titled))
		for range 2 {
			if p := f.finds(f.s, "Shop"); p.ServingDomain() != "bank.example" || p.opened.wellKnown {
				t.Error(p.ServingDomain())
			}
		}
		if len(f.told) != 1 || f.told[0].Kind != NoticeMoved || !strings.Contains(f.told[0].Text, "bank.example") || f.told[0].Origin != shopOrigin {
			t.Errorf("%+v", f.told)
		}
	})
	for name, status := range map[string]int{"302": 302, "307": 307, "303": 303} {
		t.Run("ANML-6.5.1-10/accept-"+name, func(t *testing.T) {
			f := newFinding(t)
			permanent(f, wellKnownPath, "/new", status)
			f.site.Handle("/new", document(titled))
			f.finds(f.s, "Shop")
		})
		t.Run("ANML-6.5.1-11/accept-"+name, func(t *testing.T) {
			store := NewMemoryStore()
			f := newFinding(t, func(u *User, _ *Options) { u.Store = store })
			permanent(f, wellKnownPath, "/new", status)
			f.site.Handle("/new", document(titled, "Cache-Control", "max-age=3600"))
			f.finds(f.s, "Shop")
			f.net.Journal().Clear()
			f.finds(f.s, "Shop")
			f.requests("shop.example", getWellKnown, "GET /new")
			if keys := placesIn(store); len(keys) != 0 {
				t.Error(keys)
			}
		})
	}
	for _, status := range []int{300, 304} {
		t.Run("ANML-6.5.1-10/reject-"+http.StatusText(status), func(t *testing.T) {
			f := newFinding(t)
			permanent(f, wellKnownPath, "/new", status)
			f.fails(f.s, lookleap.CodeInconclusive)
			for _, got := range f.asked("shop.example") {
				if got != getWellKnown {
					t.Error(got)
				}
			}
		})
	}
	t.Run("ANML-6.5.1-11/accept-the-leading-permanent-run", func(t *testing.T) {
		f := newFinding(t)
		permanent(f, wellKnownPath, "/b", 301)
		permanent(f, "/b", "/c", 308)
		permanent(f, "/c", "/d", 302)
		permanent(f, "/d", "/e", 301)
		f.site.Handle("/e", document(titled))
		f.finds(f.s, "Shop")
		f.net.Journal().Clear()
		f.finds(f.s, "Shop")
		f.requests("shop.example", "GET /c", "GET /d", "GET /e")
	})
	t.Run("ANML-6.5.1-11/reject-after-a-temporary-one", func(t *testing.T) {
		f := newFinding(t)
		permanent(f, wellKnownPath, "/b", 302)
		permanent(f, "/b", "/c", 301)
		f.site.Handle("/c", document(titled))
		f.finds(f.s, "Shop")
		f.net.Journal().Clear()
		f.finds(f.s, "Shop")
		f.requests("shop.example", getWellKnown, "GET /b", "GET /c")
	})
}

func TestGone(t *testing.T) {
	keeping := func(f **finding, t *testing.T) (Store, func(*User, *Options)) {
		store := NewMemoryStore()
		keep := func(u *User, _ *Options) { u.Store = store }
		*f = newFinding(t, keep)
		return store, keep
	}
	for _, id := range []string{"ANML-6.5.1-14", "ANML-6.5.1-15", "K25"} {
		t.Run(id+"/reject-for-good", func(t *testing.T) {
			var f *finding
			store, keep := keeping(&f, t)
			f.site.Status(wellKnownPath, 410)
			f.fails(f.s, lookleap.CodeGone)
			f.site.Handle(wellKnownPath, document(titled))
			f.fails(f.s, lookleap.CodeGone)
			f.fails(f.session(keep), lookleap.CodeGone)
			_, err := f.session(keep).Open(t.Context(), shopDoc)
			f.wants(err, lookleap.CodeGone)
			f.requests("shop.example", getWellKnown)
			if keys := placesIn(store); !slices.Equal(keys, []string{"gone/" + shopDoc}) {
				t.Error(keys)
			}
		})
	}
	t.Run("ANML-6.5.1-15/accept-other-urls", func(t *testing.T) {
		var f *finding
		keeping(&f, t)
		f.site.Status(wellKnownPath, 410).Handle("/a", document(titled))
		f.fails(f.s, lookleap.CodeGone)
		if _, err := f.s.Open(t.Context(), shopOrigin+"/a"); err != nil {
			t.Error(err)
		}
	})
	t.Run("K25/accept-after-the-cap", func(t *testing.T) {
		var f *finding
		store, keep := keeping(&f, t)
		f.site.Status(wellKnownPath, 410)
		f.fails(f.s, lookleap.CodeGone)
		f.site.Handle(wellKnownPath, document(titled))
		f.net.Clock().Advance(30*24*time.Hour - time.Second)
		f.fails(f.session(keep), lookleap.CodeGone)
		f.fails(f.s, lookleap.CodeGone)
		f.net.Clock().Advance(time.Second)
		f.finds(f.session(keep), "Shop")
		f.finds(f.s, "Shop")
		if keys := placesIn(store); len(keys) != 0 {
			t.Error("what is over stays in the store: ", keys)
		}
	})
	for _, id := range []string{"K25", "ANML-6.5.1-15"} {
		t.Run(id+"/accept-after-the-user-resets-it", func(t *testing.T) {
			var f *finding
			store, keep := keeping(&f, t)
			f.site.Status(wellKnownPath, 410)
			f.net.Site("shop.example.net").Status(wellKnownPath, 410)
			f.fails(f.s, lookleap.CodeGone)
			_, err := f.s.Discover(t.Context(), "https://shop.example.net")
			f.wants(err, lookleap.CodeGone)
			f.site.Handle(wellKnownPath, document(titled))
			if err := f.s.ForgetDiscovery(t.Context(), shopOrigin); err != nil {
				t.Fatal(err)
			}
			f.finds(f.s, "Shop")
			f.finds(f.session(keep), "Shop")
			if keys := placesIn(store); !slices.Equal(keys, []string{"gone/https://shop.example.net/.well-known/anml"}) {
				t.Error(keys)
			}
		})
	}
	t.Run("ANML-6.5.1-14/reject-another-origin's-word", func(t *testing.T) {
		var f *finding
		_, keep := keeping(&f, t)
		f.site.Status(wellKnownPath, 302, "Location", "https://bank.example/a")
		f.net.Site("bank.example").Status("/a", 410)
		f.fails(f.s, lookleap.CodeNoANML)
		f.net.Journal().Clear()
		f.fails(f.session(keep), lookleap.CodeNoANML) // the redirect is not followed to what is gone
		f.requests("shop.example", getWellKnown)
		f.requests("bank.example")
		_, err := f.session(keep).Open(t.Context(), "https://bank.example/a")
		f.wants(err, lookleap.CodeGone)
	})
	t.Run("ANML-6.5.1-14/accept-the-origin's-own-word-elsewhere", func(t *testing.T) {
		var f *finding
		_, keep := keeping(&f, t)
		f.site.Status(wellKnownPath, 302, "Location", "/a").Status("/a", 410)
		f.fails(f.s, lookleap.CodeGone)
		f.net.Journal().Clear()
		f.fails(f.session(keep), lookleap.CodeGone)
		f.requests("shop.example")
	})
	t.Run("ANML-6.5.1-14/reject-a-store-that-fails", func(t *testing.T) {
		store := &unreadableStore{Store: NewMemoryStore()}
		f := newFinding(t, func(u *User, _ *Options) { u.Store = store })
		f.site.Handle(wellKnownPath, document(titled))
		store.broken = true
		f.fails(f.s, lookleap.CodeIO)
		f.requests("shop.example")
	})
}

// unreadableStore cannot be read from some time on.
type unreadableStore struct {
	Store
	broken bool
}

func (b *unreadableStore) Get(ctx context.Context, key string) ([]byte, error) {
	if b.broken {
		return nil, errors.New("disk on fire")
	}
	return b.Store.Get(ctx, key)
}

// placesIn lists what a store knows of places.
func placesIn(s Store) []string {
	gone, _ := s.Keys(context.Background(), keyGone)
	moved, _ := s.Keys(context.Background(), keyMoved)
	return append(gone, moved...)
}

func TestInconclusive(t *testing.T) {
	for name, answer := range map[string]func(*lab.Site){
		"401":   func(s *lab.Site) { s.Status(wellKnownPath, 401) },
		"403":   func(s *lab.Site) { s.Status(wellKnownPath, 403) },
		"429":   func(s *lab.Site) { s.Status(wellKnownPath, 429) },
		"500":   func(s *lab.Site) { s.Status(wellKnownPath, 500) },
		"503":   func(s *lab.Site) { s.Status(wellKnownPath, 503) },
		"204":   func(s *lab.Site) { s.Status(wellKnownPath, 204) },
		"reset": func(s *lab.Site) { s.Fault(wellKnownPath, lab.Reset()) },
	} {
		t.Run("ANML-6.5.1-16/reject-"+name, func(t *testing.T) {
			f := newFinding(t)
			answer(f.site)
			f.fails(f.s, lookleap.CodeInconclusive)
			n := len(f.asked("shop.example"))
			f.site.Fault(wellKnownPath).Handle(wellKnownPath, document(titled))
			f.finds(f.s, "Shop") // nothing was remembered, and nothing asked again by itself
			if n > 2 || n > 1 && name != "reset" {
				t.Errorf("%d requests", n)
			}
		})
	}
	t.Run("ANML-6.5.1-16/reject-before-Retry-After", func(t *testing.T) {
		f := newFinding(t)
		f.site.Status(wellKnownPath, 503, "Retry-After", "120")
		if e := f.fails(f.s, lookleap.CodeInconclusive); e.RetryAfter != 2*time.Minute || e.Status != 503 {
			t.Error(e.RetryAfter)
		}
		f.net.Clock().Advance(100 * time.Second)
		if e := f.fails(f.s, lookleap.CodeInconclusive); e.RetryAfter != 20*time.Second {
			t.Error(e.RetryAfter)
		}
		f.requests("shop.example", getWellKnown)
		f.site.Handle(wellKnownPath, document(titled))
		f.net.Clock().Advance(20 * time.Second)
		f.finds(f.s, "Shop")
	})
}

func TestAdvertised(t *testing.T) {
	const alternate = `rel="alternate"; type="application/anml+xml"`
	for header, want := range map[string]string{
		"</a>; " + alternate: "/a",
		"<a>; " + alternate:  "/x/a",
		`</a>; REL="nofollow Alternate"; Type="Application/ANML+xml;charset=x"`:   "/a",
		`</b>; rel=next, </c>; rel=alternate; type=text/html, </a>; ` + alternate: "/a",
		`</a>; rel=alternate; type="application/anml+json"`:                       "/a",
		"<https://other.example/a>; " + alternate:                                 "https://other.example/a",
		`</a>; anchor=""; ` + alternate:                                           "/a",
		`</a>; anchor="/other"; ` + alternate:                                     "",
		"<http://shop.example/a>; " + alternate:                                   "",
		"<ftp://shop.example/a>; " + alternate:                                    "",
		"<javascript:alert(1)>; " + alternate:                                     "",
		"</a>; rel=alternate":                                                     "",
		"</a>; type=application/anml+xml":                                         "",
	} {
		verdict := "accept"
		if want == "" {
			verdict = "reject"
		}
		for _, id := range []string{"ANML-6.5.2-01", "ANML-7.4-03"} {
			t.Run(id+"/"+verdict+"-"+strings.ReplaceAll(header, "/", "|"), func(t *testing.T) {
				f := newFinding(t)
				found := f.s.agent.advertised(mustParse(t, shopOrigin+"/x/y"), http.Header{"Link": {header}}, nil)
				if got := first(found); got != want {
					t.Errorf("%q", got)
				}
			})
		}
	}
	const link = `<link rel="alternate" type="application/anml+xml" href="a">`
	for page, want := range map[string]string{
		link:                       "/x/a",
		"<base href='/z/'>" + link: "/z/a",
		"<base href='https://evil.example.net/'>" + link: "https://evil.example.net/a",
		"<base href='http://shop.example/'>" + link:      "",
		"<!--" + link + "-->":                            "",
		"<script>" + link + "</script>":                  "",
		"<template>" + link + "</template>":              "",
		"<noscript>" + link + "</noscript>":              "",
		"</head>" + link:                                 "",
		"<body>" + link:                                  "",
		"<p>" + link:                                     "",
		strings.Repeat(" ", 512<<10) + link:              "",
	} {
		verdict := "accept"
		if want == "" {
			verdict = "reject"
		}
		t.Run("ANML-6.5.3-01/"+verdict+"-"+strings.ReplaceAll(strings.TrimSpace(page), "/", "|"), func(t *testing.T) {
			f := newFinding(t)
			found := f.s.agent.advertised(mustParse(t, shopOrigin+"/x/y"), nil, []byte("<html><head>"+page))
			if got := first(found); got != want {
				t.Errorf("%q", got)
			}
		})
	}
	t.Run("ANML-15.1-01/accept-the-document-of-a-page", func(t *testing.T) {
		f := newFinding(t)
		f.site.Body("/", "text/html; charset=utf-8", "<html><head>"+link).Handle("/a", document(titled))
		p, err := f.s.Open(t.Context(), shopOrigin+"/")
		if err != nil || p.URL() != shopOrigin+"/a" || len(p.Trace()) != 2 {
			t.Fatal(p, err)
		}
		f.requests("shop.example", "GET /", "GET /a")
	})
	t.Run("ANML-15.1-01/accept-by-negotiation", func(t *testing.T) {
		f := newFinding(t)
		f.site.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Vary", "Accept")
			w.Header().Set("Cache-Control", "max-age=60")
			if format, ok := anml.Negotiate(r.Header.Get("Accept")); ok && format == anml.XML {
				w.Header().Set("Content-Type", anml.MediaTypeXML)
				_, _ = w.Write([]byte(service(titled)))
				return
			}
			w.Header().Set("Content-Type", "text/html")
		})
		for range 2 {
			if _, err := f.s.Open(t.Context(), shopOrigin+"/"); err != nil {
				t.Error(err)
			}
		}
		f.requests("shop.example", "GET /")
	})
	t.Run("ANML-15.1-01/reject-a-page", func(t *testing.T) {
		f := newFinding(t)
		f.site.Body("/", "text/html", service(titled)).Body("/b", "text/html", "<head>"+link).Body("/a", "text/html", "<head>"+link)
		for _, path := range []string{"/", "/b"} {
			_, err := f.s.Open(t.Context(), shopOrigin+path)
			f.wants(err, lookleap.CodeMediaType)
		}
		f.requests("shop.example", "GET /", "GET /b", "GET /a")
	})
}

func TestByDNS(t *testing.T) {
	dns := func(_ *User, o *Options) { o.DNS = true }
	for _, c := range []struct {
		name    string
		records func(*lab.Name)
		want    []string
	}{
		{"accept-srv-and-path", func(n *lab.Name) { n.SRV(0, 0, 8443, "example.net.").TXT("v=anml1; path=/a") }, []string{"https://example.net:8443/a"}},
		{"accept-without-path", func(n *lab.Name) { n.SRV(0, 0, 443, "example.net.").TXT("v=anml1") }, []string{"https://example.net/.well-known/anml"}},
		{"accept-srv-alone", func(n *lab.Name) { n.SRV(0, 0, 443, "example.net.") }, []string{"https://example.net/.well-known/anml"}},
		{"accept-txt-alone", func(n *lab.Name) { n.TXT("v=anml1;path=/a") }, []string{"https://shop.example/a"}},
		{"accept-dns-sd-strings", func(n *lab.Name) { n.TXT("v=anml1", "path=/a") }, []string{"https://shop.example/a"}},
		{"accept-blanks", func(n *lab.Name) { n.TXT("v=anml1 path=/a x=y") }, []string{"https://shop.example/a"}},
		{"accept-foreign-text-beside", func(n *lab.Name) { n.TXT("v=spf1 -all").TXT("v=anml1;path=/a") }, []string{"https://shop.example/a"}},
		{"accept-in-order", func(n *lab.Name) {
			n.SRV(2, 9, 443, "c.example.").SRV(1, 1, 443, "b.example.").SRV(1, 5, 443, "a.example.")
		}, []string{"https://a.example/.well-known/anml", "https://b.example/.well-known/anml", "https://c.example/.well-known/anml"}},
		{"reject-not-offered", func(n *lab.Name) { n.SRV(0, 0, 0, ".").TXT("v=anml1;path=/a") }, nil},
		{"reject-case", func(n *lab.Name) { n.TXT("V=anml1;path=/a") }, nil},
		{"reject-not-first", func(n *lab.Name) { n.TXT("path=/a;v=anml1") }, nil},
		{"reject-another-version", func(n *lab.Name) { n.TXT("v=anml10;path=/a") }, nil},
		{"reject-twice", func(n *lab.Name) { n.TXT("v=anml1;path=/a;path=/b") }, nil},
		{"reject-two-records", func(n *lab.Name) { n.TXT("v=anml1;path=/a").TXT("v=anml1;path=/b") }, nil},
		{"reject-a-path-of-another-host", func(n *lab.Name) { n.TXT("v=anml1;path=//evil.example.net/a") }, []string{"https://shop.example/.well-known/anml"}},
		{"reject-dot-segments", func(n *lab.Name) { n.TXT("v=anml1;path=/a/../b") }, []string{"https://shop.example/.well-known/anml"}},
		{"reject-a-query", func(n *lab.Name) { n.TXT("v=anml1;path=/a?b") }, []string{"https://shop.example/.well-known/anml"}},
		{"reject-a-relative-path", func(n *lab.Name) { n.TXT("v=anml1;path=a") }, []string{"https://shop.example/.well-known/anml"}},
		{"reject-a-private-name", func(n *lab.Name) { n.SRV(0, 0, 443, "localhost.") }, nil},
	} {
		t.Run("ANML-6.5.4-01/"+c.name, func(t *testing.T) {
			f := newFinding(t, dns)
			c.records(f.net.Name("_anml._tcp.shop.example"))
			d := f.s.discovery(t.Context(), shopOrigin)
			var got []string
			found, err := d.byDNS(mustParse(t, shopOrigin))
			if err != nil {
				t.Fatal(err)
			}
			for _, place := range found {
				got = append(got, place.url.String())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	t.Run("ANML-6.5.4-01/accept-location-only", func(t *testing.T) {
		f := newFinding(t, dns)
		f.net.Name("_anml._tcp.shop.example").SRV(0, 0, 443, "bank.example.").TXT("v=anml1;path=/a")
		f.net.Site("bank.example").Handle("/a", document(titled))
		if p := f.finds(f.s, "Shop"); p.ServingDomain() != "bank.example" || p.opened.wellKnown || len(f.told) != 1 || f.told[0].Kind != NoticeMoved {
			t.Error(p.ServingDomain(), f.told)
		}
	})
	t.Run("ANML-6.5.4-01/reject-unasked", func(t *testing.T) {
		f := newFinding(t)
		f.net.Name("_anml._tcp.shop.example").TXT("v=anml1;path=/a")
		f.site.Handle("/a", document(titled))
		f.fails(f.s, lookleap.CodeNoANML)
		if n := len(f.net.Journal().Queries("_anml._tcp.shop.example")); n != 0 {
			t.Errorf("%d queries", n)
		}
	})
	t.Run("ANML-6.5.4-01/reject-a-resolver-that-fails", func(t *testing.T) {
		for name, fault := range map[string]func(*lab.Name){"servfail": func(n *lab.Name) { n.ServFail() }, "bogus": func(n *lab.Name) { n.Bogus() }} {
			f := newFinding(t, dns)
			fault(f.net.Name("_anml._tcp.shop.example").TXT("v=anml1;path=/a"))
			e := f.fails(f.s, lookleap.CodeInconclusive)
			if len(e.Trace) != 2 || e.Trace[1].Source != SourceDNS || e.Trace[1].Code == lookleap.CodeOK {
				t.Error(name, e.Trace)
			}
		}
	})
}

func TestRole(t *testing.T) {
	const head = titled
	xml := func(role string) string { return strings.Replace(service(head), ` role="service"`, role, 1) }
	for name, c := range map[string]struct {
		id, role string
		want     lookleap.Code
	}{
		"inferred": {"ANML-8.1-06", "", lookleap.CodeOK}, "equal": {"ANML-8.1-07", ` role="service"`, lookleap.CodeOK},
		"another": {"ANML-8.1-08", ` role="agent-response"`, anml.CodeRoleConflict}, "unknown": {"ANML-8.1-08", ` role="oracle"`, anml.CodeRoleConflict},
		"other": {"ANML-8.1-07", ` role="agent-response"`, anml.CodeRoleConflict},
	} {
		verdict := "reject-"
		if c.want == lookleap.CodeOK {
			verdict = "accept-"
		}
		t.Run(c.id+"/"+verdict+name, func(t *testing.T) {
			f := newFinding(t)
			f.site.Body(wellKnownPath, anml.MediaTypeXML, xml(c.role)).Body("/a", anml.MediaTypeXML, xml(c.role))
			if c.want != lookleap.CodeOK {
				if e := f.fails(f.s, c.want); !errors.Is(e, anml.ErrRoleConflict) {
					t.Error(e)
				}
			} else if p := f.finds(f.s, "Shop"); p.Document().Role() != anml.RoleService {
				t.Error(p.Document().Role())
			}
			_, err := f.s.Open(t.Context(), shopOrigin+"/a")
			if got := codeOf(err); got != c.want {
				t.Error(err)
			}
		})
	}
}

func TestVersions(t *testing.T) {
	versioned := func(attrs string) string {
		return strings.Replace(service(titled+payable), `version="1.0" role`, attrs+` role`, 1)
	}
	for attrs, want := range map[string]int{`version="1.1"`: 1, `version="2.0"`: 1, `version="10.0"`: 1, `version="x"`: 1, `version="1.0"`: 0, ``: 0, `version="0.9"`: 0} {
		verdict := "accept-"
		if want == 0 {
			verdict = "reject-"
		}
		t.Run("ANML-8.1-21/"+verdict+"told-of-"+attrs, func(t *testing.T) {
			f := newFinding(t)
			f.site.Handle(wellKnownPath, scripted(200, versioned(attrs), "Etag", `"1"`))
			for range 2 { // once for each document
				f.finds(f.s, "Shop")
			}
			if len(f.told) != want || want == 1 && (f.told[0].Kind != NoticeNewerVersion || f.told[0].Origin != shopOrigin) || len(f.s.Notices()) != want {
				t.Errorf("%+v", f.told)
			}
		})
	}
	for version, want := range map[string]lookleap.Code{"1.0": lookleap.CodeOK, "1.7": lookleap.CodeOK, "2.0": lookleap.CodeConsentNoPrompter} {
		verdict := "accept"
		if want != lookleap.CodeOK {
			verdict = "reject"
		}
		t.Run("ANML-8.1-21/"+verdict+"-unconfirmed-"+version, func(t *testing.T) {
			f := newFinding(t)
			doc := service(titled + `<interact><action id="find" method="GET" endpoint="/find"><description>Find</description></action></interact>`)
			f.site.Body(wellKnownPath, anml.MediaTypeXML, strings.Replace(doc, `version="1.0" role`, `version="`+version+`" role`, 1)).Handle("/find", document(titled))
			_, err := f.finds(f.s, "Shop").Do(t.Context(), Call{Action: "find"})
			if got := lookleap.CodeOf(err); got != want {
				t.Errorf("%v", err)
			}
		})
	}
	for _, offers := range []string{`2.0,3.0`, ``, ` , `} {
		doc := versioned(`version="1.0" supported-versions="` + offers + `"`)
		t.Run("ANML-8.1-22/accept-readable-"+offers, func(t *testing.T) {
			f := newFinding(t)
			f.site.Body(wellKnownPath, anml.MediaTypeXML, doc)
			f.finds(f.s, "Shop")
		})
		t.Run("ANML-8.1-22/reject-by-option-"+offers, func(t *testing.T) {
			f := newFinding(t, func(_ *User, o *Options) { o.RefuseUnsupported = true })
			f.site.Body(wellKnownPath, anml.MediaTypeXML, doc)
			f.fails(f.s, anml.CodeNoVersion)
		})
		t.Run("ANML-8.1-23/reject-"+offers, func(t *testing.T) {
			f := newFinding(t)
			f.site.Body(wellKnownPath, anml.MediaTypeXML, doc)
			p := f.finds(f.s, "Shop")
			_, err := p.Do(t.Context(), Call{Action: "pay"})
			f.wants(err, anml.CodeNoVersion)
			f.requests("shop.example", getWellKnown)
			if len(p.Tools()) != 0 {
				t.Error(p.Tools())
			}
		})
		t.Run("ANML-8.1-24/accept-told-"+offers, func(t *testing.T) {
			f := newFinding(t)
			f.site.Body(wellKnownPath, anml.MediaTypeXML, doc)
			p := f.finds(f.s, "Shop")
			_, err := p.Do(t.Context(), Call{Action: "pay"})
			for _, want := range []string{strings.Trim(strings.ReplaceAll(offers, ",", ", "), ", "), "1.0"} {
				if !strings.Contains(err.Error(), want) || !strings.Contains(f.told[0].Text, want) {
					t.Errorf("%v; %+v", err, f.told)
				}
			}
			if len(f.told) != 1 || f.told[0].Kind != NoticeUnsupported {
				t.Errorf("%+v", f.told)
			}
		})
	}
	t.Run("ANML-8.1-23/accept", func(t *testing.T) {
		f := newFinding(t)
		f.site.Body(wellKnownPath, anml.MediaTypeXML, versioned(`version="1.0" supported-versions="2.0, 1.0"`))
		if p := f.finds(f.s, "Shop"); p.executable() != nil || len(f.told) != 0 {
			t.Error(p.executable(), f.told)
		}
	})
}

// payable is an interact section with one action.
const payable = `<interact><action id="pay" method="POST" endpoint="/pay"><description>Pay</description></action></interact>`

func TestTransport(t *testing.T) {
	for _, id := range []string{"ANML-13.6-02", "ANML-13.12-02"} {
		t.Run(id+"/accept", func(t *testing.T) {
			f := newFinding(t)
			f.site.Handle(wellKnownPath, document(titled))
			f.finds(f.s, "Shop")
		})
		for name, c := range map[string]lab.Certificate{"expired": lab.Expired, "wrong-host": lab.WrongName, "self-signed": lab.SelfSigned} {
			t.Run(id+"/reject-"+name, func(t *testing.T) {
				f := newFinding(t, func(_ *User, o *Options) { o.InsecureHTTP = true })
				f.site.Plain().Certificate(c).Handle(wellKnownPath, document(titled))
				f.fails(f.s, lookleap.CodeTLS)
				f.requests("shop.example") // not over http either
				if len(f.told) != 1 || f.told[0].Kind != NoticeInsecure || f.told[0].Code != lookleap.CodeTLS {
					t.Errorf("%+v", f.told)
				}
			})
		}
		t.Run(id+"/reject-a-careless-fetcher", func(t *testing.T) {
			f := newFinding(t)
			f.site.Certificate(lab.SelfSigned).Handle(wellKnownPath, document(titled))
			careless := f.net.ForeignTransport()
			careless.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
			f.fails(f.on(careless, Options{}), lookleap.CodeTLS)
			f.requests("shop.example")
		})
	}
	t.Run("ANML-13.6-03/accept-to-read", func(t *testing.T) {
		f := newFinding(t)
		const persona = `<persona><tone>warm</tone></persona>`
		f.site.Plain().Handle("/a", document(`<head><title>Shop</title><trust domain="bank.example"/><site-ref domain="other.example" canonical="https://other.example/"/></head>`+payable+persona,
			"Cache-Control", "max-age=60"))
		s := f.on(f.net.ForeignTransport(), Options{InsecureHTTP: true})
		for range 2 {
			p, err := s.Open(t.Context(), "http://shop.example/a")
			if err != nil {
				t.Fatal(err)
			}
			if p.Document().Head().Title() != "Shop" || p.ServingDomain() != "" || p.opened.wellKnown || !p.opened.noStore || !hasFinding(p, lookleap.CodeInsecureTransport) {
				t.Errorf("%q %v", p.ServingDomain(), p.Findings())
			}
			for _, party := range p.Parties() {
				if party.Tier != anmltrust.Unlisted {
					t.Errorf("%+v", party)
				}
			}
			if _, err := p.Do(t.Context(), Call{Action: "pay"}); lookleap.CodeOf(err) != lookleap.CodeInsecureTransport {
				t.Error(err)
			}
			if len(p.Tools()) != 0 {
				t.Error(p.Tools())
			}
		}
		f.requests("shop.example", "GET /a", "GET /a") // and not kept
		f.requests("bank.example")
		f.requests("other.example")
		if n := f.s.Notices(); len(n) != 0 {
			t.Error(n)
		}
		if n := s.Notices(); len(n) != 1 || n[0].Kind != NoticeInsecure {
			t.Error(n)
		}
		if q := f.net.Journal().Queries("_anml.bank.example"); len(q) != 0 {
			t.Error(q)
		}
	})
	t.Run("ANML-13.6-03/reject-by-default", func(t *testing.T) {
		f := newFinding(t)
		f.site.Plain().Handle("/a", document(titled))
		_, err := f.on(f.net.ForeignTransport(), Options{}).Open(t.Context(), "http://shop.example/a")
		f.wants(err, lookleap.CodeNotHTTPS)
		f.requests("shop.example")
	})
	t.Run("ANML-13.6-03/reject-an-unreported-connection", func(t *testing.T) {
		f := newFinding(t)
		f.site.Handle("/a", document(titled+payable))
		inner := f.net.Fetcher()
		s := f.on(fetcherFunc(func(r *http.Request) (*http.Response, error) {
			return inner.RoundTrip(r.WithContext(context.Background()))
		}), Options{})
		p, err := s.Open(t.Context(), shopOrigin+"/a")
		if err != nil || p.ServingDomain() != "" || p.executable() == nil {
			t.Error(p, err)
		}
	})
}

type fetcherFunc func(*http.Request) (*http.Response, error)

func (f fetcherFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// on is a session on a foreign Fetcher.
func (f *finding) on(fetcher lookleap.Fetcher, o Options) *Session {
	f.Helper()
	host := f.net.Host()
	host.Fetcher = fetcher
	u := User{Notify: func(_ context.Context, n Notice) { f.told = append(f.told, n) }}
	s, err := New(host, o).NewSession(u)
	if err != nil {
		f.Fatal(err)
	}
	return s
}

func TestImpersonation(t *testing.T) {
	action := func(endpoints ...string) string {
		var b strings.Builder
		for i, e := range endpoints {
			b.WriteString(`<action id="a` + string(rune('a'+i)) + `" method="GET" endpoint="` + e + `"/>`)
		}
		return titled + "<interact>" + b.String() + "</interact>"
	}
	links := func(hrefs ...string) string {
		return titled + `<body><link href="` + strings.Join(hrefs[:1], "") + `">x</link><section id="s" label="S"><link href="` + strings.Join(hrefs[1:], `">x</link><link href="`) + `">x</link></section></body>`
	}
	for name, c := range map[string]struct {
		host, sections string
	}{
		"reject-actions": {"shop.example", action("https://evil.example.net/a", "/b")},
		"reject-links":   {"shop.example", links("https://evil.example.net/a", "https://evil.example.net/b", "/c")},
		"reject-mixed":   {"xn--pypal-4ve.example", titled},  // Cyrillic a in Latin letters
		"reject-alike":   {"xn--80ak6aa92e.example", titled}, // Cyrillic letters that look Latin
		"accept-own":     {"shop.example", action("/a", "https://api.shop.example/b", "https://evil.example.net/c")},
		"accept-links":   {"shop.example", links("https://evil.example.net/a", "/b", "/c")},
		"accept-foreign": {"xn--bcher-kva.example", titled},
	} {
		t.Run("ANML-13.6-05/"+name, func(t *testing.T) {
			f := newFinding(t)
			f.net.Site(c.host).Handle(wellKnownPath, document(c.sections))
			for range 2 {
				p, err := f.s.Discover(t.Context(), "https://"+c.host)
				if err != nil {
					t.Fatal(err) // it warns, and blocks nothing
				}
				if want := strings.HasPrefix(name, "reject"); hasFinding(p, lookleap.CodeImpersonation) != want {
					t.Error(p.Findings())
				}
			}
			if want := strings.HasPrefix(name, "reject"); want != (len(f.told) == 1 && f.told[0].Kind == NoticeImpersonation) {
				t.Errorf("%+v", f.told)
			}
		})
	}
}

func TestK26(t *testing.T) {
	t.Run("K26/accept-for-the-origin-alone", func(t *testing.T) {
		f := newFinding(t)
		f.site.Handle("/alice/", document("<head><title>Alice</title></head>")).Handle("/alice/.well-known/anml", document(titled))
		p, err := f.s.Open(t.Context(), shopOrigin+"/alice/.well-known/anml")
		if err != nil || p.opened.wellKnown { // a path of one tenant is no well-known URI
			t.Error(err)
		}
		f.site.Status(wellKnownPath, 404)
		f.fails(f.s, lookleap.CodeNoANML)
		if _, err := f.s.Open(t.Context(), shopOrigin+"/alice/"); err != nil { // which a 404 of the origin does not close
			t.Error(err)
		}
	})
	t.Run("K26/reject-another-host", func(t *testing.T) {
		f := newFinding(t)
		f.site.Status(wellKnownPath, 410)
		f.fails(f.s, lookleap.CodeGone)
		f.net.Site("alice.shop.example").Handle(wellKnownPath, document(titled))
		if _, err := f.s.Discover(t.Context(), "https://alice.shop.example/path?query"); err != nil {
			t.Error(err)
		}
	})
}
