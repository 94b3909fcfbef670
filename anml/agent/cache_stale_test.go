package agent

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap/lookleaptest"
)

// The rows about using a page while it is asked for again, and what happens to one
// that is on its way (section 8.1.1).

// inBubble runs a test in a bubble, on a lab whose clock stands still.
func inBubble(t *testing.T, test func(*finding)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFinding(t)
		test(f)
		synctest.Wait()
	})
}

func TestStaleWhileRevalidate(t *testing.T) {
	const swr = "max-age=60, stale-while-revalidate=600"
	stale := func(f *finding, ttl string, d time.Duration, header ...string) (old, now *Page) {
		f.serves(ttl, append([]string{"Cache-Control", swr, "Etag", `"1"`}, header...)...)
		old = f.opens()
		f.net.Journal().Clear()
		f.net.Clock().Advance(d)
		now = f.opens()
		return old, now
	}
	t.Run("ANML-8.1.1-05/accept-within-ttl", func(t *testing.T) {
		inBubble(t, func(f *finding) {
			old, now := stale(f, "300", 200*time.Second)
			if old != now {
				f.Error("the stale page was not served")
			}
			for range 10 {
				f.opens()
			}
			synctest.Wait()
			f.requests("shop.example", "GET /page")
			if renewed := f.opens(); renewed == old || !renewed.opened.received.Equal(start.Add(200*time.Second)) {
				f.Error("the page was not renewed")
			}
			f.requests("shop.example", "GET /page")
		})
	})
	for name, c := range map[string]struct {
		ttl    string
		at     time.Duration
		header []string
	}{
		"beyond-ttl":         {"300", 301 * time.Second, nil},
		"at-ttl":             {"300", 300 * time.Second, nil},
		"beyond-the-window":  {"", 660 * time.Second, nil},
		"no-cache":           {"300", 100 * time.Second, []string{"Cache-Control", "no-cache"}},
		"must-revalidate":    {"300", 100 * time.Second, []string{"Cache-Control", "must-revalidate"}},
		"depends-on-cookies": {"300", 100 * time.Second, []string{"Vary", "Cookie"}},
	} {
		t.Run("ANML-8.1.1-05/reject-"+name, func(t *testing.T) {
			inBubble(t, func(f *finding) {
				if old, now := stale(f, c.ttl, c.at, c.header...); old == now {
					f.Error("a stale page was served")
				}
			})
		})
	}
	t.Run("ANML-8.1.1-02/reject-no-cache-with-a-window", func(t *testing.T) {
		inBubble(t, func(f *finding) {
			if old, now := stale(f, "300", 100*time.Second, "Cache-Control", "no-cache"); old == now {
				f.Error("a page was served that had to be asked for again")
			}
		})
	})
	t.Run("ANML-8.1.1-05/accept-without-ttl", func(t *testing.T) {
		inBubble(t, func(f *finding) {
			if old, now := stale(f, "", 659*time.Second); old != now {
				f.Error("the stale page was not served")
			}
		})
	})
	t.Run("ANML-8.1.1-05/accept-that-fails", func(t *testing.T) {
		inBubble(t, func(f *finding) {
			old, _ := stale(f, "300", 59*time.Second)
			f.site.Status("/page", 500)
			f.net.Clock().Advance(time.Minute)
			f.opens()
			synctest.Wait()
			f.requests("shop.example", "GET /page") // one attempt
			_ = old
		})
	})
}

// TestOpeningAfterForgetting: who opens a page after it was forgotten does not get
// what others asked for before.
func TestOpeningAfterForgetting(t *testing.T) {
	t.Run("O20/reject-older-load", func(t *testing.T) {
		inBubble(t, func(f *finding) {
			f.serves("60")
			f.site.Fault("/page", lookleaptest.Delay(time.Second))
			var before, after *Page
			var wg sync.WaitGroup
			wg.Go(func() { before = f.opens() })
			synctest.Wait()
			if err := f.s.ForgetDiscovery(f.Context(), shopOrigin); err != nil {
				f.Error(err)
			}
			wg.Go(func() { after = f.opens() })
			synctest.Wait()
			f.net.Clock().Advance(2 * time.Second)
			wg.Wait()
			if n := len(f.net.Journal().Paths("shop.example")); n != 2 || before == after {
				f.Errorf("%d requests", n)
			}
			if f.opens() != after {
				f.Error("the page of the later caller is not kept")
			}
		})
	})
}
