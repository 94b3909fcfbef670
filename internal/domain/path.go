package domain

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// canonicalPath checks a path that begins at offset at of the input, and normalises its escapes
// (RFC 3986, section 6.2.2): unreserved characters are decoded, hex digits are upper case, raw
// non-ASCII characters become escapes. An unchanged path is returned as it is. With dots, the
// segments "." and ".." are allowed, for [Rules.Resolve] to remove.
func canonicalPath(path string, at int, dots bool) (string, error) {
	if err := checkSegments(path, at, dots); err != nil {
		return "", err
	}
	plain := 0
	for plain < len(path) && IsPathChar(path[plain]) {
		plain++
	}
	if plain == len(path) {
		return path, nil
	}
	out := append(make([]byte, 0, len(path)+16), path[:plain]...)
	for i := plain; i < len(path); {
		if path[i] == '%' {
			n, err := escapeLength(path, at, i)
			if err != nil {
				return "", err
			}
			for ; n > 0; n-- {
				octet, _ := Unescape(path, i)
				out = AppendNormal(out, octet)
				if endsInDigitOfEscape(out) {
					return "", fail(CodeAmbiguousPath, at+i, path[i:i+len("%XX")],
						"this escape is part of another escape once it is decoded", "write the character itself")
				}
				i += len("%XX")
			}
			continue
		}
		c, size := utf8.DecodeRuneInString(path[i:])
		if !allowedRaw(c, IsPathChar) {
			return "", rawError(path, at, i, size)
		}
		out = appendRaw(out, path[i:i+size])
		i += size
	}
	return join(path, string(out)), nil
}

// endsInDigitOfEscape reports whether the last character of a path, which was decoded, is a hex
// digit of an escape whose percent sign is escaped, once or more: "%25%32%65" would become "%252e",
// and "%25252%65" would become "%25252e", which are refused where they are written.
func endsInDigitOfEscape(path []byte) bool {
	rest := path[:len(path)-1]
	if !isHexDigit(path[len(rest)]) || len(rest) == 0 {
		return false
	}
	return endsInEscapedPercent(rest) || isHexDigit(rest[len(rest)-1]) && endsInEscapedPercent(rest[:len(rest)-1])
}

// endsInEscapedPercent reports whether a path ends in an escape of "%", or in one of such an escape.
func endsInEscapedPercent(path []byte) bool {
	return bytes.HasSuffix(path, []byte("25")) && bytes.HasSuffix(trimAll(path, "25"), []byte("%"))
}

func trimAll(path []byte, suffix string) []byte {
	for bytes.HasSuffix(path, []byte(suffix)) {
		path = path[:len(path)-len(suffix)]
	}
	return path
}

// CheckPath returns an [*Error] for an escaped path that servers read in different ways, or that has
// characters which a path of a URL has not. Offsets are those of the path.
func CheckPath(path string) error {
	_, err := canonicalPath(path, 0, false)
	return err
}

// EscapeText returns a text with its non-ASCII bytes percent-encoded.
func EscapeText(text string) string { return string(appendRaw(nil, text)) }

// NormalEscapes returns a text of well-formed escapes with those in upper case, and without those of
// unreserved characters (RFC 3986, section 6.2.2).
func NormalEscapes(text string) string {
	var out []byte
	for rest := text; rest != ""; {
		plain, _, _ := strings.Cut(rest, "%")
		out = append(out, plain...)
		if rest = rest[len(plain):]; rest != "" {
			octet, _ := Unescape(rest, 0)
			out = AppendNormal(out, octet)
			rest = rest[len("%XX"):]
		}
	}
	return string(out)
}

// checkSegments refuses empty inner segments and dot segments.
func checkSegments(path string, at int, dots bool) error {
	for i := 0; i < len(path); {
		if path[i] == '/' {
			if strings.HasPrefix(path[i:], "//") {
				return fail(CodeEmptySegment, at+i, "//", "some servers merge repeated slashes and others do not", `write a single "/"`)
			}
			i++
		}
		segment := path[i:]
		if end := strings.IndexByte(segment, '/'); end >= 0 {
			segment = segment[:end]
		}
		if isDotSegment(segment) && !(dots && (segment == "." || segment == "..")) {
			return fail(CodeDotSegment, at+i, segment, "readers differ in which path this segment leads to", "write the path without it")
		}
		i += len(segment)
	}
	return nil
}

