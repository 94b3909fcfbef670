// Package lookleap holds the contracts that all document packages of this module share.
// An AI agent embeds the module to check, before it acts on the web, who is speaking,
// what is allowed and what its user agreed to. Each document has a package:
//
//   - wellknown: RFC 8615, where an origin publishes its site-wide metadata
//   - agentstxt: AGENTS.TXT, whether an automated client may use a path
//   - dvs: Domain-Verified Skills, whether a skill comes from its brand
//   - anml and anml/agent: ANML 1.0, what a service offers and asks
//   - anmltrust: ANML 1.0 section 12, whether a server may speak for a site
//   - aiuri: the ai: URI scheme, where an AI endpoint is and what it signed
//
// All of them use one [Host], which holds the embedding agent's own [Fetcher],
// [Resolver], [ConsentPrompter] and [Cache]. The zero Host is safe and works:
//
//	host := &lookleap.Host{}
//	defer host.Close()
//	loader := dvs.NewLoader(host, dvs.Options{})
//
// # Results
//
// A verifying call returns its result only if the check passed. Otherwise it returns a
// [*VerifyError] with the whole [Verdict]: every check in order, with its requirement id,
// reason [Code], evidence, and the time until which the verdict is valid. What could not
// be read, fetched or done is an [*Error]. [CodeOf] returns the code of any error.
//
// # Plans
//
// Everything that sends data, runs code or spends money is a [Plan]: the exact bytes and
// all consents that they need. A plan is prepared completely, shown to the user once, and
// committed once. If the user needs time, the operation ends with a [*PendingError],
// whose state resumes the same plan, in another process too. [Seal] protects state that
// passes through untrusted systems.
//
// # Tests
//
// To test a program that uses a Host, give the Host a Resolver and a Fetcher that lead to
// a server of net/http/httptest: see the example of Host.
//
// docs/architecture.md shows the packages and the life of a fetch and of a plan.
package lookleap
