// Package agentstxt implements AGENTS.TXT (draft-srijal-agents-policy-00): a file at
// the root of an origin that says which paths automated clients may request. A hash in
// the file protects it against damage, and a malformed file forbids every request.
//
// Most programs need one line, a transport that obeys agents.txt and robots.txt:
//
//	client := &http.Client{Transport: agentstxt.NewClient(host, agentstxt.Web("ExampleBot")).Guard()}
//
// [Web] returns the options for the web as it is. The zero [Options] follow the letter of
// the draft. The error of a refused request is a [*lookleap.VerifyError]: its text names
// the fix or the option, and [lookleap.Retryable] says when to try again.
//
// [Parse], [ParseRobots] and [Judge] are pure functions that return a policy, and its
// Decide returns the [Decision] about a path. A [Client] fetches and caches both files.
// Publishers use [Format], [Sign], [Lint] and [NewHandler].
//
// A [Policy] that is neither Valid nor Absent denies every path except /agents.txt, and so
// do the nil and the zero Policy. docs/packages.md says what the hash proves, and what this
// package does where the draft leaves a choice; docs/architecture.md shows its place in the
// module.
package agentstxt

// Draft is the document that this package implements.
const Draft = "draft-srijal-agents-policy-00"
