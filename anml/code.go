package anml

import (
	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
)

// The classes of errors for which a whole document is refused, for errors.Is. Every
// [*lookleap.Error] of a reading function belongs to one of these classes.
var (
	ErrNotWellFormed       = coded.New("not-well-formed", "not well-formed")                 // XML, namespaces or JSON syntax
	ErrEncoding            = coded.New("encoding", "unusable encoding")                      // also ErrUnsupportedEncoding
	ErrUnsupportedEncoding = coded.New("unsupported-encoding", "unsupported encoding")       // not UTF-8, US-ASCII or UTF-16 with a mark
	ErrLimit               = coded.New("limit", "a limit is exceeded")                       // see Limits
	ErrNotANML             = coded.New("not-anml", "not an ANML document")                   // root element, version key or media type
	ErrUnsupportedVersion  = coded.New("version-unsupported", "unsupported version of ANML") // the namespace of another version
	ErrRoleConflict        = coded.New("role-conflict", "the role contradicts the exchange") // section 8.1
	ErrMixedModel          = coded.New("mixed-model", "sections are mixed with sites")       // section 8.1
	ErrLexical             = coded.New("malformed", "forbidden notation")                    // with ReadOptions.StrictLexical or RejectDoctype
)

// Reason codes of errors and findings. Those of faults of syntax come
// from the readers below: see the package documentation.
const (
	CodeNotANML       lookleap.Code = "not-anml"
	CodeVersion       lookleap.Code = "version-unsupported"
	CodeRoleConflict  lookleap.Code = "role-conflict"
	CodeMixedModel    lookleap.Code = "mixed-model"
	CodeNestedArray   lookleap.Code = "json-nested-array"
	CodeBadCharacter  lookleap.Code = "bad-character"
	CodeEncodingClash lookleap.Code = "encoding-conflict"

	CodeUnknownElement   lookleap.Code = "unknown-element"
	CodeUnknownAttribute lookleap.Code = "unknown-attribute"
	CodeUnknownKey       lookleap.Code = "unknown-key"
	CodeUnqualified      lookleap.Code = "ext-unqualified"
	CodeANMLNamespace    lookleap.Code = "ext-anml-ns"
	CodeCase             lookleap.Code = "case"
	CodeMisplaced        lookleap.Code = "misplaced"
	CodeStrayText        lookleap.Code = "stray-text"
	CodeMalformed        lookleap.Code = "malformed"
	CodeSurplus          lookleap.Code = "surplus"
	CodeBadValue         lookleap.Code = "bad-value"
	CodeMissingKey       lookleap.Code = "missing-attribute"
	CodeNullValue        lookleap.Code = "json-null"
	CodeWrongShape       lookleap.Code = "json-shape"
	CodeNotArray         lookleap.Code = "json-not-array"
	CodeNotObject        lookleap.Code = "json-not-object"
	CodeOrder            lookleap.Code = "json-order"
	CodePrecision        lookleap.Code = "precision-loss"
	CodeOverflow         lookleap.Code = "number-overflow"

	CodeQuote       lookleap.Code = "lex-quote"
	CodeCDATA       lookleap.Code = "lex-cdata"
	CodePI          lookleap.Code = "lex-pi"
	CodeDoctype     lookleap.Code = "lex-doctype"
	CodeBOM         lookleap.Code = "lex-bom"
	CodeNoDecl      lookleap.Code = "xmldecl-missing"
	CodeNewVersion  lookleap.Code = "version-unknown"
	CodeVersionKey  lookleap.Code = "version-key"
	CodeVersionType lookleap.Code = "version-conflict"
	CodeNoVersion   lookleap.Code = "version-not-offered"
	CodeNoRole      lookleap.Code = "role-missing"
	CodeBadRole     lookleap.Code = "role-unknown"
	CodeRoleContent lookleap.Code = "role-content"
	CodeSectionSeq  lookleap.Code = "section-order"
	CodeNoTitle     lookleap.Code = "no-title"

	CodeDuplicateID   lookleap.Code = "duplicate-id"
	CodeDuplicateSite lookleap.Code = "duplicate-site"
	CodeDangling      lookleap.Code = "dangling-reference"
	CodeFlowCycle     lookleap.Code = "flow-cycle"
	CodeClaim         lookleap.Code = "claim-invalid"
	CodeAlias         lookleap.Code = "alias"
	CodeConstraint    lookleap.Code = "unknown-constraint"
	CodeNoPurpose     lookleap.Code = "purpose-missing"
	CodeFieldName     lookleap.Code = "field-name"
	CodePattern       lookleap.Code = "pattern-unchecked"
	CodeTarget        lookleap.Code = "unusable-target"
	CodeNoAction      lookleap.Code = "no-action"
	CodeEmptySite     lookleap.Code = "empty-site"
	CodeNoServingSite lookleap.Code = "no-serving-site"
	CodeLint          lookleap.Code = "lint"
)
