// Package aiuri implements the ai: URI scheme (draft-sogomonian-ai-uri-scheme-01): it finds
// AI endpoints, calls them through gateways, and verifies that a result is theirs.
//
//	client, err := aiuri.NewClient(host, aiuri.ClientOptions{Gateways: []string{"https://ai.example/"}})
//	if err != nil {
//		return err
//	}
//	uri, err := aiuri.Parse("ai://bank.example/pay?amount=10")
//	if err != nil {
//		return err
//	}
//	result, err := client.Invoke(ctx, aiuri.Request{URI: uri, Body: body, Scopes: []string{"pay"}})
//
// The draft defines no wire format for AIIP, the protocol behind the scheme. Native
// transports are therefore an interface ([Invoker]); HTTPS gateways are implemented here.
//
// # For agents
//
// [Parse] parses a URI and repairs nothing. A [Discoverer] finds the endpoint that a page
// advertises, and takes keys and policy only from the document of the endpoint's own
// authority. A [LocalResolver] of the host resolves URIs without authority. A [Client]
// discovers the endpoint, asks the user, sends the request, and returns a [Verified] result
// or an error. [VerifyResult] is the last step alone, without I/O.
//
// # For gateways and endpoints
//
// A [Gateway] is an http.Handler for clients that only speak HTTPS; examples/gateway serves
// one. A [Mapping] converts between URIs and a gateway's URLs, and refuses paths that
// servers read in different ways. Endpoints publish themselves with [NewDescriptorHandler],
// [AdvertiseLink], [LinkElement], [DNSRecords] and [NewKeyRingHandler], and sign with [SignResult]
// and the keys of a [KeyRing].
//
// # Errors
//
// URIs, documents, key sets and options are refused with a [*lookleap.Error]. Discoveries,
// invocations and results are refused with a [*lookleap.VerifyError], whose verdict names
// the requirement. Neither contains a path, a body, a token or a signature.
// testdata/vectors has cases for other implementations.
package aiuri

// Draft is the document that this package implements. Within a revision, codes and
// exported names keep their meaning. Later drafts of the same author contradict it and are
// not implemented.
const Draft = "draft-sogomonian-ai-uri-scheme-01"
