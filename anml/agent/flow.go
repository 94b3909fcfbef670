package agent

import (
	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// CrossService says when the user is asked before a value may go to a service although another
// service may have told it (section 14.1).
type CrossService uint8

const (
	// CrossServiceMatch asks if another service told the value or a part of it, in the same words.
	// A paraphrase is not recognised. It is the zero value.
	CrossServiceMatch CrossService = iota
	// CrossServiceStrict also asks about every argument and answer whose provenance is not stated,
	// once the session has read another service than the one that would receive it. Nothing is
	// compared for that. Defaults of the document and what the user supplied are not asked about.
	CrossServiceStrict
)

// flow is whether a value may go to a service.
type flow struct {
	verb   Verb
	code   lookleap.Code
	reason anml.Reason // of a refusal
}

// flowFrom decides whether a value with these sources may go to a service that is none of them
// (section 14.2). Deleted and private content goes to no service. Restricted content needs an
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
