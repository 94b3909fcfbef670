package wellknown_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
	"github.com/lookleap/lookleap/wellknown"
)

// TestDefaultLimits: the zero limits are those that are documented.
func TestDefaultLimits(t *testing.T) {
	for name, c := range map[string]struct {
		takes time.Duration
		code  lookleap.Code
	}{"accept-9-s": {9 * time.Second, lookleap.CodeOK}, "reject-11-s": {11 * time.Second, lookleap.CodeTimeout}} {
		t.Run("WK-4-01/"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := lab.New()
				defer net.Close()
				net.Site("site.example").Body(at, "text/plain", "x").Fault(at, lab.Delay(c.takes))
				r, err := wellknown.NewClient(net.Host(), wellknown.Options{}).Fetch(t.Context(), "https://site.example", "security.txt")
				if err != nil || r.Code != c.code {
					t.Errorf("%v, %v; want %s", r, err, c.code)
				}
			})
		})
	}
	t.Run("WK-4.3-03/reject-more-than-30-a-minute", func(t *testing.T) {
		net := lab.ForTest(t)
		net.Clock().Freeze()
		net.Site("site.example").Handle("*", lab.Status(404, "Cache-Control", "no-store"))
		client := wellknown.NewClient(net.Host(), wellknown.Options{})
		for i := range 31 {
			_, err := client.Fetch(t.Context(), "https://site.example", "example-"+string(rune('a'+i%26))+string(rune('a'+i/26)))
			if i < 30 && err != nil || i == 30 && lookleap.CodeOf(err) != wellknown.CodeProbeRate {
				t.Errorf("request %d: %v", i+1, err)
			}
		}
	})
}

// TestKeptFor: how long each kind of result is used without asking again.
func TestKeptFor(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.Handler
		kept   time.Duration
	}{
		"accept-document-without-a-date": {lab.Body("text/plain", "x"), time.Hour},
		"accept-document-of-two-days":    {lab.Status(200, "Content-Type", "text/plain", "Cache-Control", "max-age=172800"), 24 * time.Hour},
		"reject-404":                     {lab.Status(404), time.Hour},
		"reject-404-of-a-second":         {lab.Status(404, "Cache-Control", "max-age=1"), 5 * time.Minute},
		"reject-404-of-two-days":         {lab.Status(404, "Cache-Control", "max-age=172800"), 24 * time.Hour},
		"reject-403":                     {lab.Status(403), time.Hour},
		"reject-reset":                   {lab.Body("text/plain", "x"), time.Minute},
		"reject-503":                     {lab.Status(503), time.Minute},
		"reject-503-with-two-minutes":    {lab.Status(503, "Retry-After", "120"), 2 * time.Minute},
		"reject-503-with-a-day":          {lab.Status(503, "Retry-After", "86400"), 5 * time.Minute},
	} {
		t.Run("WK-4.3-03/"+name, func(t *testing.T) {
			net := lab.ForTest(t)
			net.Clock().Freeze()
			site := net.Site("site.example").Handle(at, c.answer)
			if name == "reject-reset" {
				site.Fault(at, lab.Reset())
			}
			client := wellknown.NewClient(net.Host(), wellknown.Options{})
			asked := func() int {
				if _, err := client.Fetch(t.Context(), "https://site.example", "security.txt"); err != nil {
					t.Fatal(err)
				}
				return len(net.Journal().Requests("site.example"))
			}
			asked()
			net.Clock().Advance(c.kept - time.Millisecond)
			if n := asked(); n != 1 {
				t.Errorf("%d requests within %s", n, c.kept)
			}
			net.Clock().Advance(time.Millisecond)
			if n := asked(); n != 2 {
				t.Errorf("%d requests after %s", n, c.kept)
			}
		})
	}
}

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
			net := lab.ForTest(t)
			net.Site("site.example").Body(at, "text/plain", "x")
			host := net.Host()
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
			net := lab.ForTest(t)
			net.Site("site.example").Body(at, "text/plain", "x")
			host := net.Host()
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
		net := lab.ForTest(t)
		net.Site("site.example").Handle(at, lab.Status(503, "Retry-After", "60"))
		host := net.Host()
		var events lab.Events
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
			net := lab.ForTest(t)
			net.Site("site.example").Handle(at, lab.Status(503, c.header...))
			host := net.Host()
			var events lab.Events
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
