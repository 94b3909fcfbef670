// Package wellknown implements RFC 8615: where an origin keeps its site-wide
// metadata.
//
// A well-known URI has a path that begins with the very characters
// "/.well-known/", followed by a registered name of one segment. [Parse] reads
// one and [Registry.URL] builds one; encoded, dotted or doubled spellings of the
// prefix are refused, never normalised into it. The registry is data: a small
// dated table, which [LoadRegistry] replaces by IANA's own.
//
// A [Client] asks for one document of one origin. Its answer has a [State]:
// present, absent, forbidden or unavailable. Absence is no error, because
// nothing promises that a name exists (section 3); the documents that stand on
// this package each attach their own consequence to each state. What an origin
// says holds for that origin alone: [Resource.AppliesTo] is equality.
//
// For sites there is [NewHandler], read-only and with an explicit list of
// files, and [Lint].
//
// Everything but the Client is pure. All types may be used from several
// goroutines at once.
package wellknown

// Spec is the document that this package implements. Within a revision, codes
// and exported names keep their meaning.
const Spec = "RFC 8615"
