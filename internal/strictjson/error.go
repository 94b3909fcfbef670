package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lookleap/lookleap/internal/plaintext"
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
	cause error  // the error of a method UnmarshalJSON
}

// Place returns line, column and JSON pointer. For a refused value it takes time in proportion to
// the text before it.
func (e *Error) Place() Place {
	if e.value == nil {
		return e.place
	}
	return e.value.Place()
}

// Error returns place, message, code and fix in one line.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %s (%s)", e.Place(), e.Message, e.Code)
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// Unwrap returns the error of a method UnmarshalJSON that [Decode] called, or nil.
func (e *Error) Unwrap() error { return e.cause }

// Place is a position in a text. It can be converted to a lookleap.Position.
type Place struct {
	Line   int    // from 1
	Column int    // from 1, in bytes
	Offset int    // bytes before the position
	Path   string // JSON pointer (RFC 6901), "" for the whole text; cut after 512 bytes, with "…"
}

// String returns line:column and, if there is one, the quoted pointer.
func (p Place) String() string {
	if p.Path == "" {
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	}
	return fmt.Sprintf("%d:%d %s", p.Line, p.Column, strconv.Quote(p.Path))
}

// maxPointer is the size limit of a pointer in bytes, since names can be long.
const maxPointer = 512

func placeOf(text []byte, offset int, pointer jsontext.Pointer) Place {
	before := text[:offset]
	return Place{
		Line:   1 + bytes.Count(before, []byte{'\n'}),
		Column: offset - bytes.LastIndexByte(before, '\n'),
		Offset: offset,
		Path:   plaintext.Clip(string(pointer), maxPointer),
	}
}

// quote returns remote text for a message.
func quote(s string) string { return strconv.Quote(plaintext.Clip(s, 64)) }

func (p *parser) fail(code string, at int, pointer jsontext.Pointer, message, fix string) *Error {
	return &Error{Code: code, Message: message, Fix: fix, Offset: at, place: placeOf(p.data, at, pointer)}
}

// refuse returns the error for what jsontext refuses.
func (p *parser) refuse(err error) *Error {
	var e *jsontext.SyntacticError
	if !errors.As(err, &e) {
		return p.fail(CodeSyntax, len(p.data), "", "the text has no value", "write one value")
	}
	at := p.start + int(e.ByteOffset)
	code, message, fix := CodeSyntax, e.Err.Error(), ""
	switch rest := p.data[at:]; {
	case e.Err == jsontext.ErrDuplicateName:
		code, fix = CodeDuplicateName, "keep one of the members"
		message = "the object has two members with the name " + quote(e.JSONPointer.LastToken())
	case len(rest) > 0 && !isText(rest):
		code, message, fix = CodeNotUTF8, "the text is not UTF-8, found "+p.found(at), "save the text as UTF-8"
	case isSurrogate(rest):
		code, fix = CodeSurrogate, "write both surrogates, the high one first, or the character itself"
		message = "the escape " + quote(string(rest[:6])) + " is half a character"
	case errors.Is(err, io.ErrUnexpectedEOF) && bytes.HasPrefix(p.unread(), []byte{'"'}):
		at = len(p.data) - len(p.unread())
		message, fix = "the string is not closed", "end the string with a double quote"
	case errors.Is(err, io.ErrUnexpectedEOF):
		message, fix = "the text ends before its value does", "check that the text is complete"
	case rest[0] == '\\':
		message = "the string contains an unknown escape"
		fix = `escape with \" \\ \/ \b \f \n \r \t or \u and four hexadecimal digits`
	default:
		fix = p.fixFor(at)
	}
	return p.fail(code, at, e.JSONPointer, message, fix)
}

// unread returns the token after the last one that was read.
func (p *parser) unread() []byte { return bytes.TrimLeft(p.data[p.offset():], " \t\r\n,:") }

// fixFor returns the fix for a character that the grammar does not allow, or "".
func (p *parser) fixFor(at int) string {
	c := p.data[at]
	before := bytes.TrimRight(p.data[:at], " \t\r\n")
	switch starts := len(before) == 0 || bytes.ContainsAny(before[len(before)-1:], "[{,:"); {
	case c == ',':
		return "remove the comma"
	case c < ' ':
		return `write control characters as escapes such as \n`
	case '0' <= c && c <= '9' && at > 0 && p.data[at-1] == '0':
		return "remove leading zeros"
	case !starts:
		return ""
	case c == '+', c == '.':
		return "begin numbers with a digit or a minus sign"
	case c == '/', c == '#':
		return "remove comments, which JSON does not have"
	case c == 'N', c == 'I':
		return "omit numbers that are not finite"
	case c == '\'', c|0x20 >= 'a' && c|0x20 <= 'z':
		return "write names and strings in double quotes, and true, false and null in lower case"
	}
	return ""
}

// isText reports whether a text begins with valid UTF-8. NUL does not count, since it is a sign of
// UTF-16.
func isText(text []byte) bool {
	r, n := utf8.DecodeRune(text)
	return r != 0 && (r != utf8.RuneError || n > 1)
}

// isSurrogate reports whether a text begins with an escape that is half a character.
func isSurrogate(text []byte) bool {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return false
	}
	r, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return err == nil && utf16.IsSurrogate(rune(r))
}

// found describes the character at an offset for a message.
func (p *parser) found(at int) string {
	if !isText(p.data[at:]) {
		return "byte 0x" + strconv.FormatUint(uint64(p.data[at]), 16)
	}
	r, _ := utf8.DecodeRune(p.data[at:])
	return strconv.QuoteRune(r)
}
