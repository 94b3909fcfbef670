package aiuri

import (
	"strings"
	"testing"
)

// TestPayloadClaims holds that no claim is passed over, wherever it stands, and
// that nothing else is taken for one.
func TestPayloadClaims(t *testing.T) {
	claimed := func(t *testing.T, payload string, want int) {
		t.Helper()
		var c Claims
		if err := c.readPayload([]byte(payload)); err != nil || len(c.present) != want {
			t.Errorf("%q: %v %v", payload, c.present, err)
		}
	}
	refused := func(t *testing.T, payload string) {
		t.Helper()
		var c Claims
		if err := c.readPayload([]byte(payload)); err == nil || err.Code != CodeRejectedPolicy {
			t.Errorf("%q: %v %v", payload, c.present, err)
		}
	}
	t.Run("AIU-3.4-09", func(t *testing.T) {
		t.Run("accept-no-claims", func(t *testing.T) {
			for _, payload := range []string{
				``, ` `, `[]`, `"iss"`, `{}`, ` { } `, `[{"exp":1}]`, `{"paid":true}`, `{"abc":1,"defgh":2,"scopes":3,"iss ":4}`, `{"is":1,"issu":2}`, `{"ISS":1}`,
				`{"x":"iss"}`, `{"x":["iss"]}`, `{"x":{"exp":1}}`, `{"x":"\",\"exp\":1,\""}`, `{"a\n":1,"exp\u0000":2}`, "{\"\u0435xp\":1}", `{"x":{"y":[{"exp":1}]},"z":[{"exp":2}]}`,
				`x{"iss":1}`, `{not JSON}`, `{"exp`, `{"x":1,"iss`, `{"x":1`, `{"unexpected`, "{\"x\":\"\xff\"}",
			} {
				claimed(t, payload, 0)
			}
		})
		t.Run("accept-claims", func(t *testing.T) {
			for _, payload := range []string{
				`{"exp":1}`, ` {"exp" : 1.5e9 } `, "\r\n\t{\r\n\"exp\"\t:\n1}\n", `{"\u0065xp":1}`, `{"\u0065\u0078\u0070":1}`, `{"a":[{}],"b":{"c":"}"},"exp":1}`,
				`{"a":"\\","exp":1}`, `{"x":[{},[],{}],"exp":1}`, `{"a":"\"","exp":1}`, `{"aud":["a","b"]}`, `{"x":{"exp":1},"exp":1}`, `{"x":"//","exp":1}`, `{"x":["# ' /* \\"],"exp":1}`,
			} {
				claimed(t, payload, 1)
			}
			claimed(t, `{"iss":"ai://a","aud":"b","exp":1,"iat":2,"req":"c","scope":"d e"}`, 6)
			for n := range 200 { // wherever it lies in a block of what is passed over
				claimed(t, `{"x":["`+strings.Repeat("x", n)+`"],"exp":1}`, 1)
				claimed(t, `{"x":["`+strings.Repeat(`\\`, n)+`"],"exp":1}`, 1)
				claimed(t, `{"x":["`+strings.Repeat(`x`, n)+`\"]",{}],"exp":1}`, 1)
				claimed(t, `{"x":`+strings.Repeat("[", n+1)+strings.Repeat("]", n+1)+`,"exp":1}`, 1)
			}
			claimed(t, `{"x":`+strings.Repeat("[", 10_000-1)+strings.Repeat("]", 10_000-1)+`,"exp":1}`, 1)
		})
		t.Run("reject-twice", func(t *testing.T) {
			refused(t, `{"exp":1,"exp":1}`)
			refused(t, `{"exp":1,"x":{},"\u0065xp":1}`)
		})
		t.Run("reject-doubt", func(t *testing.T) {
			for _, payload := range []string{
				`{"exp":1`, `{"exp":1}}`, `{"exp":1} x`, `{"exp":1}{}`, `{"exp":1,}`, `{"exp" 1}`, `{"exp"=1}`, `{"exp"::1}`, `{"x":"exp":1}`, `{"x":1 "exp":1}`, `{,"exp":1}`, `{"exp":}`, `{"exp":1 2}`,
				`{exp:1}`, `{'exp':1}`, `{"x":1,/**/"exp":1}`, `{exp/**/:1}`, `{"exp":01}`, `{"exp":+1}`, `{"exp":nul}`, `{"exp":"\x"}`, "{\"exp\":1,\"a\":\"\n \"}", "{\"exp\":1,\"a\":\"\x00\"}", "{\"exp\":1\v}",
				`{"x":[],"exp":1`, `{"x":[},"exp":1,"y":{]}`, `{"x":{],"exp":1}`, `{"x":[/*"*/1],"exp":1,"y":[/*"*/]}`, `{"x":['"'],"exp":1,"y":['"']}`, "{\"x\":[#\n],\"exp\":1}", "{\"x\":[# \"\n],\"exp\":1,\"y\":[\"\"]}",
				`{"x":[\"],"exp":1,"y":["]}`, "{\"x\":[\"\n\"],\"exp\":1}", "{\"x\":[\x00],\"exp\":1}", "{\"exp\":1,\"x\":\"\xe3\"}", "\ufeff{\"exp\":1}", `{"\u00`, `{"\u0065xp":1`, `{"\q":1,"exp":1}`,
				`{"x":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `,"exp":1}`,
			} {
				refused(t, payload)
			}
		})
	})
	if (*Claims)(nil).Has("iss") || new(Claims).Has("iss") {
		t.Error("there is a claim without claims")
	}
}
