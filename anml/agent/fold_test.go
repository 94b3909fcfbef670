package agent

import (
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	for text, want := range map[string]string{ // the folded text, and its tokens
		"":                                 "",
		"Your member no. is 4711-8822, ok": "yourrnernbernoisA7ll88220k | rnernber 47ll8822",
		"alice@example.com wrote":          "aliceexarnplecornwrote | aliceexarnplecorn",
		"(4111 1111 1111 1111) x12 34":     "4lllllllllllllllxl234 | 4lllllllllllllll",
		"AB123-456CD":                      "abl23456cd | l23456 abl23456cd",
		"4 7\x001 1\u200b8\t8 2 2":         "47ll8822",
		"Zoë STRASSE straße ﬁve":           "zoestrassestrassefive | strasse strasse",
		"١٢٣٤٥٦ кот":                       "l23456ĸoᴛ | l23456",
		"one-two\nthree/four":              "onetwothreefour | onetwo",
	} {
		f := fold(text)
		got := f.text
		for i, token := range f.tokens {
			got += map[bool]string{true: " | ", false: " "}[i == 0] + f.text[token.from:token.to]
		}
		want = strings.NewReplacer("A7ll88220k", "47ll8822ok").Replace(want)
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if again := fold(f.text).text; again != f.text {
			t.Errorf("%q: folded twice it is %q", f.text, again)
		}
	}
}
