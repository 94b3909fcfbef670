package strictxml

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// start reads the first window and the XML declaration, and chooses the encoding.
func (s *Scanner) start() *Error {
	s.fill(0)
	s.state = inProlog
	s.prolog.BOM, s.prolog.UTF16 = s.mark == "utf-8" || s.utf16 != nil, s.utf16 != nil
	if s.mark == "utf-8" {
		s.pos = len("\uFEFF")
	}
	rest, found := strings.CutPrefix(s.src[s.pos:], "<?xml")
	if found && skipSpace(rest, 0) > 0 {
		at := s.pos
		piece, e := s.construct()
		if e != nil {
			return e
		}
		m := xmlDeclaration().FindStringSubmatch(piece)
		switch {
		case m == nil:
			return bad(at, CodeDeclaration, "the XML declaration is malformed").fix(`start with <?xml version="1.0" encoding="UTF-8"?>`)
		case strings.Trim(m[1], `"'`) != "1.0":
			return bad(at, CodeDeclaration, "the document is not XML 1.0").fix(`write version="1.0"`)
		}
		s.prolog.Declared, s.prolog.Encoding = true, strings.Trim(m[2], `"'`)
		s.pos += len(piece)
	}
	if e := s.setEncoding(); e != nil {
		return e
	}
	if s.end != nil && s.end.Code == CodeEncoding {
		return s.end // of a document in memory, this comes before a syntax error
	}
	return nil
}

// xmlDeclaration matches an XML declaration, with version and encoding in their quotes.
var xmlDeclaration = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^<\?xml\s+version\s*=\s*("[^"]*"|'[^']*')` +
		`(?:\s+encoding\s*=\s*("[A-Za-z][\w.\-]*"|'[A-Za-z][\w.\-]*'))?` +
		`(?:\s+standalone\s*=\s*(?:"(?:yes|no)"|'(?:yes|no)'))?\s*\?>$`)
})

func (s *Scanner) procInst(at int, piece string) *Error {
	content := piece[len("<?") : len(piece)-len("?>")]
	target := content
	if i := strings.IndexAny(content, space); i >= 0 {
		target = content[:i]
	}
	switch {
	case strings.EqualFold(target, "xml"):
		return bad(at, CodeDeclaration, "an XML declaration is not at the start of the document, or not in lower case")
	case !IsNCName(target):
		return bad(at+len("<?"), CodeBadName, "the target of a processing instruction is not a name without a colon")
	}
	s.tok.Kind = ProcInst
	return nil
}

// doctype reads a document type declaration, of which nothing is used.
func (s *Scanner) doctype(at int) *Error {
	if s.state != inProlog {
		return bad(at, CodeSyntax, "a document type declaration follows the start of the root element")
	}
	if s.typed {
		return bad(at, CodeSyntax, "there are two document type declarations")
	}
	s.typed, s.tok.Kind = true, Doctype
	return nil
}

// text reads character data.
func (s *Scanner) text(at int, piece string) (e *Error) {
	if s.state != inRoot {
		return s.stray(at, piece)
	}
	if i := strings.Index(piece, "]]>"); i >= 0 {
		return bad(at+i, CodeSyntax, "text contains \"]]>\"").fix("write ]]&gt;")
	}
	s.tok.Kind = Text
	s.tok.Text, e = unescape(at, piece, normalizeLines)
	return e
}

// stray refuses text outside the root element, unless it is white space.
func (s *Scanner) stray(at int, text string) *Error {
	at += skipSpace(text, 0)
	switch {
	case strings.Trim(text, space) == "":
		return nil
	case s.state == inEpilog:
		return bad(at, CodeTrailing, "text follows the root element")
	}
	return bad(at, CodeSyntax, "text precedes the root element")
}

var (
	lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")
	blanks   = strings.NewReplacer("\r\n", " ", "\r", " ", "\n", " ", "\t", " ")
)

// normalizeValue replaces every line end and tab in an attribute value by a space.
func normalizeValue(s string) string {
	for i := range len(s) {
		if s[i] < ' ' {
			return blanks.Replace(s)
		}
	}
	return s
}

