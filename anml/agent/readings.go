package agent

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is read out of one text.
const (
	maxReadings  = 16 // texts, the text itself included
	readingDepth = 3  // encodings inside one another
	encodedLen   = 8  // characters of base64, base32 or hex, at least
)

// readings lists a text and what it means after decoding: percent, JSON, HTML and
// quoted-printable escapes, and base64, base32 and hex anywhere in it, also inside
// one another. A service can undo each of these, so a value hides in none of them.
// Ciphers and reversed texts are not read.
func readings(text string) []string {
	list := []string{text}
	for depth, from := 0, 0; depth < readingDepth && from < len(list); depth++ {
		to := len(list)
		for _, t := range list[from:to] {
			for _, decode := range decoders {
				got := decode(t)
				if got == "" || slices.Contains(list, got) {
					continue
				}
				if list = append(list, got); len(list) == maxReadings {
					return list
				}
			}
		}
		from = to
	}
	return list
}

// decoders each undo one kind of encoding. They return "" where there is none of it.
var decoders = [...]func(string) string{
	escaped('%', func(s string) (string, int) { return hexByte(s, 1) }),
	escaped('=', func(s string) (string, int) { return hexByte(s, 1) }),
	escaped('\\', backslashed),
	func(s string) string {
		if !strings.Contains(s, "&") {
			return ""
		}
		return html.UnescapeString(s)
	},
	runsOf(func(c byte) bool { return alphanumeric(c) || c == '+' || c == '/' }, shifted(4, base64.RawStdEncoding.DecodeString)),
	runsOf(func(c byte) bool { return alphanumeric(c) || c == '-' || c == '_' }, shifted(4, base64.RawURLEncoding.DecodeString)),
	runsOf(func(c byte) bool { return alphanumeric(c) }, func(s string) string {
		return shifted(8, base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString)(strings.ToUpper(s))
	}),
	runsOf(func(c byte) bool { return isHex(c) || c == ':' }, func(s string) string {
		return shifted(2, hex.DecodeString)(strings.ReplaceAll(s, ":", ""))
	}),
}

// escapeDecoders is how many of the decoders undo escapes of single characters.
const escapeDecoders = 4

func alphanumeric(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' }

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

// escaped undoes escapes that begin with a character. Read returns what an escape
// means and its length, 0 for none.
func escaped(mark byte, read func(string) (string, int)) func(string) string {
	return func(text string) string {
		if strings.IndexByte(text, mark) < 0 {
			return ""
		}
		var b strings.Builder
		for text != "" {
			i := strings.IndexByte(text, mark)
			if i < 0 {
				break
			}
			b.WriteString(text[:i])
			text = text[i:]
			meant, n := read(text)
			if n == 0 {
				meant, n = text[:1], 1
			}
			b.WriteString(meant)
			text = text[n:]
		}
		return b.String() + text
	}
}

// hexByte reads two hex digits after a number of characters.
func hexByte(s string, after int) (string, int) {
	if len(s) < after+2 {
		return "", 0
	}
	n, err := strconv.ParseUint(s[after:after+2], 16, 8)
	if err != nil {
		return "", 0
	}
	return string([]byte{byte(n)}), after + 2
}

// backslashed reads an escape of JSON and of programming languages.
func backslashed(s string) (string, int) {
	if len(s) < 2 {
		return "", 0
	}
	switch c := s[1]; c {
	case 'u':
		if len(s) < 6 {
			return "", 0
		}
		n, err := strconv.ParseUint(s[2:6], 16, 16)
		if err != nil {
			return "", 0
		}
		return string(rune(n)), 6
	case 'x':
		return hexByte(s, 2)
	case 'n', 'r', 't':
		return " ", 2
	default:
		return string(c), 2
	}
}

// runsOf decodes each long enough run of characters of an alphabet, and returns
// what was decoded.
func runsOf(in func(byte) bool, decode func(string) string) func(string) string {
	return func(text string) string {
		var found []string
		for i := 0; i < len(text); {
			if !in(text[i]) {
				i++
				continue
			}
			j := i
			for j < len(text) && in(text[j]) {
				j++
			}
			if j-i >= encodedLen {
				if got := decode(text[i:j]); got != "" {
					found = append(found, got)
				}
			}
			i = j
		}
		return strings.Join(found, " ")
	}
}

// shifted decodes a run from each of the places at which a group may begin, since
// other characters of the alphabet may stand before it.
func shifted(group int, decode func(string) ([]byte, error)) func(string) string {
	return func(run string) string {
		for from := range min(group, len(run)) {
			for cut := range group {
				if len(run)-from-cut < encodedLen {
					break
				}
				got, err := decode(run[from : len(run)-cut])
				if err == nil && printable(got) {
					return string(got)
				}
			}
		}
		return ""
	}
}

// printable reports whether bytes are a text, and not by chance.
func printable(data []byte) bool {
	if !utf8.Valid(data) {
		return false
	}
	for _, r := range string(data) {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return false
		}
	}
	return true
}
