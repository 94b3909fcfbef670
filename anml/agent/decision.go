package agent

import (
	"context"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// Verb is what becomes of an ask.
type Verb uint8

// The verbs. The zero value refuses.
const (
	VerbRefuse Verb = iota // answered with a refusal
	VerbDefer              // left open: it needs a consent of its own first
	VerbPrompt             // the user is asked
	VerbAllow              // answered without asking, by the user's standing will
)

// Decision is what becomes of one ask, and why. It is a function of the ask, the
// constraints, the trust verdict, the user's policy and what is remembered;
// every further input can only make it stricter (section 9.2).
type Decision struct {
	Ask       anml.Ask
	Field     string
	Owner     Party // whose ask it is
	Verb      Verb
	Reason    anml.Reason   // of a refusal
	Code      lookleap.Code // why
	Basis     anml.ConsentKind
	Reference string    // what an allowance rests on: a rule or consent of the user's
	Rule      anml.Rule // what the document demands
	Sensitive bool
	From      []string // domains that the value came from, other than the recipient
	Warnings  []string // our words, to show the user
	value     Value
}

func (p *Page) decide(ctx context.Context) []Decision { return nil } // owner: data
