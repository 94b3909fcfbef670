package agent

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// escapes undoes the escapes of single characters in URLs, programming languages,
// JSON, style sheets and HTML, whichever a text has.
func escapes(text string) string {
	if !strings.ContainsAny(text, `%\&+`) {
		return ""
	}
	text = undo(text, `%\`, func(s string) (string, int) {
		if s[0] == '%' {
			return percent(s)
		}
		return backslash(s)
	})
	return html.UnescapeString(text)
}

// quotedPrintable undoes the escapes of mails, which join lines too.
func quotedPrintable(text string) string {
	if !strings.Contains(text, "=") {
		return ""
	}
	return undo(text, "=", func(s string) (string, int) {
		for _, wrap := range [...]string{"=\r\n", "=\n"} {
			if strings.HasPrefix(s, wrap) {
				return "", len(wrap)
			}
		}
		return hexByte(s, 1)
	})
}

// undo replaces escapes that begin with one of some characters. Read returns what an
// escape means and its length, 0 for none. Bytes that are not UTF-8 count as Latin-1.
func undo(text, marks string, read func(string) (string, int)) string {
	var b strings.Builder
	for text != "" {
		i := strings.IndexAny(text, marks)
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
	return latin1(b.String() + text)
}

// latin1 is a text with each byte that is not UTF-8 as the Latin-1 character.
func latin1(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for text != "" {
		r, n := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && n == 1 {
			r = rune(text[0])
		}
		b.WriteRune(r)
		text = text[n:]
	}
	return b.String()
}

// percent reads an escape of a URL, %68 or %u0068.
func percent(s string) (string, int) {
	if len(s) > 1 && s[1]|0x20 == 'u' {
		return codePoint(s, 2, 4)
	}
	return hexByte(s, 1)
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

// codePoint reads a number of hex digits after a number of characters, and a second
// escape of the same form where the first is half of a surrogate pair.
func codePoint(s string, after, digits int) (string, int) {
	end := after + digits
	if len(s) < end {
		return "", 0
	}
	n, err := strconv.ParseUint(s[after:end], 16, 32)
	if err != nil {
		return "", 0
	}
	if utf16.IsSurrogate(rune(n)) && len(s) >= 2*end && s[end:end+after] == s[:after] {
		if low, err := strconv.ParseUint(s[end+after:2*end], 16, 32); err == nil {
			return string(utf16.DecodeRune(rune(n), rune(low))), 2 * end
		}
	}
	return string(rune(n)), end
}

// backslash reads an escape of JSON, programming languages and style sheets: \u0068,
// \U00000068, \u{68}, \x68, \x{68}, \N{U+68}, \150, \68 with a blank, and \h.
func backslash(s string) (string, int) {
	if len(s) < 2 {
		return "", 0
	}
	if end := strings.IndexByte(s[:min(len(s), maxEscape)], '}'); end > 3 && s[2] == '{' {
		if n, err := strconv.ParseUint(strings.TrimPrefix(s[3:end], "U+"), 16, 32); err == nil {
			return string(rune(n)), end + 1
		}
	}
	var meant string
	var n int
	switch c := s[1]; {
	case c == 'u':
		meant, n = codePoint(s, 2, 4)
	case c == 'U':
		meant, n = codePoint(s, 2, 8)
	case c == 'x':
		meant, n = hexByte(s, 2)
	case strings.IndexByte("nrtvf", c) >= 0:
		return " ", 2
	case '0' <= c && c <= '9' || 'a' <= c && c <= 'f':
		meant, n = numeric(s)
	}
	if n == 0 {
		return s[1:2], 2
	}
	return meant, n
}

// maxEscape is the length of the longest escape in braces.
const maxEscape = len(`\N{U+0010FFFF}`)

// numeric reads a backslash and digits: up to three octal ones, or as many hex ones as
// a style sheet has, which a blank may end.
func numeric(s string) (string, int) {
	octal, hex := 1, 1
	for octal < min(len(s), 4) && '0' <= s[octal] && s[octal] <= '7' {
		octal++
	}
	for hex < min(len(s), 7) && base16Digits[s[hex]] >= 0 {
		hex++
	}
	if octal == 4 && (hex == 4 || s[1] <= '3') {
		n, _ := strconv.ParseUint(s[1:octal], 8, 8)
		return string([]byte{byte(n)}), octal
	}
	n, err := strconv.ParseUint(s[1:hex], 16, 32)
	if err != nil || hex < 3 {
		return "", 0
	}
	if hex < len(s) && s[hex] == ' ' {
		return string(rune(n)), hex + 1
	}
	return string(rune(n)), hex
}

// punycode undoes the encoding of labels of domains.
func punycode(text string) string {
	const prefix = "xn--"
	lower := strings.ToLower(text)
	if !strings.Contains(lower, prefix) || len(lower) != len(text) {
		return ""
	}
	words := strings.FieldsFunc(lower, func(r rune) bool { return r < utf8.RuneSelf && r != '-' && base36Digits[byte(r)] < 0 })
	for i, word := range words {
		if len(word) <= maxLabel {
			words[i], _ = idna.Punycode.ToUnicode(word)
		}
	}
	return strings.Join(words, " ")
}

// maxLabel is how long a label of a domain is at most.
const maxLabel = 63
