// Package anmltrust decides which server may speak for which site:
// section 12 of ANML 1.0 (draft-jeskey-anml-01), site trust delegation.
//
// A document may claim to speak for a site that did not serve it: a retailer
// shows a brand's product, a content network delivers a page. The site says
// whether it may: its DNS points to a manifest or to a query endpoint. The result
// is a [Tier] and a [Scope]:
//
//	verifier := anmltrust.NewVerifier(host, anmltrust.Options{})
//	auth, err := verifier.Verify(ctx, anmltrust.Claim{URL: documentURL, Site: "brand.example"})
//	if err != nil {
//		return err // Tier 0: a *lookleap.VerifyError says why
//	}
//	if auth.Permits(anmltrust.Persona, host.Time()) { … }
//
// Any doubt means Tier 0, which is a nil [Authorization] and an error with a reason
// code and all checks. Before an action with consequences, use [Verifier.VerifyFresh]
// and [Confirm], which ask again (section 13.4).
//
// # How it is built
//
// The procedure is a table of rows, A to X (docs/trust-procedure.md), and [Decide]
// is that table as one pure function of a [Claim], its [Evidence] and a time. A
// [Verifier] gathers the evidence piece by piece, as the table asks for it. So the
// rules and the I/O are apart, and a stored verdict can be judged again years later
// with [Replay]. [Row] returns the row that decided.
//
// Reading and writing the formats needs no Verifier: [ParseRecord], [ParseManifest],
// [ParseQueryResponse]. Sites publish with [BuildManifest], [LintManifest], [Record.Zone],
// [NewManifestHandler] and [NewQueryHandler].
//
// # What is remembered
//
// A grant is remembered until it ends, and used only while the site's record
// advertises its source. A definitive no is remembered for the record's TTL. A
// failure starts a short backoff, which never grants. If the Host has a Cache,
// processes share evidence through it, and each judges it by its own rules. They
// read it again within a minute, so that a withdrawal reaches all of them. A
// failure because the caller left is not remembered.
//
// # What is left out
//
// Package anml/agent applies verdicts to the elements of a document and fetches
// site-refs. In this package sections have names only.
package anmltrust

// Draft is the revision that this package implements. Decisions stay compatible
// within a revision.
const Draft = "draft-jeskey-anml-01"
