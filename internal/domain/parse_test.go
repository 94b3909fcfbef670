package domain

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

func TestResolve(t *testing.T) {
	const base = "https://h.example:8443/s/a/SKILL.md?v=1"
	for _, c := range []struct{ name, ref, want string }{
		{"absolute", "https://other.example/x", "https://other.example/x"},
		{"absolute-case", "HTTPS://OTHER.example:443/%7ex", "https://other.example/~x"},
		{"protocol-relative", "//other.example/x", "https://other.example/x"},
		{"path-absolute", "/x/y", "https://h.example:8443/x/y"},
		{"root", "/", "https://h.example:8443/"},
		{"query-only", "?v=2", "https://h.example:8443/s/a/SKILL.md?v=2"},
		{"empty-query", "?", "https://h.example:8443/s/a/SKILL.md?"},
		{"empty", "", "https://h.example:8443/s/a/SKILL.md?v=1"},
		{"fragment-only", "#top", "https://h.example:8443/s/a/SKILL.md?v=1"},
		{"sibling", "ADVANCED.md", "https://h.example:8443/s/a/ADVANCED.md"},
		{"below", "scripts/x.sh", "https://h.example:8443/s/a/scripts/x.sh"},
		{"directory", "scripts/", "https://h.example:8443/s/a/scripts/"},
		{"current", "./x.md", "https://h.example:8443/s/a/x.md"},
		{"current-alone", ".", "https://h.example:8443/s/a/"},
		{"parent", "../b/x.md", "https://h.example:8443/s/b/x.md"},
		{"parent-alone", "..", "https://h.example:8443/s/"},
		{"parent-slash", "../", "https://h.example:8443/s/"},
		{"inner-parent", "x/../y", "https://h.example:8443/s/a/y"},
		{"last-parent", "x/..", "https://h.example:8443/s/a/"},
		{"above-root", "../../../../x", "https://h.example:8443/x"},
		{"colon", "./a:b", "https://h.example:8443/s/a/a:b"},
		{"at-sign", "@bob/x", "https://h.example:8443/s/a/@bob/x"},
		{"escapes", "%7e\u00e9", "https://h.example:8443/s/a/~%C3%A9"},
		{"query-kept", "x?a=//b/../c", "https://h.example:8443/s/a/x?a=//b/../c"},
		{"url-in-query", "/open?u=//evil.example", "https://h.example:8443/open?u=//evil.example"},

		{"http", "http://h.example/x", CodeNotHTTPS},
		{"javascript", "javascript:alert(1)", CodeNotHTTPS},
		{"scheme-with-digit", "h2:x", CodeNotHTTPS},
		{"scheme-with-plus", "git+x:y", CodeNotHTTPS},
		{"scheme-with-hyphen", "a-b:c", CodeNotHTTPS},
		{"scheme-with-dot", "a.b:c", CodeNotHTTPS},
		{"raw-query", "x?q=\u00e9%2f", "https://h.example:8443/s/a/x?q=%C3%A9%2f"},
		{"drive", "C:x", CodeNotHTTPS},
		{"opaque", "https:x", CodeBadURL},
		{"empty-authority", "///x", CodeBadURL},
		{"backslashes", `\\evil.example\x`, CodeBadURL},
		{"backslash-parent", `..\x`, CodeBadURL},
		{"user", "//h.example@evil.example/", CodeUserinfo},
		{"ip", "//127.0.0.1/", CodeIPHost},
		{"port", "//h.example:0443/", CodeBadPort},
		{"fragment-after-host", "//h.example#@evil.example/", CodeBadURL},
		{"space", " /x", CodeBadURL},
		{"newline", "/x\r\nSet-Cookie: a", CodeBadURL},
		{"dots-in-path-absolute", "/a/../b", CodeDotSegment},
		{"dots-in-absolute", "https://h.example/a/../b", CodeDotSegment},
		{"encoded-dots", "%2e%2e/x", CodeDotSegment},
		{"only-an-encoded-letter", "%41", "https://h.example:8443/s/a/A"},
		{"only-an-encoded-percent", "%25", "https://h.example:8443/s/a/%25"},
		{"half-encoded-dots", ".%2e/x", CodeDotSegment},
		{"dots-with-parameter", "..;/x", CodeDotSegment},
		{"encoded-slash", "..%2fx", CodeAmbiguousPath},
		{"double-encoded", "%252e%252e/x", CodeAmbiguousPath},
		{"empty-segment", "a//b", CodeEmptySegment},
		{"empty-segment-after-dots", "..//b", CodeEmptySegment},
		{"tab-in-authority", "//h.ex\tample/", CodeBadURL},
		{"too-long", strings.Repeat("a", 8193), CodeTooLong},
		{"too-long-until-decoded", strings.Repeat("%78", 3000), CodeTooLong},
		{"too-long-together", strings.Repeat("a", 8180), CodeTooLong},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, err := mustParse(t, base).Resolve(c.ref)
			if !strings.HasPrefix(c.want, "https:") {
				wantCode(t, err, c.want)
				if !u.IsZero() {
					t.Errorf("a refusal returned %s", u)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if u.String() != c.want {
				t.Errorf("%s, want %s", u, c.want)
			}
			if u.FragmentDropped() != strings.Contains(c.ref, "#") {
				t.Errorf("fragment %t", u.FragmentDropped())
			}
		})
	}
}

