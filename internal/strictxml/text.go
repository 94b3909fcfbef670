package strictxml

import (
	"strings"
	"unicode/utf8"
)

const cdataStart = "<![CDATA["

// text scans character data from i to the next "<".
func (s *Scanner) text(i int) error {
	src := s.src
	j := skipSpace(src, i)
	plain := strings.IndexByte(src[i:j], '\r') < 0
	for {
		for j < len(src) && class[src[j]]&inText != 0 {
			j++
		}
		if j == len(src) {
			return &short{"the element " + s.open[len(s.open)-1].raw}
		}
		if src[j] == '<' {
			break
		}
		switch src[j] {
		case '&':
			plain = false
		case '\r':
			plain = false
		case ']':
			if strings.HasPrefix(src[j:], "]]>") {
				return bad(j, CodeSyntax, "text contains \"]]>\"").fix("write ]]&gt;")
			}
		case 0xEF:
			if isNonCharacter(src, j) {
				return badChar(src, j)
			}
		default:
			return badChar(src, j)
		}
		j++
	}
	if j-i > s.limits.Text {
		return bad(i, CodeLimit, "a text is longer than %d bytes", s.limits.Text)
	}
	text := src[i:j]
	if !plain {
		var err error
		if text, err = s.decode(i, j, false); err != nil {
			return err
		}
	}
	s.tok.Kind, s.tok.Text = Text, text
	s.pos = j
	return nil
}

// value scans an attribute value from i to its closing quote. It returns the normalised value and
// the index after the quote.
func (s *Scanner) value(i int, quote byte) (string, int, error) {
	src := s.src
	stop := uint8(inDouble)
	if quote == '\'' {
		stop = inSingle
	}
	plain := true
	j := i
	for {
		for j < len(src) && class[src[j]]&stop != 0 {
			j++
		}
		if j == len(src) {
			return "", 0, &short{"an attribute value"}
		}
		if src[j] == quote {
			break
		}
		switch src[j] {
		case '&', '\t', '\n', '\r':
			plain = false
		case '<':
			return "", 0, bad(j, CodeSyntax, "an attribute value contains \"<\"").fix("write &lt;")
		case 0xEF:
			if isNonCharacter(src, j) {
				return "", 0, badChar(src, j)
			}
		default:
			return "", 0, badChar(src, j)
		}
		j++
	}
	if j-i > s.limits.Value {
		return "", 0, bad(i, CodeLimit, "an attribute value is longer than %d bytes", s.limits.Value)
	}
	if plain {
		return src[i:j], j + 1, nil
	}
	v, err := s.decode(i, j, true)
	return v, j + 1, err
}

// decode resolves references and normalises line ends in src[i:j]. In an attribute value, literal
// white space becomes a space.
func (s *Scanner) decode(i, j int, attr bool) (string, error) {
	var b strings.Builder
	b.Grow(j - i)
	for k := i; k < j; {
		next := k
		for next < j && s.src[next] != '&' && s.src[next] != '\r' && (!attr || class[s.src[next]]&isSpace == 0) {
			next++
		}
		b.WriteString(s.src[k:next])
		if next == j {
			break
		}
		k = next + 1
		switch c := s.src[next]; {
		case c == '&':
			r, end, err := reference(s.src[:j], next)
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
			k = end
		case c == '\r' && k < j && s.src[k] == '\n': // the line feed follows
			if attr {
				b.WriteByte(' ')
				k++
			}
		case attr:
			b.WriteByte(' ')
		default:
			b.WriteByte('\n')
		}
	}
	return b.String(), nil
}

