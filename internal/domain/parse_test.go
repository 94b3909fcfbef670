package domain

import (
	"strings"
	"testing"
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
		{"half-encoded-dots", ".%2e/x", CodeDotSegment},
		{"dots-with-parameter", "..;/x", CodeDotSegment},
		{"encoded-slash", "..%2fx", CodeAmbiguousPath},
		{"double-encoded", "%252e%252e/x", CodeAmbiguousPath},
		{"empty-segment", "a//b", CodeEmptySegment},
		{"empty-segment-after-dots", "..//b", CodeEmptySegment},
		{"too-long", strings.Repeat("a", 8193), CodeTooLong},
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
	_, err := Rules{}.Resolve(URL{}, "https://h.example/")
	wantCode(t, err, CodeBadURL)

	http, err := Rules{Schemes: []string{"http"}}.Parse("http://h.example/")
	if err != nil {
		t.Fatal(err)
	}
	_, err = http.Resolve("//h.example/")
	wantCode(t, err, CodeNotHTTPS)
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
