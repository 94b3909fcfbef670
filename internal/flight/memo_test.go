package flight_test

import (
	"context"
	"errors"
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
