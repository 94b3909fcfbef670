// Package weblink reads the links that a web page makes about itself without
// being rendered: those of its Link header (RFC 8288) and the link elements in the
// head of its HTML. It parses, and resolves nothing.
package weblink
