package injection

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lookleap/lookleap/internal/plaintext"
	"golang.org/x/text/unicode/norm"
)

// Fold returns the form in which a text is compared: compatibility forms and
// look-alikes as plain letters, lower case, without marks and without anything
// invisible. Letters that were spelled with tag characters come to light.
func Fold(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r >= 0xE0020 && r <= 0xE007E:
			return r - 0xE0000
		case r == '’' || r == '`' || r == '´': // before it is decomposed into a blank and a mark
			return '\''
		case r == '\n' || r == '\t':
			return r
		case Invisible(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	text = strings.Map(func(r rune) rune {
		switch r = unicode.ToLower(r); {
		case unicode.Is(unicode.Mn, r):
			return -1
		case r == 'ß':
			return 's'
		case r == 'ı':
			return 'i'
		case r == 'ø':
			return 'o'
		case r == 'ł':
			return 'l'
		case r == 'đ':
			return 'd'
		}
		return r
	}, norm.NFKD.String(text))
	return contractions.Replace(mapWords(norm.NFC.String(text), unicode.IsLetter, unmix))
}

// contractions are written out, so that patterns have one spelling.
var contractions = strings.NewReplacer("don't", "do not", "mustn't", "must not", "shouldn't", "should not", "doesn't", "does not", "'", " ")

// Invisible reports characters that show nothing, or change how others show.
func Invisible(r rune) bool {
	if r < 0x80 {
		return r < ' ' || r == 0x7F
	}
	return plaintext.Invisible(r) || unicode.In(r, unicode.Co, unicode.Cs) || r == 0x2800 || r == utf8.RuneError
}

// mapWords applies a function to each run of characters of which part holds.
func mapWords(text string, part func(rune) bool, f func(string) string) string {
	var b strings.Builder
	start := -1
	for i, r := range text {
		switch {
		case !part(r):
			if start >= 0 {
				b.WriteString(f(text[start:i]))
				start = -1
			}
			b.WriteRune(r)
		case start < 0:
			start = i
		}
	}
	if start >= 0 {
		b.WriteString(f(text[start:]))
	}
	return b.String()
}

// Letters of other alphabets that look like Latin ones, above what they look like.
const (
	alike      = "аеорсухіјѕһԁɡԛԝкмнтвгпαοερικνυτωχγ"
	alikeLatin = "aeopcyxijshdgqwkmhtbrnaoepiknutwxy"
)

// unmix turns a word of two alphabets into one of one: into the Latin word that
// it looks like, or the Cyrillic one where it has letters that look like none.
func unmix(word string) string {
	latin, other := false, false
	for _, r := range word {
		latin = latin || r >= 'a' && r <= 'z'
		other = other || unicode.Is(unicode.Cyrillic, r) && !strings.ContainsRune(alike, r)
	}
	switch {
	case !latin:
		return word
	case other:
		return replace(word, alikeLatin, alike)
	}
	return replace(word, alike, alikeLatin)
}

// replace puts the characters of one alphabet in the place of another's.
func replace(word, from, to string) string {
	target := []rune(to)
	return strings.Map(func(r rune) rune {
		if i := strings.IndexRune(from, r); i >= 0 {
			return target[utf8.RuneCountInString(from[:i])]
		}
		return r
	}, word)
}
