package agent

import "github.com/lookleap/lookleap"

// Codes of ANML trust delegation.
const (
	CodeTrustUnverified lookleap.Code = "trust-unverified"
)

// Codes of a conforming ANML agent (package anml/agent).
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

// CodeImpersonation is a document that may be of somebody else than it seems (section 13.6 of ANML).
const (
	CodeImpersonation lookleap.Code = "impersonation-suspect"
)

// Who speaks, and how far a result is followed.
const (
	CodeNotInScope        lookleap.Code = "not-in-scope"
	CodeAuthorizationOver lookleap.Code = "authorization-over"
	CodeForeignSite       lookleap.Code = "foreign-site"
	CodeNoMorePages       lookleap.Code = "no-more-pages"
	CodePageForeign       lookleap.Code = "page-foreign"
)

// What is decided about telling a field, and why.
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

// What may keep an action from being sent, and how services answer it.
const (
	CodeUnknownAction    lookleap.Code = "unknown-action"
	CodeAmbiguousAction  lookleap.Code = "ambiguous-action"
	CodeActionNotOwned   lookleap.Code = "action-not-owned"
	CodeNotExecutable    lookleap.Code = "not-executable"
	CodeParamMissing     lookleap.Code = "param-missing"
	CodeParamInvalid     lookleap.Code = "param-invalid"
	CodeParamUnknown     lookleap.Code = "param-unknown"
	CodeEncType          lookleap.Code = "enctype-unsupported"
	CodeInsecureEndpoint lookleap.Code = "insecure-endpoint"
	CodeIdentityLost     lookleap.Code = "identity-lost"
	CodeTooSoon          lookleap.Code = "too-soon"
	CodeTooManyActions   lookleap.Code = "too-many-actions"
	CodeBadRequest       lookleap.Code = "bad-request"
	CodeAuthRequired     lookleap.Code = "auth-required"
	CodeUnprocessable    lookleap.Code = "unprocessable"
	CodeServerError      lookleap.Code = "server-error"
	CodeActionFailed     lookleap.Code = "action-failed"
)
