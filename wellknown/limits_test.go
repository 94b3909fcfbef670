package wellknown_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
	"github.com/lookleap/lookleap/wellknown"
)

// fixedLimiter is a limiter whose calls return the same waits and errors.
type fixedLimiter struct {
	waits, takes     time.Duration
	wait, take, hold error
}

func (f fixedLimiter) Take(context.Context, string, lookleap.Rate) (time.Duration, error) {
	return f.takes, f.take
}
func (f fixedLimiter) Wait(context.Context, string, lookleap.Rate) (time.Duration, error) {
	return f.waits, f.wait
}
func (f fixedLimiter) Hold(context.Context, string, time.Duration) error { return f.hold }

// TestFailingLimiter: without a count nothing is sent. What cannot be held is reported.
func TestFailingLimiter(t *testing.T) {
	down := &lookleap.Error{Code: lookleap.CodeTooSlow}
	for name, l := range map[string]fixedLimiter{"reject-wait": {wait: down}, "reject-take": {take: down}} {
		t.Run("WK-4.3-03/"+name, func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			net.Site("site.example").File(at, "text/plain", "x")
			host := net.StubHost()
			host.Limiter = l
			r, err := wellknown.NewClient(host, wellknown.Options{}).Fetch(t.Context(), "https://site.example", "security.txt")
			var no *lookleap.VerifyError
			if r != nil || !errors.As(err, &no) || no.Verdict.Code == lookleap.CodeOK || no.Verdict.OK || !errors.Is(err, down) {
				t.Errorf("%v, %v", r, err)
			}
			if seen := net.Journal().Requests("site.example"); len(seen) != 0 {
				t.Errorf("sent %v", seen)
			}
		})
	}
	t.Run("WK-4.3-03/reject-shortest-waits", func(t *testing.T) {
		for _, l := range []fixedLimiter{{waits: 1}, {takes: 1}} {
			net := lookleaptest.ForTest(t)
			net.Site("site.example").File(at, "text/plain", "x")
			host := net.StubHost()
			host.Limiter = l
			r, err := wellknown.NewClient(host, wellknown.Options{}).Fetch(t.Context(), "https://site.example", "security.txt")
			if l.waits > 0 && (err != nil || r.State != wellknown.Unavailable || r.RetryAfter != 1) || l.takes > 0 && lookleap.CodeOf(err) != wellknown.CodeProbeRate {
				t.Errorf("%v, %v", r, err)
			}
			if seen := net.Journal().Requests("site.example"); len(seen) != 0 {
				t.Errorf("sent %v", seen)
			}
		}
	})
	t.Run("WK-4.3-03/accept-hold-that-fails", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("site.example").Handle(at, lookleaptest.Status(503, "Retry-After", "60"))
		host := net.StubHost()
		var events lookleaptest.Events
		host.Limiter, host.Observe = fixedLimiter{hold: down}, events.Observe
		r, err := wellknown.NewClient(host, wellknown.Options{}).Fetch(t.Context(), "https://site.example", "security.txt")
		reported := 0
		for _, e := range events.All() {
			if errors.Is(e.Err, down) && e.Subject == "https://site.example"+at {
				reported++
			}
		}
		if err != nil || r.State != wellknown.Unavailable || reported != 1 {
			t.Errorf("%v, %v, reported %d times", r, err, reported)
		}
	})
	t.Run("WK-4.3-03/accept-nothing-to-report", func(t *testing.T) {
		for _, c := range []struct {
			limiter lookleap.Limiter
			header  []string // of the 503
		}{{fixedLimiter{}, []string{"Retry-After", "60"}}, {fixedLimiter{hold: down}, nil}} {
			net := lookleaptest.ForTest(t)
			net.Site("site.example").Handle(at, lookleaptest.Status(503, c.header...))
			host := net.StubHost()
			var events lookleaptest.Events
			host.Limiter, host.Observe = c.limiter, events.Observe
			if _, err := wellknown.NewClient(host, wellknown.Options{}).Fetch(t.Context(), "https://site.example", "security.txt"); err != nil {
				t.Fatal(err)
			}
			for _, e := range events.All() {
				if e.Kind == lookleap.EventFinding {
					t.Errorf("reported %+v", e)
				}
			}
		}
	})
}
