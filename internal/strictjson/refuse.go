package strictjson

import (
	"strconv"
	"unicode/utf8"
)

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