// isDotSegment reports whether a server may take the segment for "." or "..": perhaps escaped,
// perhaps before a ";" parameter, which servlet containers cut off.
func isDotSegment(segment string) bool {
	rest := segment
	for range 2 {
		if tail, ok := cutDot(rest); ok {
			rest = tail
		}
	}
	if len(rest) == len(segment) {
		return false
	}
	return rest == "" || rest[0] == ';' || escapesSemicolon(rest)
}

// escapesSemicolon reports whether s begins with an escape of ";", or with an escape of one.
func escapesSemicolon(s string) bool {
	if _, ok := Unescape(s, 0); !ok {
		return false
	}
	octet, _ := decodeFully(s, 0)
	return octet == ';'
}

// cutDot removes a dot from the front of s, literal or as an escape.
func cutDot(s string) (rest string, ok bool) {
	switch {
	case strings.HasPrefix(s, "."):
		return s[1:], true
	case len(s) >= 3 && strings.EqualFold(s[:3], "%2e"):
		return s[3:], true
	}
	return s, false
}

// escapeLength checks the escape at path[i] and returns how many escapes in a row make up its
// character.
func escapeLength(path string, at, i int) (int, error) {
	if _, ok := Unescape(path, i); !ok {
		return 0, escapeError(path, at, i)
	}
	innermost, size := decodeFully(path, i)
	if innermost == '.' || innermost == '/' || innermost == '\\' || isControl(innermost) {
		return 0, fail(CodeAmbiguousPath, at+i, path[i:i+size],
			"servers differ in whether they decode this escape before they read the path", "use a path without it")
	}
	var char [utf8.UTFMax]byte
	n := 0
	for j := i; n < len(char) && j < len(path) && path[j] == '%'; j += len("%XX") {
		char[n], _ = Unescape(path, j) // 0 for what is not an escape: it ends no character
		n++
	}
	c, size := utf8.DecodeRune(char[:n])
	if c == utf8.RuneError && size <= 1 {
		return 0, fail(CodeAmbiguousPath, at+i, path[i:i+len("%XX")],
			"the escaped bytes are not UTF-8, and servers differ in what they make of them", "escape the UTF-8 form")
	}
	return size, nil
}

// decodeFully decodes the escape at s[i], which is well-formed, again and again ("%252e" is
// "%2e" is "."), and returns the byte in the end and the length of what was decoded.
func decodeFully(s string, i int) (octet byte, size int) {
	end := i + 1
	octet, _ = hexOctet(s, end)
	end += 2
	for octet == '%' {
		next, ok := hexOctet(s, end)
		if !ok {
			break
		}
		octet = next
		end += 2
	}
	return octet, end - i
}

// canonicalQuery checks a query or fragment. Its escapes stay as they are: they are the
// server's business. Raw non-ASCII becomes escapes.
func canonicalQuery(query string, at int) (string, error) {
	ascii := true
	for i, c := range query {
		switch {
		case c == '%':
			if _, ok := Unescape(query, i); !ok {
				return "", escapeError(query, at, i)
			}
		case !allowedRaw(c, isQueryChar):
			return "", rawError(query, at, i, utf8.RuneLen(c))
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	if ascii {
		return query, nil
	}
	return string(appendRaw(nil, query)), nil
}

// allowedRaw reports whether a character may stand unescaped in what is given to us: by RFC
// 3986, or as a visible one beyond ASCII.
func allowedRaw(c rune, allowed func(byte) bool) bool {
	if c < utf8.RuneSelf {
		return allowed(byte(c))
	}
	return unicode.IsPrint(c)
}

func rawError(s string, at, i, size int) error {
	return fail(CodeBadURL, at+i, s[i:i+size], "this character is not allowed in a URL", "percent-encode it")
}

func escapeError(s string, at, i int) error {
	return fail(CodeBadURL, at+i, s[i:min(len(s), i+len("%XX"))], `"%" without two hex digits`, `write "%25" for a percent sign`)
}

// appendRaw appends s with its non-ASCII bytes escaped.
func appendRaw(out []byte, s string) []byte {
	for i := range len(s) {
		if s[i] < utf8.RuneSelf {
			out = append(out, s[i])
		} else {
			out = AppendEscape(out, s[i])
		}
	}
	return out
}
