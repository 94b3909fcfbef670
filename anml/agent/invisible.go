package agent

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tags reads a text with its tag characters as the ASCII characters that they repeat,
// and its flags as the letters that they are made of.
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

// invisible decodes the characters of a text that no one sees, without the others.
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

// selectorBytes reads each of the 256 variation selectors as an octet.
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

// selectorNibbles reads the first sixteen variation selectors as hex digits.
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

// twoSymbols reads the two most frequent invisible characters as bits.
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

// hiddenLen is how many characters that no one sees are more than an emoji, a flag or
// a script needs.
const hiddenLen = 8

// hides reports whether a text may hold another that no one sees, in whatever code.
// After a character beyond ASCII one or two may be part of how it is written, as in
// emoji and in Persian, and soft hyphens stand in long words.
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
		if row++; last < utf8.RuneSelf || row > 2 {
			found++
		}
	}
	return found >= hiddenLen
}
