package agentstxt

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// The grammar as this package reads sections 3, 4 and 6:
//
//	file      = [BOM] *( line EOL ) [ line ]
//	EOL       = LF / CRLF
//	line      = comment / blank / hash / directive
//	comment   = "#" *any
//	blank     = *WSP
//	hash      = "*" 64( DIGIT / "a"-"f" )
//	directive = path 1*WSP ( "ALLOW" / "DISALLOW" ) *( 1*WSP key "=" value ) *WSP
//	path      = "/" *( pchar / "/" / UTF8-non-ascii )
//	key       = ALPHA *( ALPHA / DIGIT / "-" / "_" / "." )
//	value     = *( pchar / "/" / "?" )

// Properties of a byte in a path.
const (
	notPath = 1 << iota // not allowed in a path
	highBit             // part of a character outside ASCII
)

var octets = func() (t [256]uint8) {
	for c := range t {
		switch b := byte(c); {
		case c >= utf8.RuneSelf:
			t[c] = highBit
		case domain.IsPathChar(b), b == '%':
		default:
			t[c] = notPath
		}
	}
	return t
}()

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlnum(c byte) bool { return isAlpha(c) || isDigit(c) }
func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// syntaxError says why a line is not a directive, and at which byte.
type syntaxError struct {
	at      int
	message string
	fix     string
	tooMany bool // a limit is exceeded
}

func syntax(at int, message, fix string) *syntaxError {
	return &syntaxError{at: at, message: message, fix: fix}
}

// parseDirective parses one line that begins with "/". The directive has no line number, and its
// parameters are in the memory of room.
func parseDirective(line string, maxParams int, room []Param) (d Directive, bad *syntaxError) {
	d.Params = room[:0]
	end := 0
	for end < len(line) && octets[line[end]]&notPath == 0 {
		end++
	}
	d.Path = line[:end]
	if end < len(line) && !isBlank(line[end]) {
		return d, badPathOctet(line[end], end)
	}
	if at := badPercent(d.Path); at >= 0 {
		return d, syntax(at, `"%" in the path is not followed by two hex digits`, `write "%25" for a percent sign`)
	}
	at, end := token(line, end)
	switch action := line[at:end]; {
	case action == "ALLOW":
		d.Action = Allow
	case action == "DISALLOW":
	case action == "":
		return d, syntax(at, "the path is not followed by an action", `add " ALLOW" or " DISALLOW"`)
	case strings.EqualFold(action, "ALLOW"), strings.EqualFold(action, "DISALLOW"):
		return d, syntax(at, "the action "+plaintext.Quote(action, 100)+" is not written in capitals", "write "+strings.ToUpper(action))
	default:
		return d, syntax(at, fmt.Sprintf("the action is %s, neither ALLOW nor DISALLOW", plaintext.Quote(action, maxQuoted)),
			"write ALLOW or DISALLOW")
	}
	for at, end = token(line, end); at < end; at, end = token(line, end) {
		param, bad := parseParam(line[at:end])
		if bad != nil {
			bad.at += at
			return d, bad
		}
		for _, other := range d.Params {
			if strings.EqualFold(param.Key, other.Key) {
				return d, syntax(at, "the parameter "+plaintext.Quote(other.Key, 100)+" is given twice", "keep one of them")
			}
		}
		if len(d.Params) == maxParams {
			return d, &syntaxError{at, fmt.Sprintf("the directive has more than %d parameters", maxParams), "use fewer parameters", true}
		}
		d.Params = append(d.Params, param)
	}
	return d, nil
}

// token returns the bounds of the next word of a line from a position on.
func token(line string, from int) (at, end int) {
	for at = from; at < len(line) && isBlank(line[at]); at++ {
	}
	for end = at; end < len(line) && !isBlank(line[end]); end++ {
	}
	return at, end
}

func badPathOctet(c byte, at int) *syntaxError {
	switch c {
	case '?':
		return syntax(at, "the path has a query", `end the path before "?": it matches all queries`)
	case '#':
		return syntax(at, `"#" is not allowed in a path`, "put the comment on a line of its own")
	case '\r':
		return syntax(at, "the line contains a carriage return", "end lines with LF or CRLF")
	case '\\':
		return syntax(at, "a backslash is not allowed in a path", `write "/" between segments; a line cannot be continued`)
	}
	return syntax(at, fmt.Sprintf("%s is not allowed in a path", plaintext.Quote(string(rune(c)), maxQuoted)), "percent-encode it")
}

// parseParam parses one key=value.
func parseParam(word string) (Param, *syntaxError) {
	key, value, found := strings.Cut(word, "=")
	switch {
	case word[0] == '#':
		return Param{}, syntax(0, "a comment must not follow a directive", "put the comment on a line of its own")
	case !found:
		return Param{}, syntax(0, fmt.Sprintf("the parameter %s is not of the form key=value", plaintext.Quote(word, maxQuoted)),
			`write key=value without blanks`)
	case key == "":
		return Param{}, syntax(0, `the parameter has no name before "="`, "write key=value without blanks")
	case !isAlpha(key[0]):
		return Param{}, syntax(0, "the parameter's name does not begin with a letter", "")
	}
	for i := range len(key) {
		if c := key[i]; !isKeyByte(c) {
			return Param{}, syntax(i, fmt.Sprintf("%s is not allowed in a parameter's name", plaintext.Quote(string(rune(c)), maxQuoted)),
				"use letters, digits, and - _ .")
		}
	}
	for i := range len(value) {
		if c := value[i]; octets[c] != 0 && c != '?' {
			return Param{}, syntax(len(key)+1+i, fmt.Sprintf("%s is not allowed in a parameter's value",
				plaintext.Quote(string(rune(c)), maxQuoted)), "percent-encode it")
		}
	}
	if at := badPercent(value); at >= 0 {
		return Param{}, syntax(len(key)+1+at, `"%" in the value is not followed by two hex digits`, `write "%25" for a percent sign`)
	}
	return Param{key, value}, nil
}

// isKeyByte reports whether a byte may be in the name of a parameter or of metadata.
func isKeyByte(c byte) bool { return isAlnum(c) || c == '-' || c == '_' || c == '.' }

// badPercent returns the index of the first "%" without two hex digits, or -1.
func badPercent(s string) int {
	for i := range len(s) {
		if _, ok := domain.Unescape(s, i); s[i] == '%' && !ok {
			return i
		}
	}
	return -1
}

// hashLine reads "*" and exactly 64 lower-case hex digits.
func hashLine(line []byte) (digest [32]byte, ok bool) {
	if len(line) != 1+2*len(digest) || line[0] != '*' {
		return digest, false
	}
	_, err := hex.Decode(digest[:], line[1:])
	return digest, err == nil && !bytes.ContainsAny(line, "ABCDEF")
}

// leadingHex returns the number of hex digits with which a text begins.
func leadingHex(text []byte) int {
	return len(text) - len(bytes.TrimLeft(text, "0123456789abcdefABCDEF"))
}

// metaComment reads "# key: value". A URL in a comment is not metadata.
func metaComment(line []byte) (key, value string, ok bool) {
	k, v, found := bytes.Cut(bytes.TrimLeft(line, "# \t"), []byte(":"))
	v = bytes.Trim(v, " \t")
	if !found || len(k) == 0 || len(k) > 64 || len(v) > 256 || bytes.HasPrefix(v, []byte("//")) || !isAlpha(k[0]) {
		return "", "", false
	}
	for _, c := range k {
		if !isKeyByte(c) {
			return "", "", false
		}
	}
	return strings.ToLower(string(k)), string(v), true
}
