package strictxml

import (
	"errors"
	"fmt"
)

// The classes of failure, for errors.Is. Every [*Error] is of exactly one.
var (
	ErrSyntax   = errors.New("not well-formed XML")         // XML 1.0 or Namespaces in XML is violated
	ErrEncoding = errors.New("unusable encoding")           // the octets are no text that is read here
	ErrLimit    = errors.New("a limit is exceeded")         // the document is larger than it may be
	ErrRead     = errors.New("the document cannot be read") // the reader failed; its error is wrapped too
)

// Reason codes of an [Error].
const (
	CodeSyntax             = "not-well-formed"      // any fault without a code of its own
	CodeBadChar            = "bad-character"        // a character that XML cannot hold
	CodeBadName            = "bad-name"             // no name, or not one that Namespaces allow
	CodeUndefinedEntity    = "undefined-entity"     // an entity beyond the five predefined
	CodeDuplicateAttribute = "duplicate-attribute"  // twice by expanded name
	CodeNamespace          = "namespace"            // a prefix undeclared, reserved or badly bound
	CodeMismatch           = "mismatched-tag"       // an end tag without its start tag
	CodeUnclosed           = "unexpected-end"       // the document ends too early
	CodeTrailing           = "trailing-content"     // something after the root element
	CodeDeclaration        = "bad-xml-declaration"  // misplaced, malformed or not version 1.0
	CodeEncoding           = "encoding"             // octets and labels contradict each other, or invalid octets
	CodeUnsupported        = "unsupported-encoding" // not UTF-8, US-ASCII or UTF-16
	CodeLimit              = "limit"                // see Limits
	CodeRead               = "io"                   // the reader failed
)

// Error says why a document was refused, and where.
type Error struct {
	Code    string // one of the constants
	Line    int    // from 1
	Column  int    // in octets, from 1
	Offset  int    // octets of the document before the place
	Path    string // open elements as written, such as /anml/interact/action
	Message string // one sentence without its full stop
	Fix     string // what the author can do, or empty

	cause error // of the reader
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%d:%d: %s [%s]", e.Line, e.Column, e.Message, e.Code)
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}

// Unwrap gives the class of the failure and the reader's own error.
func (e *Error) Unwrap() []error {
	class := ErrSyntax
	switch e.Code {
	case CodeEncoding, CodeUnsupported:
		class = ErrEncoding
	case CodeLimit:
		class = ErrLimit
	case CodeRead:
		return []error{ErrRead, e.cause}
	}
	return []error{class}
}

// fault is an error inside the window whose place is not worked out yet: most
// tokens are fine, so the scanning functions stay free of positions.
type fault struct {
	at        int // index in the window
	code      string
	msg, hint string
}

func (f *fault) Error() string { return f.msg }

// short is returned by a scanning function that ran into the end of the window.
type short struct{ inside string }

func (s *short) Error() string { return "the document ends inside " + s.inside }

func bad(at int, code, format string, args ...any) *fault {
	return &fault{at: at, code: code, msg: fmt.Sprintf(format, args...)}
}

func (f *fault) fix(hint string) *fault {
	f.hint = hint
	return f
}
