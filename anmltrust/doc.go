// Package anmltrust decides which server may speak for which site:
// section 12 of ANML 1.0 (draft-jeskey-anml-01), site trust delegation.
//
// A document may claim to speak for a site that did not serve it. The site says in its
// DNS whether it may, by a manifest or a query endpoint. The result is a [Tier] and a [Scope]:
//
//	verifier := anmltrust.NewVerifier(host, anmltrust.Rules{})
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
// docs/packages.md says how the procedure is built and what a [Verifier] remembers,
// docs/trust-procedure.md shows its rows, docs/architecture.md its place in the module.
package anmltrust

// Draft is the revision that this package implements. Decisions stay compatible
// within a revision.
const Draft = "draft-jeskey-anml-01"
