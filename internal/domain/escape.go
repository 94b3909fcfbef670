package domain

// Unescape returns the byte of the percent-escape that begins at s[i]. ok is false if none begins there.
func Unescape[S []byte | string](s S, i int) (octet byte, ok bool) {
	if i < 0 || i >= len(s) || s[i] != '%' {
		return 0, false
	}
	return hexOctet(s, i+1)
}

// hexOctet reads two hex digits at s[i:].
func hexOctet[S []byte | string](s S, i int) (octet byte, ok bool) {
	if i+2 > len(s) {
		return 0, false
	}
	high, low := unhex(s[i]), unhex(s[i+1])
	return high<<4 | low&0xf, high < 16 && low < 16
}

// unhex returns the value of a hex digit, and 16 for another byte.
func unhex(c byte) byte {
	switch {
	case isDigit(c):
		return c - '0'
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 16
}

// AppendNormal appends the normal form of an escaped byte: the character itself if it is unreserved,
// and else its escape (RFC 3986, section 6.2.2).
func AppendNormal(dst []byte, octet byte) []byte {
	if isUnreserved(octet) {
		return append(dst, octet)
	}
	return AppendEscape(dst, octet)
}

// AppendEscape appends the escape of a byte.
func AppendEscape(dst []byte, octet byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(dst, '%', digits[octet>>4], digits[octet&0xf])
}

func isHexDigit(c byte) bool { return unhex(c) < 16 }

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isControl(c byte) bool { return c < 0x20 || c == 0x7f }

// Sets of ASCII characters, one bit each.
const (
	unreserved = (1<<26-1)<<'A' | (1<<26-1)<<'a' | (1<<10-1)<<'0' | 1<<'-' | 1<<'.' | 1<<'_' | 1<<'~'              // RFC 3986, section 2.3
	subDelims  = 1<<'!' | 1<<'$' | 1<<'&' | 1<<'\'' | 1<<'(' | 1<<')' | 1<<'*' | 1<<'+' | 1<<',' | 1<<';' | 1<<'=' // section 2.2
	pathChars  = unreserved | subDelims | 1<<':' | 1<<'@' | 1<<'/'                                                 // section 3.3, without escapes
	nameChars  = (1<<26-1)<<'a' | (1<<10-1)<<'0' | 1<<'-' | 1<<'.'                                                 // of a canonical host
	queryChars = pathChars | 1<<'?'                                                                                // sections 3.4 and 3.5
)

const low = 1<<64 - 1

func inSet(c byte, first, second uint64) bool {
	return uint64(1)<<c&first|uint64(1)<<(c-64)&second != 0
}

func isUnreserved(c byte) bool { return inSet(c, unreserved&low, unreserved>>64) }

// IsPathChar reports whether a byte may be in a path as it is (RFC 3986, section 3.3).
func IsPathChar(c byte) bool { return inSet(c, pathChars&low, pathChars>>64) }

func isQueryChar(c byte) bool { return inSet(c, queryChars&low, queryChars>>64) }

func isNameChar(c byte) bool { return inSet(c, nameChars&low, nameChars>>64) }
