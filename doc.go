// Package lookleap holds the contracts that all document packages of this module share.
// An AI agent embeds the module to check, before it acts on the web, who is speaking,
// what is allowed and what its user agreed to. Each document has a package: wellknown
// (RFC 8615), agentstxt (AGENTS.TXT), dvs (Domain-Verified Skills), anml and anml/agent
// (ANML 1.0), anmltrust (its section 12), and aiuri (the ai: URI scheme).
//
// All of them use one [Host], which holds the embedding agent's own [Fetcher],
// [Resolver], [ConsentPrompter] and [Cache]. The zero Host is safe and works:
//
//	host := &lookleap.Host{}
//	defer host.Close()
//	loader := dvs.NewLoader(host, dvs.Options{})
//
// A call that verifies returns its result only if every check passed, and otherwise a
// [*VerifyError] with the whole [Verdict]. What could not be read, fetched or done is an
// [*Error]. Everything that sends data, runs code or spends money is a [Plan]: prepared
// completely, shown to the user once, and committed once.
//
// docs/architecture.md shows the packages and the life of a fetch and of a plan.
package lookleap
