// Package anmltrust decides who may speak for whom: section 12 of ANML 1.0
// (draft-jeskey-anml-01), site trust delegation.
//
// A document may claim to speak for a site that did not serve it: a retailer
// shows a brand's product, a content network delivers a page. Whether it may is
// for the site to say, in its DNS and in a manifest or at a query endpoint that
// the DNS points to. The answer is a [Tier] and a [Scope]:
//
//	verifier := anmltrust.NewVerifier(host, anmltrust.Options{})
//	auth, err := verifier.Verify(ctx, anmltrust.Claim{URL: documentURL, Site: "brand.example"})
//	if err != nil {
//		return err // Tier 0, and why: a *lookleap.VerifyError
//	}
//	if auth.Permits(anmltrust.Persona, host.Time()) { … }
//
// Any doubt is Tier 0, which is what a nil [Authorization] means, and comes with
// a reason code and the whole story. Before an action with consequences,
// [Verifier.VerifyFresh] and [Confirm] ask again without memory (section 13.4).
//
// # How it is built
//
// The procedure is a table of rows, A to X (docs/trust-procedure.md), and [Decide]
// is that table as one pure function of a [Claim], its [Evidence] and a time. It
// ends with a decision or with the next piece of evidence that it lacks; a
// [Verifier] gathers that piece and asks again. So there is one place for rules
// and one for I/O, and a stored verdict can be judged again years later
// ([Replay]). [Row] tells which row decided.
//
// Reading and writing the formats needs no Verifier: [ParseRecord], [ParseManifest],
// [ParseQueryResponse]. Sites publish with [BuildManifest], [LintManifest], [Record.Zone],
// [NewManifestHandler] and [NewQueryHandler].
//
// # What is remembered
//
// Grants until they end, and only while the site's record still advertises their
// source; a definitive no for the record's TTL; failures as short backoffs, which
// never grant. Where the Host has a Cache, processes share evidence through it and
// each judges it itself; they look again within a minute, so that a withdrawal
// spreads. What failed because its caller left is not remembered at all.
//
// # What is left out
//
// Applying verdicts to the elements of a document is for package anml/agent;
// here sections have names only. Fetching site-refs is too.
package anmltrust

// Draft is the revision that this package implements. Decisions stay compatible
// within a revision.
const Draft = "draft-jeskey-anml-01"
