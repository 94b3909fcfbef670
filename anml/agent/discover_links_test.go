package agent

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

// The rows about what points to a document: links and the DNS (sections 6.5.2 to
// 6.5.4 and 15.1).

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
				found := advertised(mustParse(t, shopOrigin+"/x/y"), http.Header{"Link": {header}}, nil)
				equals(t, first(found), want)
			})
		}
	}
	const html, link = "<html><head>", `<link rel="alternate" type="application/anml+xml" href="a">`
	inName := strings.NewReplacer(link, "LINK", "/", "|", "<meta>", "", " ", "")
	before := func(octets int) string { return strings.Repeat("<meta>", octets/6) + strings.Repeat(" ", octets%6) }
	for page, want := range map[string]string{
		link: "/x/a",
		`<link rel="nofollow alternate" type="application/anml+json" href="/b">`: "/b",
		`<link rel="next" type="application/anml+xml" href="a">`:                 "",
		`<link rel="alternate" type="text/html" href="a">`:                       "",
		`<link rel="alternate" href="a">`:                                        "",
		"<base href='/z/'>" + link:                                               "/z/a",
		"<base href='https://evil.example.net/'>" + link:                         "https://evil.example.net/a",
		"<base href='http://shop.example/'>" + link:                              "",
		"<!--" + link + "-->":                                                    "",
		"<script>" + link + "</script>":                                          "",
		"<template>" + link + "</template>":                                      "",
		"<noscript>" + link + "</noscript>":                                      "",
		"</head>" + link:                                                         "",
		"<body>" + link:                                                          "",
		"<p>" + link:                                                             "",
		before(512<<10-len(html+link)) + link:                                    "/x/a", // the last bytes that are looked at
		before(512<<10-len(html+link)+1) + link:                                  "",     // without the one that ends it
	} {
		verdict := "accept"
		if want == "" {
			verdict = "reject"
		}
		t.Run("ANML-6.5.3-01/"+verdict+"-"+inName.Replace(page), func(t *testing.T) {
			found := advertised(mustParse(t, shopOrigin+"/x/y"), nil, []byte(html+page))
			equals(t, first(found), want)
		})
	}
	t.Run("ANML-15.1-01/accept-the-document-of-a-page", func(t *testing.T) {
		f := newFinding(t)
		f.site.File("/", "text/html; charset=utf-8", "<html><head>"+link).Handle("/a", document(titled))
		p, err := f.s.Open(t.Context(), shopOrigin+"/")
		must(t, err)
		equals(t, p.URL(), shopOrigin+"/a")
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
			must(t, second(f.s.Open(t.Context(), shopOrigin+"/")))
		}
		f.requests("shop.example", "GET /")
	})
	t.Run("ANML-15.1-01/reject-for-longer-than-one-document", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := &finding{T: t, net: lookleaptest.ForTest(t)} // with a clock that runs
			f.site, f.s = f.net.Site("shop.example"), f.session()
			page := "<html><head>"
			for _, path := range []string{"/1", "/2", "/3"} {
				page += strings.Replace(link, `"a"`, path, 1)
				f.site.Fault(path, lookleaptest.Mute())
			}
			f.site.File("/", "text/html", page)
			begin := time.Now()
			hasCode(f, second(f.s.Open(t.Context(), shopOrigin+"/")), lookleap.CodeTimeout)
			if took := time.Since(begin); took != 30*time.Second { // of the bubble's time
				t.Error(took)
			}
		})
	})
	t.Run("ANML-15.1-01/reject-a-page", func(t *testing.T) {
		f := newFinding(t)
		f.site.File("/", "text/html", service(titled)).File("/b", "text/html", "<head>"+link).File("/a", "text/html", "<head>"+link)
		for _, path := range []string{"/", "/b"} {
			hasCode(f, second(f.s.Open(t.Context(), shopOrigin+path)), lookleap.CodeMediaType)
		}
		f.requests("shop.example", "GET /", "GET /b", "GET /a")
	})
}

