package strictjson

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// str scans the string whose opening quote stands at an offset. It gives the
// offset after the closing quote, and flagEscaped or 0.
func (p *parser) str(at int) (end int, escaped uint32, err error) {
	i := at + 1
	for {
		i = skipPlain(p.data, i)
		if i == len(p.data) {
			return 0, 0, p.fail(CodeSyntax, at, "the string is not closed", "end the string with a double quote")
		}
		switch c := p.data[i]; {
		case c == '"':
			return i + 1, escaped, nil
		case c == '\\':
			if i, err = p.escape(i); err != nil {
				return 0, 0, err
			}
			escaped = flagEscaped
		case c < ' ':
			return 0, 0, p.fail(CodeSyntax, i, "the string contains a bare control character: "+p.found(i), `write control characters as escapes such as \n`)
		default:
			for i < len(p.data) && p.data[i] >= utf8.RuneSelf {
				r, n := utf8.DecodeRune(p.data[i:])
				if r == utf8.RuneError && n == 1 {
					return 0, 0, p.failUTF8(i)
				}
				i += n
			}
		}
	}
}

// skipPlain passes over ASCII that means itself inside a string: everything but
// quotes, backslashes and control characters. It looks at eight octets at a time;
// a borrow between octets can only come from one that ends the run anyway.
func skipPlain(data []byte, i int) int {
	const (
		ones = 0x0101010101010101
		high = 0x8080808080808080
	)
	for ; i+8 <= len(data); i += 8 {
		w := binary.LittleEndian.Uint64(data[i:])
		quote, backslash := w^ones*'"', w^ones*'\\'
		stop := (w | (w - ones*' ') | (quote-ones)&^quote | (backslash-ones)&^backslash) & high
		if stop != 0 {
			return i + bits.TrailingZeros64(stop)/8
		}
	}
	for i < len(data) {
		if c := data[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
		i++
	}
	return i
}

// escape checks the escape whose backslash stands at an offset, and gives the
// offset after it. An escaped surrogate counts with its other half only.
func (p *parser) escape(at int) (int, error) {
	if at+1 < len(p.data) {
		switch p.data[at+1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			return at + 2, nil
		case 'u':
			r, ok := p.hex(at)
			if !ok {
				break
			}
			if !utf16.IsSurrogate(r) {
				return at + 6, nil
			}
			if low, ok := p.hex(at + 6); !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
				return 0, p.fail(CodeSurrogate, at, "the escape "+quote(string(p.data[at:at+6]))+" is half a character", "write both surrogates, the high one first, or the character itself")
			}
			return at + 12, nil
		}
	}
	return 0, p.fail(CodeSyntax, at, "the string contains an unknown escape", `escape with \" \\ \/ \b \f \n \r \t or \u and four hexadecimal digits`)
}

// hex reads the escape \uXXXX at an offset, if there is one.
func (p *parser) hex(at int) (r rune, ok bool) {
	if at+6 > len(p.data) || p.data[at] != '\\' || p.data[at+1] != 'u' {
		return 0, false
	}
	for _, c := range p.data[at+2 : at+6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// scalar scans a number or literal that begins with c.
func (p *parser) scalar(at int, c byte) (end int, err error) {
	switch {
	case c == '-' || isDigit(c):
		return p.number(at)
	case c == 't' && p.has(at, "true"), c == 'n' && p.has(at, "null"):
		return at + 4, nil
	case c == 'f' && p.has(at, "false"):
		return at + 5, nil
	}
	return 0, p.failValue(at)
}

func (p *parser) has(at int, literal string) bool {
	return len(p.data)-at >= len(literal) && string(p.data[at:at+len(literal)]) == literal
}

// number scans a number. What may not follow it is left to whoever reads on.
func (p *parser) number(at int) (end int, err error) {
	i := at
	if p.data[i] == '-' {
		i++
	}
	if i < len(p.data) && p.data[i] == '0' {
		i++
		if i < len(p.data) && isDigit(p.data[i]) {
			return 0, p.fail(CodeSyntax, at, "the number begins with a zero", "remove leading zeros")
		}
	} else if i, err = p.digits(i); err != nil {
		return 0, err
	}
	if i < len(p.data) && p.data[i] == '.' {
		if i, err = p.digits(i + 1); err != nil {
			return 0, err
		}
	}
	if i < len(p.data) && p.data[i]|0x20 == 'e' {
		i++
		if i < len(p.data) && (p.data[i] == '+' || p.data[i] == '-') {
			i++
		}
		return p.digits(i)
	}
	return i, nil
}

// digits passes over one digit or more.
func (p *parser) digits(at int) (end int, err error) {
	end = at
	for end < len(p.data) && isDigit(p.data[end]) {
		end++
	}
	if end == at {
		return 0, p.failSyntax(at, "a digit of the number", "")
	}
	return end, nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
