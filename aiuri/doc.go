// Package aiuri implements the ai: URI scheme: where an AI endpoint is, and
// whether it really said that.
//
// [Parse] reads a URI; nothing is repaired, and the normal form decides what is
// equal. The draft defines no wire format for AIIP, the protocol behind the
// scheme, so native resolution is an interface here and HTTPS gateways are what
// this package speaks: a [Mapping] brings a URI to a gateway's URL and back, one
// to one, refusing every path that reads as another one to somebody.
package aiuri

// Draft is the document that this package implements. Within a revision, codes
// and exported names keep their meaning. Later drafts of the same author
// contradict it and are not implemented.
const Draft = "draft-sogomonian-ai-uri-scheme-01"
