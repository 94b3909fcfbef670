package strictjson

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Reason codes of this package.
const (
	CodeTooLarge      = "too-large"            // more bytes than Limits.Size
	CodeNotUTF8       = "not-utf8"             // invalid UTF-8, or another encoding
	CodeBOM           = "json-bom"             // a byte order mark before the text
	CodeSyntax        = "json-syntax"          // not the grammar of RFC 8259
	CodeTrailing      = "json-trailing-data"   // more text after the value
	CodeDuplicateName = "json-duplicate-name"  // two members of an object have the same name
	CodeSurrogate     = "json-lone-surrogate"  // an escape that is half a character
	CodeTooDeep       = "json-too-deep"        // more nesting than Limits.Depth
	CodeTooMany       = "json-too-many-values" // more values than Limits.Values
	CodeType          = "json-type"            // a value of another kind than expected
	CodeMissing       = "json-missing-member"  // an object without a member that it needs
	CodeNotInteger    = "json-not-integer"     // a number with a fraction where an integer is expected
	CodeOverflow      = "number-overflow"      // a number larger than any double
	CodePrecisionLoss = "precision-loss"       // a number with more digits than a double
)

// Error says why [Parse] refuses a text, or a method of [Value] a value.
type Error struct {
	Code    string // reason code, one of the constants of this package or the caller's own
	Message string // one sentence without a final stop; remote text in it is quoted
	Fix     string // what the author of the text can do, or ""
	Offset  int    // bytes before the position

	place Place  // of a refused text
	value *Value // a refused value, whose place is computed on demand
}

// Place returns line, column and JSON pointer. For a refused value it takes time in proportion to
// the values before it.
func (e *Error) Place() Place {
	if e.value == nil {
		return e.place
	}
	return e.value.Place()
}

// Error returns place, message, code and fix in one line.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (%s)", e.Place(), e.Message, e.Code)
	if e.Fix != "" {
		b.WriteString("; " + e.Fix)
	}
	return b.String()
}

// fail returns the error for an offset. The pointer is that of the value that is being scanned, or
// of its container.
func (p *parser) fail(code string, at int, message, fix string) *Error {
	if last := len(p.nodes) - 1; last >= 0 && p.nodes[last].next == 0 {
		return p.failNode(code, at, uint32(last), message, fix)
	}
	if len(p.open) > 0 {
		return p.failNode(code, at, p.open[len(p.open)-1], message, fix)
	}
	return p.failNode(code, at, 0, message, fix)
}

// failNode returns the error for an offset in a value.
func (p *parser) failNode(code string, at int, target uint32, message, fix string) *Error {
	place := Place{Offset: at, Pointer: pointerTo(p.data, p.nodes, target)}
	place.Line, place.Column = position(p.data, at)
	return &Error{Code: code, Message: message, Fix: fix, Offset: at, place: place}
}

// failSyntax returns the error for unexpected text at an offset.
func (p *parser) failSyntax(at int, expected, fix string) *Error {
	switch {
	case at == len(p.data) && p.started():
		return p.fail(CodeSyntax, at, "the text ends where "+expected+" is expected", "check that the text is complete")
	case at == len(p.data):
		return p.fail(CodeSyntax, at, "the text has no value", "write one value")
	case !p.isText(at):
		return p.failUTF8(at)
	}
	return p.fail(CodeSyntax, at, expected+" is expected, found "+p.found(at), fix)
}

// started reports whether the text is more than white space.
func (p *parser) started() bool { return p.space(0) < len(p.data) }

// failValue returns the error for text that is not a value.
func (p *parser) failValue(at int) *Error {
	fix := ""
	switch p.byteAt(at) {
	case ']', '}', ',':
		fix = "remove the trailing comma"
	case '\'':
		fix = "write strings in double quotes"
	case '/', '#':
		fix = "remove comments, which JSON does not have"
	case '+', '.':
		fix = "begin numbers with a digit or a minus sign"
	case 'N', 'I':
		fix = "omit numbers that are not finite"
	case 'T', 'F', 't', 'f', 'n':
		fix = "write true, false and null in lower case and in full"
	}
	return p.failSyntax(at, "a value", fix)
}

// failName returns the error for text that is not a member's name.
func (p *parser) failName(at int) *Error {
	fix := "write names in double quotes"
	if c := p.byteAt(at); c == '}' || c == ',' {
		fix = "remove the trailing comma"
	}
	return p.failSyntax(at, "a member's name", fix)
}