// predefined lists the entities that exist, the most frequent first.
var predefined = [...]struct {
	text string
	r    rune
}{{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}

// reference reads the entity or character reference at src[i], an ampersand.
func reference(src string, i int) (r rune, end int, err *fault) {
	for _, p := range predefined {
		if strings.HasPrefix(src[i:], p.text) {
			return p.r, i + len(p.text), nil
		}
	}
	semicolon := strings.IndexByte(src[i:], ';')
	if semicolon < 0 {
		return 0, 0, bad(i, CodeSyntax, "\"&\" does not begin a reference").fix("write &amp;")
	}
	end = i + semicolon + 1
	name := src[i+1 : end-1]
	if strings.HasPrefix(name, "#") {
		r, err = charRef(src, i, name[1:])
		return r, end, err
	}
	if !IsNCName(name) {
		return 0, 0, bad(i, CodeSyntax, "\"&\" does not begin a reference").fix("write &amp;")
	}
	if len(name) > 32 {
		name = "…"
	}
	return 0, 0, bad(i, CodeUndefinedEntity, "the entity &%s; is not one of the five predefined",
		name).fix("write the character itself or its number")
}

func charRef(src string, i int, digits string) (rune, *fault) {
	base := rune(10)
	if strings.HasPrefix(digits, "x") {
		base, digits = 16, digits[1:]
	}
	var r rune
	for k := range len(digits) {
		d := digit(digits[k])
		if d >= base {
			return 0, bad(i, CodeSyntax, "a character reference is malformed")
		}
		r = r*base + d
		if r > utf8.MaxRune {
			r = utf8.MaxRune + 1 // stays too large, whatever follows
		}
	}
	if digits == "" {
		return 0, bad(i, CodeSyntax, "a character reference is empty")
	}
	if !isChar(r) {
		return 0, bad(i, CodeBadChar, "a character reference names a character that XML does not allow")
	}
	return r, nil
}

func digit(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10
	}
	return 99
}

// IsNCName reports whether s is an XML name without a colon.
func IsNCName(s string) bool {
	for i, r := range s {
		switch {
		case r >= utf8.RuneSelf:
			if i == 0 && !isNameStartRune(r) || !isNameRune(r) {
				return false
			}
		case class[r]&isNameStart == 0 && (i == 0 || class[r]&isName == 0):
			return false
		}
	}
	return s != "" && utf8.ValidString(s)
}

// IsText reports whether XML allows every character of s.
func IsText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !isChar(r) })
}

// cdata scans a CDATA section at i.
func (s *Scanner) cdata(i int) error {
	from := i + len(cdataStart)
	length := strings.Index(s.src[from:], "]]>")
	if length < 0 {
		return &short{"a CDATA section"}
	}
	to := from + length
	if length > s.limits.Text {
		return bad(i, CodeLimit, "a CDATA section is longer than %d bytes", s.limits.Text)
	}
	if err := checkChars(s.src, from, to); err != nil {
		return err
	}
	s.tok.Kind, s.tok.Text = CData, normalizeLines(s.src[from:to])
	s.pos = to + len("]]>")
	return nil
}

// Classes of bytes. Bytes of a multi-byte character are plain except EF, which begins the two
// non-characters that XML excludes.
const (
	isSpace     = 1 << iota // XML white space
	isNameStart             // an ASCII character that starts an NCName
	isName                  // an ASCII character inside an NCName
	inText                  // plain in character data
	inDouble                // plain in a double-quoted value
	inSingle                // plain in a single-quoted value
	isBad                   // a control character that XML excludes
)

// class is made once from the grammar and never changed.
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

// isChar is Char: the characters that XML allows, literally or by reference.
func isChar(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' ||
		r >= 0x20 && r <= 0xD7FF ||
		r >= 0xE000 && r <= 0xFFFD ||
		r >= 0x10000 && r <= utf8.MaxRune
}

// isNonCharacter reports whether U+FFFE or U+FFFF is at src[i:].
func isNonCharacter(src string, i int) bool {
	return i+2 < len(src) && src[i] == 0xEF && src[i+1] == 0xBF && src[i+2] >= 0xBE
}

func badChar(src string, i int) *fault {
	r, _ := utf8.DecodeRuneInString(src[i:])
	return bad(i, CodeBadChar, "the character U+%04X is not allowed in XML", r).fix("remove it")
}

func skipSpace(src string, i int) int {
	for i < len(src) && class[src[i]]&isSpace != 0 {
		i++
	}
	return i
}

// checkChars refuses characters in src[from:to] that XML does not allow.
func checkChars(src string, from, to int) error {
	for i := from; i < to; i++ {
		c := src[i]
		if class[c]&isBad != 0 || c == 0xEF && isNonCharacter(src, i) {
			return badChar(src, i)
		}
	}
	return nil
}

// normalizeLines replaces every CR LF and every other CR by LF.
func normalizeLines(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
