package agentstxt

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lookleap/lookleap"
)

func TestLimiter(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	limited := Decision{Allowed: true, Rule: "/a", Limit: 50}
	t.Run("AGT-6-07/accept-fifty", func(t *testing.T) {
		l := NewLimiter(0, 0)
		for i := range 50 {
			if ok, _ := l.Take("https://a.example", limited, start.Add(time.Duration(i)*time.Second)); !ok {
				t.Fatalf("request %d was refused", i+1)
			}
		}
		if n := l.Used("https://a.example", "/a", start.Add(time.Minute)); n != 50 {
			t.Errorf("%d counted", n)
		}
	})
	t.Run("AGT-6-07/reject-fifty-first", func(t *testing.T) {
		l := NewLimiter(0, 0)
		for i := range 50 {
			l.Take("https://a.example", limited, start.Add(time.Duration(i)*time.Second))
		}
		for _, at := range []time.Duration{time.Minute, time.Hour - time.Nanosecond} {
			if ok, next := l.Take("https://a.example", limited, start.Add(at)); ok || !next.Equal(start.Add(time.Hour)) {
				t.Errorf("after %v: %v, next %v", at, ok, next)
			}
		}
		// The window rolls: one place at a time becomes free.
		if ok, _ := l.Take("https://a.example", limited, start.Add(time.Hour)); !ok {
			t.Error("refused although the oldest request is an hour old")
		}
		if ok, next := l.Take("https://a.example", limited, start.Add(time.Hour)); ok || !next.Equal(start.Add(time.Hour+time.Second)) {
			t.Errorf("%v, next %v", ok, next)
		}
	})
	t.Run("AGT-6-07/accept-other-origin-and-directive", func(t *testing.T) {
		l := NewLimiter(0, 0)
		one := Decision{Allowed: true, Rule: "/a", Limit: 1}
		for _, tt := range []struct {
			origin string
			d      Decision
			want   bool
		}{
			{"https://a.example", one, true}, {"https://a.example", one, false},
			{"https://b.example", one, true}, {"https://a.example", Decision{Allowed: true, Rule: "/b", Limit: 1}, true},
			{"https://a.example", Decision{Allowed: true, Rule: "/c"}, true}, {"https://a.example", Decision{Allowed: true, Rule: "/c"}, true},
			{"https://a.example", Decision{Rule: "/d", Limit: 5}, false},
		} {
			if ok, _ := l.Take(tt.origin, tt.d, start); ok != tt.want {
				t.Errorf("%s %+v: %v", tt.origin, tt.d, ok)
			}
		}
	})
	t.Run("AGT-6-07/accept-window-of-the-host", func(t *testing.T) {
		l := NewLimiter(time.Minute, 0)
		one := Decision{Allowed: true, Rule: "/a", Limit: 1}
		l.Take("https://a.example", one, start)
		if ok, _ := l.Take("https://a.example", one, start.Add(59*time.Second)); ok {
			t.Error("passed within the minute")
		}
		if ok, _ := l.Take("https://a.example", one, start.Add(time.Minute)); !ok {
			t.Error("refused after the minute")
		}
	})
	t.Run("AGT-6-07/reject-when-the-limit-falls", func(t *testing.T) {
		l := NewLimiter(0, 0)
		for range 10 {
			l.Take("https://a.example", limited, start)
		}
		if ok, next := l.Take("https://a.example", Decision{Allowed: true, Rule: "/a", Limit: 5}, start); ok || !next.Equal(start.Add(time.Hour)) {
			t.Errorf("%v, next %v", ok, next)
		}
	})
	t.Run("AGT-6-07/reject-when-memory-is-full", func(t *testing.T) {
		l := NewLimiter(0, 100)
		for i := range 100 {
			if ok, _ := l.Take("https://a.example", Decision{Allowed: true, Rule: fmt.Sprint("/", i), Limit: 1}, start); !ok {
				t.Fatal(i)
			}
		}
		if ok, _ := l.Take("https://a.example", Decision{Allowed: true, Rule: "/new", Limit: 1}, start.Add(time.Minute)); ok {
			t.Error("more than can be remembered passed")
		}
		if ok, _ := l.Take("https://a.example", Decision{Allowed: true, Rule: "/new", Limit: 1}, start.Add(time.Hour)); !ok || l.counted != 1 || len(l.windows) != 1 {
			t.Errorf("%v: %d counted in %d windows", ok, l.counted, len(l.windows))
		}
	})
	t.Run("AGT-6-07/reject-when-the-clock-goes-back", func(t *testing.T) {
		l := NewLimiter(0, 0)
		one := Decision{Allowed: true, Rule: "/a", Limit: 2}
		l.Take("https://a.example", one, start)
		l.Take("https://a.example", one, start.Add(-time.Hour))
		if ok, _ := l.Take("https://a.example", one, start.Add(30*time.Minute)); ok {
			t.Error("a clock that went back freed a place")
		}
	})
	t.Run("AGT-6-07/reject-concurrently", func(t *testing.T) {
		l := NewLimiter(0, 0)
		var passed atomic.Int64
		var callers sync.WaitGroup
		for range 8 {
			callers.Go(func() {
				for range 100 {
					if ok, _ := l.Take("https://a.example", limited, start); ok {
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

// TestLimiterCountsExactly compares with a list of all times.
func TestLimiterCountsExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 20).Draw(t, "limit")
		l := NewLimiter(time.Minute, 0)
		now := time.Unix(1_000_000, 0)
		var sent []time.Time
		for range rapid.IntRange(1, 200).Draw(t, "requests") {
			now = now.Add(time.Duration(rapid.IntRange(0, 10_000).Draw(t, "ms")) * time.Millisecond)
			inWindow := 0
			for _, at := range sent {
				if at.After(now.Add(-time.Minute)) {
					inWindow++
				}
			}
			ok, next := l.Take("o", Decision{Allowed: true, Rule: "/", Limit: limit}, now)
			if ok != (inWindow < limit) {
				t.Fatalf("%d of %d in the window: %v", inWindow, limit, ok)
			}
			if ok {
				sent = append(sent, now)
			} else if !next.After(now) || next.After(now.Add(time.Minute)) {
				t.Fatalf("next %v", next.Sub(now))
			}
		}
	})
}

func TestLimitOfZeroNeverPasses(t *testing.T) {
	p := mustParse(t, Options{}, "/a ALLOW limit=0")
	if d := p.Decide("/a"); d.Allowed || d.Code != lookleap.CodeLimit {
		t.Error(d)
	}
}
