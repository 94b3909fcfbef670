package agent

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// folded is a text without what may differ between two spellings of the same
// thing: compatibility forms (NFKC), case, accents, the script of digits, white
// space, separators and characters that nobody sees. Its runes are letters, digits
// and the marks that a script cannot be read without.
type folded struct {
	runes  []rune
	words  []span // that stood between any two separators
	chunks []span // that stood between white space: one word or more
}

// span is a part of the runes of a folded text: from the first, before the second.
type span struct{ from, to int }

func (s span) len() int { return s.to - s.from }

func fold(text string) folded {
	if !isASCII(text) {
		text = cases.Fold().String(norm.NFKC.String(text))
		text = norm.NFKC.String(strings.Map(unadorned, norm.NFKD.String(text)))
	}
	f := folded{runes: make([]rune, 0, len(text))}
	word, chunk := 0, 0
	end := func(from *int, list *[]span) {
		if n := len(f.runes); n > *from {
			*list = append(*list, span{*from, n})
			*from = n
		}
	}
	for _, r := range text {
		switch {
		case 'A' <= r && r <= 'Z':
			f.runes = append(f.runes, r|0x20)
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			f.runes = append(f.runes, r)
		case unseen(r):
		case r >= utf8.RuneSelf && unicode.In(r, unicode.L, unicode.N, unicode.M):
			f.runes = append(f.runes, r)
		default:
			end(&word, &f.words)
			if unicode.IsSpace(r) {
				end(&chunk, &f.chunks)
			}
		}
	}
	end(&word, &f.words)
	end(&chunk, &f.chunks)
	return f
}

// unadorned is a digit as an ASCII digit, nothing in the place of an accent, which may
// stand on any letter and any digit, and any other character as it is.
func unadorned(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return r
	case unicode.Is(unicode.Inherited, r) && unicode.Is(unicode.M, r):
		return -1
	case unicode.Is(unicode.Nd, r):
		for _, tens := range unicode.Nd.R16 {
			if rune(tens.Lo) <= r && r <= rune(tens.Hi) { // of whole tens
				return '0' + (r-rune(tens.Lo))%10
			}
		}
		for _, tens := range unicode.Nd.R32 {
			if rune(tens.Lo) <= r && r <= rune(tens.Hi) {
				return '0' + (r-rune(tens.Lo))%10
			}
		}
	}
	return r
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// unseen are the characters that stand in the middle of a word without dividing it.
func unseen(r rune) bool {
	return r >= 0xAD && unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// whole is all of the text.
func (f *folded) whole() span { return span{0, len(f.runes)} }

// numbered yields the longest rows of words that all hold a digit or are a single
// character: an account number in groups is one thing, and so is a spelled name.
func (f *folded) numbered() (rows [][]span) {
	begin := 0
	for i := 0; i <= len(f.words); i++ {
		if i < len(f.words) && (f.words[i].len() == 1 || f.hasDigit(f.words[i])) {
			continue
		}
		if i > begin {
			rows = append(rows, f.words[begin:i])
		}
		begin = i + 1
	}
	return rows
}

func (f *folded) hasDigit(s span) bool {
	for _, r := range f.runes[s.from:s.to] {
		if unicode.IsDigit(r) {
			return true
		}
	}
	return false
}
