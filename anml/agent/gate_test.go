package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/lookleaptest"
)

func TestRateLimit(t *testing.T) {
	t.Run("ANML-13.4-12/accept-burst-then-pace", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, setting{doc: gettable})
			for range 5 {
				s.does(Call{Action: "a"}, lookleap.CodeOK)
			}
			_, err := s.page.Do(t.Context(), Call{Action: "b"})
			wait := responseBehind(err).RetryAfter
			hasCode(t, err, CodeTooManyActions)
			equals(t, wait, 2*time.Second)
			equals(t, len(s.sent()), 5)
			time.Sleep(wait)
			s.does(Call{Action: "b"}, lookleap.CodeOK)
			s.does(Call{Action: "b"}, CodeTooManyActions)
		})
	})
	t.Run("ANML-13.4-12/reject-beyond-the-interaction", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, setting{doc: gettable})
			for range 30 {
				time.Sleep(2 * time.Second)
				s.does(Call{Action: "a"}, lookleap.CodeOK)
			}
			time.Sleep(time.Hour)
			s.does(Call{Action: "a"}, CodeTooManyActions)
			equals(t, len(s.sent()), 30)
		})
	})
	t.Run("ANML-13.4-12/reject-switched-off", func(t *testing.T) {
		s := newStage(t, setting{doc: gettable, options: Options{Limits: Limits{Burst: -1, Executions: -1, Interval: -1}}})
		for range 5 {
			s.does(Call{Action: "a"}, lookleap.CodeOK)
		}
		s.does(Call{Action: "a"}, CodeTooManyActions)
	})
	t.Run("ANML-13.4-12/reject-asking-for-nothing", func(t *testing.T) {
		s := newStage(t, setting{doc: postable, options: Options{Limits: Limits{Burst: 1}}})
		s.does(Call{Action: "a"}, lookleap.CodeOK)
		s.does(Call{Action: "a"}, CodeTooManyActions)
		equals(t, len(s.user.Requests()), 1)
	})
}

// TestEdgesOfTheGate shows that nothing shortens a wait or lifts a limit but time.
func TestEdgesOfTheGate(t *testing.T) {
	const origin = "https://a.example"
	p := gateKey{action: "POST " + origin + "/x", origin: origin, document: origin}
	gate := func(t *testing.T, l Limits) (*gate, *lookleaptest.Clock) {
		net := newLab(t)
		return newSession(t, net, User{}, Options{Limits: l}).gate, net.Clock()
	}
	wants := func(t *testing.T, err error, code lookleap.Code, wait time.Duration) {
		t.Helper()
		if code == lookleap.CodeOK && err == nil {
			return
		}
		hasCode(t, err, code)
		equals(t, responseBehind(err).RetryAfter, wait)
	}
	t.Run("ANML-13.4-12/reject-clock-set-back", func(t *testing.T) {
		g, clock := gate(t, Limits{Burst: 1, Interval: time.Minute})
		must(t, g.take(t.Context(), p))
		clock.Advance(-time.Hour)
		wants(t, g.take(t.Context(), p), CodeTooManyActions, time.Minute)
		wants(t, g.wait(t.Context(), p, g.session.agent.host.Wait), CodeTooManyActions, time.Minute)
		clock.Advance(30 * time.Second)
		wants(t, g.take(t.Context(), p), CodeTooManyActions, 30*time.Second)
		clock.Advance(30 * time.Second)
		wants(t, g.take(t.Context(), p), lookleap.CodeOK, 0)
	})
	t.Run("ANML-13.4-12/reject-saved-up", func(t *testing.T) {
		g, clock := gate(t, Limits{Burst: 2, Interval: time.Minute})
		must(t, g.check(t.Context(), p))
		clock.Advance(1000 * time.Hour)
		must(t, g.take(t.Context(), p))
		must(t, g.take(t.Context(), p))
		wants(t, g.take(t.Context(), p), CodeTooManyActions, time.Minute)
	})
	t.Run("ANML-8.13-04/reject-shortened", func(t *testing.T) {
		g, clock := gate(t, Limits{})
		hold := func(wait time.Duration) {
			g.session.hold(t.Context(), g.session.actionKey(p.action), origin, wait)
		}
		hold(time.Hour)
		hold(time.Minute)
		wants(t, g.check(t.Context(), p), CodeTooSoon, time.Hour)
		g.session.ResetActions()
		wants(t, g.check(t.Context(), p), CodeTooSoon, time.Hour)
		g.end(p.action, lookleap.CodeForbidden, 403)
		hold(time.Minute)
		clock.Advance(time.Hour)
		wants(t, g.check(t.Context(), p), lookleap.CodeForbidden, 0)
	})
	t.Run("ANML-11.3-14/reject-shortened", func(t *testing.T) {
		g, _ := gate(t, Limits{})
		g.session.hold(t.Context(), limitHold+origin, origin, time.Hour)
		g.session.hold(t.Context(), limitHold+origin, origin, time.Minute)
		wants(t, g.check(t.Context(), p), CodeTooSoon, time.Hour)
	})
	t.Run("ANML-13.4-12/reject-uncounted", func(t *testing.T) {
		g, _ := gate(t, Limits{})
		for i := range maxGates {
			g.runs[fmt.Sprint(i)] = 1
			g.agree(fmt.Sprint(i), origin)
		}
		wants(t, g.take(t.Context(), p), lookleap.CodeLimit, 0)
		wants(t, g.take(t.Context(), gateKey{action: p.action, origin: origin, document: "0"}), lookleap.CodeOK, 0)
		if g.agree("one more", origin); g.agreed("one more", origin) {
			t.Error("more is remembered than the limit")
		}
	})
	t.Run("ANML-14.4-04/reject-kept-for-no-time", func(t *testing.T) {
		s := newSession(t, newLab(t), User{}, Options{})
		equals(t, s.Allowed(Inform{Usage: anml.UsageCache, Received: start}, anml.UsageCache, start), ErrUsage)
	})
}

