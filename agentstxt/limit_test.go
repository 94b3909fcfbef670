package agentstxt

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

func TestLimitOfZeroNeverPasses(t *testing.T) {
	p := mustParse(t, Options{}, "/a ALLOW limit=0")
	if d := p.Decide("/a"); d.Allowed || d.Code != lookleap.CodeLimit {
		t.Error(d)
	}
}

// brokenLimiter fails.
type brokenLimiter struct{ lookleap.Limiter }

func (brokenLimiter) Take(context.Context, string, lookleap.Rate) (time.Duration, error) {
	return 0, errors.New("no connection")
}

func (brokenLimiter) Wait(context.Context, string, lookleap.Rate) (time.Duration, error) {
	return 0, errors.New("no connection")
}

// TestSeparateCounts: each directive of each origin has its own count, which its spelling, its line
// and the path of a request do not change.
func TestSeparateCounts(t *testing.T) {
	inWorld(t, "AGT-6-07/accept-other-directives-and-origins", Options{}, func(w *world) {
		w.servesFile(signed("/a ALLOW limit=1", "/b ALLOW limit=2", "/a/c ALLOW limit=1"))
		w.net.Site("www.shop.example").File("/agents.txt", plainText, signed("/a ALLOW limit=1")).File("*", plainText, "fine")
		w.site.File("*", plainText, "fine")
		c, _ := w.guarded(Options{})
		for _, url := range []string{"https://shop.example/a", "https://shop.example/b", "https://shop.example/b/x", "https://shop.example/a/c", "https://www.shop.example/a"} {
			if err := w.get(c, url); err != nil {
				w.Errorf("%s: %v", url, err)
			}
		}
		for _, url := range []string{"https://shop.example/a", "https://shop.example/a/x?y", "https://shop.example/%61", "https://shop.example/b", "https://shop.example/a/c", "https://www.shop.example/a/y"} {
			if v := refusal(w, w.get(c, url)); v.Code != lookleap.CodeLimit {
				w.Errorf("%s: %v", url, v)
			}
		}
	})
	inWorld(t, "AGT-6-07/reject-directive-in-another-line", Options{}, func(w *world) {
		w.servesFile(signed("/a ALLOW limit=1"), "Cache-Control", "max-age=300")
		w.site.File("*", plainText, "fine")
		c, _ := w.guarded(Options{})
		if err := w.get(c, "https://shop.example/a"); err != nil {
			w.Fatal(err)
		}
		w.servesFile(signed("/b DISALLOW", "/a ALLOW limit=1"))
		w.pass(10 * time.Minute)
		if v := refusal(w, w.get(c, "https://shop.example/a")); v.Code != lookleap.CodeLimit {
			w.Error(v)
		}
		if v := refusal(w, w.get(c, "https://shop.example/b")); v.Code != disallowed {
			w.Error("the new file is not in force")
		}
	})
}

func TestSharedLimiter(t *testing.T) {
	inWorld(t, "AGT-6-07/reject-in-another-process", Options{}, func(w *world) {
		w.servesFile(signed("/dashboard ALLOW limit=3"))
		w.site.File("/dashboard*", plainText, "fine")
		limiter := lookleap.NewMemoryLimiter()
		refused := 0
		for range 3 { // three processes with one limiter
			host := w.net.StubHost()
			host.Limiter = limiter
			w.host = host
			c, _ := w.guarded(Options{})
			for range 2 {
				if err := w.get(c, "https://shop.example/dashboard"); err != nil {
					refused++
				}
			}
		}
		if refused != 3 {
			w.Errorf("%d of 6 requests were refused", refused)
		}
	})
	inWorld(t, "AGT-6-07/reject-uncounted", Options{}, func(w *world) {
		w.servesFile(signed("/dashboard ALLOW limit=3", "/free ALLOW"))
		w.site.File("/*", plainText, "fine")
		w.host.Limiter = brokenLimiter{}
		c, _ := w.guarded(Options{})
		if v := refusal(w, w.get(c, "https://shop.example/dashboard")); v.Code != lookleap.CodeLimiterFailed || v.Summary != "the limit of the policy could not be checked" {
			w.Error(v)
		}
		if err := w.get(c, "https://shop.example/free"); err != nil {
			w.Errorf("a path without a limit needs no limiter: %v", err)
		}
	})
	inWorld(t, "AGT-2-11/reject-before-the-time-that-another-process-was-told", Options{}, func(w *world) {
		w.site.Handle(policyPath, lookleaptest.Status(429, "Retry-After", "600"))
		limiter := lookleap.NewMemoryLimiter()
		asked := func() int { return len(w.net.Journal().Requests("shop.example")) }
		for range 3 {
			host := w.net.StubHost()
			host.Limiter = limiter
			if _, err := NewClient(host, Options{}).Decide(w.Context(), "https://shop.example/x"); err != nil {
				w.Error(err)
			}
		}
		if n := asked(); n != 1 {
			w.Errorf("%d requests", n)
		}
	})
}
