package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/lookleaptest"
)

// mustParse is a canonical URL.
func mustParse(t testing.TB, raw string) domain.URL {
	t.Helper()
	u, err := domain.Parse(raw)
	must(t, err)
	return u
}

// first is the first candidate: its path, or its URL when it is not the shop's.
func first(found []candidate) string {
	if len(found) == 0 {
		return ""
	}
	return strings.TrimPrefix(found[0].url.String(), "https://shop.example")
}

// FuzzDNSText holds that a TXT record leads to nothing but an absolute path of a
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
	page := mustParse(f, "https://shop.example/x")
	f.Fuzz(func(t *testing.T, link string, html []byte) {
		for _, c := range advertised(page, http.Header{"Link": {link}}, html) {
			if u, err := domain.Parse(c.url.String()); err != nil || u.String() != c.url.String() {
				t.Errorf("%q: %v", c.url.String(), err)
			}
		}
	})
}

// The rows about the connection that a document came over, and signs that it comes
// from another party (sections 13.6 and 13.12).

func TestTransport(t *testing.T) {
	for _, id := range []string{"ANML-13.6-02", "ANML-13.12-02"} {
		t.Run(id+"/accept-valid-certificate", func(t *testing.T) {
			f := newFinding(t)
			f.site.Handle(wellKnownPath, document(titled))
			f.finds(f.s, "Shop")
		})
		for name, c := range map[string]lookleaptest.Certificate{"expired": lookleaptest.CertificateExpired, "wrong-host": lookleaptest.CertificateWrongName, "self-signed": lookleaptest.CertificateSelfSigned} {
			t.Run(id+"/reject-"+name, func(t *testing.T) {
				f := newFinding(t)
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
			f.site.Certificate(lookleaptest.CertificateSelfSigned).Handle(wellKnownPath, document(titled))
			careless := f.net.Unguarded()
			careless.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
			f.fails(f.on(careless, Options{}), lookleap.CodeTLS)
			f.requests("shop.example")
		})
	}
	t.Run("ANML-13.6-03/accept-to-read", func(t *testing.T) {
		f := newFinding(t)
		const persona = `<persona><tone>warm</tone></persona>`
		f.site.Handle("/a", document(`<head><title>Shop</title><trust domain="bank.example"/><site-ref domain="other.example" canonical="https://other.example/"/></head>`+payable+persona,
			"Cache-Control", "max-age=60"))
		s := f.on(unreported(f.net), Options{})
		for range 2 {
			p, err := s.Open(t.Context(), shopOrigin+"/a")
			must(t, err)
			if p.Document().Head().Title() != "Shop" || p.ServingDomain() != "" || p.opened.wellKnown || !p.opened.noStore || !hasFinding(p, lookleap.CodeInsecureTransport) {
				t.Errorf("%q %v", p.ServingDomain(), p.Findings())
			}
			for _, party := range p.Parties() {
				equals(t, party.Tier, anmltrust.Unlisted)
			}
			hasCode(t, second(p.Do(t.Context(), Call{Action: "pay"})), lookleap.CodeInsecureTransport)
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
	})
	t.Run("ANML-13.6-03/reject-as-the-words-of-anyone", func(t *testing.T) {
		f := newFinding(t)
		f.site.Handle("/a", document(titled+payable)) // it claims nothing
		for want, s := range map[anmltrust.Attribution]*Session{anmltrust.Dropped: f.on(unreported(f.net), Options{}), anmltrust.OfServer: f.s} {
			p, err := s.Open(t.Context(), shopOrigin+"/a")
			must(t, err)
			for _, section := range anmltrust.AllSections.Sections() {
				if _, a := p.Owner(p.Document().Site, section); a != want {
					t.Errorf("%s is %v", section, a)
				}
			}
		}
	})
	t.Run("ANML-13.6-03/reject-by-default", func(t *testing.T) {
		f := newFinding(t)
		f.site.Plain().Handle("/a", document(titled))
		hasCode(f, second(f.on(f.net.Unguarded(), Options{}).Open(t.Context(), "http://shop.example/a")), lookleap.CodeNotHTTPS)
		f.requests("shop.example")
	})
	t.Run("ANML-13.6-03/reject-an-unreported-connection", func(t *testing.T) {
		f := newFinding(t)
		f.site.Handle("/a", document(titled+payable))
		s := f.on(unreported(f.net), Options{})
		p, err := s.Open(t.Context(), shopOrigin+"/a")
		if err != nil || p.ServingDomain() != "" || p.executable() == nil {
			t.Error(p, err)
		}
	})
}

// unreported is a fetcher that does not report its connections.
func unreported(net *lookleaptest.Internet) lookleap.Fetcher {
	inner := net.Fetcher(lookleap.FetcherOptions{})
	return fetcherFunc(func(r *http.Request) (*http.Response, error) {
		return inner.RoundTrip(r.WithContext(context.Background()))
	})
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
				if want := strings.HasPrefix(name, "reject"); hasFinding(p, CodeImpersonation) != want {
					t.Error(p.Findings())
				}
			}
			if want := strings.HasPrefix(name, "reject"); want != (len(f.told) == 1 && f.told[0].Kind == NoticeImpersonation) {
				t.Errorf("%+v", f.told)
			}
		})
	}
}

