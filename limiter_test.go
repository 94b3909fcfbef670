package lookleap

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// testLimiter is a limiter whose clock a test moves.
type testLimiter struct {
	*memoryLimiter
	at time.Time
}

func newTestLimiter(counted int, start time.Time) *testLimiter {
	l := &testLimiter{at: start}
	l.memoryLimiter = newMemoryLimiter(counted, func() time.Time { return l.at })
	return l
}

// take takes one use of a key.
func (l *testLimiter) take(key string, r Rate) time.Duration {
	wait, err := l.Take(context.Background(), key, r)
	if err != nil {
		panic(err)
	}
	return wait
}

func TestMemoryLimiter(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	fifty := Rate{Limit: 50, Window: time.Hour}
	one := Rate{Limit: 1, Window: time.Hour}
	t.Run("AGT-6-07/accept-fifty", func(t *testing.T) {
		l := newTestLimiter(1000, start)
		for i := range 50 {
			l.at = start.Add(time.Duration(i) * time.Second)
			if l.take("a", fifty) != 0 {
				t.Fatalf("use %d was refused", i+1)
			}
		}
	})
	t.Run("AGT-6-07/reject-fifty-first", func(t *testing.T) {
		l := newTestLimiter(1000, start)
		for i := range 50 {
			l.at = start.Add(time.Duration(i) * time.Second)
			l.take("a", fifty)
		}
		for _, at := range []time.Duration{time.Minute, time.Hour - time.Nanosecond} {
			l.at = start.Add(at)
			peek, _ := l.Wait(t.Context(), "a", fifty)
			if wait := l.take("a", fifty); wait != time.Hour-at || peek != wait {
				t.Errorf("after %v: %v, %v", at, wait, peek)
			}
		}
		l.at = start.Add(time.Hour) // the window rolls: one place at a time becomes free
		if l.take("a", fifty) != 0 {
			t.Error("refused although the oldest use is an hour old")
		}
		if wait := l.take("a", fifty); wait != time.Second {
			t.Error(wait)
		}
	})
	t.Run("accept-wait-that-counts-nothing", func(t *testing.T) {
		l := newTestLimiter(1000, start)
		for range 10 {
			if wait, err := l.Wait(t.Context(), "a", one); wait != 0 || err != nil {
				t.Fatal(wait, err)
			}
		}
		if len(l.keys) != 0 || l.take("a", one) != 0 {
			t.Error("Wait counted")
		}
	})
	t.Run("AGT-6-07/accept-other-keys-and-no-limit", func(t *testing.T) {
		l := newTestLimiter(1000, start)
		for i, c := range []struct {
			key  string
			r    Rate
			want bool
		}{{"a", one, true}, {"a", one, false}, {"b", one, true}, {"c", Rate{}, true}, {"c", Rate{}, true}, {"a", Rate{}, true}} {
			if ok := l.take(c.key, c.r) == 0; ok != c.want {
				t.Errorf("%d: %v", i, ok)
			}
		}
	})
	t.Run("AGT-6-07/reject-when-the-limit-falls", func(t *testing.T) {
		l := newTestLimiter(1000, start)
		for range 10 {
			l.take("a", fifty)
		}
		if wait := l.take("a", Rate{Limit: 5, Window: time.Hour}); wait != time.Hour {
			t.Error(wait)
		}
	})
	t.Run("reject-longer-window", func(t *testing.T) {
		l := newTestLimiter(1000, start)
		l.take("a", one)
		l.at = start.Add(30 * time.Minute)
		l.take("a", Rate{Limit: 10, Window: time.Minute}) // must not forget the first use
		if wait := l.take("a", Rate{Limit: 2, Window: time.Hour}); wait != 30*time.Minute {
			t.Error(wait)
		}
	})
	t.Run("AGT-6-07/reject-when-memory-is-full", func(t *testing.T) {
		l := newTestLimiter(100, start)
		for i := range 100 {
			if l.take(fmt.Sprint("/", i), one) != 0 {
				t.Fatal(i)
			}
		}
		l.at = start.Add(time.Minute)
		if l.take("/new", one) == 0 {
			t.Error("more than can be remembered passed")
		}
		if err := l.Hold(t.Context(), "/new", time.Minute); CodeOf(err) != CodeLimit {
			t.Errorf("a hold that is not kept: %v", err)
		}
		l.at = start.Add(time.Hour)
		if l.take("/new", one) != 0 || l.counted != 1 || len(l.keys) != 1 {
			t.Errorf("%d counted for %d keys", l.counted, len(l.keys))
		}
	})
	t.Run("AGT-6-07/reject-when-the-clock-goes-back", func(t *testing.T) {
		l := newTestLimiter(1000, start)
		two := Rate{Limit: 2, Window: time.Hour}
		l.take("a", two)
		l.at = start.Add(-time.Hour)
		l.take("a", two)
		l.at = start.Add(-30 * time.Minute)
		if wait := l.take("a", two); wait != 30*time.Minute {
			t.Errorf("a clock that went back freed a place, or froze the window: %v", wait)
		}
	})
	t.Run("hold", func(t *testing.T) {
		l := newTestLimiter(1000, start)
		for _, d := range []time.Duration{time.Minute, time.Second, -time.Hour} { // never shorter
			if err := l.Hold(t.Context(), "a", d); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range []Rate{{}, fifty} {
			if wait := l.take("a", r); wait != time.Minute {
				t.Errorf("%+v: %v", r, wait)
			}
		}
		l.at = start.Add(time.Minute)
		if l.take("a", one) != 0 || l.counted != 1 {
			t.Errorf("the hold did not end, or was counted: %d", l.counted)
		}
		l.at = start.Add(-time.Hour) // the hold moves back with the clock
		_ = l.Hold(t.Context(), "b", time.Minute)
		l.at = start.Add(-2 * time.Hour)
		if wait := l.take("b", Rate{}); wait != time.Minute {
			t.Error(wait)
		}
	})
	t.Run("accept-rates-without-a-limit", func(t *testing.T) {
		l := newTestLimiter(1000, start)
		for _, r := range []Rate{{}, {Limit: 1}, {Window: time.Hour}, {Limit: -1, Window: time.Hour}, {Limit: 1, Window: -time.Hour}} {
			for range 3 {
				if wait := l.take("a", r); wait != 0 {
					t.Errorf("%+v: %v", r, wait)
				}
			}
		}
		if l.counted != 0 {
			t.Errorf("%d uses are counted", l.counted)
		}
	})
	t.Run("reject-within-a-nanosecond", func(t *testing.T) {
		l := newTestLimiter(1000, start)
		shortest := Rate{Limit: 1, Window: 1}
		if first, second := l.take("a", shortest), l.take("a", shortest); first != 0 || second != 1 {
			t.Error(first, second)
		}
		if err := l.Hold(t.Context(), "b", 1); err != nil || l.take("b", Rate{}) != 1 {
			t.Errorf("%v, %v", err, l.take("b", Rate{}))
		}
	})
	t.Run("accept-hold-of-no-time", func(t *testing.T) {
		l := newTestLimiter(1000, start)
		for _, d := range []time.Duration{0, -time.Hour} {
			for range 2 {
				if err := l.Hold(t.Context(), "a", d); err != nil || l.counted != 0 || len(l.keys) != 0 {
					t.Errorf("%v: %v, %d counted for %d keys", d, err, l.counted, len(l.keys))
				}
				l.take("b", Rate{}) // the clock begins
				l.at = l.at.Add(time.Minute)
			}
		}
	})
	t.Run("accept-longest-hold", func(t *testing.T) {
		l := newTestLimiter(1000, start)
		l.take("a", Rate{})
		l.at = start.Add(time.Minute)
		if err := l.Hold(t.Context(), "a", math.MaxInt64); err != nil || l.take("a", Rate{}) != math.MaxInt64-time.Minute {
			t.Errorf("%v, %v", err, l.take("a", Rate{}))
		}
	})
	t.Run("accept-second-hold-when-the-first-ended", func(t *testing.T) {
		l := newTestLimiter(1000, start)
		for range 3 {
			if err := l.Hold(t.Context(), "a", time.Minute); err != nil || l.counted != 1 || l.take("a", Rate{}) != time.Minute {
				t.Errorf("%v, %d counted, %v", err, l.counted, l.take("a", Rate{}))
			}
			l.at = l.at.Add(time.Minute)
			if wait := l.take("a", Rate{}); wait != 0 || l.counted != 0 {
				t.Errorf("%v, %d counted", wait, l.counted)
			}
		}
	})
	t.Run("reject-longer-window-that-comes-later", func(t *testing.T) {
		l := newTestLimiter(1000, start)
		l.take("a", Rate{Limit: 5, Window: time.Minute})
		l.take("c", Rate{Limit: 5, Window: time.Minute})
		l.at = start.Add(30 * time.Second)
		if wait := l.take("a", one); wait != time.Hour-30*time.Second {
			t.Error(wait)
		}
		l.at = start.Add(10 * time.Minute)
		l.take("b", one)
		l.at = start.Add(30 * time.Minute) // the use still counts for the longer window
		for _, key := range []string{"a", "c"} {
			if wait := l.take(key, one); wait != 30*time.Minute {
				t.Errorf("%s: %v", key, wait)
			}
		}
	})
	t.Run("accept-room-once-a-second", func(t *testing.T) { // a full limiter looks for ended uses no more often
		l := newTestLimiter(1, start)
		short := Rate{Limit: 1, Window: 10 * time.Millisecond}
		l.take("a", short)
		for _, c := range []struct {
			at   time.Duration
			free bool
		}{{20 * time.Millisecond, false}, {time.Second - 1, false}, {time.Second, true}, {time.Second + 20*time.Millisecond, false}, {2*time.Second - 1, false}, {2 * time.Second, true}} {
			l.at = start.Add(c.at)
			if wait := l.take(fmt.Sprint(c.at), short); (wait == 0) != c.free {
				t.Errorf("after %v: %v", c.at, wait)
			}
		}
	})
	t.Run("AGT-6-07/reject-concurrently", func(t *testing.T) {
		l := newTestLimiter(1000, start)
		var passed atomic.Int64
		var callers sync.WaitGroup
		for range 8 {
			callers.Go(func() {
				for range 100 {
					if l.take("a", fifty) == 0 {
						passed.Add(1)
					}
				}
			})
		}
		callers.Wait()
		if passed.Load() != 50 {
			t.Errorf("%d passed", passed.Load())
		}
	})
}

// TestMemoryLimiterCountsExactly compares with a list of all times.
func TestMemoryLimiterCountsExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rate{Limit: rapid.IntRange(1, 20).Draw(t, "limit"), Window: time.Minute}
		l := newTestLimiter(1000, time.Unix(1_000_000, 0))
		var sent []time.Time
		for range rapid.IntRange(1, 200).Draw(t, "uses") {
			l.at = l.at.Add(time.Duration(rapid.IntRange(0, 10_000).Draw(t, "ms")) * time.Millisecond)
			inWindow := 0
			for _, at := range sent {
				if at.After(l.at.Add(-time.Minute)) {
					inWindow++
				}
			}
			wait := l.take("o", r)
			if (wait == 0) != (inWindow < r.Limit) {
				t.Fatalf("%d of %d in the window: %v", inWindow, r.Limit, wait)
			}
			if wait == 0 {
				sent = append(sent, l.at)
			} else if wait < 0 || wait > time.Minute {
				t.Fatalf("wait %v", wait)
			}
		}
	})
}

