package strictxml

import (
	"strings"
	"unicode/utf8"
)

// Classes of octets. Octets of a multi-octet character are plain except EF,
// which starts the two non-characters that XML excludes.
const (
	isSpace     = 1 << iota // XML white space
	isNameStart             // an ASCII character that starts an NCName
	isName                  // an ASCII character inside an NCName
	inText                  // plain in character data
	inDouble                // plain in a double-quoted value
	inSingle                // plain in a single-quoted value
	isBad                   // a control character that XML excludes
)

// class is filled once from the grammar and never written again.
var class = classes()

func classes() (t [256]uint8) {
	for c := range t {
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' {
			t[c] |= isBad
			continue
		}
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
			t[c] |= isSpace
		}
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if letter {
			t[c] |= isNameStart | isName
		}
		if c >= '0' && c <= '9' || c == '-' || c == '.' {
			t[c] |= isName
		}
		if !strings.ContainsRune("<&]\r\xef", rune(c)) && c != 0xEF {
			t[c] |= inText
		}
		if c != '<' && c != '&' && c != '\t' && c != '\n' && c != '\r' && c != 0xEF {
			if c != '"' {
				t[c] |= inDouble
			}
			if c != '\'' {
				t[c] |= inSingle
			}
		}
	}
	return t
}

// isNameStartRune is NameStartChar without the colon, beyond ASCII.
func isNameStartRune(r rune) bool {
	switch {
	case r < 0xC0 || r == 0xD7 || r == 0xF7:
		return false
	case r <= 0x2FF:
		return true
	case r < 0x370 || r == 0x37E:
		return false
	case r <= 0x1FFF:
		return true
	case r == 0x200C || r == 0x200D:
		return true
	}
	return r >= 0x2070 && r <= 0x218F ||
		r >= 0x2C00 && r <= 0x2FEF ||
		r >= 0x3001 && r <= 0xD7FF ||
		r >= 0xF900 && r <= 0xFDCF ||
		r >= 0xFDF0 && r <= 0xFFFD ||
		r >= 0x10000 && r <= 0xEFFFF
}

// isNameRune is NameChar without the colon, beyond ASCII.
func isNameRune(r rune) bool {
	return isNameStartRune(r) || r == 0xB7 || r >= 0x300 && r <= 0x36F || r == 0x203F || r == 0x2040
}

// isChar is Char: what a document may hold, literally or by reference.
func isChar(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' ||
		r >= 0x20 && r <= 0xD7FF ||
		r >= 0xE000 && r <= 0xFFFD ||
		r >= 0x10000 && r <= utf8.MaxRune
}

// isNonCharacter reports whether U+FFFE or U+FFFF stands at src[i:].
func isNonCharacter(src string, i int) bool {
	return i+2 < len(src) && src[i] == 0xEF && src[i+1] == 0xBF && src[i+2] >= 0xBE
}

func badChar(src string, i int) *fault {
	r, _ := utf8.DecodeRuneInString(src[i:])
	return bad(i, CodeBadChar, "the character U+%04X cannot stand in XML", r).fix("remove it")
}

func skipSpace(src string, i int) int {
	for i < len(src) && class[src[i]]&isSpace != 0 {
		i++
	}
	return i
}

// checkChars refuses what XML excludes from src[from:to], which the scanner has
// found by its delimiter and not looked into.
func checkChars(src string, from, to int) error {
	for i := from; i < to; i++ {
		c := src[i]
		if class[c]&isBad != 0 || c == 0xEF && isNonCharacter(src, i) {
			return badChar(src, i)
		}
	}
	return nil
}

// normalizeLines makes every CR LF and every lone CR a LF.
func normalizeLines(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
