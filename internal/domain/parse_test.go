package domain

import (
	"strings"
	"testing"
)

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
