package aiuri_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/wellknown"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ id, in, kind, authority, path, query string }{
		{"AIU-1-01/accept-first-segment-is-a-segment", "ai:/agent/x", "absolute", "", "/agent/x", ""},
		{"AIU-1-01/accept-authority-named-agent", "ai://agent/x", "authority", "agent", "/x", ""},
		{"AIU-2-01/accept-absolute", "ai:/a", "absolute", "", "/a", ""},
		{"AIU-2-01/accept-all-parts", "ai://h/p?q#f", "authority", "h", "/p", "q"},
		{"AIU-2-02/accept-upper-case", "AI://bank/x", "authority", "bank", "/x", ""},
		{"AIU-2-02/accept-mixed-case", "aI://bank/x", "authority", "bank", "/x", ""},
		{"AIU-2-03/accept-example-of-the-draft", "ai://factory.example/pay?amount=10&currency=USD", "authority", "factory.example", "/pay", "amount=10&currency=USD"},
		{"AIU-2-04/accept-example-of-the-draft", "ai:/agent/forklift-42?task=load&zone=A3", "absolute", "", "/agent/forklift-42", "task=load&zone=A3"},
		{"AIU-2-05/accept-absent", "ai:/x", "absolute", "", "/x", ""},
		{"AIU-2-06/accept-rootless", "ai:agent/x", "rootless", "", "agent/x", ""},
		{"AIU-2-07/accept-port", "ai://bank:8443/x", "authority", "bank:8443", "/x", ""},
		{"AIU-2-07/accept-empty-port", "ai://bank:/x", "authority", "bank", "/x", ""},
		{"AIU-2-07/accept-least-and-most-port", "ai://bank:65535/x", "authority", "bank:65535", "/x", ""},
		{"AIU-2-07/accept-least-port", "ai://bank:1/x", "authority", "bank:1", "/x", ""},
		{"AIU-2-08/accept-label", "ai://bank", "authority", "bank", "", ""},
		{"AIU-2-08/accept-name", "ai://factory.example/", "authority", "factory.example", "/", ""},
		{"AIU-2-08/accept-digits-before", "ai://10.example/", "authority", "10.example", "/", ""},
		{"AIU-2-09/accept-port-443-is-kept", "ai://h:443/", "authority", "h:443", "/", ""},
		{"AIU-2-11/accept-escape", "ai://bank/%20%7B", "authority", "bank", "/%20%7B", ""},
		{"AIU-2-14/accept-limit", "ai://bank/" + strings.Repeat("x", 8192-10), "authority", "bank", "/" + strings.Repeat("x", 8192-10), ""},
		{"AIU-3.2-09/accept-parse-escaped-slash", "ai://bank/a%2Fb", "authority", "bank", "/a%2Fb", ""},
		{"AIU-7-01/accept-every-pchar", "ai://bank/az-._~!$&'()*+,;=:@/?/?", "authority", "bank", "/az-._~!$&'()*+,;=:@/", "/?"},
		{"L01/accept-absolute", "ai:/agent/x", "absolute", "", "/agent/x", ""},
		{"L01/accept-opaque", "ai:opaque", "rootless", "", "opaque", ""},
		{"L01/accept-upper", "AI://Bank/x", "authority", "bank", "/x", ""},
	} {
		t.Run(c.id, func(t *testing.T) {
			u, err := aiuri.Parse(c.in)
			if err != nil {
				t.Fatal(err)
			}
			query, _ := u.Query()
			if u.Kind().String() != c.kind || u.Authority() != c.authority || u.Path() != c.path || query != c.query {
				t.Errorf("got %s, %q, %q, %q", u.Kind(), u.Authority(), u.Path(), query)
			}
			if u.String() != c.in {
				t.Errorf("%q", u)
			}
			if n := u.Normalize(); !strings.HasPrefix(n.String(), "ai:") || !u.Equal(n) {
				t.Errorf("the normal form is %q", n)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		id, in string
		code   lookleap.Code
		offset int
	}{
		{"AIU-2-01/reject-http", "http://x", "not-ai", 0},
		{"AIU-2-01/reject-no-colon", "ai", "not-ai", 0},
		{"AIU-2-01/reject-no-scheme", ":x", "not-ai", 0},
		{"AIU-2-01/reject-leading-blank", " ai:/x", "not-ai", 0},
		{"AIU-2-02/reject-other-scheme", "a1://bank/x", "not-ai", 0},
		{"AIU-2-03/reject-decoded-entity", "ai://factory.example/pay?amount=10¤cy=USD", "non-ascii", 34},
		{"AIU-2-05/reject-empty-authority", "ai:///x", "empty-authority", 5},
		{"AIU-2-05/reject-empty-authority-with-port", "ai://:1/x", "empty-authority", 5},
		{"AIU-2-06/reject-empty", "ai:", "empty", 3},
		{"AIU-2-06/reject-query-alone", "ai:?q", "empty", 3},
		{"AIU-2-07/reject-userinfo", "ai://u@bank/x", lookleap.CodeUserinfo, 5},
		{"AIU-2-07/reject-empty-userinfo", "ai://@bank/x", lookleap.CodeUserinfo, 5},
		{"AIU-2-07/reject-password", "ai://u:p@bank/x", lookleap.CodeUserinfo, 5},
		{"AIU-2-07/reject-port-range", "ai://bank:99999/x", lookleap.CodeBadPort, 10},
		{"AIU-2-07/reject-port-one-too-high", "ai://bank:65536/x", lookleap.CodeBadPort, 10},
		{"AIU-2-07/reject-port-zero", "ai://bank:0/x", lookleap.CodeBadPort, 10},
		{"AIU-2-07/reject-port-leading-zero", "ai://bank:0443/x", lookleap.CodeBadPort, 10},
		{"AIU-2-07/reject-port-minus", "ai://bank:-1/x", lookleap.CodeBadPort, 10},
		{"AIU-2-07/reject-port-plus", "ai://bank:+80/x", lookleap.CodeBadPort, 10},
		{"AIU-2-07/reject-port-that-overflows", "ai://bank:18446744073709552059/x", lookleap.CodeBadPort, 10},
		{"AIU-2-07/reject-port-letter", "ai://bank:8a/x", lookleap.CodeBadPort, 10},
		{"AIU-2-07/reject-port-not-ascii", "ai://bank:٤/x", "non-ascii", 10},
		{"AIU-2-08/reject-escape", "ai://ba%6Ek/x", "bad-authority", 7},
		{"AIU-2-08/reject-underscore", "ai://a_b/x", "bad-authority", 6},
		{"AIU-2-08/reject-leading-hyphen", "ai://-a/x", "bad-authority", 5},
		{"AIU-2-08/reject-trailing-hyphen", "ai://a-/x", "bad-authority", 5},
		{"AIU-2-08/reject-empty-label", "ai://a..b/x", "bad-authority", 7},
		{"AIU-2-08/reject-trailing-dot", "ai://factory.example./x", "bad-authority", 21},
		{"AIU-2-08/reject-ipv6", "ai://[::1]/x", "bad-authority", 5},
		{"AIU-2-08/reject-ipv4", "ai://10.0.0.1/x", "bad-authority", 5},
		{"AIU-2-08/reject-ipv4-number", "ai://2130706433/x", "bad-authority", 5},
		{"AIU-2-08/reject-ipv4-hex", "ai://127.0.0.0x1/x", "bad-authority", 5},
		{"AIU-2-08/reject-long-label", "ai://" + strings.Repeat("a", 64) + "/", "bad-authority", 5},
		{"AIU-2-08/reject-sub-delims", "ai://a!b/x", "bad-authority", 6},
		{"AIU-2-11/reject-space", "ai://bank/a b", "bad-char", 11},
		{"AIU-2-11/reject-control", "ai://bank/a\x01", "bad-char", 11},
		{"AIU-2-11/reject-delete", "ai://bank/a\x7f", "bad-char", 11},
		{"AIU-2-11/reject-backslash", `ai://bank/a\b`, "bad-char", 11},
		{"AIU-2-11/reject-less", "ai://bank/<", "bad-char", 10},
		{"AIU-2-11/reject-greater", "ai://bank/>", "bad-char", 10},
		{"AIU-2-11/reject-quote", `ai://bank/"`, "bad-char", 10},
		{"AIU-2-11/reject-brace", "ai://bank/{", "bad-char", 10},
		{"AIU-2-11/reject-closing-brace", "ai://bank/?}", "bad-char", 11},
		{"AIU-2-11/reject-bar", "ai://bank/#|", "bad-char", 11},
		{"AIU-2-11/reject-caret", "ai://bank/^", "bad-char", 10},
		{"AIU-2-11/reject-backtick", "ai://bank/`", "bad-char", 10},
		{"AIU-2-11/reject-bracket", "ai://bank/[x]", "bad-char", 10},
		{"AIU-2-11/reject-percent", "ai://bank/%zz", "bad-char", 10},
		{"AIU-2-11/reject-percent-in-query", "ai://bank/?%4", "bad-char", 11},
		{"AIU-2-11/reject-non-ascii", "ai://bank/é", "non-ascii", 10},
		{"AIU-2-14/reject-one-byte-more", "ai://bank/" + strings.Repeat("x", 8192-9), "too-long", 8192},
		{"AIU-7-01/reject-not-rfc3986", "ai://bank/%", "bad-char", 10},
		{"AIU-7-02/reject-path", "ai://bank/é", "non-ascii", 10},
		{"AIU-7-02/reject-query", "ai://bank/?é", "non-ascii", 11},
		{"AIU-7-02/reject-fragment", "ai://bank/#é", "non-ascii", 11},
		{"AIU-7-03/reject-bad-a-label", "ai://xn--zzzz.example/", "bad-authority", 5},
		{"AIU-7-03/reject-empty-a-label", "ai://xn--.example/", "bad-authority", 5},
		{"AIU-7-03/reject-u-label", "ai://bücher.example/", "non-ascii", 6},
		{"L01/reject-nothing", "ai://", "empty-authority", 5},
		{"L01/reject-empty-authority", "ai:///x", "empty-authority", 5},
		{"L02/reject-userinfo", "ai://u@bank/", lookleap.CodeUserinfo, 5},
		{"L02/reject-port", "ai://bank:0x50/", lookleap.CodeBadPort, 10},
		{"L02/reject-backslash", `ai://bank\x`, "bad-char", 9},
		{"L02/reject-percent", "ai://bank/%", "bad-char", 10},
		{"L02/reject-non-ascii", "ai://bank/ü", "non-ascii", 10},
		{"L02/reject-line-feed", "ai://bank/\n", "bad-char", 10},
		{"L04/reject-userinfo", "ai://evil.test@ai.example/", lookleap.CodeUserinfo, 5},
	} {
		t.Run(c.id, func(t *testing.T) {
			u, err := aiuri.Parse(c.in)
			var e *lookleap.Error
			if !u.IsZero() || !errors.As(err, &e) || e.Code != c.code || e.Position.Offset != c.offset {
				t.Errorf("got %q, %v; want %s at %d", u, err, c.code, c.offset)
			}
			if lookleap.CodeOf(err) != c.code || !c.code.Known() {
				t.Errorf("the code is %s", lookleap.CodeOf(err))
			}
		})
	}
}

func TestNormalize(t *testing.T) {
	for _, c := range []struct{ id, in, want string }{
		{"AIU-2-10/accept-all", "AI://Bank/%7ea/./b", "ai://bank/~a/b"},
		{"AIU-2-10/accept-empty-path", "ai://bank", "ai://bank/"},
		{"AIU-2-10/accept-query-untouched", "ai://bank/?b=%7e&a=%2f", "ai://bank/?b=%7e&a=%2f"},
		{"AIU-2-10/accept-empty-query-kept", "ai://bank/?", "ai://bank/?"},
		{"AIU-2-10/accept-hex-upper", "ai://bank/%2f%c3", "ai://bank/%2F%C3"},
		{"AIU-2-10/accept-dots-at-end", "ai://bank/a/b/..", "ai://bank/a/"},
		{"AIU-2-10/accept-dot-at-end", "ai://bank/a/.", "ai://bank/a/"},
		{"AIU-2-10/accept-dots", "ai://bank/a/../../b/..", "ai://bank/"},
		{"AIU-2-10/accept-encoded-dots", "ai://bank/a/%2E%2e/b", "ai://bank/b"},
		{"AIU-2-10/accept-empty-segments-stay", "ai://bank//a//", "ai://bank//a//"},
		{"AIU-2-10/accept-no-authority-appears", "ai:/..//x", "ai:/.//x"},
		{"AIU-2-10/accept-fragment-untouched", "ai://bank/#%7e", "ai://bank/#%7e"},
		{"AIU-2-07/accept-empty-port-is-dropped", "ai://bank:/x", "ai://bank/x"},
		{"AIU-2-09/accept-port-is-kept", "ai://H:443/", "ai://h:443/"},
		{"AIU-7-04/accept-no-unicode-normalisation", "ai://bank/%65%CC%81", "ai://bank/e%CC%81"},
	} {
		t.Run(c.id, func(t *testing.T) {
			n := parse(t, c.in).Normalize()
			if n.String() != c.want || n.Normalize() != n {
				t.Errorf("got %q, then %q", n, n.Normalize())
			}
		})
	}
}

func TestEqual(t *testing.T) {
	for _, c := range []struct {
		id, a, b string
		want     bool
	}{
		{"AIU-2-13/accept-same-normal-form", "AI://BANK/%61", "ai://bank/a", true},
		{"AIU-2-13/reject-path-case", "ai://bank/A", "ai://bank/a", false},
		{"AIU-2-13/reject-escaped-slash", "ai://bank/a%2Fb", "ai://bank/a/b", false},
		{"AIU-2-09/reject-default-port", "ai://h/", "ai://h:443/", false},
		{"AIU-2-05/reject-form", "ai:/bank", "ai://bank", false},
		{"AIU-2-10/reject-query-order", "ai://h/?a&b", "ai://h/?b&a", false},
		{"AIU-2-10/reject-empty-query", "ai://h/?", "ai://h/", false},
		{"AIU-7-04/reject-composed", "ai://h/%C3%A9", "ai://h/e%CC%81", false},
	} {
		t.Run(c.id, func(t *testing.T) {
			if got := parse(t, c.a).Equal(parse(t, c.b)); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestURIParts(t *testing.T) {
	t.Run("AIU-2-12/accept-fragment-apart", func(t *testing.T) {
		u := parse(t, "ai://bank/x?q=%7e#f")
		fragment, ok := u.Fragment()
		if fragment != "f" || !ok || u.String() != "ai://bank/x?q=%7e#f" {
			t.Errorf("got %q, %q", fragment, u)
		}
	})
	t.Run("AIU-6-02/reject-secrets-in-redacted", func(t *testing.T) {
		for in, want := range map[string]string{
			"ai://Bank/secret?token#f": "ai://bank/…", "ai://bank:1": "ai://bank:1", "ai://bank/": "ai://bank", "ai://bank/x": "ai://bank/…", "ai://bank/#secret": "ai://bank/…",
			"ai:/agent/secret": "ai:…", "ai:secret": "ai:…", "ai://bank?secret": "ai://bank/…",
		} {
			if got := parse(t, in).Redacted(); got != want {
				t.Errorf("%s: got %s", in, got)
			}
		}
	})
	t.Run("AIU-6-02/reject-secrets-in-errors", func(t *testing.T) {
		_, err := aiuri.Parse("ai://bank/secret?secret=secret|secret")
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v", err)
		}
		if _, err := mapping(t, "https://ai.example/").URL(parse(t, "ai://bank/secret%2f?secret")); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("AIU-8-01/reject-well-known", func(t *testing.T) {
		if _, ok := wellknown.SchemeSupported("ai"); ok {
			t.Error("the registration claims no support")
		}
	})
	t.Run("AIU-8-01/accept-https", func(t *testing.T) {
		if uri, err := wellknown.URL("https://www.bank.example", "aiip"); err != nil || uri != "https://www.bank.example/.well-known/aiip" {
			t.Errorf("got %s, %v", uri, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, in := range []string{"ai://bank/x?q#f", "ai:/a/../b", "ai:x", "AI://Bank:1/%7e", "ai:///x", "ai://xn--bcher-kva.example/", "ai:/..//x", "ai://10.0.0.1/"} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		u, err := aiuri.Parse(in)
		if err != nil {
			if !u.IsZero() || !lookleap.CodeOf(err).Known() {
				t.Fatalf("%q: %q, %v", in, u, err)
			}
			return
		}
		n := u.Normalize()
		if again, err := aiuri.Parse(n.String()); err != nil || again != n || n.Normalize() != n || n.Kind() != u.Kind() {
			t.Fatalf("%q: %q, %v", in, n, err)
		}
		if _, err := aiuri.FromIRI(in); err != nil {
			t.Fatalf("%q is no IRI: %v", in, err)
		}
	})
}

func parse(t testing.TB, in string) aiuri.URI {
	t.Helper()
	u, err := aiuri.Parse(in)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
