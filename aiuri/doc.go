// Package aiuri implements the ai: URI scheme (draft-sogomonian-ai-uri-scheme-01): it finds
// AI endpoints, calls them through gateways, and verifies that a result is theirs.
//
//	options := aiuri.ClientOptions{Gateways: []string{"https://ai.example/"}}
//	client, err := aiuri.NewClient(host, options)
//	uri, err := aiuri.Parse("ai://bank.example/pay?amount=10")
//	result, err := client.Invoke(ctx, aiuri.Request{URI: uri, Body: body, Scopes: []string{"pay"}})
//
// The draft defines no wire format for AIIP, the protocol behind the scheme. Native
// transports are therefore an interface ([Invoker]); HTTPS gateways are implemented here.
// Agents use a [Client], which discovers the endpoint, asks the user, sends the request, and
// returns a [Verified] result or an error. [VerifyResult] is the last step alone, without
// I/O. Gateways and endpoints use a [Gateway], [NewDescriptorHandler], [NewKeyRingHandler]
// and [SignResult].
//
// URIs, documents, key sets and options are refused with a [*lookleap.Error]; discoveries,
// invocations and results with a [*lookleap.VerifyError], whose verdict names the
// requirement. Neither contains a path, a body, a token or a signature. docs/packages.md
// lists the parts, and docs/architecture.md shows the place of this package.
package aiuri

// Draft is the document that this package implements. Within a revision, codes and
// exported names keep their meaning. Later drafts of the same author contradict it and are
// not implemented.
const Draft = "draft-sogomonian-ai-uri-scheme-01"
