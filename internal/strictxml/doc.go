// Package strictxml reads XML 1.0 (fifth edition) with Namespaces in XML 1.0. It refuses every
// document that is not well-formed under these two specifications.
//
// It is a single-pass tokenizer for documents in memory ([NewBytes]) and for streams
// ([NewReader]), which behave alike. Names, values and texts of a document in memory are
// substrings of it, unless they contain references or line ends to normalise. Of a stream, only a
// window and one token are in memory, and both have limits.
//
// A document type declaration is skipped, up to a limit, without using its content. So there are
// only the five predefined entities, no attribute has a default, attribute values are normalised
// as CDATA, and nothing is ever fetched. References to other entities are refused. The supported
// encodings are UTF-8, US-ASCII and UTF-16 with a byte order mark. Contradictions between byte
// order mark, XML declaration and transport are refused, and so is XML 1.1.
//
// Scanning takes time linear in the input.
package strictxml
