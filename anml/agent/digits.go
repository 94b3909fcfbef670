package agent

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// digitValues are the values of the bytes that are digits of an encoding, and -1.
type digitValues [256]int8

var (
	base64Digits    = newDigits("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", "+-/_")
	base32Digits    = newDigits("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", lowerCase)
	base32HexDigits = newDigits("0123456789ABCDEFGHIJKLMNOPQRSTUV", lowerCase)
	base16Digits    = newDigits("0123456789ABCDEF", lowerCase)
	base36Digits    = newDigits("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", lowerCase)
	base2Digits     = newDigits("01", "")
)

// lowerCase are pairs of letters of which the second counts as the first.
const lowerCase = "AaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPpQqRrSsTtUuVvWwXxYyZz"

// newDigits returns the values of digits by their places, and of others that count as
// one of them, in pairs.
func newDigits(digits, pairs string) *digitValues {
	d := new(digitValues)
	for i := range d {
		d[i] = -1
	}
	for i := range len(digits) {
		d[digits[i]] = int8(i)
	}
	for i := 0; i < len(pairs); i += 2 {
		d[pairs[i+1]] = d[pairs[i]]
	}
	return d
}

const (
	wholeLen   = 4 // octets that all of a run means, at least
	stretchLen = 6 // characters in a row that a part of one means, at least
)

// digitRuns decodes each row of digits of some bits each. What stands between two of them
// is left out.
func digitRuns(digits *digitValues, bits int) func(string) string {
	return func(text string) string {
		var found []string
		for i := 0; i < len(text); {
			j := i
			for j < len(text) && digits[text[j]] >= 0 {
				j++
			}
			if (j-i)*bits >= 8*wholeLen {
				found = append(found, unpack(text[i:j], digits, bits)...)
			}
			i = j + 1
		}
		return strings.Join(found, " ")
	}
}

// digitsJoined decodes all digits of a text as one row: separators, prefixes as 0x and the
// ends of lines may stand anywhere in it.
func digitsJoined(digits *digitValues, bits int) func(string) string {
	return func(text string) string {
		if strings.ContainsAny(text, `0U+\`) {
			text = hexPrefixes.Replace(text)
		}
		row := make([]byte, 0, len(text))
		for i := range len(text) {
			if digits[text[i]] >= 0 {
				row = append(row, text[i])
			}
		}
		if len(row)*bits < 8*wholeLen {
			return ""
		}
		return strings.Join(unpack(string(row), digits, bits), " ")
	}
}

var hexPrefixes = strings.NewReplacer("0x", " ", "0X", " ", "0b", " ", `\x`, " ", "U+", " ", "u+", " ")

// unpack decodes a row of digits from each of the places at which an octet may begin,
// since other digits may stand before it, and lists what is text of it. If all of the
// row is, that is all.
func unpack(row string, digits *digitValues, bits int) (found []string) {
	data := make([]byte, 0, len(row)*bits/8)
	for from := range alignments(bits) {
		data = data[:0]
		var buffer, have uint
		for i := from; i < len(row); i++ {
			buffer, have = buffer<<bits|uint(digits[row[i]]), have+uint(bits)
			if have >= 8 {
				have -= 8
				data = append(data, byte(buffer>>have))
				buffer &= 1<<have - 1
			}
		}
		text, all := textOf(data)
		if all {
			return []string{text}
		}
		if text != "" {
			found = append(found, text)
		}
	}
	return found
}

// alignments is how many digits of some bits begin before a digit and an octet begin
// together again.
func alignments(bits int) int {
	n := 8
	for bits%2 == 0 {
		n, bits = n/2, bits/2
	}
	return n
}

// textOf is the text that octets mean, in UTF-8 or UTF-16, or the parts of them that
// are text, and whether all are.
func textOf(data []byte) (text string, all bool) {
	if len(data) < wholeLen {
		return "", false
	}
	narrow := strings.ReplaceAll(string(data), "\x00", "") // UTF-16 of ASCII too
	if narrow = strings.TrimRight(narrow, "\n"); len(narrow) >= wholeLen && printable(narrow) {
		return narrow, true
	}
	parts := stretches(nil, narrow)
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	if 2*size < len(narrow) {
		for first := range 2 { // the order of the octets, and where the first pair begins
			parts = stretches(parts, alphabetic(data, first))
		}
	}
	return strings.Join(parts, " "), false
}

// alphabetic reads big-endian UTF-16 from a place, without the characters beyond
// U+3000: any two octets may be one of those.
func alphabetic(data []byte, from int) string {
	row, longest := 0, 0
	for i := from; i+1 < len(data); i += 2 {
		if row++; data[i] >= 0x30 {
			row = 0
		}
		longest = max(longest, row)
	}
	if longest < stretchLen {
		return ""
	}
	units := make([]uint16, 0, len(data)/2)
	for i := from; i+1 < len(data); i += 2 {
		unit := uint16(data[i])<<8 | uint16(data[i+1])
		if unit >= 0x3000 {
			unit = 0
		}
		units = append(units, unit)
	}
	return string(utf16.Decode(units))
}

// stretches appends the long enough rows of printable characters of a text.
func stretches(list []string, text string) []string {
	begin, count := 0, 0
	for i := 0; i <= len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if size > 0 && (r != utf8.RuneError || size > 1) && shows(r) {
			count++
			i += size
			continue
		}
		if count >= stretchLen {
			list = append(list, text[begin:i])
		}
		i += max(size, 1)
		begin, count = i, 0
	}
	return list
}

// printable reports whether a text is one, and not by chance.
func printable(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !shows(r) }) < 0
}

func shows(r rune) bool {
	if r < utf8.RuneSelf {
		return ' ' <= r && r < 0x7F || '\t' <= r && r <= '\r'
	}
	return unicode.IsPrint(r) || unicode.IsSpace(r) || unseen(r)
}

// codeList decodes lists of the codes of characters in some base, as "104 97 121", and
// rows of digits of which a number each are one.
func codeList(base, width int) func(string) string {
	return func(text string) string {
		var parts []string
		var list strings.Builder
		end := func() {
			if utf8.RuneCountInString(list.String()) >= wholeLen {
				parts = append(parts, list.String())
			}
			list.Reset()
		}
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r >= utf8.RuneSelf || base36Digits[byte(r)] < 0 }) {
			code, err := strconv.ParseUint(strings.TrimLeft(word, "o"), base, 20)
			switch {
			case err == nil && code >= ' ' && shows(rune(code)):
				list.WriteRune(rune(code))
				continue
			case len(word) >= width*wholeLen:
				parts = append(parts, packedCodes(word, base, width)...)
			case len(word) <= maxCodeName && !strings.ContainsFunc(word, unicode.IsDigit):
				continue // as in chr(104)+chr(97)
			}
			end()
		}
		end()
		return strings.Join(parts, " ")
	}
}

// maxCodeName is how long the name of a function is at most that stands before each
// code of a list.
const maxCodeName = 4

// packedCodes decodes codes of a number of digits each, wherever the first begins.
func packedCodes(word string, base, width int) (parts []string) {
	for from := range width {
		var b strings.Builder
		for i := from; i+width <= len(word); i += width {
			code, err := strconv.ParseUint(word[i:i+width], base, 8)
			if err != nil {
				code = 0
			}
			b.WriteByte(byte(code))
		}
		parts = stretches(parts, b.String())
	}
	return parts
}
