package flight_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap/internal/flight"
)

// loader counts loads and returns each load's number, kept for a minute.
type loader struct{ loads atomic.Int32 }

func (l *loader) load(context.Context) (flight.Loaded[int], error) {
	return flight.Loaded[int]{Value: int(l.loads.Add(1)), Until: time.Now().Add(time.Minute)}, nil
}

func TestMemoLoadsOnceForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := flight.NewMemo[string, int](10, time.Now)
		var l loader
		var wg sync.WaitGroup
		for i := range 1000 {
			wg.Go(func() {
				time.Sleep(time.Duration(i%3) * 500 * time.Millisecond) // before, while and just when the load ends
				got, err := m.Get(t.Context(), "q", func(ctx context.Context) (flight.Loaded[int], error) {
					time.Sleep(time.Second)
					return l.load(ctx)
				})
				if got != 1 || err != nil {
					t.Errorf("%d, %v", got, err)
				}
			})
		}
		wg.Wait()
		if n := l.loads.Load(); n != 1 {
			t.Errorf("%d loads", n)
		}
	})
}

// TestMemoLooksAgain has a load begin and end between the moment when a caller
// finds nothing fresh and the moment when it asks the Group.
func TestMemoLooksAgain(t *testing.T) {
	start := time.Now()
	var l loader
	var m *flight.Memo[string, int]
	meanwhile := func() {}
	m = flight.NewMemo[string, int](10, func() time.Time {
		now := start.Add(time.Hour)
		f := meanwhile
		meanwhile = func() {}
		f()
		return now
	})
	load := func(ctx context.Context) (flight.Loaded[int], error) {
		got, err := l.load(ctx)
		got.Until = start.Add(2 * time.Hour)
		return got, err
	}
	m.Put("q", flight.Loaded[int]{Value: 100, Until: start.Add(time.Hour + 1)})
	start = start.Add(2) // and now it is stale
	meanwhile = func() { m.Get(t.Context(), "q", load) }
	if got, err := m.Get(t.Context(), "q", load); got != 1 || err != nil || l.loads.Load() != 1 {
		t.Errorf("%d, %v after %d loads", got, err, l.loads.Load())
	}
}

func TestMemoExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := flight.NewMemo[string, int](10, time.Now)
		var l loader
		steps := []struct {
			after time.Duration
			want  int
		}{{0, 1}, {time.Minute - 1, 1}, {1, 2}, {time.Minute, 3}}
		for _, step := range steps {
			time.Sleep(step.after)
			if got, _ := m.Get(t.Context(), "q", l.load); got != step.want {
				t.Errorf("after %v: %d, want %d", step.after, got, step.want)
			}
		}
		time.Sleep(time.Hour)
		if got, fresh := m.Peek("q"); got.Value != 3 || fresh {
			t.Errorf("Peek: %d, %v", got.Value, fresh)
		}
	})
}

func TestMemoKeepsWhatItIsTold(t *testing.T) {
	bad := errors.New("no such thing")
	tests := []struct {
		name   string
		loaded func(now time.Time) (flight.Loaded[int], error)
		loads  int32 // of two questions
	}{
		{"value", func(now time.Time) (flight.Loaded[int], error) {
			return flight.Loaded[int]{Value: 1, Until: now.Add(time.Second)}, nil
		}, 1},
		{"value-for-one-caller", func(time.Time) (flight.Loaded[int], error) { return flight.Loaded[int]{Value: 1}, nil }, 2},
		{"value-until-the-past", func(now time.Time) (flight.Loaded[int], error) {
			return flight.Loaded[int]{Value: 1, Until: now}, nil
		}, 2},
		{"negative", func(now time.Time) (flight.Loaded[int], error) {
			return flight.Loaded[int]{Err: bad, Until: now.Add(time.Second)}, nil
		}, 1},
		{"failure", func(now time.Time) (flight.Loaded[int], error) {
			return flight.Loaded[int]{Until: now.Add(time.Second)}, bad
		}, 2},
		{"cancelled", func(now time.Time) (flight.Loaded[int], error) {
			return flight.Loaded[int]{Err: fmt.Errorf("loading: %w", context.Canceled), Until: now.Add(time.Second)}, nil
		}, 2},
		{"deadline", func(now time.Time) (flight.Loaded[int], error) {
			return flight.Loaded[int]{Err: fmt.Errorf("loading: %w", context.DeadlineExceeded), Until: now.Add(time.Second)}, nil
		}, 2},
		{"panic", func(time.Time) (flight.Loaded[int], error) { panic("no") }, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := flight.NewMemo[string, int](10, time.Now)
				var loads atomic.Int32
				var errs [2]error
				for i := range errs {
					_, errs[i] = m.Get(t.Context(), "q", func(context.Context) (flight.Loaded[int], error) {
						loads.Add(1)
						return test.loaded(time.Now())
					})
				}
				if loads.Load() != test.loads || (errs[0] == nil) != (errs[1] == nil) {
					t.Errorf("%d loads, want %d; errors %v", loads.Load(), test.loads, errs)
				}
			})
		})
	}
}

