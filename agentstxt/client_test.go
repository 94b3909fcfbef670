package agentstxt

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestCache: what is kept, and for how long.
func TestCache(t *testing.T) {
	ok := lookleap.CodeOK
	for _, tt := range []struct {
		name   string
		header []string
		kept   time.Duration
	}{
		{"AGT-5-07/accept-default-hour", nil, time.Hour},
		{"AGT-5-07/accept-max-age", []string{"Cache-Control", "max-age=7200"}, 2 * time.Hour},
		{"AGT-5-07/accept-least", []string{"Cache-Control", "max-age=1"}, 5 * time.Minute},
		{"AGT-5-07/accept-no-cache", []string{"Cache-Control", "no-cache"}, 5 * time.Minute},
		{"AGT-5-07/accept-most", []string{"Cache-Control", "max-age=9999999"}, 24 * time.Hour},
		{"AGT-5-07/accept-no-store", []string{"Cache-Control", "no-store, max-age=7200"}, 5 * time.Minute},
		{"AGT-5-07/accept-expires", []string{"Expires", "Sat, 01 Jan 2000 03:00:00 GMT"}, 3 * time.Hour},
	} {
		inWorld(t, tt.name, Options{}, func(w *world) {
			w.servesFile(vectorFile, tt.header...)
			w.want(Valid, ok)
			w.pass(tt.kept - time.Second)
			w.want(Valid, ok)
			w.asked(1)
			w.pass(time.Second)
			w.want(Valid, ok)
			w.asked(2)
		})
	}
	inWorld(t, "AGT-5-07/accept-304", Options{}, func(w *world) {
		w.servesFile(vectorFile, "ETag", `"1"`)
		first := w.want(Valid, ok)
		for range 30 {
			w.pass(time.Hour)
			if p := w.want(Valid, ok); p != first {
				w.Fatal("a renewed copy became another policy")
			}
		}
		w.asked(31)
		if r := w.net.Journal().Requests()[30]; r.Header.Get("If-None-Match") != `"1"` {
			w.Errorf("%v", r.Header)
		}
		if g := w.client.Generation("https://shop.example/"); g != 1 {
			w.Errorf("generation %d", g)
		}
	})
	inWorld(t, "AGT-5-07/accept-304-after-days", Options{}, func(w *world) {
		w.servesFile(vectorFile, "ETag", `"1"`)
		w.want(Valid, ok)
		w.pass(72 * time.Hour)
		w.want(Valid, ok)
		w.serves(lookleaptest.Status(503))
		w.pass(23 * time.Hour)
		w.wantFinding(w.want(Valid, ok), lookleap.CodeStale)
	})
	inWorld(t, "AGT-5-07/accept-last-modified", Options{}, func(w *world) {
		w.servesFile(vectorFile, "Last-Modified", "Sat, 01 Jan 2000 00:00:00 GMT")
		w.want(Valid, ok)
		w.pass(time.Hour)
		w.want(Valid, ok)
		if r := w.net.Journal().Requests()[1]; r.Header.Get("If-Modified-Since") != "Sat, 01 Jan 2000 00:00:00 GMT" {
			w.Errorf("%v", r.Header)
		}
	})
	inWorld(t, "AGT-10-01/accept-conditional-request", Options{}, func(w *world) {
		w.servesFile(vectorFile, "ETag", `"1"`)
		w.want(Valid, ok)
		w.pass(time.Hour)
		w.servesFile(signed("/new ALLOW"), "ETag", `"2"`)
		if p := w.want(Valid, ok); !p.Decide("/new").Allowed {
			w.Error("the new policy is not in force")
		}
		if g := w.client.Generation("https://shop.example/"); g != 2 {
			w.Errorf("generation %d", g)
		}
	})
	inWorld(t, "AGT-2-08/accept-kept", Options{}, func(w *world) {
		w.serves(lookleaptest.Status(404, "Cache-Control", "max-age=99999999"))
		w.want(Absent, CodeNoPolicy)
		w.pass(24*time.Hour - time.Second)
		w.want(Absent, CodeNoPolicy)
		w.asked(1)
		w.pass(time.Second)
		w.want(Absent, CodeNoPolicy)
		w.asked(2)
	})
	inWorld(t, "AGT-2-08/accept-file-removed", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.want(Valid, ok)
		w.serves(lookleaptest.Status(404))
		w.pass(time.Hour)
		w.want(Absent, CodeNoPolicy)
		w.serves(lookleaptest.Status(503))
		w.pass(time.Hour)
		w.want(Restricted, lookleap.CodeUnreachable) // the removed file does not come back
	})
	inWorld(t, "AGT-2-08/reject-once-the-file-appears", Options{}, func(w *world) {
		w.serves(lookleaptest.Status(404))
		w.want(Absent, CodeNoPolicy)
		w.servesFile(signed("/ DISALLOW"))
		w.pass(time.Hour)
		if p := w.want(Valid, ok); p.Decide("/x").Allowed {
			w.Error("absence outlived its time")
		}
	})
	inWorld(t, "AGT-2-09/accept-after-an-hour", Options{}, func(w *world) {
		w.serves(lookleaptest.Status(451))
		w.want(Restricted, CodeAccessDenied)
		w.servesFile(vectorFile)
		w.pass(time.Hour)
		w.want(Valid, ok)
	})
	inWorld(t, "AGT-5-07/reject-policy-that-was-replaced", Options{}, func(w *world) {
		w.servesFile(signed("/a ALLOW"))
		w.want(Valid, ok)
		w.servesFile(signed("/a DISALLOW"))
		w.pass(time.Hour)
		if p := w.want(Valid, ok); p.Decide("/a").Allowed {
			w.Error("the old policy is in force")
		}
	})
	inWorld(t, "AGT-10-01/reject-asking-again-too-early", Options{}, func(w *world) {
		w.serves(lookleaptest.Status(503))
		for range 14 {
			w.want(Restricted, lookleap.CodeUnreachable)
			w.pass(time.Second)
		}
		w.asked(1)
	})
	inWorld(t, "AGT-2-09/reject-for-an-hour", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.want(Valid, ok)
		w.pass(time.Hour)
		w.serves(lookleaptest.Status(401, "Cache-Control", "max-age=86400"))
		w.want(Restricted, CodeAccessDenied) // the good copy is not used
		w.servesFile(vectorFile)
		w.pass(time.Hour - time.Second)
		w.want(Restricted, CodeAccessDenied)
		w.pass(time.Second)
		w.want(Valid, ok)
	})
	for name, tt := range map[string]struct {
		answer  http.Handler
		finding lookleap.Code
	}{
		"AGT-2-07/accept-good-copy-stays": {lookleaptest.Body("text/html", "<html>"), lookleap.CodeSoft404},
		"AGT-2-10/accept-good-copy-stays": {lookleaptest.Status(403), lookleap.CodeForbidden},
		"AGT-2-10/accept-good-copy-400":   {lookleaptest.Status(400), CodeStatus},
		"AGT-2-11/accept-good-copy-stays": {lookleaptest.Status(429, "Retry-After", "3600"), lookleap.CodeStale},
		"AGT-2-12/accept-good-copy-stays": {lookleaptest.Status(503), lookleap.CodeStale},
		"M17/accept-good-copy-stays":      {lookleaptest.Status(500), lookleap.CodeStale},
		"M17/accept-good-copy-after-html": {lookleaptest.Body("text/html", "<html>"), lookleap.CodeSoft404},
		"M17/accept-good-copy-after-403":  {lookleaptest.Status(403), lookleap.CodeForbidden},
		"M17/accept-good-copy-after-400":  {lookleaptest.Status(400), CodeStatus},
		"M17/accept-good-copy-after-429":  {lookleaptest.Status(429, "Retry-After", "3600"), lookleap.CodeStale},
		"M17/accept-good-copy-after-503":  {lookleaptest.Status(503), lookleap.CodeStale},
	} {
		inWorld(t, name, Options{}, func(w *world) {
			w.servesFile(vectorFile)
			w.want(Valid, ok)
			w.serves(tt.answer)
			w.pass(2 * time.Hour)
			p := w.want(Valid, ok)
			w.wantFinding(p, tt.finding)
			if p.Decide("/admin").Allowed || !p.Decide("/status").Allowed {
				w.Error("the good copy is not in force")
			}
			w.pass(22*time.Hour - time.Second)
			w.want(Valid, ok)
			if g := w.client.Generation("https://shop.example/"); g != 1 {
				w.Errorf("generation %d", g)
			}
			w.pass(time.Second)
			if p, _ := w.client.Policy(context.Background(), "https://shop.example/"); p.State() == Valid {
				w.Error("a copy of 24 hours is still in force")
			}
		})
	}
	for name, set := range map[string]func(w *world){
		"AGT-2-13/reject-despite-good-copy": func(w *world) { w.serves(lookleaptest.Status(206)) },
		"AGT-2-14/reject-despite-good-copy": func(w *world) { w.site.Redirect("/agents.txt", "http://shop.example/x") },
		"AGT-2-14/reject-private-despite-good-copy": func(w *world) {
			w.net.Site("inside.example").At("10.0.0.7")
			w.site.Redirect("/agents.txt", "https://inside.example/x")
		},
		"AGT-2-14/reject-loop-despite-good-copy":        func(w *world) { w.site.Redirect("/agents.txt", "/agents.txt") },
		"AGT-2-14/reject-sixth-hop-despite-good-copy":   func(w *world) { w.site.RedirectChain("/agents.txt", 6, "") },
		"AGT-2-14/reject-no-location-despite-good-copy": func(w *world) { w.site.Status("/agents.txt", 302) },
	} {
		inWorld(t, name, Options{}, func(w *world) {
			w.servesFile(vectorFile)
			w.want(Valid, ok)
			set(w)
			w.pass(time.Hour)
			w.want(Restricted, lookleap.CodeUnreachable)
		})
	}
	for name, fail := range map[string]func(w *world){
		"tls":     func(w *world) { w.site.Certificate(lookleaptest.CertificateWrongName) },
		"500":     func(w *world) { w.site.Status("/agents.txt", 500) },
		"refused": func(w *world) { w.site.Connection(lookleaptest.ConnectionRefused) },
		"reset":   func(w *world) { w.site.Fault("/agents.txt", lookleaptest.Reset()) },
		"timeout": func(w *world) { w.site.Fault("/agents.txt", lookleaptest.Delay(time.Minute)) },
		"dns":     func(w *world) { w.net.Name("shop.example").ServFail() },

		"no-such-name": func(w *world) { w.net.Name("shop.example").Clear() },
		"bogus-name":   func(w *world) { w.net.Name("shop.example").Bogus() },
		"old-tls":      func(w *world) { w.site.MaxTLS(tls.VersionTLS11) },
		"unknown-ca":   func(w *world) { w.site.Certificate(lookleaptest.CertificateUnknownCA) },
		"blackhole":    func(w *world) { w.site.Connection(lookleaptest.ConnectionLost) },
		"truncated":    func(w *world) { w.site.HTTP1().Fault("/agents.txt", lookleaptest.Truncated()) },
		"cut-chunks":   func(w *world) { w.site.HTTP1().Fault("/agents.txt", lookleaptest.CutChunks()) },
		"reset-stream": func(w *world) { w.site.Fault("/agents.txt", lookleaptest.Truncated()) },
		"reset-body":   func(w *world) { w.site.Fault("/agents.txt", lookleaptest.ResetBody()) },
		"stalled":      func(w *world) { w.site.Fault("/agents.txt", lookleaptest.Stall()) },
		"dribbled":     func(w *world) { w.site.Fault("/agents.txt", lookleaptest.Dribble(time.Second)) },
		"503":          func(w *world) { w.site.Status("/agents.txt", 503) },
		"504":          func(w *world) { w.site.Status("/agents.txt", 504) },
		"599":          func(w *world) { w.site.Status("/agents.txt", 599) },
	} {
		inWorld(t, "AGT-2-12/accept-good-copy-despite-"+name, Options{}, func(w *world) {
			w.servesFile(vectorFile)
			w.want(Valid, ok)
			fail(w)
			w.pass(2 * time.Hour)
			w.wantFinding(w.want(Valid, ok), lookleap.CodeStale)
		})
	}
	inWorld(t, "AGT-2-12/accept-recovery", Options{}, func(w *world) {
		w.servesFile(vectorFile, "ETag", `"1"`)
		w.want(Valid, ok)
		w.site.Connection(lookleaptest.ConnectionRefused)
		w.pass(23 * time.Hour)
		w.wantFinding(w.want(Valid, ok), lookleap.CodeStale)
		w.site.Connection()
		w.pass(time.Hour - time.Minute)
		if p := w.want(Valid, ok); len(p.Findings()) > 0 {
			w.Error(p.Findings())
		}
		w.pass(23 * time.Hour)
		w.want(Valid, ok)
	})
	inWorld(t, "AGT-2-11/reject-until-retry-after", Options{}, func(w *world) {
		w.serves(lookleaptest.Status(429, "Retry-After", "120"))
		w.want(Restricted, lookleap.CodeRateLimited)
		w.servesFile(vectorFile)
		w.pass(119 * time.Second)
		w.want(Restricted, lookleap.CodeRateLimited)
		w.asked(1)
		w.pass(time.Second)
		w.want(Valid, ok)
	})
	for name, tt := range map[string]struct {
		header []string
		wait   time.Duration
	}{
		"AGT-2-11/reject-default":           {nil, 10 * time.Minute},
		"AGT-2-11/reject-malformed":         {[]string{"Retry-After", "1.5"}, 10 * time.Minute},
		"AGT-2-11/reject-cap":               {[]string{"Retry-After", "99999999999999999999"}, 24 * time.Hour},
		"AGT-10-01/accept-retry-after-date": {[]string{"Retry-After", "Sat, 01 Jan 2000 00:30:00 GMT"}, 30 * time.Minute},
	} {
		inWorld(t, name, Options{}, func(w *world) {
			w.serves(lookleaptest.Status(429, tt.header...))
			w.want(Restricted, lookleap.CodeRateLimited)
			w.pass(tt.wait - time.Second)
			w.want(Restricted, lookleap.CodeRateLimited)
			w.asked(1)
			w.pass(time.Second)
			w.want(Restricted, lookleap.CodeRateLimited)
			w.asked(2)
		})
	}
	inWorld(t, "AGT-10-01/accept-backoff", Options{}, func(w *world) {
		w.serves(lookleaptest.Status(503))
		for seconds := range 24 * 3600 {
			if w.want(Restricted, lookleap.CodeUnreachable); seconds > 0 && seconds%600 == 0 && seconds <= 600 {
				w.asked(len(w.net.Journal().Requests()))
			}
			w.pass(time.Second)
		}
		var gaps []time.Duration
		requests := w.net.Journal().Requests()
		for i := 1; i < len(requests); i++ {
			gaps = append(gaps, requests[i].Time.Sub(requests[i-1].Time))
		}
		for i, gap := range gaps {
			whole := min(30*time.Second<<min(i, 10), time.Hour)
			if gap < whole/2 || gap > whole+time.Second {
				w.Errorf("gap %d is %v, want between %v and %v", i, gap, whole/2, whole)
			}
		}
		if len(gaps) < 24 || len(gaps) > 70 {
			w.Errorf("%d attempts in a day", len(gaps)+1)
		}
	})
	t.Run("AGT-10-01/accept-jitter", func(t *testing.T) {
		waits := make(map[time.Duration]bool)
		for range 64 {
			waits[backoff(3)] = true
		}
		if len(waits) < 2 {
			t.Errorf("64 waits are all the same: %v", waits)
		}
	})
	inWorld(t, "AGT-10-01/accept-identified", Options{UserAgent: "agent/7"}, func(w *world) {
		w.servesFile(vectorFile)
		w.want(Valid, ok)
		if got := w.net.Journal().Requests()[0].Header.Get("User-Agent"); got != "agent/7" {
			w.Error(got)
		}
	})
	inWorld(t, "AGT-2-12/reject-until-backoff", Options{}, func(w *world) {
		w.serves(lookleaptest.Status(503))
		w.want(Restricted, lookleap.CodeUnreachable)
		w.servesFile(vectorFile)
		w.pass(minBackoff/2 - time.Second)
		w.want(Restricted, lookleap.CodeUnreachable)
		w.asked(1)
		w.pass(minBackoff/2 + 2*time.Second)
		w.want(Valid, ok)
	})
	inWorld(t, "AGT-10-01/accept-retry-after-of-503", Options{}, func(w *world) {
		w.serves(lookleaptest.Status(503, "Retry-After", "7200"))
		w.want(Restricted, lookleap.CodeUnreachable)
		w.pass(2*time.Hour - time.Second)
		w.want(Restricted, lookleap.CodeUnreachable)
		w.asked(1)
	})
	inWorld(t, "AGT-10-01/accept-one-fetch-in-flight", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.site.Fault("/agents.txt", lookleaptest.Delay(time.Second))
		var callers sync.WaitGroup
		for range 1000 {
			callers.Go(func() { w.want(Valid, ok) })
		}
		callers.Wait()
		w.asked(1)
	})
	inWorld(t, "AGT-10-01/accept-one-caller-leaves", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.site.Fault("/agents.txt", lookleaptest.Delay(time.Second))
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		var callers sync.WaitGroup
		callers.Go(func() {
			if _, err := w.client.Policy(ctx, "https://shop.example/"); !errors.Is(err, context.DeadlineExceeded) {
				w.Error(err)
			}
		})
		callers.Go(func() { w.want(Valid, ok) })
		callers.Wait()
		w.asked(1)
	})
	inWorld(t, "AGT-10-01/accept-cancel-is-not-kept", Options{}, func(w *world) {
		w.servesFile(vectorFile)
		w.site.Fault("/agents.txt", lookleaptest.Delay(time.Second))
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		if _, err := w.client.Policy(ctx, "https://shop.example/"); !errors.Is(err, context.DeadlineExceeded) {
			w.Error(err)
		}
		w.want(Valid, ok)
	})
	t.Run("AGT-10-02/accept-few-requests", func(t *testing.T) {
		inWorld(t, "day", Options{}, func(w *world) {
			w.servesFile(vectorFile, "Cache-Control", "max-age=86400")
			for range 24 * 60 {
				w.want(Valid, ok)
				w.pass(time.Minute)
			}
			w.asked(1)
		})
	})
}

// TestOneBadMinute: a server that failed once is asked again soon, whatever wait it asked for.
func TestOneBadMinute(t *testing.T) {
	c := NewClient(&lookleap.Host{}, Options{})
	now := time.Unix(1.7e9, 0)
	failed := &readResult{response: Response{Status: 503}, received: now, retryAfter: 24 * time.Hour}
	t.Run("O14/accept-after-the-longest-wait", func(t *testing.T) {
		if h := c.policies.after(&knownFile[*Policy]{}, failed); h.recheck.After(now.Add(maxRetryAfter)) {
			t.Errorf("held until %v", h.recheck.Sub(now))
		}
	})
	inWorld(t, "O10/reject-hold-after-the-clock-was-set-back", Options{}, func(w *world) {
		w.serves(lookleaptest.Status(503))
		w.want(Restricted, lookleap.CodeUnreachable)
		w.servesFile(vectorFile)
		w.want(Restricted, lookleap.CodeUnreachable)
		w.net.Clock().Advance(-time.Hour)
		w.want(Valid, lookleap.CodeOK)
	})
}
