package domain

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/publicsuffix"
)

func TestRegistrable(t *testing.T) {
	for _, c := range []struct{ host, want string }{
		{"example.com", "example.com"},
		{"a.b.example.com", "example.com"},
		{"a.b.example.co.uk", "example.co.uk"},
		{"alice.github.io", "alice.github.io"},
		{"www.alice.github.io", "alice.github.io"},
		{"raw.githubusercontent.com", "raw.githubusercontent.com"},
		{"xn--bcher-kva.example", "xn--bcher-kva.example"},
		{"shop.a.unlisted", "a.unlisted"},
		{"city.kobe.jp", "city.kobe.jp"},
		{"a.b.kobe.jp", "a.b.kobe.jp"},

		{"com", ""},
		{"co.uk", ""},
		{"github.io", ""},
		{"b.kobe.jp", ""},
		{"localhost", ""},
		{"", ""},
		{".", ""},
		{".com", ""},
		{"example.com.", ""},
		{"a..com", ""},
		{"192.0.2.1", ""},
		{"127.1", ""},
		{"[::1]", ""},
		{"EXAMPLE.CO.UK", ""},
		{"b\u00fccher.example", ""},
		{"example.com:443", ""},
	} {
		got, ok := Registrable(c.host)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%q: %q %t, want %q", c.host, got, ok, c.want)
		}
	}
}

func TestPublicSuffix(t *testing.T) {
	for _, c := range []struct {
		host, want string
		icann      bool
	}{
		{"example.co.uk", "co.uk", true},
		{"co.uk", "co.uk", true},
		{"alice.github.io", "github.io", false},
		{"github.io", "github.io", false},
		{"a.unlisted", "unlisted", false},
		{"192.0.2.1", "", false},
		{"Example.com", "", false},
	} {
		if got, icann := PublicSuffix(c.host); got != c.want || icann != c.icann {
			t.Errorf("%q: %q %t, want %q %t", c.host, got, icann, c.want, c.icann)
		}
	}
}

// TestNewSuffixes is about platforms that the compiled list is too old for.
func TestNewSuffixes(t *testing.T) {
	for host, want := range map[string]string{
		"claude.app": "", "a.claude.app": "a.claude.app", "b.a.claude.app": "a.claude.app",
		"a.codepen.app": "a.codepen.app", "b.codepen.app": "b.codepen.app", "codepen.dev": "",
		"x.cursorusercontent.com": "", "y.x.cursorusercontent.com": "y.x.cursorusercontent.com",
		"notclaude.app": "notclaude.app",
		"zendesk.com":   "", "acme.zendesk.com": "acme.zendesk.com", "abc-8080.app.github.dev": "abc-8080.app.github.dev",
		"euw.devtunnels.ms": "", "abc-8080.euw.devtunnels.ms": "abc-8080.euw.devtunnels.ms", "notzendesk.com": "notzendesk.com",
	} {
		t.Run("O25/"+map[bool]string{true: "reject-", false: "accept-"}[want == ""]+host, func(t *testing.T) {
			if got, ok := Registrable(host); got != want || ok != (want != "") {
				t.Errorf("got %q %t, want %q", got, ok, want)
			}
		})
	}
	t.Run("O25/accept-the-table", func(t *testing.T) {
		var names []string
		for part := range strings.SplitSeq(extraNames, "\n\n") {
			part = part[strings.LastIndex(part, "//"):]
			lines := strings.Split(strings.TrimSpace(part), "\n")[1:]
			if !slices.IsSorted(lines) {
				t.Error("the names are not sorted")
			}
			names = append(names, lines...)
		}
		if len(names) < 400 {
			t.Errorf("%d names", len(names))
		}
		known := 0
		for _, name := range names {
			probe := strings.Replace(name, "*", "tenant", 1)
			if !isCanonicalName(probe) || probe == name && strings.Contains(name, "*") {
				t.Errorf("%q is not a canonical name", name)
			}
			if suffix, icann := PublicSuffix("x." + probe); suffix != probe && !slices.Contains(names, "*."+name) || icann {
				t.Errorf("%q: the suffix is %q", name, suffix)
			}
			if suffix, _ := publicsuffix.PublicSuffix(probe); suffix == probe {
				known++
			}
		}
		if known > 0 {
			t.Logf("%d names are in golang.org/x/net/publicsuffix now and may be removed here", known)
		}
	})
}
