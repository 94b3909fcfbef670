package agent

import (
	"context"
	"crypto/tls"
	"net/http"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anmltrust"
	"github.com/lookleap/lookleap/internal/lab"
)

// The rows about the connection that a document came over, and signs that it comes
// from somebody else (sections 13.6 and 13.12).

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
