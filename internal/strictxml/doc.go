// Package strictxml reads XML 1.0 (fifth edition) with Namespaces in XML 1.0,
// without DTDs, and refuses whatever those two documents refuse.
//
// It is a single-pass tokenizer with two front doors that behave alike:
//
//   - [NewBytes] reads a document that is in memory. Names, values and texts
//     are substrings of it; only what holds a reference or a line end that
//     must be normalised is copied.
//   - [NewReader] reads a stream of any length through a window. What is held
//     at a time is the window and one token, and both are bounded.
//
// A document type declaration is skipped under a limit and nothing is taken
// from it, so that no entity but the five predefined ones exists, no attribute
// has a default, and nothing is ever fetched. The encodings are UTF-8, US-ASCII
// and UTF-16 with a byte order mark; every other one, and every contradiction
// between byte order mark, declaration and transport, is refused.
//
// What a document type could legally change is therefore refused or ignored:
// references to declared entities are refused, and attribute values are
// normalised as CDATA. XML 1.1 documents are refused by their version number.
//
// The scan takes time linear in the input, whatever the input is.
package strictxml
