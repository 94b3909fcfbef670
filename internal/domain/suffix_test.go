package domain

import "testing"

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
