package agent

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
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
			if lookleap.CodeOf(err) != CodeTooManyActions || wait != 2*time.Second {
				t.Fatalf("%v", err)
			}
			if n := len(s.sent()); n != 5 {
				t.Errorf("%d requests", n)
			}
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
			if n := len(s.sent()); n != 30 {
				t.Errorf("%d requests", n)
			}
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
		if n := len(s.user.Requests()); n != 1 {
			t.Errorf("the user was asked %d times about what is not sent", n)
		}
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
		if lookleap.CodeOf(err) != code || responseBehind(err).RetryAfter != wait {
			t.Errorf("%v, want %s within %s", err, code, wait)
		}
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
		if err := s.Allowed(Inform{Usage: anml.UsageCache, Received: start}, anml.UsageCache, start); err != ErrUsage {
			t.Error(err)
		}
	})
}
