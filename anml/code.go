package anml

import (
	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/strictjson"
	"github.com/lookleap/lookleap/internal/strictxml"
)

// The classes of errors for which a whole document is refused, for errors.Is. Every
// [*lookleap.Error] of a reading function belongs to one of these classes.
var (
	// XML syntax, namespaces or JSON syntax.
	ErrNotWellFormed = coded.New(strictxml.CodeSyntax, "not well-formed")
	// The bytes are not valid in their encoding. An ErrUnsupportedEncoding is one of these too.
	ErrEncoding = coded.New(strictxml.CodeEncoding, "unusable encoding")
	// Neither UTF-8, US-ASCII, nor UTF-16 with a byte order mark.
	ErrUnsupportedEncoding = coded.New(strictxml.CodeUnsupported, "unsupported encoding")
	// One of the Limits.
	ErrLimit = coded.New(strictxml.CodeLimit, "a limit is exceeded")
	// Another root element, no version key, or another media type.
	ErrNotANML = coded.New(string(codeNotANML), "not an ANML document")
	// The namespace of another version.
	ErrUnsupportedVersion = coded.New(string(CodeVersion), "unsupported version of ANML")
	// The document names another role than the exchange implies (section 8.1).
	ErrRoleConflict = coded.New(string(codeRoleConflict), "the role contradicts the exchange")
	// Sections and sites in one root (section 8.1).
	ErrMixedModel = coded.New(string(codeMixedModel), "sections are mixed with sites")
	// Only with ReadOptions.StrictLexical or RejectDoctype.
	ErrLexical = coded.New(string(CodeMalformed), "forbidden notation")
)

// The classes of errors about values, actions and documents to write, for errors.Is.
var (
	ErrType = coded.New(string(codeBadValue), "the value does not have its type")

	ErrNoAction           = coded.New(string(CodeUnknownAction), "no action has this id")
	ErrAmbiguousAction    = coded.New(string(CodeAmbiguousAction), "several actions have this id")
	ErrParamMissing       = coded.New(string(CodeParamMissing), "a required parameter has no value")
	ErrParamInvalid       = coded.New(string(CodeParamInvalid), "a value does not fit its parameter")
	ErrParamUnknown       = coded.New(string(CodeParamUnknown), "the action has no such parameter")
	ErrUnsupportedEncType = coded.New(string(lookleap.CodeUsage), "unsupported enctype")

	// The steps of the flow form a cycle without a condition (section 11.4).
	ErrFlowCycle = coded.New(string(codeFlowCycle), "the flow is a cycle without an exit")

	ErrProblem = coded.New(string(CodeMalformed), "not a problem details object")

	ErrEmptyResponse = coded.New(string(lookleap.CodeUsage), "the response is empty")
	// Neither the document nor WriteOptions has a role (section 8.1).
	ErrRoleUnset = coded.New(string(lookleap.CodeUsage), "the document has no role; set WriteOptions.Role")
	// An agent response with sections of a service document (section 11.1).
	ErrRoleContent = coded.New(string(codeRoleConflict), "the document holds sections that its role forbids")

	errNoDocument = coded.New(string(lookleap.CodeUsage), "the document is empty; read one with Parse or build one")
	errNoBuilder  = coded.New(string(lookleap.CodeUsage), "the builder is empty; make it with NewService or NewResponse")
)

// newError returns an error of one of the classes above, with the code of the class.
func newError(class error, message, fix string) *lookleap.Error {
	return &lookleap.Error{Code: lookleap.CodeOf(class), Message: message, Fix: fix, Err: class}
}

// Codes of calls: the action that is called and the values of its parameters.
const (
	CodeUnknownAction   lookleap.Code = "unknown-action"
	CodeAmbiguousAction lookleap.Code = "ambiguous-action"
	CodeParamMissing    lookleap.Code = "param-missing"
	CodeParamInvalid    lookleap.Code = "param-invalid"
	CodeParamUnknown    lookleap.Code = "param-unknown"
)

// Reason codes of errors and findings. The package documentation lists the further
// codes that the XML and JSON parsers report for syntax errors.
const (
	codeNotANML       lookleap.Code = "not-anml"
	CodeVersion       lookleap.Code = "version-unsupported"
	codeRoleConflict  lookleap.Code = "role-conflict"
	codeMixedModel    lookleap.Code = "mixed-model"
	codeNestedArray   lookleap.Code = "json-nested-array"
	codeBadCharacter                = lookleap.Code(strictxml.CodeBadChar)
	codeEncodingClash lookleap.Code = "encoding-conflict"

	codeUnknownElement   lookleap.Code = "unknown-element"
	codeUnknownAttribute lookleap.Code = "unknown-attribute"
	codeUnknownKey       lookleap.Code = "unknown-key"
	codeUnqualified      lookleap.Code = "ext-unqualified"
	codeANMLNamespace    lookleap.Code = "ext-anml-ns"
	codeCase             lookleap.Code = "case"
	codeMisplaced        lookleap.Code = "misplaced"
	codeStrayText        lookleap.Code = "stray-text"
	CodeMalformed        lookleap.Code = "malformed"
	codeSurplus          lookleap.Code = "surplus"
	codeBadValue         lookleap.Code = "bad-value"
	codeMissingKey       lookleap.Code = "missing-attribute"
	codeNullValue        lookleap.Code = "json-null"
	codeWrongShape       lookleap.Code = "json-shape"
	codeNotArray         lookleap.Code = "json-not-array"
	codeNotObject        lookleap.Code = "json-not-object"
	codeOrder            lookleap.Code = "json-order"
	codePrecision                      = lookleap.Code(strictjson.CodePrecisionLoss)
	codeOverflow                       = lookleap.Code(strictjson.CodeOverflow)

	codeQuote       lookleap.Code = "lex-quote"
	codeCDATA       lookleap.Code = "lex-cdata"
	codePI          lookleap.Code = "lex-pi"
	codeDoctype     lookleap.Code = "lex-doctype"
	codeBOM         lookleap.Code = "lex-bom"
	codeNoDecl      lookleap.Code = "xmldecl-missing"
	CodeNewVersion  lookleap.Code = "version-unknown"
	codeVersionKey  lookleap.Code = "version-key"
	codeVersionType lookleap.Code = "version-conflict"
	CodeNoVersion   lookleap.Code = "version-not-offered"
	codeNoRole      lookleap.Code = "role-missing"
	codeBadRole     lookleap.Code = "role-unknown"
	codeRoleContent lookleap.Code = "role-content"
	codeSectionSeq  lookleap.Code = "section-order"
	codeNoTitle     lookleap.Code = "no-title"

	codeDuplicateID   lookleap.Code = "duplicate-id"
	codeDuplicateSite lookleap.Code = "duplicate-site"
	CodeDangling      lookleap.Code = "dangling-reference"
	codeFlowCycle     lookleap.Code = "flow-cycle"
	codeClaim         lookleap.Code = "claim-invalid"
	codeAlias         lookleap.Code = "alias"
	codeConstraint    lookleap.Code = "unknown-constraint"
	CodeNoPurpose     lookleap.Code = "purpose-missing"
	codeFieldName     lookleap.Code = "field-name"
	codePattern       lookleap.Code = "pattern-unchecked"
	CodeTarget        lookleap.Code = "unusable-target"
	codeNoAction      lookleap.Code = "no-action"
	codeEmptySite     lookleap.Code = "empty-site"
	codeNoServingSite lookleap.Code = "no-serving-site"
	CodeLint          lookleap.Code = "lint"
)

// maxQuoted is how many characters of a remote text a message quotes.
const maxQuoted = 60
