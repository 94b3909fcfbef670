package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lookleap/lookleap"
)

// stage is what a scene plays on: an internet and a host of its own, and the
// words to tell what happens.
type stage struct {
	ctx  context.Context
	host *lookleap.Host

	// user answers what the host asks; nil: the user is away, and every question pends.
	user func(*lookleap.ConsentRequest) lookleap.ConsentDecision

	printer printer
	tally   tally
}

func newStage(ctx context.Context, p printer) *stage {
	s := &stage{ctx: ctx, printer: p}
	s.host = &lookleap.Host{Prompter: s}
	return s
}

// PromptConsent makes the stage the host's dialogue with its user.
func (s *stage) PromptConsent(_ context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	if s.user == nil {
		return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
	}
	return s.user(req), nil
}

func (s *stage) close() {
	if err := s.host.Close(); err != nil {
		s.wrong("closing the host: %v", err)
	}
}

// say tells what happens.
func (s *stage) say(format string, args ...any) { s.printer.say(fmt.Sprintf(format, args...)) }

// show prints what the program sees: a document, a dialogue, a verdict.
func (s *stage) show(text string) { s.printer.show(strings.TrimRight(text, "\n")) }

// outcome is how a decision ended.
type outcome string

// The outcomes, as they are printed.
const (
	allowed outcome = "ALLOWED"
	refused outcome = "REFUSED"
	asked   outcome = "ASKED"
)

// allowed is a decision that must end with yes: err is what the library said,
// why is the reason in one sentence.
func (s *stage) allowed(what string, err error, why string) {
	if err != nil {
		s.wrong("%s should be allowed: %v", what, err)
		return
	}
	s.tally.allowed++
	s.printer.decision(allowed, what, "", why)
}

// refused is a decision that must end with no, for the reason want. The reason
// that is printed is the library's own.
func (s *stage) refused(what string, err error, want lookleap.Code) {
	if got := lookleap.CodeOf(err); err == nil || got != want {
		s.wrong("%s should be refused with %s: %s, %v", what, want, got, err)
		return
	}
	s.tally.refused++
	s.printer.decision(refused, what, want, reason(err))
}

// reason is the summary of a verdict, or what the code says.
func reason(err error) string {
	var no *lookleap.VerifyError
	if errors.As(err, &no) && no.Verdict != nil {
		return no.Verdict.Summary
	}
	return lookleap.CodeOf(err).Title()
}

// asked is a decision that must be left to the user: nothing happened yet. It
// gives what is pending.
func (s *stage) asked(what string, err error, why string) *lookleap.PendingError {
	var pending *lookleap.PendingError
	if !errors.As(err, &pending) {
		s.wrong("%s should be asked about: %v", what, err)
		return nil
	}
	s.tally.asked++
	s.printer.decision(asked, what, lookleap.CodeConsentPending, why)
	return pending
}

// fact is something that must be true at this point, in one sentence.
func (s *stage) fact(ok bool, format string, args ...any) {
	if !ok {
		s.wrong("it is not true that "+format, args...)
		return
	}
	s.printer.fact(fmt.Sprintf(format, args...))
}

// wrong records that the story was not kept.
func (s *stage) wrong(format string, args ...any) {
	s.tally.wrong++
	s.printer.wrong(fmt.Sprintf(format, args...))
}
