package aiuri

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// TestPayloadClaims holds that no claim is passed over, wherever it stands, and
// that nothing else is taken for one.
func TestPayloadClaims(t *testing.T) {
	claimed := func(t *testing.T, payload string, want int) {
		t.Helper()
		if c, err := payloadClaims([]byte(payload)); err != nil || len(c.present) != want {
			t.Errorf("%q: %v %v", payload, c.present, err)
		}
	}
	refused := func(t *testing.T, payload string) {
		t.Helper()
		if c, err := payloadClaims([]byte(payload)); err == nil || err.Code != CodeRejectedPolicy {
			t.Errorf("%q: %v %v", payload, c.present, err)
		}
	}
	t.Run("AIU-3.4-09", func(t *testing.T) {
		t.Run("accept-no-claims", func(t *testing.T) {
			for _, payload := range []string{
				``, ` `, `[]`, `"iss"`, `{}`, ` { } `, `[{"exp":1}]`, `{"paid":true}`, `{"abc":1,"defgh":2,"scopes":3,"iss ":4}`, `{"is":1,"issu":2}`, `{"ISS":1}`,
				`{"x":"iss"}`, `{"x":["iss"]}`, `{"x":{"exp":1}}`, `{"x":"\",\"exp\":1,\""}`, `{"a\n":1,"exp\u0000":2}`, "{\"\u0435xp\":1}", `{"x":{"y":[{"exp":1}]},"z":[{"exp":2}]}`,
				`x{"iss":1}`, `{not JSON}`, `{"x":1`, `{"unexpected`, "{\"x\":\"\xff\"}",
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
			claimed(t, `{"x":`+strings.Repeat("[", maxNesting)+strings.Repeat("]", maxNesting)+`,"exp":1}`, 1)
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
				`{"x":` + strings.Repeat("[", maxNesting+1) + strings.Repeat("]", maxNesting+1) + `,"exp":1}`,
			} {
				refused(t, payload)
			}
		})
	})
}

// containers are texts for [containerLen], some of them JSON.
var containers = rapid.Custom(func(t *rapid.T) []byte {
	parts := rapid.SliceOf(rapid.SampledFrom([]string{`"`, `"`, `\`, `\"`, `"a"`, `"\\"`, "{", "}", "[", "]", "{}", `[""]`, `{"a":[1,{"b":"]"}]}`, ",", ":", "1", "x", "/", "#", "'", "é", " ", "\n", "\x00", strings.Repeat(" ", 61), strings.Repeat("x", 63)})).Draw(t, "parts")
	return []byte(rapid.SampledFrom([]string{"{", "["}).Draw(t, "begin") + strings.Join(parts, ""))
})

// TestContainerLen compares with two readers: one of JSON, which must never find
// another end, and one that looks at one octet after the other.
func TestContainerLen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { compareContainer(t, containers.Draw(t, "text")) })
}

func FuzzContainerLen(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"]",{}]} x`, `["\\\"",'"']`, `[{]}`, `{"a":"` + strings.Repeat("\\", 64) + `"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 0 && (text[0] == '{' || text[0] == '[') {
			compareContainer(t, text)
		}
	})
}

func compareContainer(t rapid.TB, text []byte) {
	n, ok := containerLen(text)
	if want, fine := slowContainerLen(text); n != want || ok != fine {
		t.Fatalf("%q: %d %v, want %d %v", text, n, ok, want, fine)
	}
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
	if value, err := d.ReadValue(); err == nil && n != len(value) {
		t.Fatalf("%q: %d, but JSON ends at %d", text, n, len(value))
	}
	for _, cut := range []int{0, n / 2, n - 1} {
		if n, ok := containerLen(text[:max(0, min(cut, len(text)))]); ok && cut < n {
			t.Fatalf("%q cut at %d: %d", text, cut, n)
		}
	}
}

func slowContainerLen(text []byte) (int, bool) {
	var open []byte
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			if i++; i == len(text) || text[i] < ' ' {
				return 0, false
			}
		case c == '"':
			quoted = !quoted
		case quoted && c < ' ', !quoted && strings.IndexByte(`\/#'`, c) >= 0, !quoted && c < ' ' && strings.IndexByte("\t\r\n", c) < 0:
			return 0, false
		case quoted:
		case c == '{' || c == '[':
			if open = append(open, c+2); len(open) > maxNesting {
				return 0, false
			}
		case c == '}' || c == ']':
			if open[len(open)-1] != c {
				return 0, false
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return i + 1, true
			}
		}
	}
	return 0, false
}

// TestClaimMembers compares the members that are found in strict JSON with those
// that a reader of JSON finds.
func TestClaimMembers(t *testing.T) {
	values := rapid.SampledFrom([]string{`1`, `-1.5e+9`, `true`, `null`, `"x"`, `"\"exp\":"`, `[]`, `{}`, `{"exp":1}`, `[["]"],{"iss":"}"}]`, `"é\\"`, "\n[ 1 , 2 ]\t"})
	names := rapid.SampledFrom([]string{`"iss"`, `"exp"`, `"\u0065xp"`, `"scop\u0065"`, `"scopes"`, `"x"`, `""`, `"a\"exp\""`, `"aud" `, ` "iat"`})
	rapid.Check(t, func(t *rapid.T) {
		var members []string
		for range rapid.IntRange(0, 8).Draw(t, "members") {
			members = append(members, names.Draw(t, "name")+":"+values.Draw(t, "value"))
		}
		payload := []byte("{" + strings.Join(members, ",") + "}")
		var got, want []string
		if !claimMembers(payload, func(name string, value []byte) bool { got = append(got, name+"="+string(value)); return true }) {
			t.Fatalf("%q is refused", payload)
		}
		d := jsontext.NewDecoder(bytes.NewReader(payload), jsontext.AllowDuplicateNames(true))
		if _, err := d.ReadToken(); err != nil {
			t.Fatal(err)
		}
		for d.PeekKind() == jsontext.KindString {
			name, _ := d.ReadToken()
			text := name.String()
			value, _ := d.ReadValue()
			for _, known := range claimNames {
				if text == known {
					want = append(want, known+"="+string(value))
				}
			}
		}
		if _, err := d.ReadToken(); err != nil {
			t.Fatal(err)
		}
		if _, err := d.ReadToken(); err != io.EOF {
			t.Fatal(err)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("%q: got %q, want %q", payload, got, want)
		}
	})
}
