package aiuri_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/lookleaptest"
)

const (
	documentPath = "/.well-known/aiip"
	linkHead     = `<html><head><link rel="aiip" href="ENDPOINT"></head>`
)

func documentOf(endpoint, origin string) string {
	return `{"endpoint":"` + endpoint + `","jwks":"` + origin + `/jwks.json","scopes":["pay","read"]}`
}

// endless is a page that advertises in its head and never ends.
func endless(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	_, err := w.Write([]byte(strings.Replace(linkHead, "ENDPOINT", "ai://bank/x", 1)))
	for more := []byte(strings.Repeat("<p>more", 1<<10)); err == nil && r.Context().Err() == nil; {
		_, err = w.Write(more)
	}
}

// page answers the root with a Link header and a link element, each if not empty.
func page(s *lookleaptest.Site, link, element string) {
	s.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		if link != "" {
			w.Header().Set("Link", "<"+link+`>; rel="aiip"`)
		}
		w.Header().Set("Content-Type", "text/html")
		if element != "" {
			_, _ = w.Write([]byte(strings.Replace(linkHead, "ENDPOINT", element, 1)))
		}
	})
}

func TestDiscover(t *testing.T) {
	shop := "https://shop.example"
	document := func(endpoint string) func(*lookleaptest.Internet, *lookleaptest.Site) {
		return func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			s.File(documentPath, "application/json", documentOf(endpoint, shop))
		}
	}
	all := func(n *lookleaptest.Internet, s *lookleaptest.Site) {
		s.File(documentPath, "application/json", documentOf("ai://c/", shop))
		page(s, "ai://a/", "ai://b/")
		n.Name("_aiip.shop.example").TXT("endpoint=ai://d/").DNSSEC(lookleap.Insecure)
	}
	dns := aiuri.DiscovererOptions{DNS: true}
	for _, c := range []struct {
		id       string
		site     func(*lookleaptest.Internet, *lookleaptest.Site)
		options  aiuri.DiscovererOptions
		endpoint string
		source   aiuri.Source
		finding  lookleap.Code
	}{
		{"AIU-3.1-05/accept-json", document("ai://bank/x"), aiuri.DiscovererOptions{}, "ai://bank/x", aiuri.SourceWellKnown, ""},
		{"AIU-3.1-05/accept-plus-json", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			s.File(documentPath, "application/aiip+json", documentOf("ai://bank/x", shop))
		}, aiuri.DiscovererOptions{}, "ai://bank/x", aiuri.SourceWellKnown, ""},
		{"AIU-3.1-05/accept-404-is-absent", func(_ *lookleaptest.Internet, s *lookleaptest.Site) { page(s, "ai://bank/x", "") }, aiuri.DiscovererOptions{}, "ai://bank/x", aiuri.SourceLink, ""},
		{"AIU-3.1-05/accept-html-is-absent", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			page(s, "ai://bank/x", "")
			s.File(documentPath, "text/html", "<p>not here")
		}, aiuri.DiscovererOptions{}, "ai://bank/x", aiuri.SourceLink, ""},
		{"AIU-3.1-12/accept-same-origin", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			s.RedirectChain(documentPath, 3, shop+"/doc").Remove(documentPath+"/3").RedirectChain(documentPath, 2, shop+"/doc").File("/doc", "application/json", documentOf("ai://bank/x", shop))
		}, aiuri.DiscovererOptions{}, "ai://bank/x", aiuri.SourceWellKnown, ""},
		{"AIU-3.1-02/accept-discovered", func(_ *lookleaptest.Internet, s *lookleaptest.Site) { page(s, "ai://bank/x", "") }, aiuri.DiscovererOptions{}, "ai://bank/x", aiuri.SourceLink, ""},
		{"AIU-3.1-03/accept-discovered", func(_ *lookleaptest.Internet, s *lookleaptest.Site) { page(s, "", "ai://bank/x") }, aiuri.DiscovererOptions{}, "ai://bank/x", aiuri.SourceElement, ""},
		{"AIU-3.1-03/accept-endless-page", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			s.HandleFunc("/", endless)
		}, aiuri.DiscovererOptions{}, "ai://bank/x", aiuri.SourceElement, ""},
		{"AIU-3.1-02/accept-huge-page", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			page(s, "ai://bank/x", "")
			s.Fault("/", lookleaptest.Huge(1<<29))
		}, aiuri.DiscovererOptions{}, "ai://bank/x", aiuri.SourceLink, ""},
		{"AIU-3.1-14/accept-joined-strings-and-equal-records", func(n *lookleaptest.Internet, s *lookleaptest.Site) {
			n.Name("_aiip.shop.example").TXT("v=1 end", "point=ai://bank/x other=y").TXT("endpoint=AI://Bank/x")
		}, dns, "ai://bank/x", aiuri.SourceDNS, ""},
		{"AIU-3.1-15/accept-insecure-is-a-hint", func(n *lookleaptest.Internet, s *lookleaptest.Site) {
			page(s, "", "ai://b/")
			n.Name("_aiip.shop.example").TXT("endpoint=ai://d/").DNSSEC(lookleap.Insecure)
		}, dns, "ai://b/", aiuri.SourceElement, aiuri.CodeDiscoveryConflict},
		{"AIU-3.1-15/accept-secure", func(n *lookleaptest.Internet, s *lookleaptest.Site) {
			page(s, "", "ai://b/")
			n.Name("_aiip.shop.example").TXT("endpoint=ai://d/").DNSSEC(lookleap.Secure)
		}, dns, "ai://d/", aiuri.SourceDNSSecure, aiuri.CodeDiscoveryConflict},
		{"AIU-3.1-16/accept-https-only", func(n *lookleaptest.Internet, s *lookleaptest.Site) {
			page(s, "ai://bank/x", "")
			n.Name("_aiip.shop.example").Bogus()
		}, aiuri.DiscovererOptions{}, "ai://bank/x", aiuri.SourceLink, ""},
		{"AIU-3.1-17/accept-well-known-first", all, dns, "ai://c/", aiuri.SourceWellKnown, aiuri.CodeDiscoveryConflict},
		{"AIU-3.1-17/accept-link-second", func(n *lookleaptest.Internet, s *lookleaptest.Site) { all(n, s); s.Remove(documentPath) }, dns, "ai://a/", aiuri.SourceLink, aiuri.CodeDiscoveryConflict},
		{"AIU-3.1-17/accept-secure-dns-before-element", func(n *lookleaptest.Internet, s *lookleaptest.Site) {
			page(s, "", "ai://b/")
			n.Name("_aiip.shop.example").TXT("endpoint=ai://d/").DNSSEC(lookleap.Secure)
		}, dns, "ai://d/", aiuri.SourceDNSSecure, aiuri.CodeDiscoveryConflict},
		{"AIU-3.1-17/accept-element-before-insecure-dns", func(n *lookleaptest.Internet, s *lookleaptest.Site) {
			page(s, "", "ai://b/")
			n.Name("_aiip.shop.example").TXT("endpoint=ai://d/").DNSSEC(lookleap.Insecure)
		}, dns, "ai://b/", aiuri.SourceElement, aiuri.CodeDiscoveryConflict},
		{"AIU-3.1-19/accept-with-finding", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			page(s, "ai://a/", "")
			s.File(documentPath, "application/json", documentOf("ai://b/", shop))
		}, aiuri.DiscovererOptions{FailOnConflict: false}, "ai://b/", aiuri.SourceWellKnown, aiuri.CodeDiscoveryConflict},
		{"L08/accept-precedence", all, dns, "ai://c/", aiuri.SourceWellKnown, aiuri.CodeDiscoveryConflict},
		{"AIU-3.1-02/accept-foreign-target-ignored", func(_ *lookleaptest.Internet, s *lookleaptest.Site) { page(s, "https://bank.example/", "ai://bank/x") }, aiuri.DiscovererOptions{}, "ai://bank/x", aiuri.SourceElement, "not-ai"},
	} {
		t.Run(c.id, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			c.site(net, net.Site("shop.example"))
			d, err := aiuri.NewDiscoverer(net.StubHost(), c.options).Discover(t.Context(), shop+"/")
			if err != nil {
				t.Fatal(err)
			}
			if d.Endpoint.String() != c.endpoint || d.Source != c.source || d.Origin != shop || !d.Verdict.OK {
				t.Errorf("got %s by %s\n%s", d.Endpoint, d.Source, d.Verdict)
			}
			if (d.Source == aiuri.SourceWellKnown) != d.Verifiable() {
				t.Errorf("verifiable: %v", d.Verifiable())
			}
			if c.finding != "" && !slices.ContainsFunc(d.Findings, func(f lookleap.Finding) bool { return f.Code == c.finding }) {
				t.Errorf("%s is missing in %v", c.finding, d.Findings)
			}
			if c.finding == "" && len(d.Findings) != 0 {
				t.Errorf("there are findings: %v", d.Findings)
			}
		})
	}
	for _, c := range []struct {
		id      string
		site    func(*lookleaptest.Internet, *lookleaptest.Site)
		options aiuri.DiscovererOptions
		code    lookleap.Code
	}{
		{"AIU-3.1-05/reject-503", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			page(s, "ai://bank/x", "")
			s.Status(documentPath, 503)
		}, aiuri.DiscovererOptions{}, aiuri.CodeDiscoveryFailed},
		{"AIU-3.1-05/reject-403", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			page(s, "ai://bank/x", "")
			s.Status(documentPath, 403)
		}, aiuri.DiscovererOptions{}, aiuri.CodeDiscoveryFailed},
		{"AIU-3.1-05/reject-400", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			page(s, "ai://bank/x", "")
			s.Status(documentPath, 400)
		}, aiuri.DiscovererOptions{}, aiuri.CodeDiscoveryFailed},
		{"AIU-3.1-05/reject-text", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			s.File(documentPath, "text/plain", documentOf("ai://bank/x", shop))
		}, aiuri.DiscovererOptions{}, aiuri.CodeDiscoveryFailed},
		{"AIU-3.1-05/reject-tls", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			page(s, "ai://bank/x", "")
			s.Certificate(lookleaptest.CertificateWrongName)
		}, aiuri.DiscovererOptions{}, lookleap.CodeTLS},
		{"AIU-3.1-12/reject-cross-origin", func(n *lookleaptest.Internet, s *lookleaptest.Site) {
			s.Redirect(documentPath, "https://other.example/doc")
			n.Site("other.example").File("/doc", "application/json", documentOf("ai://bank/x", shop))
		}, aiuri.DiscovererOptions{}, lookleap.CodeRedirectCrossOrigin},
		{"AIU-3.1-12/reject-http", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			s.Plain().Redirect(documentPath, "http://shop.example/doc")
		}, aiuri.DiscovererOptions{}, lookleap.CodeRedirectCrossOrigin},
		{"AIU-3.1-12/reject-four", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			s.RedirectChain(documentPath, 3, shop+"/doc").File("/doc", "application/json", documentOf("ai://bank/x", shop))
		}, aiuri.DiscovererOptions{}, aiuri.CodeDiscoveryFailed},
		{"AIU-3.1-13/reject-no-service", func(n *lookleaptest.Internet, s *lookleaptest.Site) {
			n.Name("_aiip._tcp.shop.example").SRV(0, 0, 0, ".")
		}, dns, aiuri.CodeServiceUnavailable},
		{"AIU-3.1-14/reject-two", func(n *lookleaptest.Internet, s *lookleaptest.Site) {
			n.Name("_aiip.shop.example").TXT("endpoint=ai://a/").TXT("endpoint=ai://b/")
		}, dns, "ambiguous-dns"},
		{"AIU-3.1-15/reject-bogus", func(n *lookleaptest.Internet, s *lookleaptest.Site) {
			page(s, "ai://bank/x", "")
			n.Name("_aiip.shop.example").Bogus()
		}, dns, lookleap.CodeDNSSECBogus},
		{"AIU-3.1-16/reject-nothing-advertised", func(n *lookleaptest.Internet, s *lookleaptest.Site) {
			n.Name("_aiip.shop.example").TXT("endpoint=ai://a/")
		}, aiuri.DiscovererOptions{}, aiuri.CodeNoEndpoint},
		{"AIU-3.1-19/reject-conflict", all, aiuri.DiscovererOptions{FailOnConflict: true}, aiuri.CodeDiscoveryConflict},
		{"AIU-3.1-19/reject-conflict-of-a-record", func(n *lookleaptest.Internet, s *lookleaptest.Site) { all(n, s); page(s, "ai://c/", "") }, aiuri.DiscovererOptions{DNS: true, FailOnConflict: true}, aiuri.CodeDiscoveryConflict},
		{"AIU-3.2-14/reject-tls-1.2", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			s.MaxTLS(tls.VersionTLS12).File(documentPath, "application/json", documentOf("ai://bank/x", shop))
		}, aiuri.DiscovererOptions{}, aiuri.CodeUnauthenticated},
		{"AIU-3.1-11/reject-large-document", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			s.File(documentPath, "application/json", strings.Repeat(" ", 64<<10+1))
		}, aiuri.DiscovererOptions{}, aiuri.CodeBadDocument},
		{"AIU-3.1-02/reject-other-origin-answers", func(n *lookleaptest.Internet, s *lookleaptest.Site) {
			s.Redirect("/", "https://other.example/")
			page(n.Site("other.example"), "ai://evil/", "")
		}, aiuri.DiscovererOptions{}, aiuri.CodeNoEndpoint},
		{"AIU-3.1-02/reject-404-page", func(_ *lookleaptest.Internet, s *lookleaptest.Site) {
			s.Handle("/", lookleaptest.Status(404, "Link", `<ai://bank/x>; rel="aiip"`))
		}, aiuri.DiscovererOptions{}, aiuri.CodeNoEndpoint},
	} {
		t.Run(c.id, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			c.site(net, net.Site("shop.example"))
			d, err := aiuri.NewDiscoverer(net.StubHost(), c.options).Discover(t.Context(), shop+"/")
			var no *lookleap.VerifyError
			if d != nil || !errors.As(err, &no) || no.Verdict.Code != c.code || lookleap.CodeOf(err) != c.code {
				t.Errorf("got %v, %v", d, err)
			}
		})
	}
}

