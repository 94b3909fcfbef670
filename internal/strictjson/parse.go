package strictjson

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits bounds what [Parse] accepts. A zero field takes its default.
type Limits struct {
	Size    int  // bytes of the text; the default is 1 MiB, the maximum 2 GiB - 1
	Depth   int  // nested arrays and objects; the default is 32
	Values  int  // values including containers, without names; the default is Size/20
	SkipBOM bool // skip a byte order mark instead of refusing it
}

// Defaults of [Limits]. With them, refusing a text takes at most three times the size limit of
// memory, the text included.
const (
	DefaultSize   = 1 << 20
	DefaultDepth  = 32
	bytesPerValue = 20
)

func (l Limits) withDefaults() Limits {
	if l.Size <= 0 {
		l.Size = DefaultSize
	}
	l.Size = min(l.Size, math.MaxInt32)
	if l.Depth <= 0 {
		l.Depth = DefaultDepth
	}
	if l.Values <= 0 {
		l.Values = max(1, l.Size/bytesPerValue)
	}
	return l
}

// ParsePublished is [Parse] for a document that a site publishes: editors write a byte order mark, and
// browsers read such documents. It skips the mark, and reports it so that the publisher learns of it.
func ParsePublished(data []byte, limits Limits) (v Value, marked bool, err error) {
	limits.SkipBOM = true
	v, err = Parse(data, limits)
	return v, bytes.HasPrefix(data, []byte(bom)), err
}

// Parse parses one JSON text (RFC 8259). It returns an [*Error] for the first fault. It copies
// data, so the caller may reuse it.
func Parse(data []byte, limits Limits) (Value, error) {
	limits = limits.withDefaults()
	p := parser{data: data, limits: limits}
	if err := p.parse(); err != nil {
		return Value{}, err
	}
	return Value{doc: newDocument(string(data), p.nodes)}, nil
}

// node is one value of a text. The children of a container follow it, and next is the index of the
// sibling. The byte at start tells the kind.
type node struct {
	name  uint32 // of a member: offset of its name's opening quote, with flagEscaped
	start uint32 // offset of the value
	end   uint32 // offset after the value, with flagEscaped for a string with escapes
	next  uint32 // index of the node after this value and its content
}

// flagEscaped marks a string with escapes. Offsets need only 31 bits.
const flagEscaped = 1 << 31

const bom = "\xEF\xBB\xBF"

// parser scans one text in one pass, without recursion.
type parser struct {
	data   []byte
	limits Limits
	nodes  []node
	open   []uint32 // open containers, innermost last
	names  nameTable
}

func (p *parser) parse() error {
	if len(p.data) > p.limits.Size {
		return p.fail(CodeTooLarge, p.limits.Size, "the text is larger than its limit", "make the text smaller, or raise the limit")
	}
	at := 0
	if bytes.HasPrefix(p.data, []byte(bom)) {
		if !p.limits.SkipBOM {
			return p.fail(CodeBOM, 0, "a byte order mark precedes the text", "save the text as UTF-8 without a byte order mark")
		}
		at = len(bom)
	}
	p.nodes = make([]node, 0, p.mostValues())
	at, err := p.value(at)
	if err != nil {
		return err
	}
	if at < len(p.data) {
		return p.fail(CodeTrailing, at, "something follows the value: "+p.found(at), "write only one value")
	}
	return nil
}

// mostValues returns an upper bound for the number of values, so that the table is allocated once.
// Each value is the first of the text or follows one of these bytes.
func (p *parser) mostValues() int {
	most := 1
	for _, c := range []byte("[{,") {
		most += bytes.Count(p.data, []byte{c})
	}
	return min(most, p.limits.Values)
}

