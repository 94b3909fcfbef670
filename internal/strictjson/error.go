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
	CodeTooLarge      = "too-large"            // more octets than Limits.Size
	CodeNotUTF8       = "not-utf8"             // invalid UTF-8, or another encoding
	CodeBOM           = "json-bom"             // byte order mark before the text
	CodeSyntax        = "json-syntax"          // not the grammar of RFC 8259
	CodeTrailing      = "json-trailing-data"   // something follows the value
	CodeDuplicateName = "json-duplicate-name"  // two members of one object have one name
	CodeSurrogate     = "json-lone-surrogate"  // an escape that is half a character
	CodeTooDeep       = "json-too-deep"        // more nesting than Limits.Depth
	CodeTooMany       = "json-too-many-values" // more values than Limits.Values
	CodeType          = "json-type"            // a value of another kind than expected
	CodeMissing       = "json-missing-member"  // an object without a member that it needs
	CodeNotInteger    = "json-not-integer"     // a number with a fraction where an integer is expected
	CodeOverflow      = "number-overflow"      // a number that no double can hold
	CodePrecisionLoss = "precision-loss"       // a number that a double holds with other digits
)

// Error is a refusal: of a whole text by [Parse], or of one value by an accessor.
type Error struct {
	Code    string // reason code, one of the constants of this package or the caller's own
	Message string // one sentence without a final stop; remote text in it is quoted
	Fix     string // what the author of the text can do; may be empty
	Offset  int    // octets before the place

	place Place  // known for refused texts
	value *Value // refused value, whose place is worked out when somebody asks
}

// Place gives line, column and JSON pointer. For a refused value it is found on
// demand, which takes time in proportion to the values before it.
func (e *Error) Place() Place {
	if e.value == nil {
		return e.place
	}
	return e.value.Place()
}

// Error gives place, sentence, code and fix in one line.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s [%s]", e.Place(), e.Message, e.Code)
	if e.Fix != "" {
		b.WriteString("; " + e.Fix)
	}
	return b.String()
}

// fail refuses the text at an offset. The pointer leads to the value that is
// being scanned, or to the container between whose values the scan stands.
func (p *parser) fail(code string, at int, message, fix string) *Error {
	if last := len(p.nodes) - 1; last >= 0 && p.nodes[last].next == 0 {
		return p.failNode(code, at, uint32(last), message, fix)
	}
	if len(p.open) > 0 {
		return p.failNode(code, at, p.open[len(p.open)-1], message, fix)
	}
	return p.failNode(code, at, 0, message, fix)
}

// failNode refuses the text at an offset that belongs to a value.
func (p *parser) failNode(code string, at int, target uint32, message, fix string) *Error {
	place := Place{Offset: at, Pointer: pointerTo(p.data, p.nodes, target)}
	place.Line, place.Column = position(p.data, at)
	return &Error{Code: code, Message: message, Fix: fix, Offset: at, place: place}
}

// failSyntax refuses what stands at an offset instead of what is expected there.
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

// started reports whether there is any octet of a value, and not white space only.
func (p *parser) started() bool { return p.space(0) < len(p.data) }

// failValue refuses what stands where a value should.
func (p *parser) failValue(at int) *Error {
	fix := ""
	switch p.octet(at) {
	case ']', '}', ',':
		fix = "remove the comma that no value follows"
	case '\'':
		fix = "write strings in double quotes"
	case '/', '#':
		fix = "remove comments, which JSON does not have"
	case '+', '.':
		fix = "begin numbers with a digit or a minus sign"
	case 'N', 'I':
		fix = "leave out numbers that are not finite"
	case 'T', 'F', 't', 'f', 'n':
		fix = "write true, false and null in lower case and in full"
	}
	return p.failSyntax(at, "a value", fix)
}

// failName refuses what stands where a member's name should.
func (p *parser) failName(at int) *Error {
	fix := "write names in double quotes"
	if c := p.octet(at); c == '}' || c == ',' {
		fix = "remove the comma that no member follows"
	}
	return p.failSyntax(at, "a member's name", fix)
}

// isText reports whether UTF-8 text stands at an offset. NUL does not count: it
// is valid, but what it tells of is UTF-16.
func (p *parser) isText(at int) bool {
	r, n := utf8.DecodeRune(p.data[at:])
	return r != 0 && (r != utf8.RuneError || n > 1)
}

func (p *parser) failUTF8(at int) *Error {
	return p.fail(CodeNotUTF8, at, "the text is not UTF-8, found "+p.found(at), "save the text as UTF-8")
}

// found names what stands at an offset, in a form that is safe to show.
func (p *parser) found(at int) string {
	r, n := utf8.DecodeRune(p.data[at:])
	if r == 0 || r == utf8.RuneError && n <= 1 {
		return "octet 0x" + strconv.FormatUint(uint64(p.data[at]), 16)
	}
	return strconv.QuoteRune(r)
}

// maxQuote bounds the text of others in a message.
const maxQuote = 64

// quote makes text of others safe to show in a message.
func quote(s string) string {
	if len(s) > maxQuote {
		return strconv.Quote(s[:maxQuote]) + "…"
	}
	return strconv.Quote(s)
}

// Place says where something stands in a text.
type Place struct {
	Line    int    // from 1
	Column  int    // from 1, in octets
	Offset  int    // octets before the place
	Pointer string // JSON pointer (RFC 6901); "" is the whole text. Longer than 512 octets: cut, with "…"
}

// String gives line:column and the pointer, if there is one, quoted.
func (p Place) String() string {
	if p.Pointer == "" {
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	}
	return fmt.Sprintf("%d:%d %s", p.Line, p.Column, strconv.Quote(p.Pointer))
}

// position gives line and column of an offset by reading everything before it.
func position(text []byte, offset int) (line, column int) {
	before := text[:offset]
	return 1 + bytes.Count(before, []byte{'\n'}), offset - bytes.LastIndexByte(before, '\n')
}

// lineIndex finds line and column of any offset quickly, so that a hostile text
// with many faulty values does not cost a reading for each of them.
type lineIndex []lineMark

// lineMark is what holds at the start of a block.
type lineMark struct{ line, lineStart int }

const lineBlock = 1 << 10 // octets between marks

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

// maxPointer bounds pointers, since names are as long as their author likes.
const maxPointer = 512

// pointerTo leads from the root to a value. It works on a finished table and on
// one that is being built, where the containers of the value have no next yet.
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

// appendStep adds one reference token, up to the bound.
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