// TestConfirm is about endpoints of another authority.
func TestConfirm(t *testing.T) {
	const shop, factory = "https://shop.example", "https://factory.example"
	advertise := func(n *lookleaptest.Internet) *lookleaptest.Site {
		page(n.Site("shop.example"), "ai://factory.example/pay", "")
		return n.Site("factory.example")
	}
	t.Run("AIU-3.1-21/accept-own-document", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		advertise(net).File(documentPath, "application/json", documentOf("ai://factory.example/pay", factory))
		d, err := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{}).Discover(t.Context(), shop)
		if err != nil || !d.Confirmed || d.DocumentOrigin != factory || d.Document.JWKS != factory+"/jwks.json" {
			t.Errorf("got %+v, %v", d, err)
		}
	})
	t.Run("AIU-3.1-20/reject-own-keys-for-another", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		advertise(net).File(documentPath, "application/json", documentOf("ai://factory.example/pay", factory))
		net.Site("shop.example").File(documentPath, "application/json", documentOf("ai://factory.example/pay", shop))
		d, err := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{}).Discover(t.Context(), shop)
		if err != nil || d.DocumentOrigin != factory || d.Document.JWKS != factory+"/jwks.json" {
			t.Errorf("got %+v, %v", d, err)
		}
	})
	t.Run("AIU-3.1-20/accept-pair", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		for _, host := range []string{"evil.example", "good.example"} {
			net.Site(host).File(documentPath, "application/json", documentOf("ai://bank/x", "https://"+host))
		}
		discoverer := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{})
		for _, host := range []string{"evil.example", "good.example"} {
			d, err := discoverer.Discover(t.Context(), "https://"+host)
			if err != nil || d.Confirmed || d.Document.JWKS != "https://"+host+"/jwks.json" || d.DocumentOrigin != "https://"+host {
				t.Errorf("got %+v, %v", d, err)
			}
		}
	})
	for name, o := range map[string]aiuri.DiscovererOptions{
		"static":   {Static: map[string]string{"bank": "HTTPS://WWW.Bank.Example:443/"}},
		"registry": {Registry: registry{"bank": "https://www.bank.example"}},
	} {
		for id, vouched := range map[string]bool{"AIU-3.1-20/accept-known-by-" + name: true, "AIU-3.1-20/reject-unknown-to-" + name: false} {
			t.Run(id, func(t *testing.T) {
				net := lookleaptest.ForTest(t)
				net.Site("evil.example").File(documentPath, "application/json", documentOf("ai://bank/x", "https://evil.example"))
				if vouched {
					net.Site("www.bank.example").File(documentPath, "application/json", documentOf("ai://bank/x", "https://www.bank.example"))
				} else {
					net.Site("www.bank.example").File(documentPath, "application/json", documentOf("ai://bank/y", "https://www.bank.example"))
				}
				d, err := aiuri.NewDiscoverer(net.StubHost(), o).Discover(t.Context(), "https://evil.example")
				if vouched && (err != nil || !d.Confirmed || d.DocumentOrigin != "https://www.bank.example" || d.Document.JWKS != "https://www.bank.example/jwks.json") {
					t.Errorf("got %+v, %v", d, err)
				}
				if !vouched && (d != nil || lookleap.CodeOf(err) != aiuri.CodeAuthorityUnconfirmed) {
					t.Errorf("got %+v, %v", d, err)
				}
			})
		}
	}
	t.Run("AIU-3.1-20/reject-name-that-the-registry-does-not-know", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("evil.example").File(documentPath, "application/json", documentOf("ai://bank/x", "https://evil.example"))
		d, err := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{Registry: registry{}}).Discover(t.Context(), "https://evil.example")
		if d != nil || lookleap.CodeOf(err) != aiuri.CodeUnknownAuthority {
			t.Errorf("got %+v, %v", d, err)
		}
	})
	for id, set := range map[string]func(*lookleaptest.Site){
		"reject-absent": func(*lookleaptest.Site) {},
		"reject-other-path": func(s *lookleaptest.Site) {
			s.File(documentPath, "application/json", documentOf("ai://factory.example/other", factory))
		},
		"reject-string-prefix": func(s *lookleaptest.Site) {
			s.File(documentPath, "application/json", documentOf("ai://factory.example/pa", factory))
		},
		"reject-other-port": func(s *lookleaptest.Site) {
			s.File(documentPath, "application/json", documentOf("ai://factory.example:1/pay", factory))
		},
	} {
		t.Run("AIU-3.1-21/"+id, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			set(advertise(net))
			if d, err := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{}).Discover(t.Context(), shop); d != nil || lookleap.CodeOf(err) != aiuri.CodeAuthorityUnconfirmed {
				t.Errorf("got %+v, %v", d, err)
			}
		})
	}
	t.Run("AIU-3.1-21/accept-third-party-by-option", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		advertise(net)
		allow := func(origin string, endpoint aiuri.URI) bool {
			return origin == shop && endpoint.Host() == "factory.example"
		}
		d, err := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{AllowThirdParty: allow}).Discover(t.Context(), shop)
		if err != nil || d.Confirmed || d.Verifiable() {
			t.Errorf("got %+v, %v", d, err)
		}
	})
	t.Run("AIU-3.1-18/reject-no-document", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		page(net.Site("shop.example"), "ai://bank/x", "")
		if d, err := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{}).Discover(t.Context(), shop); err != nil || d.Verifiable() || d.Document != nil {
			t.Errorf("got %+v, %v", d, err)
		}
	})
	t.Run("L05/reject-loopback", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("inner.example").At("127.0.0.1").File(documentPath, "application/json", documentOf("ai://inner.example/x", "https://inner.example"))
		if d, err := aiuri.NewDiscoverer(net.StubHost(), aiuri.DiscovererOptions{}).Resolve(t.Context(), parse(t, "ai://inner.example/x")); d != nil || !errors.Is(err, lookleap.ErrDenied) {
			t.Errorf("got %+v, %v", d, err)
		}
		if seen := net.Journal().Requests(); len(seen) != 0 {
			t.Errorf("something was sent: %v", seen)
		}
	})
}

