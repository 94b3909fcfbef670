// Package wellknown implements RFC 8615: the well-known URIs of an origin, and the
// documents that are published there.
//
//	client := wellknown.NewClient(host, wellknown.Options{})
//	document, err := client.Fetch(ctx, "https://example.com", "security.txt")
//	if err == nil && document.State == wellknown.Present {
//		fmt.Printf("%s", document.Body)
//	}
//
// [Parse] reads a well-known URI and [URL] builds one. Encoded, dotted or doubled
// spellings of "/.well-known/" are refused and never normalised into it. The names
// are in a [Registry]: a small dated table, which [LoadRegistry] replaces by IANA's.
//
// [Client.Fetch] returns a [Resource] with a [State]. Absence is not an error,
// because no name has to exist (section 3). A document speaks only for the origin
// that was asked: see [Resource.AppliesTo].
//
// Sites publish with [NewHandler] and check themselves with [Registry.LintTree].
//
// Only the methods of Client use the network. All types may be used from several
// goroutines at once. docs/architecture.md shows the place of this package.
package wellknown

// Spec is the document that this package implements. Within a revision, codes
// and exported names keep their meaning.
const Spec = "RFC 8615"
