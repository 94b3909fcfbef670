package agent

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/lookleaptest"
)

// process is a host of its own on the internet of a test, as another process has it, with the
// session of a user.
func process(t *testing.T, net *lookleaptest.Internet, l lookleap.Limiter, user string) *Session {
	t.Helper()
	host := net.StubHost()
	host.Prompter, host.Limiter = lookleaptest.NewPrompter(t, lookleaptest.Approve()), l
	s, err := New(host, Options{}).NewSession(User{ID: user})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestSharedLimiter: what one process sends or is told counts in the others that share its Limiter.
func TestSharedLimiter(t *testing.T) {
	const page = "https://shop.example/page"
	begin := func(t *testing.T, answer http.Handler) (*lookleaptest.Internet, func(*Session) error) {
		net := newLab(t)
		net.Site("shop.example").File("/page", anml.MediaTypeXML, service(gettable)).Handle("*", answer)
		return net, func(s *Session) error {
			p, err := s.Open(t.Context(), page)
			if err == nil {
				_, err = p.Do(t.Context(), Call{Action: "a"})
			}
			return err
		}
	}
	wants := func(t *testing.T, err error, code lookleap.Code) {
		t.Helper()
		if got := lookleap.CodeOf(err); err == nil != (code == lookleap.CodeOK) || err != nil && got != code {
			t.Errorf("%v, want %s", err, code)
		}
	}
	t.Run("ANML-13.4-12", func(t *testing.T) {
		full := func(t *testing.T) (*lookleaptest.Internet, lookleap.Limiter, func(*Session) error) {
			net, do := begin(t, lookleaptest.Status(http.StatusNoContent))
			l := net.StubHost() // its limiter follows the clock of the test
			a := process(t, net, l, "ada")
			for range 5 {
				wants(t, do(a), lookleap.CodeOK)
			}
			return net, l, do
		}
		t.Run("reject-burst-of-another-process", func(t *testing.T) {
			net, l, do := full(t)
			wants(t, do(process(t, net, l, "ada")), CodeTooManyActions)
			net.Clock().Advance(2 * time.Second)
			wants(t, do(process(t, net, l, "ada")), lookleap.CodeOK)
		})
		t.Run("accept-other-user", func(t *testing.T) {
			net, l, do := full(t)
			wants(t, do(process(t, net, l, "bob")), lookleap.CodeOK)
		})
		t.Run("accept-without-a-shared-limiter", func(t *testing.T) {
			net, _, do := full(t)
			wants(t, do(process(t, net, nil, "ada")), lookleap.CodeOK)
		})
		t.Run("reject-processes-that-take-turns", func(t *testing.T) {
			net, l, do := full(t)
			sent := 5
			for range 49 { // in 98 seconds
				net.Clock().Advance(2 * time.Second)
				for s := process(t, net, l, "ada"); do(s) == nil; {
					sent++
				}
			}
			if sent != 54 {
				t.Errorf("%d actions were sent", sent)
			}
		})
		t.Run("reject-limiter-that-fails", func(t *testing.T) {
			net, do := begin(t, lookleaptest.Status(http.StatusNoContent))
			wants(t, do(process(t, net, brokenLimiter{}, "ada")), lookleap.CodeLimiterFailed)
			if got := len(net.Journal().Requests()); got != 1 {
				t.Errorf("%d requests, want that of the page", got)
			}
		})
	})
	for row, status := range map[string]int{"ANML-11.3-14": 429, "ANML-11.3-19": 503} {
		t.Run(row, func(t *testing.T) {
			t.Run("reject-wait-of-another-process", func(t *testing.T) {
				net, do := begin(t, scripted(status, "", "Retry-After", "90"))
				l := net.StubHost()
				wants(t, do(process(t, net, l, "ada")), map[int]lookleap.Code{429: lookleap.CodeRateLimited, 503: lookleap.CodeUnavailable}[status])
				b := process(t, net, l, "bob")
				err := do(b)
				wants(t, err, CodeTooSoon)
				if wait := responseBehind(err).RetryAfter; wait != 90*time.Second {
					t.Errorf("wait %v", wait)
				}
				net.Clock().Advance(90 * time.Second)
				if err := do(b); lookleap.CodeOf(err) == CodeTooSoon {
					t.Error(err)
				}
			})
		})
	}
	t.Run("ANML-8.13-04/reject-wait-of-another-process", func(t *testing.T) {
		net, do := begin(t, scripted(200, service(`<status code="later" result="error" retry-after="90"/>`), "Content-Type", anml.MediaTypeXML))
		l := net.StubHost()
		wants(t, do(process(t, net, l, "ada")), CodeActionFailed)
		wants(t, do(process(t, net, l, "ada")), CodeTooSoon)
		wants(t, do(process(t, net, l, "bob")), CodeActionFailed) // it was said to one user
	})
	t.Run("ANML-6.5.1-16/reject-document-asked-for-by-another-process", func(t *testing.T) {
		net := newLab(t)
		net.Site("shop.example").Handle("*", scripted(503, "", "Retry-After", "90"))
		l := net.StubHost()
		_, err := process(t, net, l, "ada").Open(t.Context(), page)
		wants(t, err, lookleap.CodeBadStatus)
		before := len(net.Journal().Requests())
		b := process(t, net, l, "bob")
		_, err = b.Open(t.Context(), page)
		wants(t, err, CodeTooSoon)
		if len(net.Journal().Requests()) != before {
			t.Error("the document was requested")
		}
		net.Clock().Advance(90 * time.Second)
		_, err = b.Open(t.Context(), page)
		wants(t, err, lookleap.CodeBadStatus)
	})
}

// TestLimiterThatFailsInPart: an action that one call of the Limiter fails for is not sent and not
// counted.
func TestLimiterThatFailsInPart(t *testing.T) {
	p := gateKey{action: "POST " + shopOrigin + "/x", origin: shopOrigin, document: shopOrigin}
	net := newLab(t)
	host, l := net.StubHost(), &partLimiter{Limiter: net.StubHost()}
	host.Limiter = l
	s := sessionOn(t, host, User{}, Options{})
	must(t, s.gate.take(t.Context(), p))
	t.Run("wait-that-is-not-kept", func(t *testing.T) { // the host is told
		var told []lookleap.Event
		host.Observe = func(_ context.Context, e lookleap.Event) { told = append(told, e) }
		l.failing = "hold "
		s.hold(t.Context(), limitHold+shopOrigin, shopOrigin, -1)
		s.hold(t.Context(), limitHold+shopOrigin, shopOrigin, 1)
		if len(told) != 1 || told[0].Code != lookleap.CodeLimiterFailed || told[0].Subject != shopOrigin || !errors.Is(told[0].Err, errTest) {
			t.Errorf("%+v", told)
		}
	})
}

// partLimiter fails for the calls whose name and key begin with a text.
type partLimiter struct {
	lookleap.Limiter
	failing string
}

func (l *partLimiter) fails(call string) error {
	if l.failing != "" && strings.HasPrefix(call, l.failing) {
		return errTest
	}
	return nil
}

func (l *partLimiter) Take(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	if err := l.fails("take " + key); err != nil {
		return 0, err
	}
	return l.Limiter.Take(ctx, key, r)
}

func (l *partLimiter) Wait(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	if err := l.fails("wait " + key); err != nil {
		return 0, err
	}
	return l.Limiter.Wait(ctx, key, r)
}

func (l *partLimiter) Hold(ctx context.Context, key string, d time.Duration) error {
	if err := l.fails("hold " + key); err != nil {
		return err
	}
	return l.Limiter.Hold(ctx, key, d)
}

type brokenLimiter struct{ lookleap.Limiter }

func (brokenLimiter) Take(context.Context, string, lookleap.Rate) (time.Duration, error) {
	return 0, errors.New("down")
}

func (brokenLimiter) Wait(context.Context, string, lookleap.Rate) (time.Duration, error) {
	return 0, errors.New("down")
}

func (brokenLimiter) Hold(context.Context, string, time.Duration) error { return errors.New("down") }
