package strictjson

import (
	"fmt"
	"strings"
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
