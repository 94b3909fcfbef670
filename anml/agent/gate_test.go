package agent

import (
	"fmt"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

func TestRateLimit(t *testing.T) {
	t.Run("ANML-13.4-12/accept-burst-then-pace", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
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
		bubble(t, func(t *testing.T) {
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

func TestGateBounds(t *testing.T) {
	s := newStage(t, setting{doc: gettable})
	g, now := s.session.gate, s.host.Time()
	for i := range maxGates + 10 {
		p := gateKey{action: "GET x", origin: fmt.Sprintf("https://%d.example", i), document: "https://shop.example"}
		err := g.check(p, now)
		if i < maxGates != (err == nil) {
			t.Fatalf("%d: %v", i, err)
		}
	}
	if len(g.origins) > maxGates {
		t.Errorf("%d origins are kept", len(g.origins))
	}
}

func TestClockThatRunsBack(t *testing.T) {
	s := newStage(t, setting{doc: gettable})
	g, now := s.session.gate, s.host.Time()
	p := gateKey{action: "GET x", origin: "https://a.example", document: "https://shop.example"}
	for range 5 {
		if err := g.take(p, now); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.take(p, now.Add(-time.Hour)); err == nil {
		t.Error("an earlier time lets an action pass")
	}
}

// TestEdgesOfTheGate shows that nothing shortens a wait or lifts a limit but time.
func TestEdgesOfTheGate(t *testing.T) {
	const origin = "https://a.example"
	p := gateKey{action: "POST " + origin + "/x", origin: origin, document: origin}
	gate := func(t *testing.T, l Limits) *gate {
		return newSession(t, newLab(t), User{}, Options{Limits: l}).gate
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
		g := gate(t, Limits{Burst: 1, Interval: time.Minute})
		must(t, g.take(p, start))
		wants(t, g.take(p, start.Add(-time.Hour)), CodeTooManyActions, time.Minute)
		wants(t, g.take(p, start), CodeTooManyActions, time.Minute)
		wants(t, g.take(p, start.Add(time.Minute)), lookleap.CodeOK, 0)
	})
	t.Run("ANML-13.4-12/reject-saved-up", func(t *testing.T) {
		g := gate(t, Limits{Burst: 2, Interval: time.Minute})
		must(t, g.check(p, start))
		later := start.Add(1000 * time.Hour)
		must(t, g.take(p, later))
		must(t, g.take(p, later))
		wants(t, g.take(p, later), CodeTooManyActions, time.Minute)
	})
	t.Run("ANML-8.13-04/reject-shortened", func(t *testing.T) {
		g := gate(t, Limits{})
		g.delay(p.action, start.Add(time.Hour))
		g.delay(p.action, start.Add(time.Minute))
		wants(t, g.check(p, start), CodeTooSoon, time.Hour)
		g.session.ResetActions()
		wants(t, g.check(p, start), CodeTooSoon, time.Hour)
		g.end(p.action, lookleap.CodeForbidden, 403)
		g.delay(p.action, start.Add(time.Minute))
		wants(t, g.check(p, start.Add(time.Hour)), lookleap.CodeForbidden, 0)
	})
	t.Run("ANML-11.3-14/reject-shortened", func(t *testing.T) {
		g := gate(t, Limits{})
		g.wait(origin, start.Add(time.Hour), start)
		g.wait(origin, start.Add(time.Minute), start)
		wants(t, g.check(p, start), CodeTooSoon, time.Hour)
	})
	t.Run("ANML-13.4-12/reject-uncounted", func(t *testing.T) {
		g := gate(t, Limits{})
		for i := range maxGates {
			g.runs[fmt.Sprint(i)] = 1
			g.agree(fmt.Sprint(i), origin)
		}
		wants(t, g.take(p, start), lookleap.CodeLimit, 0)
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