// TestClockSetBack: what ended does not come back when the clock is set back,
// and nothing lasts longer than it should.
func TestClockSetBack(t *testing.T) {
	const month = 30 * 24 * time.Hour
	origin, err := domain.Parse(pageURL)
	must(t, err)
	// later lets time pass, and sets the clock back.
	later := func(f *finding, pass time.Duration) {
		for _, step := range []time.Duration{pass, -month} {
			f.net.Clock().Advance(step)
			f.s.now()
			if _, err := f.s.agent.host.Wait(f.Context(), "", lookleap.Rate{}); err != nil { // the limiter sees the clock
				f.Fatal(err)
			}
		}
	}
	page := gateKey{"GET " + pageURL, origin.Origin(), origin.Origin()}
	t.Run("O10", func(t *testing.T) {
		for name, c := range map[string]struct {
			hold  func(*finding, time.Time) error // closes something until a time
			check func(*finding) error
		}{
			"origin": {
				func(f *finding, until time.Time) error {
					f.s.hold(f.Context(), limitHold+page.origin, "", until.Sub(f.s.now()))
					return nil
				},
				func(f *finding) error { return f.s.gate.check(f.Context(), page) },
			},
			"action": {
				func(f *finding, until time.Time) error {
					f.s.hold(f.Context(), f.s.actionKey(page.action), "", until.Sub(f.s.now()))
					return nil
				},
				func(f *finding) error { return f.s.gate.check(f.Context(), page) },
			},
			"place": {
				func(f *finding, until time.Time) error {
					f.s.memory.close(origin, &lookleap.Error{Code: CodeNoANML, Err: &lookleap.ResponseError{RetryAfter: time.Minute}}, until)
					return nil
				},
				func(f *finding) error { return f.s.memory.refuses(f.Context(), origin) },
			},
		} {
			begin := func(t *testing.T) *finding {
				f := newFinding(t, func(u *User, o *Options) { u.Store = lookleap.NewMemoryStore() })
				must(t, c.hold(f, f.s.now().Add(time.Minute)))
				return f
			}
			t.Run("accept-after-the-wait-for-"+name, func(t *testing.T) {
				f := begin(t)
				later(f, time.Minute)
				if err := c.check(f); err != nil {
					t.Errorf("the wait began again: %v", err)
				}
			})
			t.Run("reject-within-the-wait-for-"+name, func(t *testing.T) {
				f := begin(t)
				later(f, time.Second)
				if err := c.check(f); err == nil {
					t.Error("the wait ended early")
				}
				f.net.Clock().Advance(time.Minute)
				if err := c.check(f); err != nil {
					t.Errorf("the wait became longer: %v", err)
				}
			})
		}
		for name, store := range map[string]lookleap.Store{"": nil, "-in-a-store": lookleap.NewMemoryStore()} {
			for state, moves := range map[string][2]time.Duration{
				"that-ended":  {2 * time.Hour, 90 * time.Minute},
				"to-prolong":  {30 * time.Minute, 20 * time.Minute},
				"of-tomorrow": {time.Second, month},
			} {
				t.Run("reject-consent-"+state+name, func(t *testing.T) {
					st := asker(t)
					st.user.Store = store
					must(t, third(st.prepares(st.page(booking("", askFor("email"))), Call{}).settle(all, start.Add(time.Hour))))
					st.net.Clock().Advance(moves[0])
					st.s.now()
					st.net.Clock().Advance(-moves[1])
					st.decides(booking("", askFor("email")), "prompt needs-consent")
					// A consent that is given afterwards stays.
					must(t, third(st.prepares(st.page(booking("", askFor("email"))), Call{}).settle(all, st.net.Clock().Now().Add(time.Hour))))
					st.decides(booking("", askFor("email")), "allow consent-held explicit")
				})
			}
			for state, c := range map[string]struct {
				pass, back time.Duration
				want       string
			}{
				"reject-consent-that-ended-before-a-correction": {time.Hour + 10*time.Second, 30 * time.Second, "prompt needs-consent"},
				"reject-consent-when-the-clock-jumps-forward":   {30 * time.Minute, -month, "prompt needs-consent"},
			} {
				t.Run(state+name, func(t *testing.T) {
					st := asker(t)
					st.user.Store = store
					must(t, third(st.prepares(st.page(booking("", askFor("email"))), Call{}).settle(all, start.Add(time.Hour))))
					st.net.Clock().Advance(c.pass)
					st.decides(booking("", askFor("email")), map[bool]string{true: "allow consent-held explicit", false: "prompt needs-consent"}[c.pass < time.Hour])
					st.net.Clock().Advance(-c.back)
					st.decides(booking("", askFor("email")), c.want)
				})
			}
		}
	})
}

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
			equals(t, sent, 54)
		})
		t.Run("reject-limiter-that-fails", func(t *testing.T) {
			net, do := begin(t, lookleaptest.Status(http.StatusNoContent))
			wants(t, do(process(t, net, brokenLimiter{}, "ada")), lookleap.CodeLimiterFailed)
			equals(t, len(net.Journal().Requests()), 1)
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
				equals(t, responseBehind(err).RetryAfter, 90*time.Second)
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
		equals(t, len(net.Journal().Requests()), before)
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
