package aiuri_test

import (
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
)

func mapping(t testing.TB, base string) aiuri.Mapping {
	t.Helper()
	m, err := aiuri.NewMapping(base)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMapping(t *testing.T) {
	m := mapping(t, "https://ai.example/gateway")
	for _, c := range []struct{ id, uri, url string }{
		{"AIU-3.2-01/accept-example-of-the-draft", "ai://bank/service/payments?amount=10&currency=USD", "https://ai.example/gateway/bank/service/payments?amount=10&currency=USD"},
		{"AIU-3.2-01/accept-port", "ai://bank:8443/", "https://ai.example/gateway/bank:8443/"},
		{"AIU-3.2-02/accept-escapes", "ai://bank/a%20b/%C3%A9", "https://ai.example/gateway/bank/a%20b/%C3%A9"},
		{"AIU-3.2-02/accept-final-slash", "ai://bank/a/", "https://ai.example/gateway/bank/a/"},
		{"AIU-3.2-05/accept-empty-query", "ai://b/x?", "https://ai.example/gateway/b/x?"},
		{"AIU-3.2-05/accept-no-query", "ai://b/x", "https://ai.example/gateway/b/x"},
		{"AIU-2-12/accept-query-octets", "ai://b/x?%2f%7e=%25&..//", "https://ai.example/gateway/b/x?%2f%7e=%25&..//"},
	} {
		t.Run(c.id, func(t *testing.T) {
			u := parse(t, c.uri)
			url, err := m.URL(u)
			if err != nil || url != c.url {
				t.Fatalf("got %s, %v", url, err)
			}
			if back, err := m.Split(url); err != nil || back != u {
				t.Errorf("back it is %q, %v", back, err)
			}
		})
	}
	t.Run("AIU-3.2-08/accept-normalised", func(t *testing.T) {
		if url, err := m.URL(parse(t, "AI://Bank:/a/../%7eb")); err != nil || url != "https://ai.example/gateway/bank/~b" {
			t.Errorf("got %s, %v", url, err)
		}
	})
	t.Run("AIU-3.2-05/accept-fragment-stays", func(t *testing.T) {
		if url, err := m.URL(parse(t, "ai://b/x#f")); err != nil || url != "https://ai.example/gateway/b/x" {
			t.Errorf("got %s, %v", url, err)
		}
	})
	t.Run("L04/accept-one-segment", func(t *testing.T) {
		if url, err := m.URL(parse(t, "ai://bank.example/pay")); err != nil || url != "https://ai.example/gateway/bank.example/pay" {
			t.Errorf("got %s, %v", url, err)
		}
	})
	t.Run("L04/accept-port-in-the-segment", func(t *testing.T) {
		if url, err := m.URL(parse(t, "ai://Bank.Example:8443/../pay")); err != nil || url != "https://ai.example/gateway/bank.example:8443/pay" {
			t.Errorf("got %s, %v", url, err)
		}
	})
	t.Run("L04/reject-fragment-in-url", func(t *testing.T) {
		if url, err := m.URL(parse(t, "ai://x?y#z")); err != nil || url != "https://ai.example/gateway/x/?y" {
			t.Errorf("got %s, %v", url, err)
		}
	})
	for _, c := range []struct {
		id, uri string
		code    lookleap.Code
	}{
		{"AIU-3.2-04/reject-absolute", "ai:/agent/x", aiuri.CodeNoAuthority},
		{"AIU-2-06/reject-rootless", "ai:agent/x", aiuri.CodeNoAuthority},
		{"L01/reject-gateway-without-authority", "ai:/agent/x", aiuri.CodeNoAuthority},
		{"L01/reject-gateway-for-opaque", "ai:opaque", aiuri.CodeNoAuthority},
		{"L04/reject-slashes-in-a-segment", "ai://bank/..%2F..%2Fother", aiuri.CodeAmbiguous},
		{"L04/reject-backslashes-in-a-segment", "ai://bank/..%5C..%5Cother", aiuri.CodeAmbiguous},
		{"L04/reject-dots-with-parameter", "ai://bank/..;/..;/other", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-escaped-slash", "ai://bank/a%2fb", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-double-escape", "ai://bank/%252e%252e", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-empty-segment", "ai://bank//x", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-escaped-backslash-forth", "ai://bank/a%5cb", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-nul-forth", "ai://bank/a%00", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-overlong-forth", "ai://bank/..%c0%afother", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-dots-with-parameter-forth", "ai://bank/..;x/other", aiuri.CodeAmbiguous},
	} {
		t.Run(c.id, func(t *testing.T) {
			if url, err := m.URL(parse(t, c.uri)); url != "" || lookleap.CodeOf(err) != c.code {
				t.Errorf("got %s, %v", url, err)
			}
		})
	}
}

func TestMappingBase(t *testing.T) {
	for _, base := range []string{"https://ai.example/gateway", "https://ai.example/gateway/", "HTTPS://AI.example:443/gateway"} {
		t.Run("AIU-3.2-03/accept/"+strings.NewReplacer("/", "_", ":", "_").Replace(base), func(t *testing.T) {
			if url, err := mapping(t, base).URL(parse(t, "ai://bank/x")); err != nil || url != "https://ai.example/gateway/bank/x" {
				t.Errorf("got %s, %v", url, err)
			}
		})
	}
	t.Run("AIU-3.2-03/accept-root", func(t *testing.T) {
		if url, err := mapping(t, "https://ai.example").URL(parse(t, "ai://bank/x")); err != nil || url != "https://ai.example/bank/x" {
			t.Errorf("got %s, %v", url, err)
		}
	})
	for name, base := range map[string]string{
		"http": "http://ai.example/gateway", "query": "https://ai.example/?a", "empty-query": "https://ai.example/?", "fragment": "https://ai.example/#a",
		"userinfo": "https://u@ai.example/", "relative": "/gateway", "empty": "", "dots": "https://ai.example/a/../b",
	} {
		t.Run("AIU-3.2-03/reject-"+name, func(t *testing.T) {
			if m, err := aiuri.NewMapping(base); m.Base() != "" || lookleap.CodeOf(err) != aiuri.CodeBadGateway {
				t.Errorf("got %v, %v", m, err)
			}
		})
	}
	if _, err := (aiuri.Mapping{}).URL(parse(t, "ai://bank/x")); lookleap.CodeOf(err) != aiuri.CodeBadGateway {
		t.Errorf("the zero mapping maps: %v", err)
	}
	if _, err := (aiuri.Mapping{}).URI("/bank/x", "", false); err == nil {
		t.Error("the zero mapping maps back")
	}
}

func TestMappingBack(t *testing.T) {
	m := mapping(t, "https://ai.example/gateway")
	for _, c := range []struct {
		id, path string
		code     lookleap.Code
	}{
		{"AIU-3.2-09/reject-dot-segment", "/gateway/bank/../other", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-single-dot", "/gateway/bank/./x", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-single-dot-at-end", "/gateway/bank/.", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-encoded-dots", "/gateway/bank/%2e%2E/other", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-mixed-dots", "/gateway/bank/.%2e/other", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-dots-with-parameter", "/gateway/bank/..;x/other", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-dots-at-end", "/gateway/bank/..", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-escaped-slash-back", "/gateway/bank/a%2Fb", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-escaped-backslash", "/gateway/bank/a%5cb", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-backslash", `/gateway/bank/a\b`, aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-nul", "/gateway/bank/a%00", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-last-control", "/gateway/bank/a%1F", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-tab", "/gateway/bank/a%09", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-overlong-slash", "/gateway/bank/..%c0%afother", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-overlong-dots", "/gateway/bank/%C0%AE%c0%ae/other", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-overlong-in-three", "/gateway/bank/a%e0%80%afb", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-latin-1", "/gateway/bank/caf%e9", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-half-a-character", "/gateway/bank/%e6%bc", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-surrogate", "/gateway/bank/%ed%a0%80", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-dots-after-a-character", "/gateway/bank/%c3%a9/%2e%2e/x", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-line-break", "/gateway/bank/a%0d%0aX:%20y", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-delete", "/gateway/bank/a%7F", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-dots-with-escaped-parameter", "/gateway/bank/..%3Bx/other", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-fragment", "/gateway/bank/x#/../y", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-character-without-escape", "/gateway/bank/%c3z89", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-character-with-bad-escape", "/gateway/bank/%c3%hh", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-character-with-half-an-escape", "/gateway/bank/%c3%h9", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-dots-after-a-long-character", "/gateway/bank/%e6%bc%a2/../x", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-dots-with-escaped-parameter-at-end", "/gateway/bank/..%3B", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-escaped-dot-at-end", "/gateway/bank/%2e", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-first-byte-outside-ascii", "/gateway/bank/%80", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-question-mark", "/gateway/bank/x?y", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-number-sign", "/gateway/bank/x#y", aiuri.CodeAmbiguous},
		{"AIU-3.2-08/reject-no-escape", "/gateway/bank/a%2n", aiuri.CodeBadChar},
		{"AIU-3.2-08/reject-no-escape-first", "/gateway/bank/a%r0", aiuri.CodeBadChar},
		{"AIU-3.2-09/reject-empty-segment-back", "/gateway/bank//x", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-double-encoding", "/gateway/bank/%252e%252e/x", aiuri.CodeAmbiguous},
		{"AIU-3.2-08/reject-percent", "/gateway/bank/%4", aiuri.CodeBadChar},
		{"AIU-3.2-10/reject-empty-authority", "/gateway//x", aiuri.CodeAmbiguous},
		{"AIU-3.2-10/reject-dots-as-authority", "/gateway/../x", aiuri.CodeAmbiguous},
		{"AIU-3.2-10/reject-escaped-slash-in-authority", "/gateway/a%2Fb/x", aiuri.CodeAmbiguous},
		{"AIU-3.2-10/reject-userinfo", "/gateway/u@h/x", lookleap.CodeUserinfo},
		{"AIU-3.2-10/reject-other-base", "/gatewayX/bank", aiuri.CodeNotGateway},
		{"AIU-3.2-10/reject-base-alone", "/gateway", aiuri.CodeNotGateway},
		{"AIU-3.2-10/reject-no-authority", "/gateway/", aiuri.CodeEmptyAuthority},
		{"AIU-3.2-10/reject-ip", "/gateway/10.0.0.1/x", aiuri.CodeBadAuthority},
		{"AIU-3.2-10/reject-empty-port", "/gateway/bank:/x", aiuri.CodeAmbiguous},
		{"L05/reject-metadata-address", "/gateway/169.254.169.254/", aiuri.CodeBadAuthority},
		{"L05/reject-decimal-address", "/gateway/2130706433/", aiuri.CodeBadAuthority},
		{"L05/reject-hexadecimal-address", "/gateway/0x7f.0x0.0x0.0x1/", aiuri.CodeBadAuthority},
		{"L05/reject-short-address", "/gateway/127.1/", aiuri.CodeBadAuthority},
		{"L05/reject-ipv6-address", "/gateway/[::1]/", aiuri.CodeBadAuthority},
	} {
		t.Run(c.id, func(t *testing.T) {
			if u, err := m.URI(c.path, "", false); !u.IsZero() || lookleap.CodeOf(err) != c.code {
				t.Errorf("got %q, %v", u, err)
			}
		})
	}
	t.Run("AIU-3.2-09/accept-three-dots", func(t *testing.T) {
		for _, path := range []string{"/gateway/bank/...", "/gateway/bank/.../x", "/gateway/bank/.x"} {
			if u, err := m.URI(path, "", false); err != nil || "/gateway/bank"+u.Path() != path {
				t.Errorf("got %q, %v", u, err)
			}
		}
	})
	t.Run("AIU-3.2-09/accept-other-segments", func(t *testing.T) {
		for _, path := range []string{"/gateway/bank/..abc", "/gateway/bank/.a%3Bb", "/gateway/bank/;x", "/gateway/bank/%3Bx", "/gateway/bank/%EF%BF%BD/x", "/gateway/bank/%F0%9F%98%80"} {
			if u, err := m.URI(path, "", false); err != nil || "/gateway/bank"+u.Path() != path {
				t.Errorf("got %q, %v", u, err)
			}
		}
	})
	for id, path := range map[string]string{"accept-authority": "/gateway/bank/x", "accept-no-slash": "/gateway/bank", "accept-three-dots": "/gateway/bank/.../.x"} {
		t.Run("AIU-3.2-10/"+id, func(t *testing.T) {
			if u, err := m.URI(path, "q", true); err != nil || u.Authority() != "bank" {
				t.Errorf("got %q, %v", u, err)
			}
		})
	}
	if _, err := m.Split("https://ai.example.evil.test/gateway/bank/x"); lookleap.CodeOf(err) != aiuri.CodeNotGateway {
		t.Errorf("another origin: %v", err)
	}
}

func parseAny(in string) aiuri.URI {
	u, err := aiuri.Parse(in)
	if err != nil {
		panic(err)
	}
	return u
}

func FuzzMappingBack(f *testing.F) {
	for _, path := range []string{"/gateway/bank/x", "/gateway/bank:1/a%20b/", "/gateway/bank/..", "/gateway/Bank"} {
		f.Add(path, "q", true)
	}
	m := mapping(f, "https://ai.example/gateway")
	f.Fuzz(func(t *testing.T, path, query string, hasQuery bool) {
		u, err := m.URI(path, query, hasQuery)
		if err != nil {
			return
		}
		url, err := m.URL(u)
		if err != nil {
			t.Fatalf("%q comes back and does not go: %v", path, err)
		}
		if again, err := m.Split(url); err != nil || again != u {
			t.Fatalf("%q: %q, then %q, %v", path, u, again, err)
		}
	})
}
