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
		{"AIU-3.2-09/reject-escaped-slash", "ai://bank/a%2fb", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-escaped-percent", "ai://bank/100%25", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-double-escape", "ai://bank/%252e%252e", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-empty-segment", "ai://bank//x", aiuri.CodeAmbiguous},
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
		{"AIU-3.2-09/reject-empty-segment-back", "/gateway/bank//x", aiuri.CodeAmbiguous},
		{"AIU-3.2-09/reject-double-encoding", "/gateway/bank/%252e%252e/x", aiuri.CodeAmbiguous},
		{"AIU-3.2-08/reject-percent", "/gateway/bank/%4", "bad-char"},
		{"AIU-3.2-10/reject-empty-authority", "/gateway//x", aiuri.CodeAmbiguous},
		{"AIU-3.2-10/reject-dots-as-authority", "/gateway/../x", aiuri.CodeAmbiguous},
		{"AIU-3.2-10/reject-escaped-slash-in-authority", "/gateway/a%2Fb/x", aiuri.CodeAmbiguous},
		{"AIU-3.2-10/reject-userinfo", "/gateway/u@h/x", lookleap.CodeUserinfo},
		{"AIU-3.2-10/reject-other-base", "/gatewayX/bank", aiuri.CodeNotGateway},
		{"AIU-3.2-10/reject-base-alone", "/gateway", aiuri.CodeNotGateway},
		{"AIU-3.2-10/reject-no-authority", "/gateway/", "empty-authority"},
		{"AIU-3.2-10/reject-ip", "/gateway/10.0.0.1/x", "bad-authority"},
		{"AIU-3.2-10/reject-empty-port", "/gateway/bank:/x", aiuri.CodeAmbiguous},
		{"L05/reject-metadata-address", "/gateway/169.254.169.254/", "bad-authority"},
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
	for url, want := range map[string]lookleap.Code{
		"https://ai.example.evil.test/gateway/bank/x": aiuri.CodeNotGateway, "https://ai.examplf/gateway/bank/x": aiuri.CodeNotGateway,
		"https://ai.example/gateway/bank/x?q#f": aiuri.CodeAmbiguous,
	} {
		if _, err := m.Split(url); lookleap.CodeOf(err) != want {
			t.Errorf("%s: %v", url, err)
		}
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
