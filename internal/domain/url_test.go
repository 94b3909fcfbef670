package domain

import (
	"slices"
	"testing"
)

func TestURLParts(t *testing.T) {
	u := mustParse(t, "HTTPS://B\u00dcCHER.example:8443/a/%7Eb/?q=%7e#top")
	for _, c := range []struct{ name, got, want string }{
		{"String", u.String(), "https://xn--bcher-kva.example:8443/a/~b/?q=%7e"},
		{"Scheme", u.Scheme(), "https"},
		{"Host", u.Host(), "xn--bcher-kva.example"},
		{"Origin", u.Origin(), "https://xn--bcher-kva.example:8443"},
		{"Path", u.Path(), "/a/~b/"},
		{"RawQuery", u.RawQuery(), "q=%7e"},
		{"NetURL", u.NetURL().String(), u.String()},
	} {
		if c.got != c.want {
			t.Errorf("%s is %q, want %q", c.name, c.got, c.want)
		}
	}
	if u.Port() != 8443 || !u.HasQuery() || !u.FragmentDropped() {
		t.Errorf("port %d, query %t, fragment %t", u.Port(), u.HasQuery(), u.FragmentDropped())
	}
	if want := []string{"a", "~b"}; !slices.Equal(u.Segments(), want) {
		t.Errorf("segments %q, want %q", u.Segments(), want)
	}
}

func TestURLZero(t *testing.T) {
	var u URL
	if !u.IsZero() || u.String()+u.Scheme()+u.Host()+u.Origin()+u.Path()+u.RawQuery() != "" || u.Segments() != nil || u.NetURL().Host != "" {
		t.Error("the zero URL has parts")
	}
	if u.Under(u) || u.Under(mustParse(t, "https://h.example/")) || mustParse(t, "https://h.example/").Under(u) {
		t.Error("the zero URL is under something, or something is under it")
	}
}

func TestRules(t *testing.T) {
	origin := Rules{Schemes: []string{"https", "http", "ws", "wss", "coap"}}
	for _, c := range []struct {
		name  string
		rules Rules
		input string
		want  string // canonical form or code
		port  uint16
	}{
		{"http", origin, "http://h.example:80/", "http://h.example/", 80},
		{"http-443", origin, "http://h.example:443/", "http://h.example:443/", 443},
		{"wss", origin, "wss://h.example:443", "wss://h.example/", 443},
		{"coap", origin, "coap://h.example:", "coap://h.example/", 5683},
		{"other-scheme", origin, "ftp://h.example/", CodeNotHTTPS, 0},
		{"no-default-port", Rules{Schemes: []string{"x"}}, "x://h.example/", "x://h.example/", 0},
		{"no-schemes", Rules{Schemes: []string{}}, "https://h.example/", CodeNotHTTPS, 0},

		{"query", Rules{RefuseQuery: true}, "https://h.example/?", CodeQuery, 0},
		{"no-query", Rules{RefuseQuery: true}, "https://h.example/#?", "https://h.example/", 443},
		{"fragment", Rules{RefuseFragment: true}, "https://h.example/#", CodeFragment, 0},
		{"length", Rules{MaxLength: 18}, "https://h.example", "https://h.example/", 443},
		{"canonical-length", Rules{MaxLength: 17}, "https://h.example", CodeTooLong, 0},

		{"ipv4", Rules{AllowIP: true}, "https://127.0.0.1:8443/", "https://127.0.0.1:8443/", 8443},
		{"ipv4-octal", Rules{AllowIP: true}, "https://0177.0.0.1/", CodeIPHost, 0},
		{"ipv4-short", Rules{AllowIP: true}, "https://127.1/", CodeIPHost, 0},
		{"ipv4-full-width", Rules{AllowIP: true}, "https://\uff11.1.1.1/", CodeIPHost, 0},
		{"ipv6", Rules{AllowIP: true}, "https://[2001:DB8::0:1]/", "https://[2001:db8::1]/", 443},
		{"ipv6-port", Rules{AllowIP: true}, "https://[::1]:8443/", "https://[::1]:8443/", 8443},
		{"ipv6-zone", Rules{AllowIP: true}, "https://[fe80::1%25eth0]/", CodeIPHost, 0},
		{"ipv6-mapped", Rules{AllowIP: true}, "https://[::ffff:127.0.0.1]/", CodeIPHost, 0},
		{"ipv6-ipv4", Rules{AllowIP: true}, "https://[127.0.0.1]/", CodeIPHost, 0},
		{"ipv6-junk", Rules{AllowIP: true}, "https://[::1]x/", CodeBadHost, 0},
		{"ip-not-special", Rules{AllowSpecial: true}, "https://127.0.0.1/", CodeIPHost, 0},

		{"localhost", Rules{AllowSpecial: true}, "https://LOCALHOST/", "https://localhost/", 443},
		{"special-not-ip", Rules{AllowIP: true}, "https://localhost/", CodeSpecialHost, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, err := c.rules.Parse(c.input)
			if c.port == 0 && err != nil {
				wantCode(t, err, c.want)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if u.String() != c.want || u.Port() != c.port {
				t.Errorf("%s with port %d, want %s with port %d", u, u.Port(), c.want, c.port)
			}
		})
	}
}