// normalizeLines replaces every CR LF and every other CR by LF.
func normalizeLines(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return lineEnds.Replace(s)
}

// unescape resolves the references in a text, which is at an index of the window, and normalises
// what is between them.
func unescape(at int, text string, normalize func(string) string) (string, *Error) {
	if strings.IndexByte(text, '&') < 0 {
		return normalize(text), nil
	}
	var b strings.Builder
	for {
		n := strings.IndexByte(text, '&')
		if n < 0 {
			b.WriteString(normalize(text))
			return b.String(), nil
		}
		b.WriteString(normalize(text[:n]))
		r, length, e := reference(at+n, text[n:])
		if e != nil {
			return "", e
		}
		b.WriteRune(r)
		at, text = at+n+length, text[n+length:]
	}
}

var predefined = map[string]rune{"amp": '&', "lt": '<', "gt": '>', "quot": '"', "apos": '\''}

// reference reads the entity or character reference at the start of a text, an ampersand.
func reference(at int, text string) (r rune, length int, e *Error) {
	semicolon := strings.IndexByte(text, ';')
	name := text[1:max(semicolon, 1)]
	if number, ok := strings.CutPrefix(name, "#"); ok {
		base := 10
		if strings.HasPrefix(number, "x") {
			base, number = 16, number[1:]
		}
		n, err := strconv.ParseUint(number, base, 31)
		switch {
		case errors.Is(err, strconv.ErrSyntax):
			return 0, 0, bad(at, CodeSyntax, "a character reference is malformed")
		case err != nil || !isChar(rune(n)):
			return 0, 0, bad(at, CodeBadChar, "a character reference names a character that XML does not allow")
		}
		return rune(n), semicolon + 1, nil
	}
	if r, ok := predefined[name]; ok {
		return r, semicolon + 1, nil
	}
	if !IsNCName(name) {
		return 0, 0, bad(at, CodeSyntax, "\"&\" does not begin a reference").fix("write &amp;")
	}
	if len(name) > 32 {
		name = "…"
	}
	return 0, 0, bad(at, CodeUndefinedEntity, "the entity &%s; is not one of the five predefined",
		name).fix("write the character itself or its number")
}

// nameEnd returns the index after the name at text[i:], which may be invalid.
func nameEnd(text string, i int) int {
	for ; i < len(text); i++ {
		switch text[i] {
		case ' ', '\t', '\r', '\n', '/', '>', '=':
			return i
		}
	}
	return i
}

// qname splits a name with at most one colon.
func qname(at int, name, what string) (prefix, local string, e *Error) {
	prefix, local, colon := strings.Cut(name, ":")
	if !colon {
		prefix, local = "", name
	}
	switch {
	case len(name) > maxName:
		return "", "", bad(at, CodeLimit, "%s is longer than %d bytes", what, maxName)
	case colon && !IsNCName(prefix) || !IsNCName(local):
		return "", "", bad(at, CodeBadName, "%s is missing or invalid: %q", what, name)
	}
	return prefix, local, nil
}

// IsNCName reports whether s is an XML name without a colon.
func IsNCName(s string) bool {
	for i, r := range s {
		if !isNameStart(r) && (i == 0 || !isName(r)) || r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return false
		}
	}
	return s != ""
}

// IsText reports whether XML allows every character of s.
func IsText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !isChar(r) })
}

// isNameStart is NameStartChar without the colon.
func isNameStart(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
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
	return r >= 0x2070 && r <= 0x218F || r >= 0x2C00 && r <= 0x2FEF || r >= 0x3001 && r <= 0xD7FF ||
		r >= 0xF900 && r <= 0xFDCF || r >= 0xFDF0 && r <= 0xFFFD || r >= 0x10000 && r <= 0xEFFFF
}

// isName is the part of NameChar beyond isNameStart.
func isName(r rune) bool {
	return r >= '0' && r <= '9' || r == '-' || r == '.' || r == 0xB7 || r >= 0x300 && r <= 0x36F || r == 0x203F || r == 0x2040
}

// isChar is Char: the characters that XML allows, literally or by reference.
func isChar(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' ||
		r >= 0x20 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000 && r <= utf8.MaxRune
}

func skipSpace(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}
