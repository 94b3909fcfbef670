package agent

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/lookleaptest"
)

// The rows about where a document is looked for, and whose it is (sections 6.5,
// 6.5.1 and 16.2).

func TestDiscovery(t *testing.T) {
	for _, id := range []string{"ANML-6.5.1-01", "ANML-16.2-01"} {
		t.Run(id+"/accept-well-known-first", func(t *testing.T) {
			f := newFinding(t)
			f.site.Handle(wellKnownPath, document(titled))
			f.net.Site("port.example").Ports(8443)
			p := f.finds(f.s, "Shop")
			f.requests("shop.example", getWellKnown)
			if !p.opened.wellKnown || p.URL() != shopDoc {
				t.Error(p.URL())
			}
		})
		t.Run(id+"/reject-plain-http", func(t *testing.T) {
			f := newFinding(t)
			f.site.Plain().Handle(wellKnownPath, document(titled))
			hasCode(f, second(f.s.Discover(t.Context(), "http://shop.example")), lookleap.CodeNotHTTPS)
			f.requests("shop.example")
		})
	}
	t.Run("ANML-6.5-01/accept-in-order", func(t *testing.T) {
		f := newFinding(t, func(_ *User, o *Options) { o.DNS = true })
		f.site.Handle("/by-link", scripted(404, "")).Handle("/by-html", scripted(404, "")).Handle("/by-dns", document(titled))
		f.net.Name("_anml._tcp.shop.example").TXT("v=anml1;path=/by-dns")
		_, err := f.s.Discover(t.Context(), shopOrigin, webPage())
		must(t, err)
		f.requests("shop.example", getWellKnown, "GET /by-link", "GET /by-html", "GET /by-dns")
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
		hasCode(f, second(f.s.Discover(t.Context(), shopOrigin, webPage())), CodeGone)
		f.requests("shop.example", getWellKnown)
	})
	t.Run("ANML-6.5-01/reject-a-page-of-another-origin", func(t *testing.T) {
		f := newFinding(t)
		for _, other := range []string{"https://evil.example.net/", "https://www.shop.example/", "https://shop.example:8443/", "https://shop.example.net/"} {
			page := webPage()
			page.URL = other
			_, err := f.s.Discover(t.Context(), shopOrigin, page)
			hasCode(f, err, lookleap.CodeUsage)
			hasCode(f, second(f.s.Discover(t.Context(), shopOrigin, webPage(), page)), lookleap.CodeUsage)
		}
		f.requests("shop.example")
	})
	t.Run("ANML-6.5-01/reject-endless-candidates", func(t *testing.T) {
		f := newFinding(t)
		var links []string
		for i := range 50 {
			links = append(links, `</`+strings.Repeat("x", i+1)+`>; rel=alternate; type="application/anml+xml"`)
		}
		hasCode(f, second(f.s.Discover(t.Context(), shopOrigin, WebPage{URL: shopOrigin, Header: http.Header{"Link": links}})), CodeNoANML)
		equals(t, len(f.net.Journal().Paths("shop.example")), 8)
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
	t.Run("ANML-6.5.1-02/reject-beginning-over-plain-http", func(t *testing.T) {
		f := newFinding(t)
		f.site.Plain().Redirect(wellKnownPath, "https://shop.example/b").Handle("/b", document(pretends))
		hasCode(t, second(f.on(f.net.Unguarded(), Options{}).Discover(t.Context(), "http://shop.example")), lookleap.CodeNotHTTPS)
		f.requests("shop.example")
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
		equals(t, p.ServingDomain(), "shop.example")
		equals(t, len(p.Parties()), 2)
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

func TestInconclusive(t *testing.T) {
	for name, answer := range map[string]func(*lookleaptest.Site){
		"401":   func(s *lookleaptest.Site) { s.Status(wellKnownPath, 401) },
		"403":   func(s *lookleaptest.Site) { s.Status(wellKnownPath, 403) },
		"429":   func(s *lookleaptest.Site) { s.Status(wellKnownPath, 429) },
		"500":   func(s *lookleaptest.Site) { s.Status(wellKnownPath, 500) },
		"503":   func(s *lookleaptest.Site) { s.Status(wellKnownPath, 503) },
		"204":   func(s *lookleaptest.Site) { s.Status(wellKnownPath, 204) },
		"reset": func(s *lookleaptest.Site) { s.Fault(wellKnownPath, lookleaptest.Reset()) },
	} {
		t.Run("ANML-6.5.1-16/reject-"+name, func(t *testing.T) {
			f := newFinding(t)
			answer(f.site)
			f.fails(f.s, CodeInconclusive)
			n := len(f.net.Journal().Paths("shop.example"))
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
		if e := f.fails(f.s, CodeInconclusive); e.RetryAfter != 2*time.Minute || e.Status != 503 {
			t.Error(e.RetryAfter)
		}
		f.net.Clock().Advance(100 * time.Second)
		equals(t, f.fails(f.s, CodeInconclusive).RetryAfter, 20*time.Second)
		f.requests("shop.example", getWellKnown)
		f.site.Handle(wellKnownPath, document(titled))
		f.net.Clock().Advance(20 * time.Second)
		f.finds(f.s, "Shop")
	})
	t.Run("ANML-6.5.1-16/accept-where-it-moved-to", func(t *testing.T) {
		f := newFinding(t)
		f.site.Status(wellKnownPath, 301, "Location", "/new").Handle("/new", document(titled))
		f.finds(f.s, "Shop")
		f.site.Status("/new", 503)
		f.fails(f.s, CodeInconclusive)
		f.site.Handle("/new", document(titled))
		f.finds(f.s, "Shop")
	})
}

func TestMovedDiscovery(t *testing.T) {
	moved := func(t *testing.T) *finding {
		f := newFinding(t)
		f.site.Status(wellKnownPath, 301, "Location", "https://other.example/anml")
		f.net.Site("other.example").Handle("/anml", document("<head><title>Other</title></head>"))
		f.finds(f.s, "Other")
		f.site.Handle(wellKnownPath, document(titled)) // the origin takes its redirect back
		return f
	}
	t.Run("O09/accept-target-within-a-day", func(t *testing.T) {
		f := moved(t)
		f.net.Clock().Advance(24*time.Hour - time.Second)
		f.finds(f.s, "Other")
	})
	t.Run("O09/accept-own-document-after-a-day", func(t *testing.T) {
		f := moved(t)
		f.net.Clock().Advance(24 * time.Hour)
		f.finds(f.s, "Shop")
		f.net.Clock().Advance(time.Hour)
		f.finds(f.s, "Shop")
	})
	t.Run("O09/reject-target-after-the-origin-withdrew", func(t *testing.T) {
		f := moved(t)
		f.site.Status(wellKnownPath, 404)
		f.net.Clock().Advance(24 * time.Hour)
		f.fails(f.s, CodeNoANML)
	})
	t.Run("O09/accept-target-while-the-origin-says-so", func(t *testing.T) {
		f := moved(t)
		f.site.Status(wellKnownPath, 301, "Location", "https://other.example/anml")
		f.net.Clock().Advance(24 * time.Hour)
		f.finds(f.s, "Other")
	})
}

func TestK26(t *testing.T) {
	t.Run("K26/accept-for-the-origin-alone", func(t *testing.T) {
		f := newFinding(t)
		f.site.Handle("/alice/", document("<head><title>Alice</title></head>")).Handle("/alice/.well-known/anml", document(titled))
		p, err := f.s.Open(t.Context(), shopOrigin+"/alice/.well-known/anml")
		if err != nil || p.opened.wellKnown { // a path of one tenant is not a well-known URI
			t.Error(err)
		}
		f.site.Status(wellKnownPath, 404)
		f.fails(f.s, CodeNoANML)
		if _, err := f.s.Open(t.Context(), shopOrigin+"/alice/"); err != nil { // which a 404 of the origin does not close
			t.Error(err)
		}
	})
	t.Run("K26/reject-another-host", func(t *testing.T) {
		f := newFinding(t)
		f.site.Status(wellKnownPath, 410)
		f.fails(f.s, CodeGone)
		f.net.Site("alice.shop.example").Handle(wellKnownPath, document(titled))
		must(t, second(f.s.Discover(t.Context(), "https://alice.shop.example/path?query")))
	})
}

// The rows about a 404 at the well-known URI (section 6.5.1).

func TestAbsent(t *testing.T) {
	t.Run("ANML-6.5.1-04/reject-404", func(t *testing.T) {
		f := newFinding(t)
		f.site.Status(wellKnownPath, 404)
		e := f.fails(f.s, CodeNoANML)
		if e.Subject != shopOrigin || e.Status != 404 || len(f.told) != 0 {
			t.Errorf("%+v", e)
		}
	})
	t.Run("ANML-6.5.1-04/reject-404-opened", func(t *testing.T) {
		f := newFinding(t)
		f.site.Status(wellKnownPath, 404)
		hasCode(f, second(f.s.Open(t.Context(), shopDoc)), CodeNoANML)
	})
	for name, mediaType := range map[string]string{"": "text/html", "-of-text": "text/plain", "-of-json": "application/json", "-of-xml": "application/xml", "-of-no-type": "none"} {
		t.Run("ANML-6.5.1-04/reject-a-page-in-its-place"+name, func(t *testing.T) {
			f := newFinding(t)
			f.site.Handle(wellKnownPath, scripted(200, "<title>oops</title>", "Content-Type", strings.TrimPrefix(mediaType, "none")))
			f.fails(f.s, CodeNoANML)
			f.fails(f.s, CodeNoANML)
			f.requests("shop.example", getWellKnown)
		})
	}
	t.Run("ANML-6.5.1-05/reject-a-second-request-after-a-page", func(t *testing.T) {
		f := newFinding(t)
		f.site.File(wellKnownPath, "text/html", "<title>oops</title>")
		f.fails(f.s, CodeNoANML)
		f.site.Handle(wellKnownPath, document(titled))
		f.net.Clock().Advance(time.Hour)
		f.fails(f.s, CodeNoANML)
		f.requests("shop.example", getWellKnown)
	})
	t.Run("ANML-6.5.1-05/reject-a-second-request", func(t *testing.T) {
		f := newFinding(t)
		f.site.Status(wellKnownPath, 404)
		f.fails(f.s, CodeNoANML)
		f.site.Handle(wellKnownPath, document(titled))
		f.net.Clock().Advance(time.Hour)
		f.fails(f.s, CodeNoANML)
		hasCode(f, second(f.s.Open(t.Context(), shopDoc)), CodeNoANML)
		f.requests("shop.example", getWellKnown)
	})
	t.Run("ANML-6.5.1-05/accept-another-port", func(t *testing.T) {
		f := newFinding(t)
		f.site.Ports(443, 8443).Status(wellKnownPath, 404)
		f.fails(f.s, CodeNoANML)
		_, err := f.s.Discover(t.Context(), shopOrigin+":8443")
		hasCode(f, err, lookleap.CodeBlockedPort) // the host forbids the port; nothing is known of it
	})
	t.Run("ANML-6.5.1-05/accept-another-host", func(t *testing.T) {
		f := newFinding(t)
		f.site.Status(wellKnownPath, 404)
		f.fails(f.s, CodeNoANML)
		f.net.Site("www.shop.example").Handle(wellKnownPath, document(titled))
		must(t, second(f.s.Discover(t.Context(), "https://www.shop.example")))
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
			f.fails(f.s, CodeNoANML)
			f.site.Handle(wellKnownPath, document(titled))
			f.net.Clock().Advance(c.refused)
			f.fails(f.s, CodeNoANML)
			f.net.Clock().Advance(c.again - c.refused)
			f.finds(f.s, "Shop")
		})
	}
	for _, id := range []string{"ANML-6.5.1-06", "ANML-6.5.1-07"} {
		t.Run(id+"/accept-a-new-session", func(t *testing.T) {
			f, store, keep := keeping(t)
			f.site.Status(wellKnownPath, 404)
			f.fails(f.s, CodeNoANML)
			if keys := placesIn(store); len(keys) != 0 {
				t.Error("a 404 was stored: ", keys)
			}
			f.site.Handle(wellKnownPath, document(titled))
			f.finds(f.session(keep), "Shop")
		})
	}
}
