package anml

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lookleap/lookleap/internal/zero"
)

// Why a whole document is refused, for errors.Is. Every [*Error] of a reading
// function is of exactly one of these classes; nothing else refuses a document.
var (
	ErrNotWellFormed       = errors.New("not well-formed")                   // XML, namespaces or JSON syntax
	ErrEncoding            = errors.New("unusable encoding")                 // also ErrUnsupportedEncoding
	ErrUnsupportedEncoding = errors.New("unsupported encoding")              // not UTF-8, US-ASCII or UTF-16 with a mark
	ErrLimit               = errors.New("a limit is exceeded")               // see Limits
	ErrNotANML             = errors.New("not an ANML document")              // root element, version key or media type
	ErrUnsupportedVersion  = errors.New("unsupported version of ANML")       // the namespace of another version
	ErrRoleConflict        = errors.New("the role contradicts the exchange") // section 8.1
	ErrMixedModel          = errors.New("sections stand beside sites")       // section 8.1
	ErrLexical             = errors.New("forbidden notation")                // with ReadOptions.StrictLexical or RejectDoctype
)

// Reason codes of errors and findings. Those of faults of syntax come
// from the readers below: see the package documentation.
const (
	CodeNotANML       = "not-anml"
	CodeVersion       = "version-unsupported"
	CodeRoleConflict  = "role-conflict"
	CodeMixedModel    = "mixed-model"
	CodeLimit         = "limit"
	CodeMediaType     = "media-type"
	CodeNestedArray   = "json-nested-array"
	CodeBadCharacter  = "bad-character"
	CodeEncodingClash = "encoding-conflict"

	CodeUnknownElement   = "unknown-element"
	CodeUnknownAttribute = "unknown-attribute"
	CodeUnknownKey       = "unknown-key"
	CodeUnqualified      = "ext-unqualified"
	CodeANMLNamespace    = "ext-anml-ns"
	CodeCase             = "case"
	CodeMisplaced        = "misplaced"
	CodeStrayText        = "stray-text"
	CodeMalformed        = "malformed"
	CodeSurplus          = "surplus"
	CodeBadValue         = "bad-value"
	CodeMissingKey       = "missing-attribute"
	CodeNullValue        = "json-null"
	CodeWrongShape       = "json-shape"
	CodeNotArray         = "json-not-array"
	CodeNotObject        = "json-not-object"
	CodeOrder            = "json-order"
	CodePrecision        = "precision-loss"
	CodeOverflow         = "number-overflow"

	CodeQuote       = "lex-quote"
	CodeCDATA       = "lex-cdata"
	CodePI          = "lex-pi"
	CodeDoctype     = "lex-doctype"
	CodeBOM         = "lex-bom"
	CodeNoDecl      = "xmldecl-missing"
	CodeNewVersion  = "version-unknown"
	CodeVersionKey  = "version-key"
	CodeVersionType = "version-conflict"
	CodeNoVersion   = "version-not-offered"
	CodeNoRole      = "role-missing"
	CodeBadRole     = "role-unknown"
	CodeRoleContent = "role-content"
	CodeSectionSeq  = "section-order"
	CodeNoTitle     = "no-title"

	CodeDuplicateID   = "duplicate-id"
	CodeDuplicateSite = "duplicate-site"
	CodeDangling      = "dangling-reference"
	CodeFlowCycle     = "flow-cycle"
	CodeClaim         = "claim-invalid"
	CodeAlias         = "alias"
	CodeConstraint    = "unknown-constraint"
	CodeNoPurpose     = "purpose-missing"
	CodeFieldName     = "field-name"
	CodePattern       = "pattern-unchecked"
	CodeTarget        = "unusable-target"
	CodeNoAction      = "no-action"
	CodeEmptySite     = "empty-site"
	CodeNoServingSite = "no-serving-site"
	CodeLint          = "lint"
)

// Error says why a document was refused and where.
type Error struct {
	Code string // reason code
	Position
	Message string // one sentence without a final stop
	Fix     string // what the author can do, or empty

	class error
	cause error
}

func (e *Error) Error() string {
	e = zero.Or(e)
	var b strings.Builder
	b.WriteString("anml: ")
	if place := e.Position.String(); place != "" {
		b.WriteString(place + ": ")
	}
	fmt.Fprintf(&b, "%s [%s]", e.Message, e.Code)
	if e.Fix != "" {
		b.WriteString("; " + e.Fix)
	}
	return b.String()
}

// ReasonCode returns the reason code.
func (e *Error) ReasonCode() string { return zero.Or(e).Code }

// Unwrap gives the class of the error, and the reader's error below it.
func (e *Error) Unwrap() []error {
	e = zero.Or(e)
	classes := []error{e.class}
	if e.class == ErrUnsupportedEncoding {
		classes = append(classes, ErrEncoding)
	}
	if e.cause != nil {
		classes = append(classes, e.cause)
	}
	return classes
}
