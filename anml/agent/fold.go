package agent

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/lookleap/lookleap/internal/confusable"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// folded is a text without the differences between two spellings of it: compatibility forms (NFKC),
// case, accents, digits of other scripts, invisible characters, separators, and letters that look
// alike.
type folded struct {
	text   string // letters and digits only
	tokens []span // parts of text that show where it came from, see [fold]
}

// span is a range of bytes of a folded text.
type span struct{ from, to int }

// tokenLen is the smallest number of characters of a token.
const tokenLen = 6

// fold folds a text and finds its tokens. A token has six characters or more, and is one of these:
//   - what stands between white space, quotation marks, brackets and the like: a word, a code, or
//     an address. The characters - _ . @ + and ' do not divide it;
//   - a number, also in groups that blanks or - _ . @ + ' divide.
func fold(text string) folded {
	if !isASCII(text) {
		text = norm.NFKC.String(strings.Map(unadorned, norm.NFKD.String(text)))
		text = norm.NFKC.String(cases.Fold().String(text))
	}
	f := folder{out: make([]byte, 0, len(text))}
	for _, r := range text {
		switch {
		case '0' <= r && r <= '9':
			f.digit(byte(r))
		case 'a' <= r && r <= 'z':
			f.letter(r)
		case 'A' <= r && r <= 'Z':
			f.letter(r | 0x20)
		case r == ' ':
			f.endChunk()
		case strings.ContainsRune("-_.@+'", r), r < ' ' && r != '\t' && r != '\n' && r != '\r':
		case r < utf8.RuneSelf, !unicode.In(r, unicode.L, unicode.N, unicode.M) && !unseen(r):
			f.endNumber()
			f.endChunk()
		case !unseen(r):
			f.letter(r)
		}
	}
	f.endNumber()
	f.endChunk()
	return folded{string(f.out), f.tokens}
}

// folder builds a folded text.
type folder struct {
	out     []byte
	tokens  []span
	pending []byte // letters and digits that are not in out yet
	chunk   mark   // begin of the present chunk
	number  mark   // begin of the present number
}

// mark is the begin of a possible token in the folded text, and how many characters it has.
type mark struct{ at, characters int }

func (f *folder) letter(r rune) {
	f.endNumber()
	f.pending = utf8.AppendRune(f.pending, r)
	f.chunk.characters++
}

func (f *folder) digit(c byte) {
	if f.number.characters == 0 {
		f.flush()
		f.number.at = len(f.out)
	}
	f.pending = append(f.pending, c)
	f.chunk.characters++
	f.number.characters++
}

func (f *folder) endNumber() { f.end(&f.number) }
func (f *folder) endChunk()  { f.end(&f.chunk) }

// end ends a possible token. The next one begins here.
func (f *folder) end(m *mark) {
	if m.characters > 0 {
		f.flush()
		token := span{m.at, len(f.out)}
		if m.characters >= tokenLen && (len(f.tokens) == 0 || f.tokens[len(f.tokens)-1] != token) {
			f.tokens = append(f.tokens, token)
		}
	}
	*m = mark{at: len(f.out)}
}

// flush adds the pending characters to the text, with one letter for all that look like it.
func (f *folder) flush() {
	if len(f.pending) > 0 {
		f.out = append(f.out, strings.ToLower(confusable.Skeleton(string(f.pending)))...)
		f.pending = f.pending[:0]
	}
}

// readings returns a text and what it means after one round of the standard decodings: percent,
// base64 and hex. A text without such an encoding has one reading. The work is linear.
func readings(text string) []string {
	list := []string{text}
	for _, decoded := range [...]string{
		strings.ToValidUTF8(escape().ReplaceAllStringFunc(text, func(s string) string {
			data, _ := hex.DecodeString(s[1:])
			return string(data)
		}), " "),
		decodedParts(text, "+/", base64.RawStdEncoding.DecodeString),
		decodedParts(text, "-_", base64.RawURLEncoding.DecodeString),
		decodedParts(text, "", hex.DecodeString),
	} {
		if decoded != "" && decoded != text {
			list = append(list, decoded)
		}
	}
	return list
}

var escape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("%[[:xdigit:]]{2}") })

// encodedLen is the smallest number of characters that are decoded.
const encodedLen = 6

// decodedParts decodes each run of letters, digits and some other characters that is an encoded
// text. It returns their meanings, divided by blanks.
func decodedParts(text, others string, decode func(string) ([]byte, error)) string {
	var parts []string
	for run := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r >= utf8.RuneSelf || !isLetter(byte(r)) && (r < '0' || r > '9') && strings.IndexByte(others, byte(r)) < 0
	}) {
		if len(run) < encodedLen {
			continue
		}
		if data, err := decode(run); err == nil && isText(data) {
			parts = append(parts, string(data))
		}
	}
	return strings.Join(parts, " ")
}

// isText reports whether bytes are a text: UTF-8 without control characters.
func isText(data []byte) bool {
	return utf8.Valid(data) && !strings.ContainsFunc(string(data), func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r'
	})
}

// unadorned maps digits to ASCII digits, and removes accents, which can follow any letter or digit.
// It keeps other characters. Digits stand in rows of ten in Unicode.
func unadorned(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
	case unicode.Is(unicode.Inherited, r) && unicode.Is(unicode.M, r):
		return -1
	case unicode.Is(unicode.Nd, r):
		digit := '0'
		for digit < '9' && unicode.Is(unicode.Nd, r-1) {
			r, digit = r-1, digit+1
		}
		return digit
	}
	return r
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// unseen reports whether a character is invisible and does not divide a word.
func unseen(r rune) bool { return r >= 0xAD && !unicode.IsSpace(r) && plaintext.Invisible(r) }