func TestMemoKeepsNothingThatFailedBecauseOfItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := flight.NewMemo[string, int](10, time.Now)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := m.Get(ctx, "q", func(ctx context.Context) (flight.Loaded[int], error) {
			<-ctx.Done()
			return flight.Loaded[int]{Err: errors.New("interrupted"), Until: time.Now().Add(time.Hour)}, nil
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		synctest.Wait()
		var l loader
		if got, err := m.Get(t.Context(), "q", l.load); got != 1 || err != nil {
			t.Errorf("the next caller: %d, %v", got, err)
		}
	})
}

func TestMemoInvalidate(t *testing.T) {
	drops := map[string]func(*flight.Memo[string, int]){
		"invalidate": func(m *flight.Memo[string, int]) { m.Invalidate("q") },
		"purge":      (*flight.Memo[string, int]).Purge,
		"put": func(m *flight.Memo[string, int]) {
			m.Put("q", flight.Loaded[int]{Value: 100, Until: time.Now().Add(time.Hour)})
		},
	}
	for name, drop := range drops {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := flight.NewMemo[string, int](10, time.Now)
				var l loader
				var wg sync.WaitGroup
				wg.Go(func() {
					got, err := m.Get(t.Context(), "q", func(ctx context.Context) (flight.Loaded[int], error) {
						loaded, err := l.load(ctx)
						time.Sleep(time.Second)
						return loaded, err
					})
					if got != 1 || err != nil {
						t.Errorf("the caller before: %d, %v", got, err)
					}
				})
				synctest.Wait()
				drop(m)
				wg.Wait() // the load that began before has ended, and must not come back
				want := 2
				if name == "put" {
					want = 100
				}
				for range 2 {
					if got, _ := m.Get(t.Context(), "q", l.load); got != want {
						t.Errorf("%d, want %d", got, want)
					}
				}
			})
		})
	}
}

func TestMemoDropsTheLeastRecentlyUsed(t *testing.T) {
	m := flight.NewMemo[string, int](3, time.Now)
	var l loader
	ask := func(keys ...string) {
		for _, key := range keys {
			m.Get(t.Context(), key, l.load)
		}
	}
	ask("a", "b", "c", "a", "d") // b leaves
	if got := l.loads.Load(); got != 4 || m.Len() != 3 {
		t.Fatalf("%d loads, %d held", got, m.Len())
	}
	ask("a", "c", "d")
	if got := l.loads.Load(); got != 4 {
		t.Errorf("%d loads: not the least recently used left", got)
	}
	if _, fresh := m.Peek("b"); fresh {
		t.Error("b is still there")
	}
}

func TestMemoStaysSmall(t *testing.T) {
	m := flight.NewMemo[int, int](100, time.Now)
	var l loader
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 5000 {
				m.Get(t.Context(), g*5000+i, l.load)
				if i%7 == 0 {
					m.Invalidate(g*5000 + i)
				}
			}
		})
	}
	wg.Wait()
	held := 0
	for key := range 4 * 5000 {
		if _, fresh := m.Peek(key); fresh {
			held++
		}
	}
	if held > 100 || held != m.Len() {
		t.Errorf("readers see %d, %d are held", held, m.Len())
	}
}

