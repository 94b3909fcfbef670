package plaintext

import (
	"strings"
	"testing"

	"github.com/lookleap/lookleap/internal/domain"
)

func TestHost(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"subdomain", "skills.example.com", "skills.[example.com]"},
		{"deep", "a.b.example.co.uk", "a.b.[example.co.uk]"},
		{"apex", "example.com", "[example.com]"},
		{"private-suffix", "www.alice.github.io", "www.[alice.github.io]"},
		{"public-suffix", "github.io", "github.io (no registrable domain)"},
		{"single-label", "localhost", "localhost (no registrable domain)"},
		{"ipv4", "127.0.0.1", "127.0.0.1 (IP address)"},
		{"ipv6", "[::1]", "[::1] (IP address)"},
		{"upper-case", "EXAMPLE.com", "[example.com]"},
		{"international", "xn--bcher-kva.example", "[xn--bcher-kva.example] (\"b\u00fccher.example\")"},
		{"u-label", "www.b\u00fccher.example", "www.[xn--bcher-kva.example] (\"www.b\u00fccher.example\")"},
		{"whole-cyrillic", "xn--e1afmkfd.example", "[xn--e1afmkfd.example] (\"\u043f\u0440\u0438\u043c\u0435\u0440.example\")"},
		{"mixed-scripts", "xn--pple-43d.com", "[xn--pple-43d.com] (mixed scripts: Cyrillic, Latin)"},
		{"piled-marks", "ax\u030c\u030c\u030c\u030c\u030c.example", "[xn--ax-7ubaaaa.example]"},
		{"empty", "", `"" (not a host)`},
		{"escape", "\x1b[2K", `"\u{1B}[2K" (not a host)`},
		{"newline", "example.com\nx", `"example.com\u{A}x" (not a host)`},
		{"forged-mark", "[example.com].evil.example", `"[example.com].evil.example" (not a host)`},
		{"port", "example.com:443", `"example.com:443" (not a host)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Host(c.input)
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			checkVisible(t, got)
		})
	}
	t.Run("O56", func(t *testing.T) {
		for name, host := range map[string]string{"cyrillic": "\u0430\u0440\u0440\u04cf\u0435.com", "cyrillic-subdomain": "\u0441\u0441\u0441.example.com", "latin": "\u0251pple.com", "greek": "\u03bf\u03bd\u03bf.example"} {
			t.Run("reject-"+name, func(t *testing.T) {
				if got := Host(host); strings.Contains(got, `"`) || !strings.Contains(got, "look-alike") {
					t.Errorf("%s", got)
				}
			})
		}
		for name, host := range map[string]string{"cyrillic": "\u043f\u0440\u0438\u043c\u0435\u0440.example", "latin": "b\u00fccher.example", "hebrew": "\u05d3\u05d5\u05d2\u05de\u05d4.example", "japanese": "\u65e5\u672c.example"} {
			t.Run("accept-"+name, func(t *testing.T) {
				if got := Host(host); !strings.Contains(got, `"`+host+`"`) {
					t.Errorf("%s", got)
				}
			})
		}
	})
}

// TestHostParts: the parts together are what Host returns, and the domain that has an owner is a
// part of its own.
func TestHostParts(t *testing.T) {
	for name, c := range map[string]struct{ host, before, marked, note string }{
		"subdomain":     {"a.skills.example.com", "a.skills.", "[example.com]", ""},
		"apex":          {"example.com", "", "[example.com]", ""},
		"international": {"www.b\u00fccher.example", "www.", "[xn--bcher-kva.example]", " (\"www.b\u00fccher.example\")"},
		"no-domain":     {"github.io", "github.io", "", " (no registrable domain)"},
		"ipv6":          {"[::1]", "[::1]", "", " (IP address)"},
		"not-a-host":    {"a[b]", `"a[b]"`, "", " (not a host)"},
	} {
		t.Run(name, func(t *testing.T) {
			before, marked, note := HostParts(c.host)
			if before != c.before || marked != c.marked || note != c.note || before+marked+note != Host(c.host) {
				t.Errorf("%q, %q, %q", before, marked, note)
			}
		})
	}
}

