package lookleaptest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

func TestOurLimiters(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		accepts(t, func() Engine[lookleap.Limiter] {
			open := func(testing.TB, string) lookleap.Limiter { return lookleap.NewMemoryLimiter() }
			return Engine[lookleap.Limiter]{Open: open, Private: true}
		}, limiterPromises)
	})
	t.Run("back-end", func(t *testing.T) {
		accepts(t, limiters(func(next limits, l *limits) {}), limiterPromises)
	})
}

type useFunc = func(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error)

// limits is a limiter with some calls of its own.
type limits struct {
	take, wait useFunc
	hold       func(ctx context.Context, key string, d time.Duration) error
}

func (l limits) Take(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	return l.take(ctx, key, r)
}

func (l limits) Wait(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	return l.wait(ctx, key, r)
}

func (l limits) Hold(ctx context.Context, key string, d time.Duration) error {
	return l.hold(ctx, key, d)
}

// limiters makes the engine of limiters over one for each name, on a server that can be stopped.
func limiters(spoil func(next limits, l *limits)) func() Engine[lookleap.Limiter] {
	return func() Engine[lookleap.Limiter] {
		backs, shared := newBackEnds(), map[string]lookleap.Limiter{}
		return Engine[lookleap.Limiter]{Hang: backs.stop, Open: func(_ testing.TB, name string) lookleap.Limiter {
			if shared[name] == nil {
				shared[name] = lookleap.NewMemoryLimiter()
			}
			limiter, back := shared[name], backs.get(name)
			served := func(use useFunc) useFunc {
				return func(ctx context.Context, key string, r lookleap.Rate) (wait time.Duration, err error) {
					err = back.run(ctx, func() (err error) { wait, err = use(ctx, key, r); return err })
					return wait, err
				}
			}
			hold := func(ctx context.Context, key string, d time.Duration) error {
				return back.run(ctx, func() error { return limiter.Hold(ctx, key, d) })
			}
			next := limits{served(limiter.Take), served(limiter.Wait), hold}
			broken := next
			spoil(next, &broken)
			return broken
		}}
	}
}

func TestBrokenLimiters(t *testing.T) {
	type taking = func(next limits, ctx context.Context, key string, r lookleap.Rate) (time.Duration, error)
	take := func(take taking) func(limits, *limits) {
		return func(next limits, l *limits) {
			l.take = func(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
				return take(next, ctx, key, r)
			}
		}
	}
	grantsAfter := func(failure error) func(limits, *limits) {
		return take(func(next limits, ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
			wait, err := next.take(ctx, key, r)
			if errors.Is(err, failure) {
				return 0, nil
			}
			return wait, err
		})
	}
	all := map[string]func(next limits, l *limits){
		"limit": take(func(next limits, ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
			r.Limit++
			return next.take(ctx, key, r)
		}),
		"keys-with-each-byte": func(next limits, l *limits) {
			l.take = func(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
				return next.take(ctx, strings.ToLower(key), r)
			}
		},
		"wait-counts-nothing": func(next limits, l *limits) { l.wait = next.take },
		"window-rolls":        fixedWindows,
		"hold": func(next limits, l *limits) { // a shorter one replaces it
			memory := lookleap.NewMemoryLimiter()
			l.take = func(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
				return memory.Take(ctx, key, r)
			}
			l.wait = func(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
				return memory.Wait(ctx, key, r)
			}
			l.hold = func(ctx context.Context, key string, d time.Duration) error {
				if d < time.Minute && key == "key" {
					memory = lookleap.NewMemoryLimiter()
				}
				return memory.Hold(ctx, key, d)
			}
		},
		"no-rate": take(func(next limits, ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
			if r.Limit == 0 {
				r = perHour
			}
			return next.take(ctx, key, r)
		}),
		"concurrent-use": take(func(next limits, ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
			if wait, err := next.wait(ctx, key, r); wait != 0 || err != nil {
				return wait, err
			}
			time.Sleep(time.Microsecond)
			_, err := next.take(ctx, key, r)
			return 0, err
		}),
		"cancellation": grantsAfter(context.Canceled),
		"shared-data": func(_ limits, l *limits) {
			own := lookleap.NewMemoryLimiter()
			*l = limits{own.Take, own.Wait, own.Hold}
		},
		"back-end-hangs": grantsAfter(context.DeadlineExceeded),
	}
	covers(t, limiterPromises, all)
	for promise, spoil := range all {
		t.Run(promise, func(t *testing.T) { rejects(t, limiters(spoil), limiterPromises, promise) })
	}
}

// fixedWindows counts in windows that begin at fixed times, so that twice the limit is granted
// around the border of two windows.
func fixedWindows(_ limits, l *limits) {
	var mu sync.Mutex
	var first time.Time
	counts := map[int64]int{}
	l.take = func(_ context.Context, _ string, r lookleap.Rate) (time.Duration, error) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if first.IsZero() {
			first = now.Add(-r.Window / 2) // the first use is in the middle of a window
		}
		window := int64(now.Sub(first) / r.Window)
		if counts[window] >= r.Limit {
			return first.Add(time.Duration(window+1) * r.Window).Sub(now), nil
		}
		counts[window]++
		return 0, nil
	}
}