func TestLimiterOfTheHost(t *testing.T) {
	t.Run("accept-the-clock-of-the-host", func(t *testing.T) {
		now := time.Unix(1_000_000, 0)
		h := &Host{Now: func() time.Time { return now }}
		one := Rate{Limit: 1, Window: time.Hour}
		first, _ := h.Take(t.Context(), "a", one)
		now = now.Add(time.Minute)
		second, err := h.Take(t.Context(), "a", one)
		if first != 0 || second != 59*time.Minute || err != nil {
			t.Error(first, second, err)
		}
	})
	t.Run("reject-limiter-that-panics", func(t *testing.T) {
		h := &Host{Limiter: panics{}}
		if _, err := h.Take(t.Context(), "a", Rate{Limit: 1, Window: time.Hour}); CodeOf(err) != CodeLimiterFailed {
			t.Error(err)
		}
	})
	t.Run("reject-limiter-that-hangs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := &Host{Limiter: hangs{}}
			if wait, err := h.Take(context.Background(), "a", Rate{Limit: 1, Window: time.Hour}); wait != 0 || CodeOf(err) != CodeLimiterFailed {
				t.Errorf("%v, %v", wait, err)
			}
			time.Sleep(2 * time.Hour) // the call ends
		})
	})
	t.Run("accept-hold-of-a-caller-who-left", func(t *testing.T) {
		h := new(Host)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := h.Hold(ctx, "a", time.Hour); err != nil {
			t.Error(err)
		}
		if wait, _ := h.Wait(t.Context(), "a", Rate{}); wait == 0 {
			t.Error("the hold is lost")
		}
	})
	t.Run("reject-nil-host", func(t *testing.T) {
		if _, err := (*Host)(nil).Take(t.Context(), "a", Rate{}); CodeOf(err) != CodeUsage {
			t.Error(err)
		}
		if err := (*Host)(nil).Hold(t.Context(), "a", time.Hour); CodeOf(err) != CodeUsage {
			t.Error(err)
		}
	})
	t.Run("reject-full-limiter", func(t *testing.T) {
		h := &Host{Limiter: newMemoryLimiter(1, time.Now)}
		if err := h.Hold(t.Context(), "a", time.Hour); err != nil {
			t.Fatal(err)
		}
		if err := h.Hold(t.Context(), "b", time.Hour); CodeOf(err) != CodeLimit {
			t.Error(err)
		}
	})
	t.Run("reject-caller-who-left", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		l := newMemoryLimiter(10, time.Now)
		_, took := l.Take(ctx, "a", Rate{Limit: 1, Window: time.Hour})
		for _, err := range []error{took, l.Hold(ctx, "a", time.Hour)} {
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		if wait, err := l.Wait(t.Context(), "a", Rate{Limit: 1, Window: time.Hour}); wait != 0 || err != nil {
			t.Errorf("%v, %v", wait, err)
		}
	})
}

type panics struct{ Limiter }

// hangs answers after an hour.
type hangs struct{ Limiter }

func (hangs) Take(context.Context, string, Rate) (time.Duration, error) {
	time.Sleep(time.Hour)
	return 0, nil
}
