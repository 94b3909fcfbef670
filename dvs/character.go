package dvs

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
)

// checkCharacters refuses what a header may not hold: octets that are no UTF-8,
// control characters other than TAB and line ends, a CR that ends no line, and
// the line separators that only some YAML readers take for one. What stands in
// the value of name or description is charged to that field.
func checkCharacters(text []byte, header span) *fault {
	for i := header.start; i < header.end; {
		c := text[i]
		if ' ' <= c && c < 0x7f || c == '\n' {
			i++
			continue
		}
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:header.end])
		}
		if f := refuseCharacter(text, i, r, size); f != nil {
			if f.code == codeBadFrontmatter && isControl(r) && r != '\r' && r != '\u0085' {
				f.code, f.requirement = chargedTo(text[header.start:i])
			}
			return f
		}
		i += size
	}
	return nil
}

func refuseCharacter(text []byte, at int, r rune, size int) *fault {
	switch {
	case r == utf8.RuneError && size == 1, r == 0:
		return notUTF8(at)
	case r == '\t', r == '\n':
	case r == '\r':
		if at+1 == len(text) || text[at+1] != '\n' {
			return badFrontmatter(at, "a carriage return stands alone, which some readers take for a line end", "end lines with LF or CR LF")
		}
	case r == '\u0085', r == '\u2028', r == '\u2029':
		return badFrontmatter(at, fmt.Sprintf("the character U+%04X is a line end for some readers of YAML and none for others", r), "remove the character")
	case isControl(r):
		return badFrontmatter(at, fmt.Sprintf("the metadata has the control character U+%04X", r), "remove the character")
	case r == '\ufeff':
		return badFrontmatter(at, "the metadata has a byte order mark inside", "remove the character U+FEFF")
	case r == '\ufffe', r == '\uffff':
		return badFrontmatter(at, fmt.Sprintf("U+%04X is no character", r), "remove it")
	}
	return nil
}

func notUTF8(at int) *fault {
	return &fault{code: lookleap.CodeNotUTF8, requirement: "DVS-4.2-02", at: at,
		message: "the octets are no UTF-8 text", fix: "save the file as UTF-8"}
}

// isControl reports whether a character is one of C0, DEL or C1.
func isControl(r rune) bool { return r < ' ' || 0x7f <= r && r <= 0x9f }

// chargedTo gives the code of the field in which a header's text ends.
func chargedTo(before []byte) (lookleap.Code, string) {
	for len(before) > 0 {
		line := before[bytes.LastIndexByte(before, '\n')+1:]
		switch key, _, _ := bytes.Cut(line, []byte{':'}); {
		case len(line) == 0 || line[0] == ' ':
		case string(key) == "description":
			return CodeBadDescription, "DVS-4.3-13"
		case string(key) == "name":
			return lookleap.CodeBadName, "DVS-4.3-06"
		default:
			return codeBadFrontmatter, "DVS-4.3-02"
		}
		before = bytes.TrimSuffix(before[:len(before)-len(line)], []byte{'\n'})
	}
	return codeBadFrontmatter, "DVS-4.3-02"
}

// isInvisible reports whether a reader sees nothing where the character stands,
// or something else moved: controls, marks of direction, zero-width and tag
// characters, variation selectors.
func isInvisible(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' ' && r != '\t' && r != '\n'
	case r <= 0x9f, 0xe0000 <= r && r <= 0xe007f, r == '\u2028', r == '\u2029', r == '\ufffc':
		return true
	case r < 0x300:
		return r == '\u00ad'
	case 0x3000 <= r && r <= 0xd7ff:
		return r == '\u3164' // the Hangul filler; the rest are letters of East Asia
	case r&0xfffe == 0xfffe, 0xfdd0 <= r && r <= 0xfdef:
		return true // no characters at all; YAML knows them only as escapes
	}
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// hidden counts the invisible characters of a text, and gives the offset of the
// first. What emoji and some scripts are written with is ordinary: one joiner or
// one choice of presentation behind a character that is seen. Nor count TAB and
// line ends.
func hidden[T string | []byte](text T) (count, first int) {
	const selector, joiner = 1, 2
	glue := 0 // what the last character was, if it joins
	seen := false
	first = -1
	for i := 0; i < len(text); {
		if c := text[i]; ' ' <= c && c <= '~' || c == '\n' { // nearly everything
			glue, seen = 0, c > ' '
			i++
			continue
		}
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
		}
		switch {
		case !isInvisible(r), r == '\r' && i+1 < len(text) && text[i+1] == '\n':
			glue, seen = 0, r > ' '
		case (r == '\ufe0e' || r == '\ufe0f') && seen && glue == 0:
			glue = selector
		case (r == '\u200c' || r == '\u200d') && seen && glue < joiner:
			glue = joiner
		default:
			if count++; first < 0 {
				first = i
			}
			glue, seen = 0, false
		}
		i += size
	}
	return count, first
}

// removeInvisible drops what isInvisible tells.
func removeInvisible(text string) string {
	if strings.IndexFunc(text, isInvisible) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, text)
}

// oneLine drops what nobody sees, and joins lines.
func oneLine(text string) string { return strings.Join(strings.Fields(removeInvisible(text)), " ") }