type registry map[string]string

func (r registry) AuthorityOrigin(_ context.Context, authority string) (string, error) {
	if origin, ok := r[authority]; ok {
		return origin, nil
	}
	return "", errors.New("unknown")
}

func TestResolve(t *testing.T) {
	const bank = "https://www.bank.example"
	for _, c := range []struct {
		id, uri string
		options aiuri.DiscovererOptions
		code    lookleap.Code
	}{
		{"AIU-3.1-22/accept-registry", "ai://bank/x", aiuri.DiscovererOptions{Registry: registry{"bank": bank}}, ""},
		{"AIU-1-02/accept-static", "ai://bank/x", aiuri.DiscovererOptions{Static: map[string]string{"bank": bank}}, ""},
		{"AIU-1-02/accept-registry", "ai://bank/x", aiuri.DiscovererOptions{Registry: registry{"bank": bank}}, ""},
		{"AIU-1-02/accept-below", "ai://bank/x/below", aiuri.DiscovererOptions{Static: map[string]string{"bank": bank}}, ""},
		{"AIU-4-01/accept-plug-in", "ai://bank/x", aiuri.DiscovererOptions{Registry: registry{"bank": bank}}, ""},
		{"AIU-4-01/reject-nothing-built-in", "ai://bank/x", aiuri.DiscovererOptions{}, aiuri.CodeUnknownAuthority},
		{"AIU-3.1-22/reject-never-dns", "ai://bank/x", aiuri.DiscovererOptions{}, aiuri.CodeUnknownAuthority},
		{"AIU-3.1-22/reject-registry-does-not-know", "ai://other/x", aiuri.DiscovererOptions{Registry: registry{"bank": bank}}, aiuri.CodeUnknownAuthority},
		{"AIU-3.1-22/reject-registry-panics", "ai://bank/x", aiuri.DiscovererOptions{Registry: panics{}}, aiuri.CodeUnknownAuthority},
		{"AIU-3.1-22/reject-registry-http", "ai://bank/x", aiuri.DiscovererOptions{Registry: registry{"bank": "http://www.bank.example"}}, aiuri.CodeUnknownAuthority},
		{"AIU-2-06/reject-resolve-rootless", "ai:bank/x", aiuri.DiscovererOptions{}, aiuri.CodeNoAuthority},
		{"L05/reject-localhost", "ai://localhost/", aiuri.DiscovererOptions{}, aiuri.CodeUnknownAuthority},
	} {
		t.Run(c.id, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			net.Site("www.bank.example").File(documentPath, "application/json", documentOf("ai://bank/x", bank))
			d, err := aiuri.NewDiscoverer(net.StubHost(), c.options).Resolve(t.Context(), parse(t, c.uri))
			if c.code == "" {
				if err != nil || d.Origin != bank || !d.Verifiable() {
					t.Errorf("got %+v, %v", d, err)
				}
				return
			}
			if d != nil || lookleap.CodeOf(err) != c.code {
				t.Errorf("got %+v, %v", d, err)
			}
			if seen := net.Journal().Queries(); len(seen) != 0 {
				t.Errorf("the DNS was asked: %v", seen)
			}
		})
	}
}

type panics struct{}

func (panics) AuthorityOrigin(context.Context, string) (string, error) { panic("x") }