// isText reports whether valid UTF-8 is at an offset. NUL does not count, since it is a sign of
// UTF-16.
func (p *parser) isText(at int) bool {
	r, n := utf8.DecodeRune(p.data[at:])
	return r != 0 && (r != utf8.RuneError || n > 1)
}

func (p *parser) failUTF8(at int) *Error {
	return p.fail(CodeNotUTF8, at, "the text is not UTF-8, found "+p.found(at), "save the text as UTF-8")
}

// found describes the character at an offset for a message.
func (p *parser) found(at int) string {
	r, n := utf8.DecodeRune(p.data[at:])
	if r == 0 || r == utf8.RuneError && n <= 1 {
		return "byte 0x" + strconv.FormatUint(uint64(p.data[at]), 16)
	}
	return strconv.QuoteRune(r)
}

// maxQuote is the size limit of remote text in a message, in bytes.
const maxQuote = 64

// quote returns remote text for a message.
func quote(s string) string {
	if len(s) > maxQuote {
		return strconv.Quote(s[:maxQuote]) + "…"
	}
	return strconv.Quote(s)
}

// Place is a position in a text.
type Place struct {
	Line    int    // from 1
	Column  int    // from 1, in bytes
	Offset  int    // bytes before the position
	Pointer string // JSON pointer (RFC 6901), "" for the whole text; cut after 512 bytes, with "…"
}

// String returns line:column and, if there is one, the quoted pointer.
func (p Place) String() string {
	if p.Pointer == "" {
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	}
	return fmt.Sprintf("%d:%d %s", p.Line, p.Column, strconv.Quote(p.Pointer))
}

// position returns line and column of an offset. It reads all text before it.
func position(text []byte, offset int) (line, column int) {
	before := text[:offset]
	return 1 + bytes.Count(before, []byte{'\n'}), offset - bytes.LastIndexByte(before, '\n')
}

// lineIndex finds line and column of offsets without reading all text before each. An attacker's
// text can have many invalid values.
type lineIndex []lineMark

// lineMark is line and line start at the start of a block.
type lineMark struct{ line, lineStart int }

const lineBlock = 1 << 10 // bytes between marks

func newLineIndex(text string) lineIndex {
	index := make(lineIndex, 0, len(text)/lineBlock+1)
	mark := lineMark{line: 1}
	for start := 0; start <= len(text); start += lineBlock {
		index = append(index, mark)
		mark = mark.advance(text, start, min(start+lineBlock, len(text)))
	}
	return index
}

// advance counts the lines that begin between start and end.
func (m lineMark) advance(text string, start, end int) lineMark {
	m.line += strings.Count(text[start:end], "\n")
	if last := strings.LastIndexByte(text[start:end], '\n'); last >= 0 {
		m.lineStart = start + last + 1
	}
	return m
}

func (x lineIndex) position(text string, offset int) (line, column int) {
	block := offset / lineBlock
	mark := x[block].advance(text, block*lineBlock, offset)
	return mark.line, offset - mark.lineStart + 1
}

// maxPointer is the size limit of a pointer in bytes, since names can be long.
const maxPointer = 512

// pointerTo returns the pointer of a value. It works on a finished table and on one that is being
// built, in which the containers of the value have no next yet.
func pointerTo[T text](s T, nodes []node, target uint32) string {
	var pointer []byte
	for at := uint32(0); at != target; {
		child, index := at+1, 0
		for nodes[child].next != 0 && nodes[child].next <= target {
			child = nodes[child].next
			index++
		}
		if nodes[child].name != 0 {
			pointer = appendStep(pointer, nameText(s, nodes[child]))
		} else {
			pointer = appendStep(pointer, strconv.Itoa(index))
		}
		at = child
	}
	if len(pointer) > maxPointer {
		return strings.ToValidUTF8(string(pointer[:maxPointer]), "") + "…"
	}
	return string(pointer)
}

// appendStep appends one reference token, up to maxPointer.
func appendStep(pointer []byte, token string) []byte {
	if len(pointer) > maxPointer {
		return pointer
	}
	pointer = append(pointer, '/')
	for i := 0; i < len(token) && len(pointer) <= maxPointer; i++ {
		switch c := token[i]; c {
		case '~':
			pointer = append(pointer, "~0"...)
		case '/':
			pointer = append(pointer, "~1"...)
		default:
			pointer = append(pointer, c)
		}
	}
	return pointer
}
