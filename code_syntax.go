package lookleap

// Codes of the parsers below internal/: what is wrong with an XML or JSON text.
// The parsers own the constants; this is their place in the shared table.
var syntaxCodes = map[Code]string{
	"not-well-formed":      "the text breaks the grammar of its format",
	"bad-character":        "the text holds a character that its format forbids",
	"bad-name":             "the name is not of the form that is allowed here",
	"undefined-entity":     "the text refers to an entity that is not predefined",
	"duplicate-attribute":  "an element has the same attribute twice",
	"namespace":            "a namespace prefix is undeclared, reserved or misused",
	"mismatched-tag":       "an end tag does not match its start tag",
	"unexpected-end":       "the text ends before it is complete",
	"trailing-content":     "something follows where the text should have ended",
	"bad-xml-declaration":  "the XML declaration is malformed or misplaced",
	"encoding":             "the declared encoding contradicts the bytes",
	"unsupported-encoding": "the encoding is none that is read here",
	"query-not-allowed":    "the URL has a query where none may be",
	"fragment-not-allowed": "the URL has a fragment where none may be",
	"json-bom":             "the JSON text begins with a byte order mark",
	"json-syntax":          "the text is no JSON",
	"json-trailing-data":   "something follows the JSON value",
	"json-duplicate-name":  "an object has the same member name twice",
	"json-lone-surrogate":  "a string holds half a surrogate pair",
	"json-too-deep":        "the JSON text is nested deeper than its limit",
	"json-too-many-values": "the JSON text has more values than its limit",
	"json-type":            "the JSON value is of another type than the one expected",
	"json-missing-member":  "an object lacks a required member",
	"json-not-integer":     "the JSON number is no integer",
	"number-overflow":      "the number is beyond what a double can hold",
	"precision-loss":       "the number has more digits than a double can hold",
}