func TestByDNS(t *testing.T) {
	dns := func(_ *User, o *Options) { o.DNS = true }
	for _, c := range []struct {
		name    string
		records func(*lookleaptest.Name)
		want    []string
	}{
		{"accept-srv-and-path", func(n *lookleaptest.Name) { n.SRV(0, 0, 8443, "example.net.").TXT("v=anml1; path=/a") }, []string{"https://example.net:8443/a"}},
		{"accept-without-path", func(n *lookleaptest.Name) { n.SRV(0, 0, 443, "example.net.").TXT("v=anml1") }, []string{"https://example.net/.well-known/anml"}},
		{"accept-srv-alone", func(n *lookleaptest.Name) { n.SRV(0, 0, 443, "example.net.") }, []string{"https://example.net/.well-known/anml"}},
		{"accept-txt-alone", func(n *lookleaptest.Name) { n.TXT("v=anml1;path=/a") }, []string{"https://shop.example/a"}},
		{"accept-dns-sd-strings", func(n *lookleaptest.Name) { n.TXT("v=anml1", "path=/a") }, []string{"https://shop.example/a"}},
		{"accept-blanks", func(n *lookleaptest.Name) { n.TXT("v=anml1 path=/a x=y") }, []string{"https://shop.example/a"}},
		{"accept-foreign-text-beside", func(n *lookleaptest.Name) { n.TXT("v=spf1 -all").TXT("v=anml1;path=/a") }, []string{"https://shop.example/a"}},
		{"accept-in-order", func(n *lookleaptest.Name) {
			n.SRV(2, 9, 443, "c.example.").SRV(1, 1, 443, "b.example.").SRV(1, 5, 443, "a.example.")
		}, []string{"https://a.example/.well-known/anml", "https://b.example/.well-known/anml", "https://c.example/.well-known/anml"}},
		{"reject-not-offered", func(n *lookleaptest.Name) { n.SRV(0, 0, 0, ".").TXT("v=anml1;path=/a") }, nil},
		{"reject-case", func(n *lookleaptest.Name) { n.TXT("V=anml1;path=/a") }, nil},
		{"reject-not-first", func(n *lookleaptest.Name) { n.TXT("path=/a;v=anml1") }, nil},
		{"reject-another-version", func(n *lookleaptest.Name) { n.TXT("v=anml10;path=/a") }, nil},
		{"reject-twice", func(n *lookleaptest.Name) { n.TXT("v=anml1;path=/a;path=/b") }, nil},
		{"reject-two-records", func(n *lookleaptest.Name) { n.TXT("v=anml1;path=/a").TXT("v=anml1;path=/b") }, nil},
		{"reject-two-records-beside-srv", func(n *lookleaptest.Name) {
			n.SRV(0, 0, 443, "example.net.").TXT("v=anml1;path=/a").TXT("v=anml1;path=/b")
		}, []string{"https://example.net/.well-known/anml"}},
		{"reject-a-path-of-another-host", func(n *lookleaptest.Name) { n.TXT("v=anml1;path=//evil.example.net/a") }, []string{"https://shop.example/.well-known/anml"}},
		{"reject-dot-segments", func(n *lookleaptest.Name) { n.TXT("v=anml1;path=/a/../b") }, []string{"https://shop.example/.well-known/anml"}},
		{"reject-a-query", func(n *lookleaptest.Name) { n.TXT("v=anml1;path=/a?b") }, []string{"https://shop.example/.well-known/anml"}},
		{"reject-a-relative-path", func(n *lookleaptest.Name) { n.TXT("v=anml1;path=a") }, []string{"https://shop.example/.well-known/anml"}},
		{"reject-a-private-name", func(n *lookleaptest.Name) { n.SRV(0, 0, 443, "localhost.") }, nil},
	} {
		t.Run("ANML-6.5.4-01/"+c.name, func(t *testing.T) {
			f := newFinding(t, dns)
			c.records(f.net.Name("_anml._tcp.shop.example"))
			d := &discovery{session: f.s, ctx: t.Context(), origin: shopOrigin}
			var got []string
			found, err := d.byDNS(mustParse(t, shopOrigin))
			must(t, err)
			for _, place := range found {
				got = append(got, place.url.String())
			}
			sameList(t, got, c.want)
		})
	}
}
