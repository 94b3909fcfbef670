package agentstxt

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

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
	notPath   = 1 << iota // not allowed in a path
	percent               // begins a percent-encoding
	highBit               // part of a character outside ASCII
	stepOctet             // after a slash it makes an empty segment or begins with a dot
	slash                 // ends a segment
	wild                  // may be a wildcard
	semicolon             // begins a segment's parameters
)

var octets = func() (t [256]uint8) {
	for c := range t {
		switch b := byte(c); {
		case c >= utf8.RuneSelf:
			t[c] = highBit
		case b == '/':
			t[c] = slash | stepOctet
		case b == '.':
			t[c] = stepOctet
		case b == '%':
			t[c] = percent
		case b == '*', b == '$':
			t[c] = wild
		case b == ';':
			t[c] = semicolon
		case isAlnum(b), strings.IndexByte("-_~!&'()+,=:@", b) >= 0:
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

// survey returns the union of the properties of all bytes of s. steps is not zero if a
// slash is next to another slash or to a dot. It reads eight bytes at a time.
func survey[S []byte | string](s S) (all, steps uint8) {
	var sum, stepped, prev uint64
	for ; len(s) >= 8; s = s[8:] {
		bits := uint64(octets[s[0]]) | uint64(octets[s[1]])<<8 | uint64(octets[s[2]])<<16 | uint64(octets[s[3]])<<24 |
			uint64(octets[s[4]])<<32 | uint64(octets[s[5]])<<40 | uint64(octets[s[6]])<<48 | uint64(octets[s[7]])<<56
		sum |= bits
		stepped |= (bits<<8|prev)&(bits<<1) | (bits<<8|prev)<<1&bits
		prev = bits >> 56
	}
	for i := range len(s) {
		bits := uint64(octets[s[i]])
		sum |= bits
		stepped |= prev&(bits<<1) | prev<<1&bits
		prev = bits
	}
	for shift := 32; shift >= 8; shift /= 2 { // join the eight bytes of each word
		sum |= sum >> shift
		stepped |= stepped >> shift
	}
	return uint8(sum), uint8(stepped) & slash
}

// Properties of a directive line.
const (
	isAllow   = 1 << iota // ALLOW, not DISALLOW
	hasParams             // something follows the action
	isWild                // the path has a wildcard
	isNormal              // the path is in normal form as it stands
)

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

// directiveLine reads one line that begins with "/". It returns the length of the path
// and the properties of the line. Lines without parameters are recognised by their end.
func directiveLine(line []byte, maxParams int) (pathLen int, flags uint16, bad *syntaxError) {
	cut := len(line)
	if n := len(line) - len(" ALLOW"); n > 0 && string(line[n:]) == " ALLOW" {
		cut, flags = n, isAllow
	} else if n := len(line) - len(" DISALLOW"); n > 0 && string(line[n:]) == " DISALLOW" {
		cut = n
	}
	all, steps := survey(line[:cut])
	if cut == len(line) || all&notPath != 0 {
		cut, flags, bad = directiveWithParams(line, maxParams)
		if bad != nil {
			return 0, 0, bad
		}
		all, steps = survey(line[:cut])
	}
	if all&percent != 0 {
		if at := badPercent(line[:cut]); at >= 0 {
			return 0, 0, syntax(at, `"%" in the path is not followed by two hex digits`, `write "%25" for a percent sign`)
		}
	}
	if all&wild != 0 && hasWildcard(line[:cut]) {
		flags |= isWild
	}
	if all&(percent|highBit) == 0 && steps == 0 {
		flags |= isNormal
	}
	return cut, flags, nil
}

// directiveWithParams reads any directive token by token.
func directiveWithParams(line []byte, maxParams int) (pathLen int, flags uint16, bad *syntaxError) {
	for pathLen < len(line) && octets[line[pathLen]]&notPath == 0 {
		pathLen++
	}
	if pathLen < len(line) && !isBlank(line[pathLen]) {
		return 0, 0, badPathOctet(line[pathLen], pathLen)
	}
	at, end := token(line, pathLen)
	switch action := string(line[at:end]); {
	case action == "ALLOW":
		flags = isAllow
	case action == "DISALLOW":
	case action == "":
		return 0, 0, syntax(at, "the path is not followed by an action", `add " ALLOW" or " DISALLOW"`)
	case strings.EqualFold(action, "ALLOW"), strings.EqualFold(action, "DISALLOW"):
		return 0, 0, syntax(at, "the action "+plaintext.Quote(action, 100)+" is not written in capitals", "write "+strings.ToUpper(action))
	default:
		return 0, 0, syntax(at, fmt.Sprintf("the action is %s, neither ALLOW nor DISALLOW", plaintext.Quote(action, maxQuoted)),
			"write ALLOW or DISALLOW")
	}
	keys := make([][]byte, 0, 8)
	for at, end = token(line, end); at < end; at, end = token(line, end) {
		flags |= hasParams
		key, bad := paramToken(line[at:end])
		if bad != nil {
			bad.at += at
			return 0, 0, bad
		}
		for _, other := range keys {
			if bytes.EqualFold(key, other) {
				return 0, 0, syntax(at, "the parameter "+plaintext.Quote(string(other), 100)+" is given twice", "keep one of them")
			}
		}
		keys = append(keys, key)
		if len(keys) > maxParams {
			return 0, 0, &syntaxError{at, fmt.Sprintf("the directive has more than %d parameters", maxParams), "use fewer parameters", true}
		}
	}
	return pathLen, flags, nil
}

// token returns the bounds of the next word after from. If there is none, at equals end.
func token(line []byte, from int) (at, end int) {
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

// paramToken checks one key=value.
func paramToken(word []byte) (key []byte, bad *syntaxError) {
	eq := bytes.IndexByte(word, '=')
	switch {
	case word[0] == '#':
		return nil, syntax(0, "a comment must not follow a directive", "put the comment on a line of its own")
	case eq < 0:
		return nil, syntax(0, fmt.Sprintf("the parameter %s is not of the form key=value",
			plaintext.Quote(string(word), maxQuoted)), `write key=value without blanks`)
	case eq == 0:
		return nil, syntax(0, `the parameter has no name before "="`, "write key=value without blanks")
	case !isAlpha(word[0]):
		return nil, syntax(0, "the parameter's name does not begin with a letter", "")
	}
	for i, c := range word[:eq] {
		if !isAlnum(c) && c != '-' && c != '_' && c != '.' {
			return nil, syntax(i, fmt.Sprintf("%s is not allowed in a parameter's name",
				plaintext.Quote(string(rune(c)), maxQuoted)), "use letters, digits, and - _ .")
		}
	}
	value := word[eq+1:]
	for i, c := range value {
		if octets[c]&(notPath|highBit) != 0 && c != '?' {
			return nil, syntax(eq+1+i, fmt.Sprintf("%s is not allowed in a parameter's value",
				plaintext.Quote(string(rune(c)), maxQuoted)), "percent-encode it")
		}
	}
	if at := badPercent(value); at >= 0 {
		return nil, syntax(eq+1+at, `"%" in the value is not followed by two hex digits`, `write "%25" for a percent sign`)
	}
	return word[:eq], nil
}

// badPercent returns the index of the first "%" without two hex digits, or -1.
func badPercent[S []byte | string](s S) int {
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			continue
		}
		if i+2 >= len(s) || unhex(s[i+1]) < 0 || unhex(s[i+2]) < 0 {
			return i
		}
		i += 2
	}
	return -1
}

// hasWildcard reports whether a path, which is not empty, has a wildcard of RFC 9309: "*" or a
// final "$".
func hasWildcard[S []byte | string](path S) bool {
	if path[len(path)-1] == '$' {
		return true
	}
	for i := range len(path) {
		if path[i] == '*' {
			return true
		}
	}
	return false
}

// params returns the parameters of a directive line.
func params(line string, pathLen int) (all []Param) {
	words := strings.FieldsFunc(line[pathLen:], func(r rune) bool { return r == ' ' || r == '\t' })
	for _, word := range words[1:] { // the first one is the action
		key, value, _ := strings.Cut(word, "=")
		all = append(all, Param{key, value})
	}
	return all
}

// hashLine reads "*" and exactly 64 lower-case hex digits.
func hashLine(line []byte) (digest [32]byte, ok bool) {
	if len(line) != 1+2*len(digest) || line[0] != '*' {
		return digest, false
	}
	_, err := hex.Decode(digest[:], line[1:])
	return digest, err == nil && !bytes.ContainsAny(line, "ABCDEF")
}

func unhex(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// metaComment reads "# key: value". A URL in a comment is not metadata.
func metaComment(line []byte) (key, value string, ok bool) {
	k, v, found := bytes.Cut(bytes.TrimLeft(line, "# \t"), []byte(":"))
	v = bytes.Trim(v, " \t")
	if !found || len(k) == 0 || len(k) > 64 || len(v) > 256 || bytes.HasPrefix(v, []byte("//")) || !isAlpha(k[0]) {
		return "", "", false
	}
	for _, c := range k {
		if !isAlnum(c) && c != '-' && c != '_' && c != '.' {
			return "", "", false
		}
	}
	return strings.ToLower(string(k)), string(v), true
}