func TestResolveRules(t *testing.T) {
	withQuery := mustParse(t, "https://h.example/?q")
	strict := Rules{RefuseQuery: true, RefuseFragment: true}
	for ref, code := range map[string]string{"": CodeQuery, "?": CodeQuery, "x?": CodeQuery, "#": CodeFragment} {
		_, err := strict.Resolve(withQuery, ref)
		wantCode(t, err, code)
	}
	if _, err := strict.Resolve(withQuery, "x"); err != nil {
		t.Error(err)
	}
	for _, ref := range []string{"", "#f"} {
		if u, err := mustParse(t, "https://h.example/a").Resolve(ref); err != nil || u.String() != "https://h.example/a" {
			t.Errorf("%q: %s, %v", ref, u, err)
		}
	}

	http, err := Rules{Schemes: []string{"http"}}.Parse("http://h.example/")
	if err != nil {
		t.Fatal(err)
	}
	_, err = http.Resolve("//h.example/")
	wantCode(t, err, CodeNotHTTPS)
}

// TestPlaces: an error has exactly the part that is wrong, and no part if that is the whole text.
func TestPlaces(t *testing.T) {
	withQuery := mustParse(t, "https://h.example/?q")
	for _, c := range []struct {
		name   string
		parse  func() (URL, error)
		code   string
		offset int
		part   string
	}{
		{"no-base", func() (URL, error) { return Rules{}.Resolve(URL{}, "https://h.example/") }, CodeBadURL, 0, ""},
		{"query-of-base", func() (URL, error) { return Rules{RefuseQuery: true}.Resolve(withQuery, "") }, CodeQuery, 0, ""},
		{"too-long-when-canonical", func() (URL, error) { return Parse("https://h.example/" + strings.Repeat("\u00e9", 4000)) }, CodeTooLong, 0, ""},
		{"user-information", func() (URL, error) { return Parse("https://u:p@h.example/") }, CodeUserinfo, 8, "u:p@"},
		{"user-information-alone", func() (URL, error) { return Parse("https://u@/") }, CodeUserinfo, 8, "u@"},
		{"no-host", func() (URL, error) { _, err := ParseHost(""); return URL{}, err }, CodeBadHost, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.parse()
			if e := wantCode(t, err, c.code); e.Offset != c.offset || e.Part != c.part {
				t.Errorf("part %q at %d: %s", e.Part, e.Offset, e.Message)
			}
		})
	}
}

// TestCanonicalText: a text that is canonical already is not copied.
func TestCanonicalText(t *testing.T) {
	for raw, kept := range map[string]bool{
		"https://h.example:8443/a/b?c": true, "https://h.example/": true, "https://h.example": false, "https://h.example/#": false, "https://H.example/": false,
	} {
		if u := mustParse(t, raw); (unsafe.StringData(u.String()) == unsafe.StringData(raw)) != kept {
			t.Errorf("%s: kept %t", raw, !kept)
		}
	}
}

// TestSchemeReasons: a missing scheme and one that is not allowed have their own reasons.
func TestSchemeReasons(t *testing.T) {
	for input, message := range map[string]string{
		"shop.example/x":       "the scheme is missing",
		"1a://shop.example/":   "the scheme is missing",
		"//shop.example/":      "the scheme is missing",
		"ftp://shop.example/":  "not allowed",
		"a1+://shop.example/":  "not allowed",
		"https:/shop.example/": "are missing after the scheme",
	} {
		_, err := Parse(input)
		if err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v, want %q", input, err, message)
		}
	}
	ftp, err := Rules{Schemes: []string{"ftp"}}.Parse("ftp://h.example/")
	if err != nil {
		t.Fatal(err)
	}
	_, err = ftp.Resolve("//h.example/")
	if e := wantCode(t, err, CodeNotHTTPS); e.Part != "ftp" {
		t.Errorf("part %q", e.Part)
	}
}

