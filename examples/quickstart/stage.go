package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/agentstxt"
	"github.com/lookleap/lookleap/lookleaptest"
)

// stage is what a scene plays on: an internet and a host of its own, and the
// words to tell what happens.
type stage struct {
	printer
	ctx  context.Context
	lab  *lookleaptest.Internet // put sites and names on it
	host *lookleap.Host         // the agent's: guarded, and at home in the lab

	// user answers what the host asks; nil: the user is away, and every question pends.
	user func(*lookleap.ConsentRequest) lookleap.ConsentDecision

	asker asker // where a real user decides; nil: the story does
	tally *tally
}

// stopped ends a scene.
type stopped struct{ err error }

// must returns a value, or ends the scene if the error is not part of the story.
func must[T any](value T, err error) T {
	if err != nil {
		panic(stopped{err})
	}
	return value
}

// errorOf returns the error of a call.
func errorOf[T any](_ T, err error) error { return err }

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

// visit reads a URL with an ordinary client, behind the guard that obeys the policy of each site.
func (s *stage) visit() func(url string) error {
	client := &http.Client{Transport: agentstxt.NewClient(s.host, agentstxt.Web("ExampleBot")).Guard()}
	return func(url string) error {
		resp, err := client.Get(url)
		if err == nil {
			err = resp.Body.Close()
		}
		return err
	}
}

// freeze stops the clock at an hour of a day.
func (s *stage) freeze(year int, month time.Month, day, hour int) {
	s.lab.Clock().Freeze()
	s.lab.Clock().Set(time.Date(year, month, day, hour, 0, 0, 0, time.UTC))
}

// got returns the requests that reached a site.
func (s *stage) got(site *lookleaptest.Site) []lookleaptest.Request {
	return s.lab.Journal().Requests(site.Name())
}

// PromptConsent makes the stage the host's dialogue with its user.
func (s *stage) PromptConsent(_ context.Context, req *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	if s.user == nil {
		return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
	}
	return s.user(req), nil
}

// agree is a user who agrees to everything.
func agree(r *lookleap.ConsentRequest) lookleap.ConsentDecision { return lookleaptest.Decide(r) }

// live reports whether a real user decides.
func (s *stage) live() bool { return s.asker != nil }

// decide is the user's decision: that of a real user, or the story's, which agrees
// to everything but the items about a field.
func (s *stage) decide(r *lookleap.ConsentRequest, except string) lookleap.ConsentDecision {
	if s.live() {
		return s.asker.decide(r)
	}
	d := lookleap.ConsentDecision{Digest: r.Digest}
	for _, item := range r.Items {
		if !strings.Contains(item.Summary, fmt.Sprintf("%q", except)) {
			d.Approved = append(d.Approved, item.ID)
		}
	}
	return d
}

// outcome is how a decision ended.
type outcome string

// The outcomes, as they are printed.
const (
	allowed outcome = "ALLOWED"
	refused outcome = "REFUSED"
	asked   outcome = "ASKED"
)

// allowed is a decision that must end with yes, or the scene ends: err is what the library
// said, why is the reason in one sentence.
func (s *stage) allowed(what string, err error, why string) {
	if err != nil {
		s.wrong("%s should be allowed: %v", what, err)
		panic(stopped{})
	}
	s.decided(allowed, what, lookleap.CodeOK, why)
}

// refused is a decision that must end with no, for the reason want. The reason
// that is printed is the library's own: the summary of a verdict, or what the code says.
func (s *stage) refused(what string, err error, want lookleap.Code) {
	code := lookleap.CodeOf(err)
	if err == nil || code != want {
		s.wrong("%s should be refused with %s, and the error is: %v", what, want, err)
		return
	}
	why := code.Title()
	var no *lookleap.VerifyError
	if errors.As(err, &no) && no.Verdict != nil {
		why = no.Verdict.Summary
	}
	s.decided(refused, what, code, why)
}

// asked is a decision that must be left to the user, or the scene ends: nothing happened yet.
// It returns what is pending.
func (s *stage) asked(what string, err error, why string) *lookleap.PendingError {
	var pending *lookleap.PendingError
	if !errors.As(err, &pending) {
		s.wrong("%s should be asked about: %v", what, err)
		panic(stopped{})
	}
	s.decided(asked, what, lookleap.CodeConsentPending, why)
	return pending
}

func (s *stage) decided(o outcome, what string, code lookleap.Code, why string) {
	s.tally.decisions++
	s.tally.by[o]++
	s.decision(o, what, code, why)
}

// fact is something that must be true at this point, in one sentence.
func (s *stage) fact(ok bool, text string) {
	if !ok {
		s.wrong("it is not true that %s", text)
		return
	}
	s.print("%s\n", "\nChecked: %s\n", s.wrapped("   checked  ", text))
}

// wrong records that the story was not kept.
func (s *stage) wrong(format string, args ...any) {
	s.tally.wrong++
	s.print("   WRONG    %s\n", "\n**WRONG** %s\n", fmt.Sprintf(format, args...))
}
