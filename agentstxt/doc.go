// Package agentstxt implements AGENTS.TXT (draft-srijal-agents-policy-00): a file at
// the root of an origin that says which paths automated clients may request. A hash in
// the file protects it against damage, and a malformed file forbids every request.
//
// Most programs need one line, a transport that obeys agents.txt and robots.txt:
//
//	client := &http.Client{Transport: agentstxt.NewClient(host, agentstxt.Web("ExampleBot")).Guard()}
//
// [Web] returns the options for the web as it is: most files of the name agents.txt are of
// other formats and count as no policy, and robots.txt (RFC 9309) is obeyed under the
// token ExampleBot. The zero [Options] follow the letter of the draft: a file of another
// format closes its origin, and robots.txt is not read.
//
// The error of a refused request says why:
//
//	var refused *lookleap.VerifyError
//	if errors.As(err, &refused) {
//		fmt.Println(refused.Verdict)
//	}
//
// Its code ([lookleap.CodeOf]) is that of the reason, its text names the fix or the option,
// and [lookleap.Retryable] says when to try again if the reason is temporary. Only a final
// refusal is a [lookleap.ErrDenied].
//
// [Parse] and [Judge] are pure functions that return a [Policy]; [Policy.Decide]
// returns the [Decision] about a path. [ParseRobots] does the same for robots.txt. A
// [Client] fetches and caches both files.
// Publishers use [Format], [Sign], [Lint] and [NewHandler].
//
// # Guarantees
//
// A [Policy] that is neither Valid nor Absent denies every path except /agents.txt. So
// do the nil and the zero Policy. After a malformed file, no earlier copy is used again
// (section 5). Where the draft leaves a choice, this package denies more, unless that
// would make ordinary sites unusable; then it reports a finding, and [Options.Strict]
// denies there too.
//
// The hash shows that the file is complete. It is not a signature: anyone who can change
// the file can write a new hash (section 8). Only https shows who publishes it.
//
// # Choices
//
// The draft has no grammar for comments and blanks, no unit for limit, and no rules for
// HTTP statuses, precedence, matching, wildcards and unlisted paths. This package
// follows RFC 9309 there:
//
//   - An unlisted path is denied if the file has an ALLOW line, and allowed otherwise.
//   - DISALLOW matches as a prefix and supports "*" and a final "$". ALLOW matches whole
//     segments literally. The longest match counts, and DISALLOW among equals.
//   - A limit is a number of requests in any hour.
//
// /.well-known/agents.txt is never read, because other formats use it.
//
// This package follows revision 00 of the draft and stays compatible within it.
package agentstxt

// Draft is the document that this package implements.
const Draft = "draft-srijal-agents-policy-00"
