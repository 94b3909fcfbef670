package agent

import (
	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// Codes of discovery, site-refs, decisions and actions.
const (
	CodeNoANML          lookleap.Code = "no-anml"
	CodeGone            lookleap.Code = "gone"
	CodeInconclusive    lookleap.Code = "inconclusive"
	CodeSiteUnknown     lookleap.Code = "site-unknown"
	CodeNotAsked        lookleap.Code = "not-asked"
	CodeDomainRefused   lookleap.Code = "domain-refused"
	CodeCrossService    lookleap.Code = "cross-service"
	CodeInjection       lookleap.Code = "prompt-injection"
	CodeEndpointForeign lookleap.Code = "endpoint-foreign"
	CodePageLoop        lookleap.Code = "page-loop"
	CodeRequiredAskOpen lookleap.Code = "required-ask-open"
)

// Codes about who speaks, and about further pages of a result.
const (
	CodeTrustUnverified   lookleap.Code = "trust-unverified"
	CodeImpersonation     lookleap.Code = "impersonation-suspect" // section 13.6
	CodeNotInScope        lookleap.Code = "not-in-scope"
	CodeAuthorizationOver lookleap.Code = "authorization-over"
	CodeForeignSite       lookleap.Code = "foreign-site"
	CodeNoMorePages       lookleap.Code = "no-more-pages"
	CodePageForeign       lookleap.Code = "page-foreign"
)

// Codes of decisions about a field.
const (
	CodeUserRule           lookleap.Code = "user-rule"
	CodeHostRefused        lookleap.Code = "host-refused"
	CodePolicyVeto         lookleap.Code = "policy-veto"
	CodeExplicitConsent    lookleap.Code = "explicit-consent"
	CodeUnrecognisedField  lookleap.Code = "unrecognised-field"
	CodeSensitive          lookleap.Code = "sensitive"
	CodePurposeVague       lookleap.Code = "purpose-vague"
	CodePurposeImplausible lookleap.Code = "purpose-implausible"
	CodeOtherVersion       lookleap.Code = "other-version"
	CodePrivateContext     lookleap.Code = "private-context"
	CodeRestrictedContext  lookleap.Code = "restricted-context"
	CodeDeletedContext     lookleap.Code = "deleted-context"
	CodeAuthentication     lookleap.Code = "authentication"
	CodeNoValue            lookleap.Code = "no-value"
	CodeValueType          lookleap.Code = "value-type"
	CodeConsentHeld        lookleap.Code = "consent-held"
	CodeConsentInferred    lookleap.Code = "consent-inferred"
	CodeConsentWithdrawn   lookleap.Code = "consent-withdrawn"
	CodeNoBodyMethod       lookleap.Code = "no-body-method"
	CodeDuplicateAnswer    lookleap.Code = "duplicate-answer"
)

// Codes of actions that are not sent, and of how services respond. An unknown action and a bad
// parameter have the codes of package anml.
const (
	CodeActionNotOwned   lookleap.Code = "action-not-owned"
	CodeNotExecutable    lookleap.Code = "not-executable"
	CodeEncType          lookleap.Code = "enctype-unsupported"
	CodeInsecureEndpoint               = anml.CodeInsecureEndpoint
	CodeIdentityLost     lookleap.Code = "identity-lost"
	CodeLedgerBroken     lookleap.Code = "ledger-broken"
	CodeTooSoon          lookleap.Code = "too-soon"
	CodeTooManyActions   lookleap.Code = "too-many-actions"
	CodeBadRequest       lookleap.Code = "bad-request"
	CodeAuthRequired     lookleap.Code = "auth-required"
	CodeUnprocessable    lookleap.Code = "unprocessable"
	CodeServerError      lookleap.Code = "server-error"
	CodeActionFailed     lookleap.Code = "action-failed"
)
