package lookleap

// Codes of a conforming ANML agent (package anml/agent).
const (
	CodeNoANML          Code = "no-anml"
	CodeGone            Code = "gone"
	CodeInconclusive    Code = "inconclusive"
	CodeSiteUnknown     Code = "site-unknown"
	CodeNotEvaluated    Code = "not-evaluated"
	CodeNotAsked        Code = "not-asked"
	CodeDomainRefused   Code = "domain-refused"
	CodeCrossService    Code = "cross-service"
	CodeInjection       Code = "prompt-injection"
	CodeEndpointForeign Code = "endpoint-foreign"
	CodePageLoop        Code = "page-loop"
	CodeRequiredAskOpen Code = "required-ask-open"
)

var agentCodes = map[Code]string{
	CodeNoANML:          "the origin has no ANML document",
	CodeGone:            "the origin has said that its ANML document is gone for good",
	CodeInconclusive:    "it could not be found out whether the origin has an ANML document",
	CodeSiteUnknown:     "the site's own document could not be had",
	CodeNotEvaluated:    "no decision was made about the field",
	CodeNotAsked:        "the field was not asked for",
	CodeDomainRefused:   "the user refuses everything to this domain",
	CodeCrossService:    "the value came from another service",
	CodeInjection:       "the text tries to instruct the agent",
	CodeEndpointForeign: "the action's endpoint belongs to another party than the document",
	CodePageLoop:        "the pages lead back to one that was read",
	CodeRequiredAskOpen: "a required ask has neither an answer nor a refusal",
}