// value scans the value that begins at or after an offset, with all values in it. It returns the
// offset after it. It adds a node before it scans the text, so that errors have the pointer of the
// value.
func (p *parser) value(at int) (after int, err error) {
	var name uint32 // of the member whose value comes next
	for {
		at = p.space(at)
		if len(p.nodes) == p.limits.Values {
			return 0, p.fail(CodeTooMany, at, "the text has more values than its limit", "split the text, or raise the limit")
		}
		this := uint32(len(p.nodes))
		p.nodes = append(p.nodes, node{name: name, start: uint32(at)})
		name = 0
		switch c := p.byteAt(at); c {
		case '{', '[':
			if len(p.open) == p.limits.Depth {
				return 0, p.fail(CodeTooDeep, at, "the text is nested deeper than its limit", "make the text flatter, or raise the limit")
			}
			p.open = append(p.open, this)
			at = p.space(at + 1)
			if p.byteAt(at) == closing(c) {
				break
			}
			if c == '{' {
				if name, at, err = p.name(at); err != nil {
					return 0, err
				}
			}
			continue
		case '"':
			end, escaped, err := p.str(at)
			if err != nil {
				return 0, err
			}
			p.nodes[this].end, p.nodes[this].next = uint32(end)|escaped, this+1
			at = end
		default:
			end, err := p.scalar(at, c)
			if err != nil {
				return 0, err
			}
			p.nodes[this].end, p.nodes[this].next = uint32(end), this+1
			at = end
		}

		// Close every container that ends here. After the comma there is the next value
		// or its name.
		for at = p.space(at); len(p.open) > 0 && p.byteAt(at) == closing(p.opening()); at = p.space(at) {
			at++
			if err := p.close(at); err != nil {
				return 0, err
			}
		}
		if len(p.open) == 0 {
			return at, nil
		}
		if p.byteAt(at) != ',' {
			return 0, p.failSyntax(at, "a comma or "+string(closing(p.opening())), "")
		}
		at++
		if p.opening() == '{' {
			if name, at, err = p.name(p.space(at)); err != nil {
				return 0, err
			}
		}
	}
}

// byteAt returns the byte at an offset, and NUL, which the grammar does not contain, at the end.
func (p *parser) byteAt(at int) byte {
	if at < len(p.data) {
		return p.data[at]
	}
	return 0
}

// opening returns the byte that opened the innermost container.
func (p *parser) opening() byte { return p.data[p.nodes[p.open[len(p.open)-1]].start] }

// closing returns the closing byte for an opening one: in ASCII they are two apart.
func closing(opening byte) byte { return opening + 2 }

// close ends the innermost container.
func (p *parser) close(end int) error {
	top := p.open[len(p.open)-1]
	if p.opening() == '{' {
		if second := p.names.duplicate(p.data, p.nodes, top); second != 0 {
			n := p.nodes[second]
			return p.failNode(CodeDuplicateName, int(n.name&^flagEscaped), second,
				"the object has two members with the name "+quote(nameText(p.data, n)), "keep one of the members")
		}
	}
	p.open = p.open[:len(p.open)-1]
	p.nodes[top].end, p.nodes[top].next = uint32(end), uint32(len(p.nodes))
	return nil
}

// name scans a member's name and the colon after it.
func (p *parser) name(at int) (name uint32, after int, err error) {
	if p.byteAt(at) != '"' {
		return 0, 0, p.failName(at)
	}
	end, escaped, err := p.str(at)
	if err != nil {
		return 0, 0, err
	}
	after = p.space(end)
	if p.byteAt(after) != ':' {
		return 0, 0, p.failSyntax(after, "a colon after the member's name", "")
	}
	return uint32(at) | escaped, after + 1, nil
}

// space skips white space.
func (p *parser) space(at int) int {
	for at < len(p.data) && isSpace(p.data[at]) {
		at++
	}
	return at
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// str scans the string whose opening quote is at an offset. It returns the offset after the closing
// quote, and flagEscaped or 0.
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
			return 0, 0, p.fail(CodeSyntax, i, "the string contains a bare control character: "+p.found(i),
				`write control characters as escapes such as \n`)
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

// skipPlain skips ASCII except quotes, backslashes and control characters, eight bytes at a time. A
// borrow between bytes comes only from a byte that ends the run.
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

// escape checks the escape whose backslash is at an offset, and returns the offset after it. A
// surrogate is valid only with its other half.
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
				return 0, p.fail(CodeSurrogate, at, "the escape "+quote(string(p.data[at:at+6]))+" is half a character",
					"write both surrogates, the high one first, or the character itself")
			}
			return at + 12, nil
		}
	}
	return 0, p.fail(CodeSyntax, at, "the string contains an unknown escape",
		`escape with \" \\ \/ \b \f \n \r \t or \u and four hexadecimal digits`)
}

// hex parses the escape \uXXXX at an offset, if there is one.
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

// number scans a number. The caller checks what follows it.
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

// digits skips one or more digits.
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
