package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// stage is what a scene plays on: an internet and a host of its own, and the
// words to tell what happens.
type stage struct {
	ctx  context.Context
	lab  *lookleaptest.Internet // put sites and names on it
	host *lookleap.Host         // the agent's: guarded, and at home in the lab

	// user answers what the host asks; nil: the user is away, and every question pends.
	user func(*lookleap.ConsentRequest) lookleap.ConsentDecision

	asker asker // where a real user decides; nil: the story does

	printer printer
	tally   tally
}

func newStage(ctx context.Context, p printer) *stage {
	s := &stage{ctx: ctx, lab: lookleaptest.NewInternet(), printer: p}
	s.host = s.lab.Host()
	s.host.Prompter = s
	return s
}

func (s *stage) close() { s.lab.Close() }

// get reads a URL through the host. A Host sends one request; whether to follow a
// redirect is for its caller to decide (nil: no redirect is followed). The header
// consists of pairs of name and value, for the first origin only.
func (s *stage) get(target string, follow func(from, to *url.URL) bool, header ...string) error {
	const hops = 5
	for range hops {
		req, err := http.NewRequestWithContext(s.ctx, http.MethodGet, target, nil)
		if err != nil {
			return err
		}
		for i := 0; i+1 < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp, err := s.host.RoundTrip(req)
		if err != nil {
			return err
		}
		to, moved := resp.Location()
		if err := resp.Body.Close(); err != nil || moved != nil || follow == nil {
			return err
		}
		if !follow(req.URL, to) {
			return &lookleap.Error{Code: lookleap.CodeRedirectForbidden, Message: "the redirect leads to " + to.Host}
		}
		if !sameOrigin(req.URL, to) {
			header = nil
		}
		target = to.String()
	}
	return &lookleap.Error{Code: lookleap.CodeTooManyRedirects, Message: fmt.Sprintf("there are more than %d redirects", hops)}
}

// sameOrigin follows redirects within an origin, and anywhere all of them.
func sameOrigin(from, to *url.URL) bool { return from.Scheme == to.Scheme && from.Host == to.Host }

func anywhere(_, _ *url.URL) bool { return true }

// carries reports whether any of the requests has any of the headers.
func carries(requests []lookleaptest.Request, names ...string) bool {
	for _, r := range requests {
		for _, name := range names {
			if r.Header.Get(name) != "" {
				return true
			}
		}
	}
	return false
}

// PromptConsent makes the stage the host's dialogue with its user.
func (s *stage) PromptConsent(_ context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	if s.user == nil {
		return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
	}
	return s.user(req), nil
}

// say tells what happens.
func (s *stage) say(format string, args ...any) { s.printer.say(fmt.Sprintf(format, args...)) }

// show prints what the program sees: a document, a dialogue, a verdict.
func (s *stage) show(text string) { s.printer.show(strings.TrimRight(text, "\n")) }

// showRequest prints what the user is asked, without the details, and with an ellipsis for texts that
// differ from run to run.
func (s *stage) showRequest(r *lookleap.ConsentRequest, differs ...string) {
	dialogue, _, _ := strings.Cut(r.String(), "\nDetails:\n")
	for _, text := range differs {
		dialogue = strings.ReplaceAll(dialogue, text, "…")
	}
	s.show(dialogue)
}

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
	s.decided(allowed, what, lookleap.CodeOK, why, allowed, lookleap.CodeOK)
}

// refused is a decision that must end with no, for the reason want. The reason
// that is printed is the library's own.
func (s *stage) refused(what string, err error, want lookleap.Code) {
	if err == nil {
		s.wrong("%s should be refused with %s", what, want)
		return
	}
	s.decided(refused, what, lookleap.CodeOf(err), reason(err), refused, want)
}

// decided is a decision that came without an error: how it ended and must end.
func (s *stage) decided(got outcome, what string, code lookleap.Code, why string, want outcome, wantCode lookleap.Code) {
	if got != want || code != wantCode {
		s.wrong("%s should be %s (%s), not %s (%s): %s", what, want, wantCode, got, code, why)
		return
	}
	switch got {
	case allowed:
		s.tally.allowed++
	case refused:
		s.tally.refused++
	case asked:
		s.tally.asked++
	}
	s.printer.decision(got, what, code, why)
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
// returns what is pending.
func (s *stage) asked(what string, err error, why string) *lookleap.PendingError {
	var pending *lookleap.PendingError
	if !errors.As(err, &pending) {
		s.wrong("%s should be asked about: %v", what, err)
		return nil
	}
	s.decided(asked, what, lookleap.CodeConsentPending, why, asked, lookleap.CodeConsentPending)
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
