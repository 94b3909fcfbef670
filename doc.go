// Package lookleap holds the contracts that an embedding agent plugs in and the
// answers that every check gives: look before your agent leaps.
//
// An agent that acts on the web has to know who is speaking, what is allowed
// and what its user agreed to. The document packages below this one answer
// those questions, each for one document:
//
//   - wellknown: RFC 8615, where an origin keeps its site-wide metadata
//   - agentstxt: AGENTS.TXT, whether an automated client may touch a path
//   - dvs: Domain-Verified Skills, whether a skill is really from that brand
//   - anml and anml/agent: ANML 1.0, what a service offers and asks
//   - anmltrust: ANML 1.0 section 12, whether a server may speak for a site
//   - aiuri: the ai: URI scheme, where an AI endpoint is and what it signed
//
// All of them stand on one [Host], which carries the embedding agent's own
// [Fetcher], [Resolver], [ConsentPrompter] and [Cache]. The zero Host is safe
// and works: a guarded fetcher that reaches public addresses on port 443 only,
// an in-process cache, and no consent to anything.
//
// # What a check answers
//
// The error is the gate, the verdict is the story. A verifying call returns its
// result only on success; a failure is a [*VerifyError] that carries the whole
// [Verdict]: every check in order, with its requirement id, reason [Code],
// evidence, and the time until which the verdict holds.
//
// # One effect, one plan
//
// Whatever sends data, runs code or spends money is a [Plan]: the exact bytes
// and all the consents that they need. It is prepared completely, prompted
// once, and committed once. A runtime that suspends while its user thinks gets
// a [*PendingError] whose state resumes the same plan in another process; state
// that passes through other hands is carried by [Seal] and [Unseal].
//
// # In tests
//
// A program that stands on a Host is tested on one whose Resolver and Fetcher lead
// to a server of net/http/httptest: see the example of Host.
package lookleap
