package agent

import (
	"fmt"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

func TestRateLimit(t *testing.T) {
	t.Run("ANML-13.4-12/accept-burst-then-pace", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			s := newStage(t, setting{doc: gettable})
			for range 5 {
				s.does(Call{Action: "a"}, lookleap.CodeOK)
			}
			_, err := s.page.Do(t.Context(), Call{Action: "b"})
			var no *Error
			if !asError(err, &no) || no.Code != lookleap.CodeTooManyActions || no.RetryAfter != 2*time.Second {
				t.Fatalf("%v", err)
			}
			if n := len(s.sent()); n != 5 {
				t.Errorf("%d requests", n)
			}
			time.Sleep(no.RetryAfter)
			s.does(Call{Action: "b"}, lookleap.CodeOK)
			s.does(Call{Action: "b"}, lookleap.CodeTooManyActions)
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
			s.does(Call{Action: "a"}, lookleap.CodeTooManyActions)
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
		s.does(Call{Action: "a"}, lookleap.CodeTooManyActions)
	})
	t.Run("ANML-13.4-12/reject-asking-for-nothing", func(t *testing.T) {
		s := newStage(t, setting{doc: postable, options: Options{Limits: Limits{Burst: 1}}})
		s.does(Call{Action: "a"}, lookleap.CodeOK)
		s.does(Call{Action: "a"}, lookleap.CodeTooManyActions)
		if n := len(s.user.Requests()); n != 1 {
			t.Errorf("the user was asked %d times about what is not sent", n)
		}
	})
}

func TestGateBounds(t *testing.T) {
	s := newStage(t, setting{doc: gettable})
	g, now := s.session.gate, s.host.Time()
	for i := range maxGates + 10 {
		p := passage{action: "GET x", origin: fmt.Sprintf("https://%d.example", i), document: "https://shop.example"}
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
	p := passage{action: "GET x", origin: "https://a.example", document: "https://shop.example"}
	for range 5 {
		if err := g.take(p, now); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.take(p, now.Add(-time.Hour)); err == nil {
		t.Error("an earlier time lets an action pass")
	}
}
