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
//		fmt.Println(ask.Field(), ask.Purpose(), doc.Constraints().Rule(ask.Field(), nil).Requires)
//	}
//
// Smaller errors become a [lookleap.Finding], and an unknown word reads as the safest one. The
// types are views with the names of the draft: a zero value is an absent element, so chains
// such as doc.State().Flow().Steps() need no checks. All text of a document is untrusted.
// [NewService] and [NewResponse] build documents. docs/packages.md explains the findings, the
// two serializations and the codes; docs/architecture.md shows the place of this package.
package anml

// Draft is the document that this package implements. Exported names and reason codes
// do not change within one draft revision.
const Draft = "draft-jeskey-anml-01"

// Version is the version of ANML that this package implements.
const Version = "1.0"
