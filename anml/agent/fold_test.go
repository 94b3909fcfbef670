package agent

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
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

// Each reading is the text or one round of one decoding of it.
func TestReadings(t *testing.T) {
	for text, want := range map[string]string{
		"plain words": "plain words", "50 % of 100%": "50 % of 100%", "a%20b%zz": "a%20b%zz|a b%zz", "%ff": "%ff| ",
		"=NDcxMS04ODIy;": "=NDcxMS04ODIy;|4711-8822|4711-8822", "/x/PzD_PD8_": "/x/PzD_PD8_", "Pz8_P3RlYQ": "Pz8_P3RlYQ|?tea|????tea", "68 61792d66": "68 61792d66|ay-f",
	} {
		if got := strings.Join(readings(text), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Folding, decoding and hashing are linear in memory.
func TestFoldAllocations(t *testing.T) {
	t.Run("O01/accept-few-allocations", func(t *testing.T) {
		x := newIndex([16]byte{}, 1<<20)
		for _, text := range []string{"word", "\u00e9\uac00 \u3316\U0001d400", "\u0301", "%25", "NDcx", "m1 "} {
			size := func(n int) float64 {
				return testing.AllocsPerRun(5, func() { x.hashes(strings.Repeat(text, n)); readings(strings.Repeat(text, n)) })
			}
			if small, large := size(100), size(10_000); large > 120*small+100 {
				t.Errorf("%q: %v allocations, %v for a hundredth", text, large, small)
			}
		}
	})
}

// Words of one text do not make the folding of another depend on them.
func TestFoldInParts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		a, b := prose(r, 1+r.IntN(40)), prose(r, 1+r.IntN(40))
		if got, want := fold(a+"\n"+b).text, fold(a).text+fold(b).text; got != want {
			t.Errorf("%q and %q: %q, want %q", a, b, got, want)
		}
	}
}

// Digits of all scripts stand in rows of ten, from zero.
func TestFoldDigits(t *testing.T) {
	tens := func(lo, hi, stride uint32) {
		if stride != 1 || (hi-lo+1)%10 != 0 {
			t.Errorf("%x to %x", lo, hi)
		}
	}
	for _, r := range unicode.Nd.R16 {
		tens(uint32(r.Lo), uint32(r.Hi), uint32(r.Stride))
	}
	for _, r := range unicode.Nd.R32 {
		tens(r.Lo, r.Hi, r.Stride)
	}
}
