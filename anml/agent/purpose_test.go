package agent

import (
	"strings"
	"testing"
)

func FuzzSensitiveWords(f *testing.F) {
	f.Add("to pay by BANK transfer")
	f.Add("h\u0130ncome")
	f.Fuzz(func(t *testing.T, text string) {
		want := ""
		lower := []byte(text)
		for i, c := range lower {
			if c >= 'A' && c <= 'Z' {
				lower[i] = c | 0x20
			}
		}
		at := len(text)
		for _, s := range sensitiveWords {
			if i := strings.Index(string(lower), s.word); i >= 0 && i < at {
				at, want = i, s.category
			}
		}
		if got := sensitiveCategory(text); got != want && (want != "" || isASCII(text)) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	})
}
