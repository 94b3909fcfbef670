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
			return Engine[lookleap.Limiter]{Open: func(testing.TB, string) lookleap.Limiter { return lookleap.NewMemoryLimiter() }, Private: true}
		}, limiterPromises)
	})
	t.Run("back-end", func(t *testing.T) {
		accepts(t, sharedLimiters(func(b *limitBack) lookleap.Limiter { return b }), limiterPromises)
	})
}

func TestBrokenLimiters(t *testing.T) {
	all := map[string]func(*limitBack) lookleap.Limiter{
		"limit":               func(b *limitBack) lookleap.Limiter { return oneMore{b} },
		"keys-with-each-byte": func(b *limitBack) lookleap.Limiter { return foldsLimits{b} },
		"wait-counts-nothing": func(b *limitBack) lookleap.Limiter { return waitTakes{b} },
		"window-rolls":        func(b *limitBack) lookleap.Limiter { return &fixedWindows{limitBack: b, counts: map[int64]int{}} },
		"hold":                func(b *limitBack) lookleap.Limiter { return lastHold{b} },
		"no-rate":             func(b *limitBack) lookleap.Limiter { return zeroIsOne{b} },
		"concurrent-use":      func(b *limitBack) lookleap.Limiter { return looksThenTakes{b} },
		"cancellation":        func(b *limitBack) lookleap.Limiter { return grantsCancelled{b} },
		"shared-data":         func(*limitBack) lookleap.Limiter { return lookleap.NewMemoryLimiter() },
		"back-end-hangs":      func(b *limitBack) lookleap.Limiter { return grantsWhenDown{b} },
	}
	covers(t, limiterPromises, all)
	for promise, broken := range all {
		t.Run(promise, func(t *testing.T) { rejects(t, sharedLimiters(broken), limiterPromises, promise) })
	}
}

func sharedLimiters(open func(*limitBack) lookleap.Limiter) func() Engine[lookleap.Limiter] {
	return func() Engine[lookleap.Limiter] {
		backs, limits := newBackEnds(), map[string]*limitBack{}
		return Engine[lookleap.Limiter]{
			Open: func(_ testing.TB, name string) lookleap.Limiter {
				if limits[name] == nil {
					limits[name] = &limitBack{
						server: backs.get(name), Limiter: lookleap.NewMemoryLimiter(),
					}
				}
				return open(limits[name])
			},
			Hang: backs.stop,
		}
	}
}

// limitBack is a correct limiter on a server that can be stopped.
type limitBack struct {
	lookleap.Limiter
	server *backEnd
}

func (b *limitBack) Take(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	if err := b.server.wait(ctx); err != nil {
		return 0, err
	}
	return b.Limiter.Take(ctx, key, r)
}

func (b *limitBack) Wait(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	if err := b.server.wait(ctx); err != nil {
		return 0, err
	}
	return b.Limiter.Wait(ctx, key, r)
}

func (b *limitBack) Hold(ctx context.Context, key string, d time.Duration) error {
	if err := b.server.wait(ctx); err != nil {
		return err
	}
	return b.Limiter.Hold(ctx, key, d)
}

// oneMore grants one use above the limit.
type oneMore struct{ *limitBack }

func (l oneMore) Take(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	r.Limit++
	return l.limitBack.Take(ctx, key, r)
}

// foldsLimits ignores the letter case of keys.
type foldsLimits struct{ *limitBack }

func (l foldsLimits) Take(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	return l.limitBack.Take(ctx, strings.ToLower(key), r)
}

// waitTakes counts a use for each Wait.
type waitTakes struct{ *limitBack }

func (l waitTakes) Wait(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	return l.Take(ctx, key, r)
}

// fixedWindows counts in windows that begin at fixed times, so that twice the limit is
// granted around the border of two windows.
type fixedWindows struct {
	*limitBack
	mu     sync.Mutex
	counts map[int64]int
	first  time.Time
}

func (l *fixedWindows) Take(_ context.Context, _ string, r lookleap.Rate) (time.Duration, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.first.IsZero() {
		l.first = now.Add(-r.Window / 2) // the first use is in the middle of a window
	}
	window := int64(now.Sub(l.first) / r.Window)
	if l.counts[window] >= r.Limit {
		return l.first.Add(time.Duration(window+1) * r.Window).Sub(now), nil
	}
	l.counts[window]++
	return 0, nil
}

// lastHold replaces a hold by a shorter one.
type lastHold struct{ *limitBack }

func (l lastHold) Hold(ctx context.Context, key string, d time.Duration) error {
	if d < time.Minute && key == "key" {
		l.Limiter = lookleap.NewMemoryLimiter()
		l.limitBack.Limiter = l.Limiter
	}
	return l.limitBack.Hold(ctx, key, d)
}

// zeroIsOne takes the zero Rate for a limit.
type zeroIsOne struct{ *limitBack }

func (l zeroIsOne) Take(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	if r.Limit == 0 {
		r = lookleap.Rate{Limit: 1, Window: time.Hour}
	}
	return l.limitBack.Take(ctx, key, r)
}

// looksThenTakes grants in two steps.
type looksThenTakes struct{ *limitBack }

func (l looksThenTakes) Take(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	if wait, err := l.Wait(ctx, key, r); wait != 0 || err != nil {
		return wait, err
	}
	time.Sleep(time.Microsecond)
	_, err := l.limitBack.Take(ctx, key, r)
	return 0, err
}

// grantsCancelled grants what it could not count.
type grantsCancelled struct{ *limitBack }

func (l grantsCancelled) Take(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	wait, err := l.limitBack.Take(ctx, key, r)
	if errors.Is(err, context.Canceled) {
		return 0, nil
	}
	return wait, err
}

// grantsWhenDown lets agents go on when the back end does not answer.
type grantsWhenDown struct{ *limitBack }

func (l grantsWhenDown) Take(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	wait, err := l.limitBack.Take(ctx, key, r)
	if errors.Is(err, context.DeadlineExceeded) {
		return 0, nil
	}
	return wait, err
}
