package lookleap_test

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
)

func TestHungPlugins(t *testing.T) {
	t.Run("O13", func(t *testing.T) {
		for name, deaf := range map[string]bool{"reject-cache-that-heeds-its-context": false, "reject-deaf-cache": true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					hung := lab.NewHung(deaf)
					cache := (&lookleap.Host{Cache: hung}).SharedCache()
					for range 3 { // waited for once
						if value, _, err := cache.Get(context.Background(), "key"); value != nil || lookleap.CodeOf(err) != lookleap.CodeCacheFailed {
							t.Errorf("%q, %v", value, err)
						}
					}
					if n := hung.Calls(); n != 1 {
						t.Errorf("%d calls", n)
					}
					for range 3 { // made, and not waited for
						if err := cache.Delete(context.Background(), "key"); lookleap.CodeOf(err) != lookleap.CodeCacheFailed {
							t.Error(err)
						}
					}
					if synctest.Wait(); hung.Calls() != 4 {
						t.Errorf("%d calls", hung.Calls())
					}
					hung.End()
				})
			})
		}
		t.Run("accept-cache-that-answers-again", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hung := lab.NewHung(false)
				cache := (&lookleap.Host{Cache: hung}).SharedCache()
				cache.Get(t.Context(), "key")
				hung.Recover()
				time.Sleep(5 * time.Second)
				if value, _, err := cache.Get(t.Context(), "key"); string(value) != "kept" || err != nil {
					t.Errorf("%q, %v", value, err)
				}
			})
		})
		t.Run("accept-cache-after-a-change-that-succeeds", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hung := lab.NewHung(false)
				cache := (&lookleap.Host{Cache: hung}).SharedCache()
				cache.Get(t.Context(), "key")
				hung.Recover()
				cache.Put(t.Context(), "key", nil, time.Time{})
				synctest.Wait()
				if value, _, err := cache.Get(t.Context(), "key"); string(value) != "kept" || err != nil {
					t.Errorf("%q, %v", value, err)
				}
			})
		})
		t.Run("accept-caller-who-leaves-earlier", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hung := lab.NewHung(true)
				cache := (&lookleap.Host{Cache: hung}).SharedCache()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, _, err := cache.Get(ctx, "key"); !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
				hung.End()
			})
		})
		t.Run("reject-deaf-resolver", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hung := lab.NewHung(true)
				h := &lookleap.Host{Resolver: hung}
				if a, err := h.Lookup(context.Background(), "example.com", lookleap.TypeA); a != nil || lookleap.CodeOf(err) != lookleap.CodeResolverFailed {
					t.Errorf("%v, %v", a, err)
				}
				hung.End()
			})
		})
		t.Run("reject-deaf-ledger", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hung := lab.NewHung(true)
				h := &lookleap.Host{Plans: hung, Now: func() time.Time { return planTime }}
				a := approved(t, newPlan(t, "effect"), planTime, "address", "phone")
				err := h.Commit(context.Background(), a, func(context.Context, []byte) error { t.Error("the effect ran"); return nil })
				if lookleap.CodeOf(err) != lookleap.CodeLedgerFailed {
					t.Error(err)
				}
				hung.End()
			})
		})
	})
	t.Run("O28", func(t *testing.T) {
		t.Run("reject-calls-beyond-the-bound", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hung := lab.NewHung(true)
				cache := (&lookleap.Host{Cache: hung}).SharedCache()
				var callers sync.WaitGroup
				for range 1000 {
					callers.Go(func() {
						if _, _, err := cache.Get(context.Background(), "key"); err == nil {
							t.Error("an answer")
						}
					})
				}
				callers.Wait()
				if n := hung.Calls(); n > 64 {
					t.Errorf("%d calls of a deaf cache", n)
				}
				hung.End()
			})
		})
	})
}

// TestSharedCacheAndTheClock: what the Host's clock has passed does not come back.
func TestSharedCacheAndTheClock(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		moves   []time.Duration // of the clock since start; the entry lives for an hour
		waits   time.Duration   // by the system's clock, before the last look
		missing bool
	}{
		"accept-fresh":                        {[]time.Duration{0, 59 * time.Minute}, 0, false},
		"accept-fresh-after-a-step-back":      {[]time.Duration{30 * time.Minute, 0}, 0, false},
		"reject-expired":                      {[]time.Duration{0, time.Hour}, 0, true},
		"reject-expired-after-a-step-back":    {[]time.Duration{time.Hour, 0}, 0, true},
		"reject-expired-after-a-step-forward": {[]time.Duration{0, 30 * 24 * time.Hour}, 0, true},
		"accept-after-a-clock-that-was-fast":  {[]time.Duration{8000 * 24 * time.Hour, 0}, 7 * 24 * time.Hour, false},
	} {
		t.Run("O10/"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sealed, err := lookleap.SealedCache(lookleap.NewMemoryCache(8), resumeKey)
				if err != nil {
					t.Fatal(err)
				}
				for kind, plugged := range map[string]lookleap.Cache{"default": nil, "sealed": sealed} {
					now := start
					cache := (&lookleap.Host{Cache: plugged, Now: func() time.Time { return now }}).SharedCache()
					if err := cache.Put(t.Context(), "key", []byte("value"), start.Add(time.Hour)); err != nil {
						t.Fatal(err)
					}
					for i, move := range c.moves {
						if now = start.Add(move); i == len(c.moves)-1 {
							time.Sleep(c.waits)
						}
						_, _, err = cache.Get(t.Context(), "key")
					}
					if missing := errors.Is(err, fs.ErrNotExist); missing != c.missing || !missing && err != nil {
						t.Errorf("%s: %v", kind, err)
					}
				}
			})
		})
	}
}
