package agent

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
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
	t.Run("ANML-8.1.1-05/reject-as-a-shared-cache", func(t *testing.T) { // s-maxage forbids it there
		synctest.Test(t, func(t *testing.T) {
			f := newFinding(t, func(_ *User, o *Options) { o.SharedCache = true })
			if old, now := stale(f, "300", 200*time.Second, "Cache-Control", "s-maxage=60"); old == now {
				f.Error("a stale page was served")
			}
			synctest.Wait()
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
	t.Run("ANML-8.1.1-05/reject-after-Close", func(t *testing.T) {
		inBubble(t, func(f *finding) {
			f.serves("300", "Cache-Control", swr)
			f.opens()
			f.net.Clock().Advance(time.Minute)
			f.site.Fault("/page", lab.Mute())
			f.opens()
			synctest.Wait() // the request is on its way
			if err := f.s.Close(); err != nil {
				f.Fatal(err)
			}
			f.net.Journal().Clear()
			_, err := f.s.Open(f.Context(), pageURL)
			hasCode(f, err, lookleap.CodeClosed)
			_, err = f.s.Discover(f.Context(), shopOrigin)
			hasCode(f, err, lookleap.CodeClosed)
			synctest.Wait()
			f.requests("shop.example")
			if len(f.told) != 0 {
				f.Error(f.told)
			}
		})
	})
}

// TestForgettingWhileLoading holds that a page is not kept which was on its way
// when the user had its origin forgotten.
func TestForgettingWhileLoading(t *testing.T) {
	for name, forget := range map[string]func(*Session) error{
		"where-it-is":  func(s *Session) error { return s.ForgetDiscovery(context.Background(), shopOrigin) },
		"what-it-told": func(s *Session) error { _, err := s.Forget(context.Background(), "shop.example"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(f *finding) {
				f.serves("60")
				f.site.Fault("/page", lab.Delay(time.Second))
				var wg sync.WaitGroup
				wg.Go(func() { f.opens() })
				synctest.Wait()
				if err := forget(f.s); err != nil {
					f.Error(err)
				}
				f.net.Clock().Advance(2 * time.Second)
				wg.Wait()
				if keys := f.s.pages.kept.Keys(); len(keys) != 0 {
					f.Error(keys)
				}
			})
		})
	}
}

// TestOpeningAfterForgetting: who opens a page after it was forgotten does not get
// what others asked for before.
func TestOpeningAfterForgetting(t *testing.T) {
	t.Run("O20/reject-older-load", func(t *testing.T) {
		inBubble(t, func(f *finding) {
			f.serves("60")
			f.site.Fault("/page", lab.Delay(time.Second))
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

func TestOneExchangeForAll(t *testing.T) {
	inBubble(t, func(f *finding) {
		f.serves("")
		f.site.Fault("/page", lab.Delay(time.Second))
		var wg sync.WaitGroup
		leaving, leave := context.WithCancel(f.Context())
		wg.Go(func() {
			_, err := f.s.Open(leaving, pageURL)
			hasCode(f, err, lookleap.CodeCancelled)
		})
		for range 100 {
			wg.Go(func() {
				if _, err := f.s.Open(f.Context(), pageURL); err != nil {
					f.Error(err)
				}
			})
		}
		synctest.Wait()
		leave()
		synctest.Wait()
		f.net.Clock().Advance(2 * time.Second)
		wg.Wait()
		f.requests("shop.example", "GET /page")
	})
}

func TestDiscoverWhileRevalidating(t *testing.T) {
	inBubble(t, func(f *finding) {
		f.site.Handle(wellKnownPath, document(titled, "Cache-Control", "max-age=60, stale-while-revalidate=600", "Date", datedAt(0)))
		f.finds(f.s, "Shop")
		f.net.Clock().Advance(2 * time.Minute)
		f.site.Fault(wellKnownPath, lab.Delay(time.Second)) // the answer is as old, and would be asked for again
		for range 3 {
			f.finds(f.s, "Shop")
		}
		synctest.Wait()
		f.net.Clock().Advance(2 * time.Second)
		synctest.Wait()
		f.requests("shop.example", getWellKnown, getWellKnown)
	})
}
