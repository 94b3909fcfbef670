package agent

import (
	"html"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Bounds of what is read out of one text.
const (
	readingDepth = 3  // nested encodings
	maxReadings  = 64 // including the text itself
	readingRoom  = 24 // bytes of all readings, for each byte of the text
)

// readings returns a text and its meanings after decoding, by each decoder and by several in a row.
// A service can undo each of these encodings, so no value can be hidden in one. The work grows
// linearly with the length of the text.
func readings(text string) []string { return decoded(text, nil) }

// readingsSent returns the readings of a text that is sent, including the text reversed and in
// ROT13. Told texts need neither: a service that told a value in such a form is found by the
// reversed or ROT13 form of the value that is sent.
func readingsSent(text string) []string { return decoded(text, ciphers[:]) }

func decoded(text string, ciphers []func(string) string) []string {
	list, plain := []string{text}, []bool{true} // plain: no cipher was undone
	room := readingRoom*len(text) + 1<<10
	for depth, from := 0, 0; depth < readingDepth && from < len(list); depth++ {
		to := len(list)
		for i := from; i < to; i++ {
			add := func(undo func(string) string, isPlain bool) {
				got := undo(list[i])
				if got == "" || len(list) == maxReadings || len(got) > room || slices.Contains(list, got) {
					return
				}
				list, plain = append(list, got), append(plain, isPlain)
				room -= len(got)
			}
			for _, undo := range decoders {
				add(undo, plain[i])
			}
			if plain[i] {
				for _, undo := range ciphers {
					add(undo, false)
				}
			}
		}
		from = to
	}
	return list
}

// decoders each undo one kind of encoding. They return "" if the text has no such encoding.
var decoders = [...]func(string) string{
	escapes,
	quotedPrintable,
	punycode,
	numberWords,
	hiddenDecoders[0], hiddenDecoders[1], hiddenDecoders[2], hiddenDecoders[3], hiddenDecoders[4],
	digitRuns(base64Digits, 6), digitsJoined(base64Digits, 6),
	digitRuns(base32Digits, 5), digitsJoined(base32Digits, 5),
	digitRuns(base32HexDigits, 5), digitsJoined(base32HexDigits, 5),
	digitRuns(base16Digits, 4), digitsJoined(base16Digits, 4),
	digitsJoined(base2Digits, 1),
	codeList(8, 3), codeList(10, 3),
}

// hiddenDecoders undo encodings in invisible characters.
var hiddenDecoders = [...]func(string) string{
	tags, invisible(tagText), invisible(selectorBytes), invisible(selectorNibbles), invisible(twoSymbols),
}

// ciphers undo encodings that apply to any text, so they return something for every text that is
// long enough.
var ciphers = [...]func(string) string{reversed, rot13}

func reversed(text string) string {
	runes := []rune(text)
	if len(runes) < rowLen {
		return ""
	}
	slices.Reverse(runes)
	return string(runes)
}

func rot13(text string) string {
	if len(text) < rowLen {
		return ""
	}
	return strings.Map(func(r rune) rune {
		switch letter := r | 0x20; {
		case 'a' <= letter && letter <= 'm':
			return r + 13
		case 'n' <= letter && letter <= 'z':
			return r - 13
		}
		return r
	}, text)
}

// escapes undoes the escapes of URLs, programming languages, JSON, style sheets and HTML.
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

// quotedPrintable undoes the escapes of mail, including those that join lines.
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

// undo replaces escapes that begin with one of some characters. Read returns the meaning of an
// escape and its length, or 0. Bytes that are not UTF-8 count as Latin-1.
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

// latin1 returns a text with each byte that is not UTF-8 replaced by its Latin-1 character.
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

// percent decodes an escape of a URL, %68 or %u0068.
func percent(s string) (string, int) {
	if len(s) > 1 && s[1]|0x20 == 'u' {
		return codePoint(s, 2, 4)
	}
	return hexByte(s, 1)
}

// hexByte decodes two hex digits after a number of characters.
func hexByte(s string, after int) (string, int) {
	if len(s) < after+2 {
		return "", 0
	}
	n, ok := number(s[after:after+2], 16, 8)
	if !ok {
		return "", 0
	}
	return string([]byte{byte(n)}), after + 2
}

// codePoint decodes some hex digits after a number of characters. If they are half of a surrogate
// pair, it also decodes the next escape of the same form.
func codePoint(s string, after, digits int) (string, int) {
	end := after + digits
	if len(s) < end {
		return "", 0
	}
	n, ok := number(s[after:end], 16, 32)
	if !ok {
		return "", 0
	}
	if utf16.IsSurrogate(rune(n)) && len(s) >= 2*end && s[end:end+after] == s[:after] {
		if low, ok := number(s[end+after:2*end], 16, 32); ok {
			return string(utf16.DecodeRune(rune(n), rune(low))), 2 * end
		}
	}
	return string(rune(n)), end
}

// backslash decodes an escape of JSON, programming languages and style sheets: \u0068, \U00000068,
// \u{68}, \x68, \x{68}, \N{U+68}, \150, \68 with a blank, and \h.
func backslash(s string) (string, int) {
	if len(s) < 2 {
		return "", 0
	}
	if end := strings.IndexByte(s[:min(len(s), maxEscape)], '}'); end > 3 && s[2] == '{' {
		if n, ok := number(strings.TrimPrefix(s[3:end], "U+"), 16, 32); ok {
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

// numeric decodes a backslash and digits: up to three octal digits, or up to six hex digits as in a
// style sheet, with an optional blank.
func numeric(s string) (string, int) {
	octal, hex := 1, 1
	for octal < min(len(s), 4) && '0' <= s[octal] && s[octal] <= '7' {
		octal++
	}
	for hex < min(len(s), 7) && base16Digits[s[hex]] >= 0 {
		hex++
	}
	if octal == 4 && (hex == 4 || s[1] <= '3') {
		n, _ := number(s[1:octal], 8, 8)
		return string([]byte{byte(n)}), octal
	}
	n, ok := number(s[1:hex], 16, 32)
	if !ok || hex < 3 {
		return "", 0
	}
	if hex < len(s) && s[hex] == ' ' {
		return string(rune(n)), hex + 1
	}
	return string(rune(n)), hex
}

// punycode decodes the labels of internationalised domain names.
func punycode(text string) string {
	const prefix = "xn--"
	if !strings.Contains(text, prefix[2:]) {
		return ""
	}
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

// maxLabel is the largest length of a label of a domain.
const maxLabel = 63

// tags returns a text with its tag characters as ASCII characters, and its flags as letters.
func tags(text string) string {
	if !strings.ContainsFunc(text, isTag) {
		return ""
	}
	return strings.Map(func(r rune) rune {
		switch {
		case !isTag(r):
			return r
		case r >= tagBase:
			return r - tagBase
		}
		return r - flagA + 'A'
	}, text)
}

const (
	tagBase = 0xE0000
	flagA   = '\U0001F1E6'
)

func isTag(r rune) bool { return tagBase+' ' <= r && r < tagBase+0x7F || flagA <= r && r <= flagA+25 }

// invisible decodes only the invisible characters of a text.
func invisible(decode func(hidden []rune) string) func(string) string {
	return func(text string) string {
		var hidden []rune
		for i, r := range text {
			if r >= utf8.RuneSelf && unseen(r) {
				if hidden == nil {
					hidden = make([]rune, 0, (len(text)-i)/2)
				}
				hidden = append(hidden, r)
			}
		}
		if len(hidden) < wholeLen {
			return ""
		}
		return decode(hidden)
	}
}

func tagText(hidden []rune) string {
	return tags(string(slices.DeleteFunc(hidden, func(r rune) bool { return !isTag(r) })))
}

// selectorBytes decodes each of the 256 variation selectors as a byte.
func selectorBytes(hidden []rune) string {
	var data []byte
	for _, r := range hidden {
		if n, ok := selector(r); ok {
			data = append(data, n)
		}
	}
	text, _ := textOf(data)
	return text
}

// selectorNibbles decodes the first sixteen variation selectors as hex digits.
func selectorNibbles(hidden []rune) string {
	var digits strings.Builder
	for _, r := range hidden {
		if n, ok := selector(r); ok && n < 16 {
			digits.WriteByte("0123456789ABCDEF"[n])
		}
	}
	return strings.Join(unpack(digits.String(), base16Digits, 4), " ")
}

func selector(r rune) (byte, bool) {
	switch {
	case 0xFE00 <= r && r <= 0xFE0F:
		return byte(r - 0xFE00), true
	case 0xE0100 <= r && r <= 0xE01EF:
		return byte(r - 0xE0100 + 16), true
	}
	return 0, false
}

// twoSymbols decodes the two most frequent invisible characters as bits.
func twoSymbols(hidden []rune) string {
	count := make(map[rune]int)
	for _, r := range hidden {
		count[r]++
	}
	var zero, one rune
	for _, r := range slices.Sorted(maps.Keys(count)) {
		switch n := count[r]; {
		case n > count[zero]:
			zero, one = r, zero
		case n > count[one]:
			one = r
		}
	}
	if count[one] == 0 {
		return ""
	}
	var parts []string
	for range 2 { // either may be the one
		var bits strings.Builder
		for _, r := range hidden {
			switch r {
			case zero:
				bits.WriteByte('0')
			case one:
				bits.WriteByte('1')
			}
		}
		parts = append(parts, unpack(bits.String(), base2Digits, 1)...)
		zero, one = one, zero
	}
	return strings.Join(parts, " ")
}

// hiddenLen is the number of invisible characters that is more than emoji, flags and scripts need.
const hiddenLen = 8

// hides reports whether a text may contain a hidden text, in any code. One or two invisible
// characters after a character beyond ASCII are normal, as in emoji and in Persian, and so are soft
// hyphens in long words.
func hides(text string) bool {
	var last rune // that is seen
	row, found := 0, 0
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf || !unseen(r):
			last, row = r, 0
			continue
		case r == '\u00ad' || unicode.Is(unicode.Bidi_Control, r) || last == '\U0001F3F4' && isTag(r) && row < hiddenLen:
			row++
			continue
		}
		row++
		if last < utf8.RuneSelf || row > 2 {
			found++
		}
	}
	return found >= hiddenLen
}
