package lookleap

// Codes of a conforming ANML agent (package anml/agent).
const (
	CodeNoANML          Code = "no-anml"
	CodeGone            Code = "gone"
	CodeInconclusive    Code = "inconclusive"
	CodeSiteUnknown     Code = "site-unknown"
	CodeNotAsked        Code = "not-asked"
	CodeDomainRefused   Code = "domain-refused"
	CodeCrossService    Code = "cross-service"
	CodeInjection       Code = "prompt-injection"
	CodeEndpointForeign Code = "endpoint-foreign"
	CodePageLoop        Code = "page-loop"
	CodeRequiredAskOpen Code = "required-ask-open"
)

// CodeImpersonation is a document that may be of somebody else than it seems (section 13.6 of ANML).
const CodeImpersonation Code = "impersonation-suspect"

var agentCodes = map[Code]string{
	CodeNoANML:          "the origin has no ANML document",
	CodeGone:            "the origin has said that its ANML document is gone for good",
	CodeInconclusive:    "it could not be found out whether the origin has an ANML document",
	CodeSiteUnknown:     "the site's own document could not be had",
	CodeNotAsked:        "the field was not asked for",
	CodeDomainRefused:   "the user refuses everything to this domain",
	CodeCrossService:    "the value came from another service",
	CodeInjection:       "the text tries to instruct the agent",
	CodeEndpointForeign: "the action's endpoint belongs to another party than the document",
	CodePageLoop:        "the pages lead back to one that was read",
	CodeRequiredAskOpen: "a required ask has neither an answer nor a refusal",
	CodeImpersonation:   "the service may pretend to be another one",

	CodeNotInScope:        "the site authorizes the server, but not for this",
	CodeAuthorizationOver: "the site's authorization was in force and has ended",
	CodeForeignSite:       "the URL is not the site's own",
	CodeNoMorePages:       "the document names no further page",
	CodePageForeign:       "the next page is at another origin, which is followed only when the user asks for it",

	CodeUserRule:           "a standing rule of the user's decides",
	CodeHostRefused:        "the host or the user refused the field in this call",
	CodePolicyVeto:         "the host's policy refuses, or failed to decide",
	CodeExplicitConsent:    "the field's rule demands explicit consent",
	CodeUnrecognisedField:  "the field is not recognised, so explicit consent is needed",
	CodeSensitive:          "the field or its purpose is of a sensitive category",
	CodePurposeVague:       "the purpose is too vague to be judged",
	CodePurposeImplausible: "the purpose does not fit the field",
	CodeOtherVersion:       "the document is of a version that is not understood",
	CodePrivateContext:     "the value is another service's private content, which goes to nobody else",
	CodeRestrictedContext:  "the value is another service's restricted content and needs an authorization of its own",
	CodeDeletedContext:     "the value belongs to context that the user had deleted",
	CodeAuthentication:     "the user has to be authenticated first",
	CodeNoValue:            "the user has no value for the field",
	CodeValueType:          "the value is not of the type that is asked",
	CodeConsentHeld:        "an earlier explicit consent of the user's is in force",
	CodeConsentInferred:    "consent is inferred from the interaction that the user began",
	CodeConsentWithdrawn:   "the consent or rule that the disclosure rested on is no longer there",
	CodeNoBodyMethod:       "the action's method has no body, and answers never go into a URL",
	CodeDuplicateAnswer:    "the reply says two things about one field",
}

// Who speaks, and how far a result is followed.
const (
	CodeNotInScope        Code = "not-in-scope"
	CodeAuthorizationOver Code = "authorization-over"
	CodeForeignSite       Code = "foreign-site"
	CodeNoMorePages       Code = "no-more-pages"
	CodePageForeign       Code = "page-foreign"
)

// What is decided about telling a field, and why.
const (
	CodeUserRule           Code = "user-rule"
	CodeHostRefused        Code = "host-refused"
	CodePolicyVeto         Code = "policy-veto"
	CodeExplicitConsent    Code = "explicit-consent"
	CodeUnrecognisedField  Code = "unrecognised-field"
	CodeSensitive          Code = "sensitive"
	CodePurposeVague       Code = "purpose-vague"
	CodePurposeImplausible Code = "purpose-implausible"
	CodeOtherVersion       Code = "other-version"
	CodePrivateContext     Code = "private-context"
	CodeRestrictedContext  Code = "restricted-context"
	CodeDeletedContext     Code = "deleted-context"
	CodeAuthentication     Code = "authentication"
	CodeNoValue            Code = "no-value"
	CodeValueType          Code = "value-type"
	CodeConsentHeld        Code = "consent-held"
	CodeConsentInferred    Code = "consent-inferred"
	CodeConsentWithdrawn   Code = "consent-withdrawn"
	CodeNoBodyMethod       Code = "no-body-method"
	CodeDuplicateAnswer    Code = "duplicate-answer"
)

// What may keep an action from being sent, and how services answer it.
const (
	CodeUnknownAction    Code = "unknown-action"
	CodeAmbiguousAction  Code = "ambiguous-action"
	CodeActionNotOwned   Code = "action-not-owned"
	CodeNotExecutable    Code = "not-executable"
	CodeParamMissing     Code = "param-missing"
	CodeParamInvalid     Code = "param-invalid"
	CodeParamUnknown     Code = "param-unknown"
	CodeEncType          Code = "enctype-unsupported"
	CodeInsecureEndpoint Code = "insecure-endpoint"
	CodeIdentityLost     Code = "identity-lost"
	CodeTooSoon          Code = "too-soon"
	CodeTooManyActions   Code = "too-many-actions"
	CodeBadRequest       Code = "bad-request"
	CodeAuthRequired     Code = "auth-required"
	CodeUnprocessable    Code = "unprocessable"
	CodeServerError      Code = "server-error"
	CodeActionFailed     Code = "action-failed"
)

var actionCodes = map[Code]string{
	CodeUnknownAction:    "the site has no action with the id",
	CodeAmbiguousAction:  "several actions of the site have the id",
	CodeActionNotOwned:   "nobody who may offer the action was verified",
	CodeNotExecutable:    "the action or its document cannot be executed",
	CodeParamMissing:     "a required parameter has no value",
	CodeParamInvalid:     "a value does not fit its parameter",
	CodeParamUnknown:     "the action has no such parameter",
	CodeEncType:          "the action's encoding is not one that is sent",
	CodeInsecureEndpoint: "the action's endpoint is plain http",
	CodeIdentityLost:     "the site that the user was shown can no longer be verified",
	CodeTooSoon:          "the service asked to come back later",
	CodeTooManyActions:   "actions follow one another too fast, or there are too many",
	CodeBadRequest:       "the service found the request malformed or incomplete",
	CodeAuthRequired:     "the service demands authentication",
	CodeUnprocessable:    "the service understood the action and cannot execute it as sent",
	CodeServerError:      "the service failed",
	CodeActionFailed:     "the service says that the action failed",
}