// The rows about what is asked for, and what an answer is read as (sections 6.3, 7
// and 7.4).

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
				must(t, second(f.s.Open(t.Context(), shopOrigin+"/a")))
				for _, r := range f.net.Journal().Requests("shop.example") {
					if got := r.Header.Values("Accept"); len(got) != 1 || got[0] != c.want {
						t.Errorf("Accept %q", got)
					}
					for _, name := range []string{"Accept-Language", "Cookie", "Authorization", "Referer", "From"} {
						equals(t, r.Header.Get(name), "")
					}
				}
			})
		}
	}
	twin := `{"anml":"1.0","role":"service","head":{"title":"Shop"}}`
	t.Run("ANML-7-04/accept-what-the-type-says", func(t *testing.T) {
		f := newFinding(t)
		f.site.File(wellKnownPath, anml.MediaTypeJSON+"; charset=utf-8", twin)
		equals(t, f.finds(f.s, "Shop").Document().Format(), anml.JSON)
	})
	t.Run("ANML-7-04/reject-another-body", func(t *testing.T) {
		f := newFinding(t)
		f.site.File("/a", anml.MediaTypeXML, twin).File("/b", anml.MediaTypeJSON, service(titled))
		for _, path := range []string{"/a", "/b"} {
			_, err := f.s.Open(t.Context(), shopOrigin+path)
			if !errors.Is(err, anml.ErrNotWellFormed) {
				t.Error(err)
			}
		}
	})
	t.Run("ANML-6.3-03/accept-generic-types", func(t *testing.T) {
		f := newFinding(t)
		f.site.File(wellKnownPath, "application/xml", service(titled)).File("/a", "application/json", twin)
		f.finds(f.s, "Shop")
		hasCode(f, second(f.s.Open(t.Context(), shopOrigin+"/a")), lookleap.CodeMediaType)
		s := f.session(func(_ *User, o *Options) { o.Read.AcceptGenericTypes = true })
		must(t, second(s.Open(t.Context(), shopOrigin+"/a")))
	})
	for name, header := range map[string][]string{
		"html": {"Content-Type", "text/html"}, "plain": {"Content-Type", "text/plain"}, "octets": {"Content-Type", "application/octet-stream"},
		"none": {"Content-Type", ""}, "two": {"Content-Type", anml.MediaTypeXML, "Content-Type", "text/html"}, "xml": {"Content-Type", "text/xml"},
	} {
		t.Run("ANML-6.3-03/reject-"+name, func(t *testing.T) {
			f := newFinding(t)
			f.site.Handle("/a", scripted(200, service(titled), header...))
			_, err := f.s.Open(t.Context(), shopOrigin+"/a")
			hasCode(f, err, lookleap.CodeMediaType)
			isError(t, err, anml.ErrNotANML)
			equals(t, len(f.told), 0)
		})
	}
	t.Run("ANML-6.3-03/reject-generic-without-proof", func(t *testing.T) {
		for body, mediaType := range map[string]string{
			"<html/>": "application/xml", "<anml role='service'><head><title>x</title></head></anml>": "text/xml",
			`{"error":"not found"}`: "application/json", "oops": "application/json",
		} {
			f := newFinding(t, func(_ *User, o *Options) { o.Read.AcceptMissingNamespace = true })
			f.site.File(wellKnownPath, mediaType, body)
			f.fails(f.s, CodeNoANML)
			if len(f.told) != 0 {
				t.Error(body, f.told)
			}
		}
	})
	t.Run("ANML-6.3-03/reject-generic-after-an-action", func(t *testing.T) {
		for mediaType, body := range map[string]string{"application/xml": service(titled), "text/xml": service(titled), "application/json": twin} {
			s := newStage(t, setting{doc: gettable, options: Options{Read: anml.ReadOptions{AcceptGenericTypes: true}}})
			s.shop.Handle("/a", answering(200, mediaType, body))
			if r := s.does(Call{Action: "a"}, lookleap.CodeOK); r.Page != nil {
				t.Error(mediaType)
			}
		}
	})
	t.Run("ANML-7.4-01/accept-as-a-hint", func(t *testing.T) {
		for _, name := range []string{"Accept-Patch", "Alternates"} {
			f := newFinding(t)
			f.site.Handle(wellKnownPath, document(titled, name, `{"a" 1.0 {type application/anml+json}}`))
			if p := f.finds(f.s, "Shop"); p.opened.accept != nil {
				t.Error(name)
			}
		}
	})
}
