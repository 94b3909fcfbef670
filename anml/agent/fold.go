package agent

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// folded is a text without the differences between two spellings of the same thing: compatibility
// forms (NFKC), case, accents, the script of digits, white space, separators and invisible
// characters. Its runes are letters, digits and the marks that a script needs.
type folded struct {
	runes  []rune
	words  []span // that stood between any two separators
	chunks []span // that stood between white space: one word or more
}

// span is a range of the runes of a folded text.
type span struct{ from, to int }

func (s span) len() int { return s.to - s.from }

// foldPiece is how many bytes are folded between two checks of the context.
const foldPiece = 64 << 10

// fold folds a text.
func fold(text string) folded {
	f, _ := foldContext(context.Background(), text) // which does not end
	return f
}

// foldContext folds a text until ctx ends.
func foldContext(ctx context.Context, text string) (folded, error) {
	var f folder
	err := f.fold(ctx, text)
	return f.folded, err
}

// folder folds a text in pieces. It folds each character by itself, and composes each word at its
// end.
type folder struct {
	folded
	word, chunk int  // where the present ones begin
	combines    bool // the word has a character that may become one with that before it
}

// fold replaces the folder's text, until ctx ends.
func (f *folder) fold(ctx context.Context, text string) error {
	*f = folder{folded: folded{runes: slices.Grow(f.runes[:0], len(text)), words: f.words[:0], chunks: f.chunks[:0]}}
	for len(text) > foldPiece {
		if err := ctx.Err(); err != nil {
			return err
		}
		cut := foldPiece
		for !utf8.RuneStart(text[cut]) && cut > foldPiece-utf8.UTFMax {
			cut--
		}
		f.write(text[:cut])
		text = text[cut:]
	}
	f.write(text)
	f.endChunk()
	return ctx.Err()
}

func (f *folder) write(text string) {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			f.add(rune(c))
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		s := spellingOf(r)
		f.combines = f.combines || s.combines
		if s.same {
			f.runes = append(f.runes, r)
			continue
		}
		for _, r := range s.runes {
			f.add(r)
		}
	}
}

// add adds an ASCII character, or another character of a word.
func (f *folder) add(r rune) {
	switch {
	case 'A' <= r && r <= 'Z':
		f.runes = append(f.runes, r|0x20)
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r >= utf8.RuneSelf:
		f.runes = append(f.runes, r)
	case r == ' ', '\t' <= r && r <= '\r':
		f.endChunk()
	default:
		f.endWord()
	}
}

func (f *folder) endWord() {
	if f.combines {
		composed := norm.NFKC.String(string(f.runes[f.word:]))
		f.runes = append(f.runes[:f.word], []rune(composed)...)
		f.combines = false
	}
	if n := len(f.runes); n > f.word {
		f.words = append(f.words, span{f.word, n})
		f.word = n
	}
}

func (f *folder) endChunk() {
	f.endWord()
	if n := len(f.runes); n > f.chunk {
		f.chunks = append(f.chunks, span{f.chunk, n})
		f.chunk = n
	}
}

// whole returns the span of the whole text.
func (f *folded) whole() span { return span{0, len(f.runes)} }

// numbered returns the longest rows of words that all have a digit or are a single character. An
// account number in groups is one thing, and so is a name that is spelled out.
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

// spelling is the folded form of a character beyond ASCII.
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

// spellingTable caches the spellings of the first planes of Unicode, in blocks of 256. Computing a
// spelling takes longer than all other steps of folding.
var spellingTable [0x30000 >> 8]atomic.Pointer[[256]atomic.Pointer[spelling]]

// maxSpelling is the largest number of characters in a spelling. Two Arabic ligatures stand for a
// whole phrase and are not replaced: three bytes must not cause the work of eighteen letters.
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
		case c < utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsDigit(c)),
			c >= utf8.RuneSelf && unicode.In(c, unicode.L, unicode.N, unicode.M):
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

// unadorned maps digits to ASCII digits, and removes accents, which can follow any letter or digit.
// It keeps other characters.
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

// unseen reports whether a character is invisible and does not divide a word.
func unseen(r rune) bool {
	if r < 0x34F || 0x350 <= r && r < 0x600 || 0x3165 <= r && r < 0xFE00 {
		return r == 0xAD
	}
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}