// TestSizedMemo: a value of the whole size is kept, a larger one is not and removes the one before
// it, and a failure takes no room.
func TestSizedMemo(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	m := flight.NewSizedMemo(10, 8, func(key string, value string) int {
		if value == "" {
			t.Error("a failure was measured")
		}
		return len(key) + len(value)
	}, func() time.Time { return now })
	loads := 0
	get := func(key, value string, failure error) {
		_, _ = m.Get(t.Context(), key, func(context.Context) (flight.Loaded[string], error) {
			loads++
			return flight.Loaded[string]{Value: value, Err: failure, Until: now.Add(time.Minute)}, nil
		})
	}
	for _, c := range []struct {
		name, key, value string
		failure          error
		loads            int
	}{
		{"whole size", "a", "1234567", nil, 1},
		{"kept", "a", "1234567", nil, 1},
		{"too large", "b", "12345678", nil, 2},
		{"not kept", "b", "12345678", nil, 3},
		{"still kept", "a", "1234567", nil, 3},
		{"failure", "c", "", errors.New("no"), 4},
		{"failure kept", "c", "", errors.New("no"), 4},
		{"next to it", "a", "1234567", nil, 4},
		{"pushes the first out", "d", "1", nil, 5},
		{"which is loaded again", "a", "1234567", nil, 6},
	} {
		get(c.key, c.value, c.failure)
		if loads != c.loads {
			t.Errorf("%s: %d loads, want %d", c.name, loads, c.loads)
		}
	}
}

// TestMemoReplaces: what a later load does to the value before it.
func TestMemoReplaces(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	bad := errors.New("no such thing")
	for name, c := range map[string]struct {
		later flight.Loaded[int]
		kept  int // the value that is kept afterwards; 0: none
	}{
		"accept-value":             {flight.Loaded[int]{Value: 2, Until: now.Add(time.Minute)}, 2},
		"reject-value-of-no-time":  {flight.Loaded[int]{Value: 2}, 0},
		"reject-value-of-the-past": {flight.Loaded[int]{Value: 2, Until: now}, 0},
		"accept-after-a-failure":   {flight.Loaded[int]{Err: bad}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := flight.NewMemo[string, int](10, func() time.Time { return now })
			for _, got := range []flight.Loaded[int]{{Value: 1, Until: now.Add(time.Minute)}, c.later} {
				if value, err := m.Renew(t.Context(), "q", func(context.Context) (flight.Loaded[int], error) { return got, nil }); value != got.Value || err != got.Err {
					t.Errorf("%d, %v", value, err)
				}
			}
			if got, fresh := m.Peek("q"); got.Value != c.kept || fresh != (c.kept != 0) || m.Len() != min(c.kept, 1) {
				t.Errorf("%+v of %d is kept, want %d", got, m.Len(), c.kept)
			}
		})
	}
}

// TestMemoOfNothing: a Memo has room for at least one value.
func TestMemoOfNothing(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for _, entries := range []int{-1, 0, 1} {
		m := flight.NewMemo[string, int](entries, func() time.Time { return now })
		loads := 0
		for _, key := range []string{"a", "a", "b", "b", "a"} {
			_, _ = m.Get(t.Context(), key, func(context.Context) (flight.Loaded[int], error) {
				loads++
				return flight.Loaded[int]{Value: loads, Until: now.Add(time.Minute)}, nil
			})
		}
		if loads != 3 {
			t.Errorf("%d entries: %d loads, want 3", entries, loads)
		}
	}
}

// TestMemoWithoutLoading: what is found without a load, and what is not.
func TestMemoWithoutLoading(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	m := flight.NewMemo[string, int](10, func() time.Time { return now })
	find := func(key string, value int, kept, fresh, ok bool) {
		t.Helper()
		if got, isFresh := m.Peek(key); got.Value != value || isFresh != fresh || !got.Until.IsZero() != kept {
			t.Errorf("Peek of %s: %+v, %v", key, got, isFresh)
		}
		if got, isOK := m.Fresh(key); isOK != ok || ok && got != value || !ok && got != 0 {
			t.Errorf("Fresh of %s: %d, %v", key, got, isOK)
		}
	}
	until := now.Add(time.Minute)
	m.Put("value", flight.Loaded[int]{Value: 1, Until: until})
	m.Put("failure", flight.Loaded[int]{Value: 2, Err: errors.New("no"), Until: until})
	find("missing", 0, false, false, false)
	find("value", 1, true, true, true)
	find("failure", 2, true, true, false)
	now = until
	find("value", 1, true, false, false)
	now = until.Add(-time.Hour) // the clock was set back
	m.Put("later", flight.Loaded[int]{Value: 3, Until: until})
	find("value", 0, false, false, false)
	find("later", 3, true, true, true)
}
