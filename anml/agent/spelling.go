package agent

import (
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// spelling is what a character beyond ASCII becomes in a [folded] text.
type spelling struct {
	runes    []rune // of words, and ASCII characters that are not: a blank for white space, a hyphen for another separator
	same     bool   // the character itself, in the place of runes
	combines bool   // it may become one with a character before it
}

// The spellings of most letters: all are alike, so that they take no room each.
var (
	unchanged         = &spelling{same: true}
	unchangedCombines = &spelling{same: true, combines: true}
)

// spellingTable holds the spellings of the first planes of Unicode, which have all characters
// with more than one, by 256. Each is worked out when it is first needed, which takes
// longer than all the rest of folding.
var spellingTable [0x30000 >> 8]atomic.Pointer[[256]atomic.Pointer[spelling]]

// maxSpelling is how many characters one is spelled as at most. Two Arabic ligatures
// stand for a whole phrase, and stay what they are: three octets are not worth the
// work of eighteen letters.
const maxSpelling = 6

func spellingOf(r rune) *spelling {
	if int(r>>8) >= len(spellingTable) {
		return newSpelling(r)
	}
	block := spellingTable[r>>8].Load()
	if block == nil {
		spellingTable[r>>8].CompareAndSwap(nil, new([256]atomic.Pointer[spelling]))
		block = spellingTable[r>>8].Load()
	}
	s := block[r&0xFF].Load()
	if s == nil {
		s = newSpelling(r)
		block[r&0xFF].Store(s)
	}
	return s
}

func newSpelling(r rune) *spelling {
	text := string(r)
	if r < 0x30000 {
		text = cases.Fold().String(norm.NFKC.String(text))
		text = norm.NFKC.String(strings.Map(unadorned, norm.NFKD.String(text)))
	}
	if utf8.RuneCountInString(text) > maxSpelling {
		text = string(r)
	}
	s := new(spelling)
	for i, c := range text {
		switch {
		case unseen(c):
			continue
		case c < utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsDigit(c)), c >= utf8.RuneSelf && unicode.In(c, unicode.L, unicode.N, unicode.M):
			s.runes = append(s.runes, c)
		case unicode.IsSpace(c):
			s.runes = append(s.runes, ' ')
		default:
			s.runes = append(s.runes, '-')
		}
		s.combines = s.combines || !norm.NFKC.PropertiesString(text[i:]).BoundaryBefore()
	}
	if len(s.runes) == 1 && s.runes[0] == r {
		if s.combines {
			return unchangedCombines
		}
		return unchanged
	}
	return s
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
	if r < 0x34F || 0x350 <= r && r < 0x600 || 0x3165 <= r && r < 0xFE00 {
		return r == 0xAD
	}
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
