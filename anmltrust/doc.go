// Package anmltrust decides who may speak for whom: section 12 of ANML 1.0
// (draft-jeskey-anml-01), site trust delegation.
package anmltrust

// Draft is the revision that this package implements.
const Draft = "draft-jeskey-anml-01"
