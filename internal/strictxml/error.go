package strictxml

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The classes of errors, for errors.Is. Every [*Error] belongs to exactly one.
var (
	ErrSyntax   = errors.New("not well-formed XML")         // XML 1.0 or Namespaces in XML is violated
	ErrEncoding = errors.New("unusable encoding")           // the bytes are invalid in the encoding, or the encoding is not supported
	ErrLimit    = errors.New("a limit is exceeded")         // the document is larger than it may be
	ErrRead     = errors.New("the document cannot be read") // the reader failed; the error wraps the reader's error
)

// Reason codes of an [Error].
const (
	CodeSyntax             = "not-well-formed"      // any syntax error without a code of its own
	CodeBadChar            = "bad-character"        // a character that XML does not allow
	CodeBadName            = "bad-name"             // not a name, or not one that Namespaces in XML allow
	CodeUndefinedEntity    = "undefined-entity"     // an entity beyond the five predefined
	CodeDuplicateAttribute = "duplicate-attribute"  // twice by expanded name
	CodeNamespace          = "namespace"            // a prefix undeclared, reserved or badly bound
	CodeMismatch           = "mismatched-tag"       // an end tag without its start tag
	CodeUnclosed           = "unexpected-end"       // the document ends too early
	CodeTrailing           = "trailing-content"     // something after the root element
	CodeDeclaration        = "bad-xml-declaration"  // misplaced, malformed or not version 1.0
	CodeEncoding           = "encoding"             // bytes and labels contradict each other, or invalid bytes
	CodeUnsupported        = "unsupported-encoding" // not UTF-8, US-ASCII or UTF-16
	CodeLimit              = "limit"                // see Limits
	CodeRead               = "io"                   // the reader failed
)

// Error says why and where a document is refused.
type Error struct {
	Code    string // one of the constants
	Line    int    // from 1
	Column  int    // in bytes, from 1
	Offset  int    // bytes of the document before the position
	Path    string // open elements as written, such as /anml/interact/action
	Message string // one sentence without a final stop
	Fix     string // what the author can do, or ""

	at    int   // index in the window
	cause error // the reader's error
}

// Error returns position, message, code and fix in one line.
func (e *Error) Error() string {
	s := fmt.Sprintf("%d:%d: %s (%s)", e.Line, e.Column, e.Message, e.Code)
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}

// Unwrap returns the class of the error and the reader's error.
func (e *Error) Unwrap() []error {
	switch e.Code {
	case CodeEncoding, CodeUnsupported:
		return []error{ErrEncoding}
	case CodeLimit:
		return []error{ErrLimit}
	case CodeRead:
		return []error{ErrRead, e.cause}
	}
	return []error{ErrSyntax}
}

// bad returns an error at an index of the window.
func bad(at int, code, format string, args ...any) *Error {
	return &Error{at: at, Code: code, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) fix(hint string) *Error {
	e.Fix = hint
	return e
}

// place adds the position in the document to an error of the window.
func (s *Scanner) place(e *Error) *Error {
	lines, last := countLines(s.src[:e.at])
	if e.Offset = s.base + e.at; lines > 0 {
		e.Line, e.Column = s.lines+lines+1, e.at-last+1
	} else {
		e.Line, e.Column = s.lines+1, e.Offset-s.lineAt+1
	}
	var path strings.Builder
	for _, f := range s.open {
		path.WriteString("/" + f.raw)
	}
	e.Path = path.String()
	return e
}

// countLines returns the number of line ends (LF, CR LF or CR) and the index after the last one.
func countLines(text string) (n, last int) {
	n = strings.Count(text, "\n") + strings.Count(text, "\r") - strings.Count(text, "\r\n")
	return n, strings.LastIndexAny(text, "\r\n") + 1
}

// Lines finds line and column of offsets in a text.
type Lines struct{ starts []int32 }

// NewLines returns the Lines of a text, which it reads once.
func NewLines(text string) Lines {
	starts := []int32{0}
	for i := range len(text) {
		if text[i] == '\n' || text[i] == '\r' && !strings.HasPrefix(text[i+1:], "\n") {
			starts = append(starts, int32(i+1))
		}
	}
	return Lines{starts}
}

// At returns line and column, counted from 1 and in bytes, of an offset.
func (x Lines) At(offset int) (line, column int) {
	line, found := slices.BinarySearch(x.starts, int32(offset))
	if found {
		line++
	}
	return line, offset - int(x.starts[line-1]) + 1
}
