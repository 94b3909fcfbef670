// Package dnssec is a validating stub resolver: it asks ordinary recursive resolvers, believes none
// of them, and checks every answer and every absence from the root's trust anchors down (RFC 4033
// to 4035, 5155, 6840, 9276).
//
//	r, err := dnssec.New(dnssec.Options{})
//	result, err := r.Lookup(ctx, "_anml.example.com", 16)
//
// What comes back is one of four things that never blur: a [Result] in the state [Secure],
// [Insecure] or [Indeterminate], be it records or an absence; or a [*BogusError]. Whatever else
// goes wrong (no server answers, one refuses, the work exceeds the [Limits]) is another error, and
// none of them ever reads as "no such record".
//
// The package reads top-down: resolver.go is what callers see, answer.go follows and judges an
// answer, chain.go establishes the keys of its zones, signature.go and key.go check a record set,
// denial.go, nsec.go and nsec3.go an absence. Those last five decide without any I/O. upstream.go
// and its neighbours carry messages.
//
// Left out on purpose: the AD bit (anyone on the path can set it), automatic rollover of trust
// anchors (RFC 5011), SHA-1 in signatures and DS records and Ed448 (zones that use nothing else are
// insecure), retrying a bogus answer elsewhere.
package dnssec
