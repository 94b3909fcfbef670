// Package aiuri implements the ai: URI scheme: where an AI endpoint is, and
// whether it really said that.
//
// [Parse] reads a URI; nothing is repaired, and the normal form decides what is
// equal. The draft defines no wire format for AIIP, the protocol behind the
// scheme, so native resolution is an interface here ([Invoker]) and HTTPS
// gateways are what this package speaks: a [Mapping] brings a URI to a gateway's
// URL and back, one to one, refusing every path that reads as another one to
// somebody.
//
// # For agents
//
// A [Discoverer] finds the endpoint that a page advertises, and holds it to the
// document of the endpoint's own authority: keys and policy come from nowhere
// else. A [Client] goes the whole way: it discovers, asks the user, sends through
// a gateway that the host configured, and gives back a [Verified] result or none.
// [VerifyResult] is that last step alone. It is pure, and there is no mode of it
// that only warns.
//
// # For gateways and endpoints
//
// A [Gateway] is an http.Handler for clients that speak HTTPS alone; examples/gateway
// serves one. Tokens and client certificates go only to authorities that the options
// name, and only if the authority's own document demands them. Endpoints publish themselves with [NewDescriptorHandler], [AdvertiseLink],
// [LinkElement], [DNSRecords] and [NewKeyRingHandler], and sign with [SignResult] and the
// keys of a [KeyRing].
//
// # What is refused, and how
//
// URIs, documents and key sets are refused by an [*lookleap.Error] with a code and a place;
// discoveries, invocations and results by a [*lookleap.VerifyError], whose verdict
// says which requirement failed. Neither shows a path, a body, a token or a
// signature. testdata/vectors holds cases for other implementations.
package aiuri

// Draft is the document that this package implements. Within a revision, codes
// and exported names keep their meaning. Later drafts of the same author
// contradict it and are not implemented.
const Draft = "draft-sogomonian-ai-uri-scheme-01"
