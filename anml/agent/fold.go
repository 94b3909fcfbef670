package agent

import (
	"context"
	"slices"
	"unicode"
	"unicode/utf8"

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

// foldPiece is how much text is folded between two looks at a context.
const foldPiece = 64 << 10

// fold folds a text.
func fold(text string) folded {
	f, _ := foldContext(context.Background(), text) // which does not end
	return f
}

// foldContext folds a text until the end of ctx.
func foldContext(ctx context.Context, text string) (folded, error) {
	var f folder
	err := f.fold(ctx, text)
	return f.folded, err
}

// folder folds a text that comes in pieces. Each character is folded by itself, and
// each word is composed at its end.
type folder struct {
	folded
	word, chunk int  // where the present ones begin
	combines    bool // the word has a character that may become one with that before it
}

// fold replaces what the folder holds with a text, until the end of ctx.
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

// add adds an ASCII character, or another one that is part of a word.
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