// Redirects and references are judged before they are requested.
func TestResolveAttacks(t *testing.T) {
	type attack struct{ id, name, base, root, ref, want string }
	byID(t, []attack{
		{"A28", "reject-protocol-relative", "https://github.com/org/open", "https://github.com/org/", "//evil.example/x", "outside"},
		{"A28", "reject-off-root", "https://github.com/org/open", "https://github.com/org/", "/other/x", "outside"},
		{"A28", "accept-inside", "https://github.com/org/open", "https://github.com/org/", "/org/x", "inside"},
		{"A29", "reject-downgrade", "https://example.com/a", "https://example.com/", "http://example.com/a", CodeNotHTTPS},
		{"D01", "reject-climb", "https://h.example/s/a/SKILL.md", "https://h.example/s/a/", "../../other/x.sh", "outside"},
		{"D01", "reject-climb-from-below", "https://h.example/s/a/SKILL.md", "https://h.example/s/a/", "scripts/../../../evil", "outside"},
		{"D01", "reject-path-absolute", "https://h.example/s/a/SKILL.md", "https://h.example/s/a/", "/evil", "outside"},
		{"D01", "reject-protocol-relative", "https://h.example/s/a/SKILL.md", "https://h.example/s/a/", "//evil.example/x", "outside"},
		{"D01", "accept-below", "https://h.example/s/a/SKILL.md", "https://h.example/s/a/", "scripts/../data/x.json", "inside"},
		{"D02", "reject-encoded-dots", "https://h.example/s/a/SKILL.md", "https://h.example/", "%2e%2e/%2e%2e/evil", CodeDotSegment},
		{"D02", "reject-encoded-slash", "https://h.example/s/a/SKILL.md", "https://h.example/", "..%2f..%2fx", CodeAmbiguousPath},
		{"D02", "reject-encoded-backslash", "https://h.example/s/a/SKILL.md", "https://h.example/", "..%5c..%5cx", CodeAmbiguousPath},
		{"D02", "reject-backslash", "https://h.example/s/a/SKILL.md", "https://h.example/", `..\..\x`, CodeBadURL},
	}, func(c attack) (string, string) { return c.id, c.name }, func(t *testing.T, c attack) {
		u, err := mustParse(t, c.base).Resolve(c.ref)
		if c.want != "inside" && c.want != "outside" {
			wantCode(t, err, c.want)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if inside := u.Under(mustParse(t, c.root)); inside != (c.want == "inside") {
			t.Errorf("%s under %s: %t", u, c.root, inside)
		}
	})
}

// TestEscapesThatAreNone: only hex digits after a percent sign make an escape.
func TestEscapesThatAreNone(t *testing.T) {
	for path, want := range map[string]string{
		"/%C3%A9":     "/%C3%A9",
		"/%c3%a9":     "/%C3%A9",
		"/é":          "/%C3%A9",
		"/%C3x%A9":    "",
		"/%C3A9":      "", // one of two bytes
		"/%25%3A":     "/%25%3A",
		"/%2525":      "/%2525",
		"/%25:a":      "/%25:a",
		"/%25@1":      "/%25@1",
		"/%25g":       "/%25g",
		"/%2:":        "",
		"/%:2":        "",
		"/%2g":        "",
		"/%2G":        "",
		"/%2@":        "",
		"/%2`":        "",
		"/%25%3a%32e": "/%25%3A2e",
		"/%C3xA9":     "",
		"/%EF%BF%BD":  "/%EF%BF%BD",
		"/%25%2Da":    "/%25-a",
		"/%25%7Ea":    "/%25~a",
		"/%25%5Fa":    "/%25_a",
		"/%25%66":     "",
		"/%25a%66":    "",
		"/%25g%66":    "/%25gf",
		"/a%":         "",
		"/a%2":        "",
	} {
		u, err := Parse("https://shop.example" + path)
		if got := u.Path(); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%s: %q, %v; want %q", path, got, err, want)
		}
	}
}

// TestPorts: a port is 1 to 65535 without leading zeros, and the default one is left out.
func TestPorts(t *testing.T) {
	for port, want := range map[string]string{
		"": "", ":": "", ":443": "", ":1": ":1", ":8": ":8", ":9": ":9", ":1443": ":1443", ":9443": ":9443", ":65535": ":65535", ":5684": ":5684",
		":0": "!", ":01": "!", ":65536": "!", ":99999": "!", ":4294967739": "!", ":18446744073709552059": "!", ":+8": "!", ":-8": "!", ":8a": "!", ":a": "!", ":8:8": "!",
	} {
		u, err := Parse("https://shop.example" + port + "/")
		if got := u.String(); (err != nil) != (want == "!") || err == nil && got != "https://shop.example"+want+"/" {
			t.Errorf("%q: %s, %v", port, got, err)
		}
	}
	for scheme, port := range map[string]string{"https": "443", "http": "80", "coaps": "5684"} {
		u, err := Rules{Schemes: []string{scheme}}.Parse(scheme + "://shop.example:" + port + "/")
		if err != nil || u.String() != scheme+"://shop.example/" {
			t.Errorf("%s: %s, %v", scheme, u, err)
		}
	}
}

// TestRefusedTails: the place of a query or fragment that the rules refuse, and the shortest limit.
func TestRefusedTails(t *testing.T) {
	for raw, want := range map[string]string{
		"https://shop.example/ab?c": `query-not-allowed 23`, "https://shop.example/ab#c": `fragment-not-allowed 23`, "https://shop.example/ab?c#d": `fragment-not-allowed 25`, "https://shop.example/ab": "",
	} {
		_, err := Rules{RefuseQuery: true, RefuseFragment: true}.Parse(raw)
		got := ""
		var e *Error
		if errors.As(err, &e) {
			got = fmt.Sprintf("%s %d", e.Code, e.Offset)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
	var e *Error
	if _, err := (Rules{MaxLength: 1}).Parse("https://shop.example/"); !errors.As(err, &e) || e.Code != CodeTooLong || e.Offset != 1 {
		t.Error(err)
	}
}
