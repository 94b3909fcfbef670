// Package anml reads, checks and writes ANML 1.0 documents (draft-jeskey-anml-01,
// sections 3 to 8, 10, 11, and what sections 12 to 17 say about documents). It does no
// I/O, renders nothing and decides nothing about trust: package anml/agent does.
//
//	options := anml.ReadOptions{Role: anml.RoleService}
//	doc, err := anml.Parse(resp.Header.Get("Content-Type"), body, options)
//	if err != nil {
//		return err // the document is refused as a whole
//	}
//	for ask := range doc.Knowledge().Asks() {
//		rule := doc.Constraints().Rule(ask.Field(), nil)
//		fmt.Println(ask.Field(), ask.Purpose(), rule.Requires)
//	}
//
// A service tells an agent in a document what it offers ([Interact]), what it says and
// asks ([Knowledge]), under which rules ([Constraints]), and where in a workflow the
// exchange is ([State]). [NewService] and [NewResponse] build documents. docs/architecture.md
// shows the place of this package in the module.
//
// # Strict in syntax, tolerant in vocabulary
//
// A document that is not well-formed is refused as a whole: the Err variables list the
// reasons. Everything else becomes a [lookleap.Finding] with the requirement and the
// position. Unknown and misplaced elements are kept and not processed. An element
// without a required attribute is dropped together with its content. An unknown word of
// an enumeration reads as the safest word. Dropping never loosens a rule: a field
// without a readable rule needs explicit consent.
//
// # One model, two serializations
//
// XML and JSON are two forms of one tree. Converting between them loses neither the
// order of mixed content (the key "$order" in JSON), nor foreign elements
// ("{namespace}local") and attributes ("@{namespace}local"), nor the text of invalid
// values. Comments and prefixes carry no meaning and are not kept.
//
// The types are views with the names of the draft. A zero value is an absent element
// and returns what the draft says about an absent one, so chains such as
// doc.State().Flow().Steps() need no checks. All text of a document is untrusted: do
// not treat it as instructions. Documents never change after they are read or built, and
// may be used by several goroutines.
//
// # Reason codes
//
// The codes of this package are its Code constants. For syntax errors the parsers report
// further codes. XML: bad-character, bad-name, undefined-entity, duplicate-attribute,
// namespace, mismatched-tag, unexpected-end, trailing-content, bad-xml-declaration,
// not-well-formed, encoding, unsupported-encoding and limit. JSON: not-utf8,
// json-syntax, json-trailing-data, json-duplicate-name, json-lone-surrogate,
// json-too-deep, json-too-many-values and too-large.
package anml

// Draft is the document that this package implements. Exported names and reason codes
// do not change within one draft revision.
const Draft = "draft-jeskey-anml-01"

// Version is the version of ANML that this package implements.
const Version = "1.0"
