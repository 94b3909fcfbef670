// Package agentstxt implements AGENTS.TXT (draft-srijal-agents-policy-00): a
// file at the root of an origin that says which paths automated clients may
// touch, protected against damage by a hash, and with one strict rule: a file
// that is malformed in any way forbids everything.
//
// Most programs want one line, a transport that obeys:
//
//	client := &http.Client{Transport: agentstxt.Guard(host)}
//
// and find out why a request was refused like this:
//
//	var no *lookleap.VerifyError
//	if errors.As(err, &no) {
//		fmt.Println(no.Verdict)
//	}
//
// # What is here
//
// [Parse] and [Judge] are pure: octets, or a server's answer, to a [Policy], and
// [Policy.Decide] to a [Decision] with the line that decided. [Fetch] reads the
// policy of an origin once, a [Client] keeps policies as HTTP allows, and
// [Guard] enforces them and the limits in them. Publishers have [Format],
// [Sign], [Lint] and [NewHandler], which use the same parser.
//
// # What is promised
//
// A [Policy] that is not Valid or Absent denies every path but /agents.txt, and
// so do nil and the zero value; nothing in this package lifts that for selected
// paths. A good copy that was seen before is forgotten for good as soon as a
// malformed file is seen (section 5). Where the draft leaves a choice, this
// package takes the reading that denies more, unless that would make ordinary
// sites unusable; then it reports a finding, and [Options.Strict] takes the
// other way.
//
// The hash in the file shows that it is whole. It is no signature: whoever can
// change the file can also write a new hash (section 8). Who speaks is what
// https shows.
//
// # What the draft leaves open
//
// It has no grammar for comments and blanks, no unit for limit, and says nothing
// of HTTP statuses, precedence, matching, wildcards or paths that no line
// names. This package leans on RFC 9309 there. A path that no line names is
// denied if the file has an ALLOW line and allowed otherwise; DISALLOW matches
// as a prefix of octets and understands "*" and a final "$", ALLOW matches whole
// segments literally; the longest match counts, DISALLOW among equals; a limit
// is a number of requests in any hour. The draft gives no media type to
// /.well-known/agents.txt, which other formats use: it is never read.
//
// This package follows revision 00 of the draft and stays compatible within it.
package agentstxt

// Draft names the document that this package implements.
const Draft = "draft-srijal-agents-policy-00"
