package weblink_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/weblink"
)

func ExampleParseHeader() {
	for _, l := range weblink.ParseHeader([]string{`</a.anml>; rel="alternate nofollow"; type="application/anml+xml", </b>; rel=next`}) {
		fmt.Println(l.Target, l.HasRel("Alternate"), l.HasType("application/anml+xml"))
	}
	// Output:
	// /a.anml true true
	// /b false false
}

func TestParseHeader(t *testing.T) {
	for header, want := range map[string]string{
		"":                                  "",
		`<a>`:                               "a||",
		`<a>;rel=x;type=y`:                  "a|x|y",
		`<a>; rel="x y"; rel=z; type="t;q"`: "a|x y|t;q",
		`<a>; title="a, <b>; rel=c"; rel=x`: "a|x|",
		`<a>; rel="x\"y"`:                   `a|x"y|`,
		`<a>; rel="x`:                       "a|x|",
		`<a>; rel=x; title="b, <c>; rel=y`:  "a|x|",
		`<a>; rel="x\`:                      "a|x|",
		`<a>; rel=x; type="`:                "a|x|",
		`a; rel=x, <b>; rel=y`:              "b|y|",
		`<a> rel=x, <b>; REL=y`:             "b|y|",
		`<a>; rel=x; anchor="#f"`:           "a|x||#f",
		`<a>; rel=x; type=a/b; anchor=""`:   "a|x|a/b",
		`,, <a>; ; rel=x`:                   "a|x|",
		`<a, <b>; rel=x`:                    "a, <b|x|",
		`<a>; =x, <b>; rel=y`:               "b|y|",
		`<a>; rel=x; =x, <b>; rel=y`:        "b|y|",
		`a "x, <q>; rel=z", <b>; rel=y`:     "b|y|",
		`a "x\", <q>; rel=z", <b>; rel=y`:   "b|y|",
		`a "x\\", <b>; rel=y`:               "b|y|",
		`a\, <b>; rel=y`:                    "b|y|",
		`a,<b>; rel=y`:                      "b|y|",
		`"a, <q>; rel=z", <b>; rel=y`:       "b|y|",
		`ab <q>, <b>; rel=y`:                "b|y|",
		`a`:                                 "",
		`<a`:                                "",
		`<a; rel="x"`:                       "",
		`<a>; rel`:                          "a||",
		`<a>; rel=`:                         "a||",
		`<a>; rel; type=y`:                  "a||y",
		`<a>; rel=, <b>; rel=y`:             "a|| b|y|",
		`<a> ; rel=x`:                       "a|x|",
		`<a>; type=t; type=u; rel=x`:        "a|x|t",
		`<a>; anchor="#a"; anchor="#b"`:     "a|||#a",
	} {
		var got []string
		for _, l := range weblink.ParseHeader([]string{header}) {
			s := l.Target + "|" + l.Rel + "|" + l.Type
			if l.Anchor != "" {
				s += "|" + l.Anchor
			}
			got = append(got, s)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
	many := weblink.ParseHeader([]string{strings.Repeat("<a>,", 10_000), "<b>"})
	if len(many) != weblink.MaxLinks {
		t.Errorf("%d links", len(many))
	}
}

func TestAbout(t *testing.T) {
	page, err := domain.Parse("https://a.example.com/x/y?q")
	if err != nil {
		t.Fatal(err)
	}
	for anchor, want := range map[string]bool{
		"": true, "?q": true, "y?q": true, "https://a.example.com/x/y?q": true,
		"#f": false, "/": false, "https://b.example.com/x/y?q": false, "%": false, "//[": false,
	} {
		if got := (weblink.Link{Anchor: anchor}).About(page); got != want {
			t.Errorf("%q: %v", anchor, got)
		}
		if got := (weblink.Link{Anchor: anchor}).About(domain.URL{}); got != (anchor == "") {
			t.Errorf("%q of an unknown page: %v", anchor, got)
		}
	}
}

// TestParseHeadLongTag: a tag of more than 64 KiB ends the head.
func TestParseHeadLongTag(t *testing.T) {
	for size, want := range map[int]int{60_000: 3, 70_000: 1} {
		page := `<link href=/a><link href="/b" title="` + strings.Repeat("x", size) + `"><link href=/c>`
		if got := weblink.ParseHead([]byte(page)); len(got.Links) != want || got.Links[0].Target != "/a" {
			t.Errorf("%d bytes: %d links", size, len(got.Links))
		}
	}
}

func TestParseHead(t *testing.T) {
	const link = `<link rel=alternate type=application/anml+xml href=/a>`
	found := weblink.Head{Links: []weblink.Link{{Target: "/a", Rel: "alternate", Type: "application/anml+xml"}}}
	for _, page := range []string{
		link,
		"\ufeff<!doctype html><html><head><meta charset=utf-8><title>" + `<link href=/t></title>` + link,
		"<style></style><script>'<link href=/s>'</script><!-- <link href=/c> -->" + link,
		"<template><link href=/t><template></template><link href=/u></template>" + link,
		"<noscript><link href=/n></noscript><LINK REL=alternate TYPE='application/anml+xml' HREF=' /a ' href=/b>",
		link + "</head><link href=/b>",
		link + "<body><link href=/b>",
		link + "text<link href=/b>",
		link + "<svg><link href=/b></svg>",
		link + "<link rel=alternate>",
		"</title>" + link,
		"<template></p><link href=/t></template>" + link,
		"<noscript><template></noscript>" + link,
		"<noscript><noscript></noscript>" + link,
		link + "</x-y><link href=/b>",
		link + "</p><link href=/b>",
	} {
		if got := weblink.ParseHead([]byte(page)); !reflect.DeepEqual(got, found) {
			t.Errorf("%s: %+v", page, got)
		}
	}
	got := weblink.ParseHead([]byte(`<base target=x><base href="/x/"><base href=/y/>` + link))
	if got.Base != "/x/" || len(got.Links) != 1 {
		t.Errorf("%+v", got)
	}
	if got := weblink.ParseHead([]byte(strings.Repeat(link, 1000))); len(got.Links) != weblink.MaxLinks {
		t.Errorf("%d links", len(got.Links))
	}
}

func FuzzParseHeader(f *testing.F) {
	f.Add(`<a>; rel="x\"y"; type=t, <b>; rel=z`)
	f.Add(`<a, <b>; rel="`)
	f.Fuzz(func(t *testing.T, header string) {
		links := weblink.ParseHeader([]string{header})
		if len(links) > weblink.MaxLinks {
			t.Fatal("too many links")
		}
		for _, l := range links {
			if strings.Contains(l.Target, ">") || !strings.Contains(header, l.Target) {
				t.Fatalf("target %q", l.Target)
			}
		}
	})
}

// FuzzParseHead holds that nothing after the start of the body counts, and that
// nothing in a head leads to more links than are looked at.
func FuzzParseHead(f *testing.F) {
	f.Add([]byte(`<html><head><base href=/b><link rel=alternate type=t href=/a><template><link></template>`))
	f.Add([]byte(`</body></html><head><link href=b>`))
	const head = `<!doctype html><head><link rel=alternate type=t href=/a>`
	f.Fuzz(func(t *testing.T, page []byte) {
		if got := weblink.ParseHead(page); len(got.Links) > weblink.MaxLinks {
			t.Fatal("too many links")
		}
		for _, begin := range []string{"<body>", "</head>", "text", "<p>"} {
			got := weblink.ParseHead(append([]byte(head+begin), page...))
			if len(got.Links) != 1 || got.Links[0].Target != "/a" || got.Base != "" {
				t.Fatalf("after %s: %+v", begin, got)
			}
		}
	})
}
