package agent

import (
	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// flow is whether a value may go to a service.
type flow struct {
	verb   Verb
	code   lookleap.Code
	reason anml.Reason // of a refusal
}

// flowFrom decides whether a value with these sources may go to another service (section 14.2). Deleted and private content goes to no service. Restricted content needs an
// authorization of its own, and public content the user's consent to this disclosure.
func flowFrom(sources []source) flow {
	f := flow{verb: VerbAllow}
	for _, s := range sources {
		next := flow{VerbPrompt, CodeCrossService, ""}
		switch {
		case s.deleted:
			next = flow{VerbRefuse, CodeDeletedContext, anml.UserDenied}
		case s.confidentiality == anml.Private:
			next = flow{VerbRefuse, CodePrivateContext, anml.PolicyViolation}
		case s.confidentiality == anml.Restricted:
			next = flow{VerbDefer, CodeRestrictedContext, ""}
		}
		if next.verb < f.verb {
			f = next
		}
	}
	return f
}