func TestRulesAttacks(t *testing.T) {
	root := Rules{RefuseQuery: true, RefuseFragment: true}
	runRows(t, "reject", []row{
		{"A14", "query-in-root", "https://example.com/?x=", CodeQuery},
		{"A14", "query-after-host-in-root", "https://example.com?@evil.example/", CodeQuery},
		{"A14", "fragment-in-root", "https://example.com/#x", CodeFragment},
	}, func(t *testing.T, r row) {
		_, err := root.Parse(r.input)
		wantCode(t, err, r.want)
	})
}

// In these rows, input is the URL and want the root.
func TestUnderAccept(t *testing.T) {
	runRows(t, "accept", []row{
		{"DVS-3.1-05", "below", "https://example.com/skills/a/SKILL.md", "https://example.com/skills/"},
		{"DVS-3.1-05", "origin", "https://example.com/skills/a/SKILL.md", "https://example.com/"},
		{"DVS-3.1-05", "query-ignored", "https://example.com/skills/a?x", "https://example.com/skills/"},
		{"DVS-3.1-07", "case", "https://EXAMPLE.com/a", "https://example.COM/"},
		{"DVS-3.1-08", "both-spellings", "https://xn--bcher-kva.example/a", "https://B\u00dcCHER.example/"},
		{"DVS-3.1-14", "default-port", "https://h.example:443/a", "https://h.example/"},
		{"DVS-3.1-14", "empty-port", "https://h.example:/a", "https://h.example:443/"},
		{"DVS-3.1-14", "same-other-port", "https://h.example:8443/a", "https://h.example:8443/"},
		{"DVS-3.1-16", "no-final-slash", "https://github.com/microsoft/r/x", "https://github.com/microsoft"},
		{"DVS-3.1-17", "directory-form", "https://h.example/s/x", "https://h.example/s/x/"},
		{"DVS-3.1-17", "same", "https://h.example/s/x/", "https://h.example/s/x/"},
		{"DVS-3.1-17", "slash-on-url", "https://h.example/s/x/", "https://h.example/s/x"},
		{"DVS-3.1-26", "escapes", "https://h.example/%7eorg/%c3%a9/x", "https://h.example/~org/\u00e9/"},
		{"A08", "odd-port-named", "https://example.com:8443/x", "https://example.com:8443/"},
	}, checkUnder(true))
}

func TestUnderReject(t *testing.T) {
	runRows(t, "reject", []row{
		{"DVS-3.1-05", "sibling", "https://example.com/other/a", "https://example.com/skills/"},
		{"DVS-3.1-05", "string-prefix", "https://example.com/skills-evil/a", "https://example.com/skills"},
		{"DVS-3.1-07", "host-suffix", "https://example.com.evil.com/", "https://example.com/"},
		{"DVS-3.1-07", "host-prefix", "https://evilexample.com/", "https://example.com/"},
		{"DVS-3.1-07", "www", "https://www.example.com/", "https://example.com/"},
		{"DVS-3.1-08", "sharp-s", "https://fass.de/", "https://fa\u00df.de/"},
		{"DVS-3.1-09", "look-alike", "https://\u0430pple.com/", "https://apple.com/"},
		{"DVS-3.1-14", "other-port", "https://h.example:8443/", "https://h.example/"},
		{"DVS-3.1-16", "longer-segment", "https://github.com/microsoft-evil/x", "https://github.com/microsoft"},
		{"DVS-3.1-16", "one-letter-more", "https://github.com/microsoftx", "https://github.com/microsoft"},
		{"DVS-3.1-17", "above", "https://h.example/s", "https://h.example/s/x/"},
		{"A01", "no-slash", "https://example.com.evil.example/SKILL.md", "https://example.com"},
		{"A02", "hyphen", "https://evil-example.com/SKILL.md", "https://example.com/"},
		{"A02", "letters", "https://notexample.com/", "https://example.com/"},
		{"A04", "directory-above", "https://github.com/example-org/", "https://github.com/example-org/repo/"},
		{"A04", "part-of-the-root", "https://github.com/example-org", "https://github.com/example-org/repo"},
		{"A04", "root-deeper", "https://github.com/example-org/SKILL.md", "https://github.com/example-org/repo/"},
		{"A07", "path-case", "https://example.com/skills/x/SKILL.md", "https://example.com/Skills/"},
		{"A08", "odd-port", "https://example.com:8443/x", "https://example.com/"},
		{"A17", "matrix-parameter", "https://github.com/example-org;x/SKILL.md", "https://github.com/example-org/"},
		{"A20", "homograph", "https://ex\u0430mple.com/", "https://example.com/"},
		{"A31", "subdomain", "https://skills.example.com/x", "https://example.com/"},
	}, checkUnder(false))
}

func checkUnder(want bool) func(*testing.T, row) {
	return func(t *testing.T, r row) {
		if got := mustParse(t, r.input).Under(mustParse(t, r.want)); got != want {
			t.Errorf("%s under %s: %t", r.input, r.want, got)
		}
	}
}
