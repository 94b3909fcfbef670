package agent

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// foldedByDefinition folds a text as a whole, step by step.
func foldedByDefinition(text string) (words []string) {
	text = cases.Fold().String(norm.NFKC.String(text))
	text = norm.NFKC.String(strings.Map(unadorned, norm.NFKD.String(text)))
	text = strings.Map(func(r rune) rune {
		if unseen(r) {
			return -1
		}
		return r
	}, text)
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.N, unicode.M) || r < utf8.RuneSelf && !isWord(r)
	})
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func wordsOf(f folded) (words []string) {
	for _, s := range f.words {
		words = append(words, string(f.runes[s.from:s.to]))
	}
	return words
}

// TestFold compares folding by characters and words with its definition.
func TestFold(t *testing.T) {
	t.Run("characters", func(t *testing.T) {
		for r := range rune(0x40000) { // all that have another spelling, and more
			if text := string(r); utf8.ValidRune(r) && r != 'ﷺ' && r != 'ﷻ' && !slices.Equal(wordsOf(fold(text)), foldedByDefinition(text)) {
				t.Errorf("%U: %q, want %q", r, wordsOf(fold(text)), foldedByDefinition(text))
			}
		}
	})
	t.Run("texts", func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		alphabets := [][]rune{
			[]rune("aZ9 -.\u00e9\u0301e\u0308\u00df\u0130I\u0307\u0345\u03b1\u1fb3\u03c3\u03c2\ufb03\u00bd\u2460\u3316\u200d\u00ad\n"),
			[]rune("\u1100\u1161\u11a8\uac00\uac01\u1112\u1175\u11c2 \u3131"),
			[]rune("\u0915\u093c\u0958\u09c7\u09be\u09cb\u0dd9\u0dca\u0dcf \u0660\u06f1\u05d0\u05b7\u05bc\u304b\u3099\u30ab\uff76\uff9e"),
		}
		for range 20_000 {
			alphabet := alphabets[random.IntN(len(alphabets))]
			text := make([]rune, random.IntN(12))
			for i := range text {
				text[i] = alphabet[random.IntN(len(alphabet))]
			}
			if got, want := wordsOf(fold(string(text))), foldedByDefinition(string(text)); !slices.Equal(got, want) {
				t.Fatalf("%q: %q, want %q", string(text), got, want)
			}
		}
	})
	t.Run("pieces", func(t *testing.T) { // a character or a word across two pieces
		for _, word := range []string{"a", "\u00e9", "\uac00", "\u1100\u1161\u11a8", "\U0001d400"} {
			for shift := range 8 {
				long := strings.Repeat("x", shift) + strings.Repeat(word, 2*foldPiece/len(word))
				if got := wordsOf(fold(long)); !slices.Equal(got, foldedByDefinition(long)) {
					t.Errorf("%q shifted by %d: %d words", word, shift, len(got))
				}
			}
		}
	})
	t.Run("chunks", func(t *testing.T) { // white space ends one, another separator only a word
		f := fold("a-b\x08c\x0ed  e\tf\ng\vh\fi\rj\u00a0k ")
		var chunks []string
		for _, s := range f.chunks {
			chunks = append(chunks, string(f.runes[s.from:s.to]))
		}
		if got := strings.Join(chunks, " "); got != "abcd e f g h i j k" || strings.Join(wordsOf(f), " ") != "a b c d e f g h i j k" {
			t.Errorf("%q, words %q", got, wordsOf(f))
		}
	})
	t.Run("again", func(t *testing.T) { // nothing stays of the text before
		var f folder
		for _, text := range []string{"one two", "three e\u0301", "a\x80b"} { // a byte that is no character divides
			if err := f.fold(t.Context(), text); err != nil || !slices.Equal(wordsOf(f.folded), foldedByDefinition(text)) || len(f.chunks) != strings.Count(text, " ")+1 {
				t.Errorf("%q: %q, %v", text, wordsOf(f.folded), err)
			}
		}
	})
	t.Run("phrases", func(t *testing.T) {
		if got := string(fold("\ufdfa").runes); got != "\ufdfa" {
			t.Errorf("%q", got)
		}
	})
	t.Run("O01", func(t *testing.T) {
		t.Run("reject-when-ctx-ends", func(t *testing.T) {
			probes := 0
			ctx := &probed{t.Context(), func() error {
				if probes++; probes < 3 {
					return nil
				}
				return context.DeadlineExceeded
			}}
			if f, err := foldContext(ctx, strings.Repeat("a", 20*foldPiece)); !errors.Is(err, context.DeadlineExceeded) || probes != 3 {
				t.Errorf("%v after %d looks, %d characters", err, probes, len(f.runes))
			}
		})
	})
}

func TestFoldAllocations(t *testing.T) {
	t.Run("O01/accept-few-allocations", func(t *testing.T) {
		for _, text := range []string{"word", "\u00e9\uac00 \u3316\U0001d400", "\u0301"} {
			fold(text)
			small, large := testing.AllocsPerRun(5, func() { fold(strings.Repeat(text, 100)) }), testing.AllocsPerRun(5, func() { fold(strings.Repeat(text, 10_000)) })
			if large > small+100 {
				t.Errorf("%q: %v allocations, %v for a hundredth", text, large, small)
			}
		}
	})
}

// TestSipHash has three of the vectors of the reference implementation.
func TestSipHash(t *testing.T) {
	var key [16]byte
	for i := range key {
		key[i] = byte(i)
	}
	for words, want := range [...]uint64{0x726fdb47dd0e0e31, 0x93f5f5799a932462, 0x3f2acc7f57c29bdb} {
		h := newSipHash(key)
		for i := range words {
			h.write([...]uint64{0x0706050403020100, 0x0f0e0d0c0b0a0908}[i])
		}
		if got := h.sum(); got != want {
			t.Errorf("%d words: %x, want %x", words, got, want)
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
