// Package spec holds the registers: one row for each requirement of the
// documents that this module implements, and one for each attack case. It joins
// them with the results of the tests into docs/conformance.md and the pages below
// docs/conformance. Only tests and the generator import it.
//
// # How a test shows a row
//
// A row is shown by leaf subtests whose path has its id, followed by a name that begins with
// accept or reject:
//
//	t.Run("DVS-3.1-04", func(t *testing.T) {
//		t.Run("accept-same-host", …)
//		t.Run("reject-other-port", …)
//	})
//
// Only tests that passed count; a failure below an id takes the id back. The tests of a row pass
// when they run alone: none relies on what another test left behind. An attack case may have
// leaves of any name.
//
// # Clauses
//
// A row expects one thing or several. Its column expected has a clause for each, with the leaf
// tests that show it:
//
//	a [accept-same-host] the same host is covered | b [reject-other-port reject-sub*] another port or host is not
//
// The row passes if for each name in brackets a leaf test of the row passed; a star stands for any
// characters. A demand to refuse needs a test whose name begins with reject, and a demand to accept
// one that begins with accept. A row with one side only is one where that side is all there is.
//
// # Three tables to edit
//
// registers/ has the requirements and the attack cases. excluded.tsv says why a requirement has no
// test: only rows without a package, and rows that bind publishers and hosts, may stand there. An
// excluded row has no clauses. complete.tsv lists the packages that claim to be complete: each of
// their requirements, whatever its level, is either shown by a test or excluded, or the check
// fails. The rows of other packages may be missing, attack cases may not.
package spec
