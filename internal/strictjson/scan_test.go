package strictjson

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestStrings(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{`""`, ""},
		{`"plain"`, "plain"},
		{`"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t"},
		{`"\u0041\u00e9\u20AC"`, "Aé€"},
		{`"\ud83d\ude00 \uD83D\uDE00"`, "😀 😀"},
		{`"\u0000"`, "\x00"},
		{`"\ufeff\uffff"`, "\ufeff\uffff"},
		{"\"\u007f\u0080\u2028\U0010FFFF\"", "\u007f\u0080\u2028\U0010FFFF"},
		{`"long enough for eight octets at a time, then \u0061n escape"`, "long enough for eight octets at a time, then an escape"},
	} {
		if got, err := accept(t, test.source, Limits{}).Text(); got != test.want || err != nil {
			t.Errorf("%s reads as %q, %v", test.source, got, err)
		}
	}
}

func TestNumbersAndLiterals(t *testing.T) {
	for _, source := range []string{"0", "-0", "10", "-1.50", "0.1e1", "1E+2", "1e-05", "1e9999", "true", "false", "null"} {
		if got := accept(t, " "+source+"\n", Limits{}).Source(); got != source {
			t.Errorf("%s reads as %q", source, got)
		}
	}
	for _, source := range []string{"00", "-01", "1.", ".1", "1e", "1e-", "0x1", "1_0", "--1", "-", "tru", "truE", "nul", "nulll", "fals", "∞", "-Infinity"} {
		refusal(t, source, Limits{})
	}
}

// TestTextsOfPieces compares texts of a few pieces, whole and cut off, with what another strict
// parser accepts and reads.
func TestTextsOfPieces(t *testing.T) {
	check := func(text string) {
		t.Helper()
		want := jsontext.Value(text).IsValid()
		v, err := Parse([]byte(text), Limits{})
		if (err == nil) != want {
			t.Errorf("%q: %v, want valid: %v", text, err, want)
		}
		if err != nil || v.Kind() != String {
			return
		}
		plain, _ := jsontext.AppendUnquote(nil, text)
		if got, err := v.Text(); got != string(plain) || err != nil {
			t.Errorf("%q reads as %q, %v", text, got, err)
		}
	}
	pieces := []string{"", "a", " ", "12345678", "~", "\x7f", "é", "\ufffd", "\U0001F600", "\x80", "\xc3", "\x1f", `\n`, `\"`, `\\`, `\`, `\x`, `"`,
		`\u0041`, `\uABCD`, `\uabcd`, `\u00g0`, `\u00G0`, `\u00:0`, `\u00/0`, `\u12`, `\ud83d\ude00`, `\uDBFF\uDFFF`, `\ud83d`, `\ude00`, `\ud83dxude00`, `\ud83d\xde00`, `\ud83d\u00e9`}
	for _, first := range pieces {
		for _, second := range pieces {
			text := `"` + first + second + `"`
			check(text)
			for n := range text {
				check(text[:n])
			}
			check(`["` + first + second)
		}
	}
	for _, literal := range []string{"true", "false", "null", "0.5e1"} {
		for n := range len(literal) + 1 {
			for _, around := range []string{"", "[", "[1,", `{"a":`} {
				check(around + literal[:n])
			}
		}
		for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ019.-+ \n" {
			for n := range len(literal) {
				check(literal[:n] + string(c) + literal[n+1:])
			}
			check(literal + string(c))
		}
	}
	for _, text := range []string{"{} ", "[]\n", `"" `, "1\t", "null\r\n", " {} []", "[] 1"} {
		check(text)
	}
}
