// Package strictxml reads XML 1.0 (fifth edition) with Namespaces in XML 1.0. It refuses every
// document that is not well-formed under these two specifications.
//
// It finds the end of each tag, text or section first, and then checks the piece. Of a stream
// ([NewReader]), only a window and one piece are in memory. Names, values and texts are substrings of
// the window, unless they contain references or line ends to normalise.
//
// A document type declaration is skipped, up to a limit, without using its content. So there are
// only the five predefined entities, no attribute has a default, attribute values are normalised
// as CDATA, and nothing is ever fetched. References to other entities are refused. The supported
// encodings are UTF-8, US-ASCII and UTF-16 with a byte order mark. Contradictions between byte
// order mark, XML declaration and transport are refused, and so is XML 1.1.
//
// Scanning takes time linear in the input.
package strictxml