func TestHostAttacks(t *testing.T) {
	runAttacks(t, Host, []attack{
		{"E07", "reject-cyrillic-a", "ex\u0430mple.com", "[xn--exmple-4nf.com] (mixed scripts: Cyrillic, Latin)"},
		{"E07", "reject-two-mixed-labels", "g\u03bf.ex\u0430mple.com", "xn--g-smb.[xn--exmple-4nf.com] (mixed scripts: Cyrillic, Greek, Latin)"},
		{"E07", "reject-greek-o", "g\u03bf.example.com", "xn--g-smb.[example.com] (mixed scripts: Greek, Latin)"},
		{"E07", "reject-slash-in-label", "example.com\u2044x.evil.example", "example.xn--comx-2g7a.[evil.example]"},
		{"E07", "reject-full-width", "\uff45xample.com", "\"\uff45xample.com\" (not a host)"},
		{"E07", "accept-one-script", "b\u00fccher.example", "[xn--bcher-kva.example] (\"b\u00fccher.example\")"},
		{"E08", "reject-long-subdomain", strings.Repeat("bank.example.com.", 12) + "evil.example", strings.Repeat("bank.example.com.", 12) + "[evil.example]"},
	})
}

func TestURL(t *testing.T) {
	rules := domain.Rules{Schemes: []string{"https", "http"}, AllowIP: true}
	show := func(raw string) string {
		u, err := rules.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		return URL(u, 20)
	}
	runAttacks(t, show, []attack{
		{"E08", "reject-long-path", "https://skills.evil.example/" + strings.Repeat("a", 4000), "skills.[evil.example] \"/" + strings.Repeat("a", 19) + "\"\u2026 (3981 more characters)"},
		{"E08", "reject-hidden-at-sign", "https://evil.example/" + strings.Repeat("a", 4000) + "@good.example/", "[evil.example] \"/" + strings.Repeat("a", 19) + "\"\u2026 (3995 more characters)"},
		{"E08", "reject-host-in-path", "https://evil.example/good.example", `[evil.example] "/good.example"`},
		{"E08", "accept-short", "https://skills.example.com/a?b", `skills.[example.com] "/a?b"`},
		{"E04", "reject-escaped-bidi", "https://example.com/%e2%80%ae", `[example.com] "/%E2%80%AE"`},
		{"E07", "reject-cyrillic-a", "https://ex\u0430mple.com/", `[xn--exmple-4nf.com] (mixed scripts: Cyrillic, Latin) "/"`},
	})
	for input, want := range map[string]string{
		"https://example.com:8443/": `[example.com]:8443 "/"`,
		"http://example.com/x":      `[example.com] (scheme http) "/x"`,
		"https://[::1]:8443/":       `[::1]:8443 (IP address) "/"`,
	} {
		if got := show(input); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := URL(domain.URL{}, 0); got != `"" (not a URL)` {
		t.Errorf("the zero URL is %s", got)
	}
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{"skills.example.com", "ex\u0430mple.com", "127.0.0.1", "[::1]", "\x1b[2K", "github.io", "xn--zzzz.example", "\u05d0.example"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		shown := Host(raw)
		checkVisible(t, shown)
		host, err := domain.Rules{AllowIP: true, AllowSpecial: true}.ParseHost(raw)
		if err != nil {
			if shown != Quote(raw, maxNoHost)+" (not a host)" {
				t.Fatalf("%q is shown as %s", raw, shown)
			}
			return
		}
		first, _, _ := strings.Cut(shown, " ")
		if unmarked := strings.NewReplacer("[", "", "]", "").Replace(first); unmarked != strings.Trim(host, "[]") {
			t.Fatalf("%s is shown as %s", host, shown)
		}
	})
}
