package flight_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/lookleap/lookleap/internal/flight"
)

func TestClock(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	t.Run("O10", func(t *testing.T) {
		for _, c := range []struct {
			name  string
			moves []time.Duration // since start, one after another
			want  time.Duration   // since start
			steps uint64
		}{
			{"accept-forward", []time.Duration{0, time.Hour}, time.Hour, 0},
			{"accept-small-step-back", []time.Duration{time.Hour, time.Hour - time.Second}, time.Hour, 0},
			{"reject-step-back", []time.Duration{time.Hour, 0}, 0, 1},
			{"reject-two-steps-back", []time.Duration{2 * time.Hour, time.Hour, 0}, 0, 2},
			{"accept-again-after-a-step", []time.Duration{time.Hour, 0, time.Minute}, time.Minute, 1},
			{"reject-step-back-from-the-year-9999", []time.Duration{time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC).Sub(start), 0}, 0, 1},
		} {
			t.Run(c.name, func(t *testing.T) {
				at := start
				var back []time.Duration
				clock := flight.NewClock(func() time.Time { return at }, func(by time.Duration) { back = append(back, by) })
				for _, move := range c.moves {
					at = start.Add(move)
					clock.Now()
				}
				if got := clock.Now(); !got.Equal(start.Add(c.want)) || clock.Steps() != c.steps || len(back) != int(c.steps) {
					t.Errorf("%v after %d steps %v", got.Sub(start), clock.Steps(), back)
				}
				for _, by := range back {
					if by <= 0 {
						t.Errorf("a step of %v", by)
					}
				}
			})
		}
	})
}

func TestMemoAfterAStepBack(t *testing.T) {
	for _, c := range []struct {
		name string
		move []time.Duration
		load bool
	}{
		{"accept-what-is-kept", []time.Duration{time.Minute}, false},
		{"reject-what-was-kept-later", []time.Duration{-30 * 24 * time.Hour}, true},
		{"reject-what-had-ended", []time.Duration{90 * time.Minute, -time.Hour}, true},
		{"reject-what-was-kept-before-two-steps", []time.Duration{-time.Minute, time.Minute}, true},
	} {
		t.Run("O10", func(t *testing.T) {
			t.Run(c.name, func(t *testing.T) {
				at, loads := time.Unix(1.7e9, 0), 0
				m := flight.NewMemo[string, int](10, func() time.Time { return at })
				load := func(context.Context) (flight.Loaded[int], error) {
					loads++
					return flight.Loaded[int]{Value: loads, Until: at.Add(time.Hour)}, nil
				}
				m.Get(t.Context(), "q", load)
				for _, by := range c.move {
					at = at.Add(by)
					m.Peek("q")
				}
				if got, err := m.Get(t.Context(), "q", load); err != nil || (got == 2) != c.load {
					t.Errorf("load %d, %v", got, err)
				}
			})
		})
	}
	t.Run("O10", func(t *testing.T) {
		t.Run("reject-what-was-loading", func(t *testing.T) {
			at, loads := time.Unix(1.7e9, 0), 0
			m := flight.NewMemo[string, int](10, func() time.Time { return at })
			load := func(context.Context) (flight.Loaded[int], error) {
				loads++
				until := at.Add(time.Hour)
				at = at.Add(-24 * time.Hour)
				return flight.Loaded[int]{Value: loads, Until: until}, nil
			}
			m.Get(t.Context(), "q", load)
			if got, err := m.Get(t.Context(), "q", load); err != nil || got != 2 {
				t.Errorf("load %d, %v", got, err)
			}
		})
	})
}

// TestRenew: what began before the call is not joined, and not kept in place of what began
// after it.
func TestRenew(t *testing.T) {
	t.Run("O20", func(t *testing.T) {
		t.Run("reject-older-load", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := flight.NewMemo[string, int](10, time.Now)
				var l loader
				slow := func(ctx context.Context) (flight.Loaded[int], error) {
					got, err := l.load(ctx)
					time.Sleep(time.Second)
					return got, err
				}
				var wg sync.WaitGroup
				wg.Go(func() {
					if got, err := m.Get(t.Context(), "q", slow); got != 1 || err != nil {
						t.Errorf("the older caller: %d, %v", got, err)
					}
				})
				synctest.Wait()
				wg.Go(func() {
					if got, err := m.Renew(t.Context(), "q", slow); got != 2 || err != nil {
						t.Errorf("the caller who renews: %d, %v", got, err)
					}
				})
				synctest.Wait()
				wg.Go(func() {
					if got, err := m.Get(t.Context(), "q", slow); got != 2 || err != nil {
						t.Errorf("a caller who joins the newest: %d, %v", got, err)
					}
				})
				wg.Wait()
				if got, err := m.Get(t.Context(), "q", l.load); got != 2 || err != nil {
					t.Errorf("kept: %d, %v", got, err)
				}
			})
		})
		t.Run("reject-what-is-held", func(t *testing.T) {
			m := flight.NewMemo[string, int](10, time.Now)
			var l loader
			m.Get(t.Context(), "q", l.load)
			if got, err := m.Renew(t.Context(), "q", l.load); got != 2 || err != nil {
				t.Errorf("%d, %v", got, err)
			}
		})
		t.Run("accept-what-is-held-after-a-failure", func(t *testing.T) {
			m := flight.NewMemo[string, int](10, time.Now)
			var l loader
			m.Get(t.Context(), "q", l.load)
			failed := errors.New("no")
			if _, err := m.Renew(t.Context(), "q", func(context.Context) (flight.Loaded[int], error) { return flight.Loaded[int]{}, failed }); err != failed {
				t.Error(err)
			}
			if got, err := m.Get(t.Context(), "q", l.load); got != 1 || err != nil {
				t.Errorf("%d, %v", got, err)
			}
		})
		t.Run("reject-what-is-held-after-a-value-for-one-caller", func(t *testing.T) {
			m := flight.NewMemo[string, int](10, time.Now)
			var l loader
			m.Get(t.Context(), "q", l.load)
			m.Renew(t.Context(), "q", func(context.Context) (flight.Loaded[int], error) { return flight.Loaded[int]{Value: 9}, nil })
			if got, err := m.Get(t.Context(), "q", l.load); got != 2 || err != nil {
				t.Errorf("%d, %v", got, err)
			}
		})
		t.Run("group", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g flight.Group[string, int]
				var wg sync.WaitGroup
				wg.Go(func() {
					g.Do(t.Context(), "q", func(context.Context) (int, error) { time.Sleep(time.Second); return 1, nil })
				})
				synctest.Wait()
				if got, err := g.Renew(t.Context(), "q", func(context.Context) (int, error) { return 2, nil }); got != 2 || err != nil {
					t.Errorf("%d, %v", got, err)
				}
				wg.Wait()
			})
		})
	})
}

// memoMachine holds a Memo against what it may give: the newest value of a key, until it ends,
// by a clock that has not been set back since.
type memoMachine struct {
	memo *flight.Memo[int, int]
	at   time.Time
	next int
	held map[int]heldValue
}

type heldValue struct {
	value  int
	until  time.Time
	failed error
}

const (
	machineEntries = 5
	machineBytes   = 300
)

func (m *memoMachine) load(t *rapid.T, key int) func(context.Context) (flight.Loaded[int], error) {
	return func(context.Context) (flight.Loaded[int], error) {
		m.next++
		got := flight.Loaded[int]{Value: m.next}
		if minutes := rapid.IntRange(0, 90).Draw(t, "minutes"); minutes > 0 {
			got.Until = m.at.Add(time.Duration(minutes) * time.Minute)
		}
		if rapid.IntRange(0, 4).Draw(t, "failure") == 0 {
			got.Err = errors.New("negative")
		}
		if m.at.Before(got.Until) {
			m.held[key] = heldValue{got.Value, got.Until, got.Err}
		} else if got.Err == nil {
			delete(m.held, key)
		}
		return got, nil
	}
}

func TestMemoMachine(t *testing.T) {
	t.Run("O61", func(t *testing.T) {
		t.Run("accept-any-order", func(t *testing.T) { rapid.Check(t, checkMemo) })
	})
}

func checkMemo(t *rapid.T) {
	m := &memoMachine{at: time.Unix(1.7e9, 0), held: map[int]heldValue{}}
	m.memo = flight.NewSizedMemo(machineEntries, machineBytes, func(key, _ int) int { return 40 * key }, func() time.Time { return m.at })
	key := func(t *rapid.T) int { return rapid.IntRange(1, 9).Draw(t, "key") }
	ask := func(t *rapid.T, key int, get func(context.Context, int, func(context.Context) (flight.Loaded[int], error)) (int, error)) bool {
		before, known := m.held[key]
		loads := m.next
		value, err := get(context.Background(), key, m.load(t, key))
		if m.next > loads {
			if value != m.next {
				t.Fatalf("loaded %d, got %d", m.next, value)
			}
			return true
		}
		if !known || value != before.value || err != before.failed || !m.at.Before(before.until) {
			t.Fatalf("got %d, %v without a load, want %+v", value, err, before)
		}
		return false
	}
	t.Repeat(map[string]func(*rapid.T){
		"get": func(t *rapid.T) { ask(t, key(t), m.memo.Get) },
		"renew": func(t *rapid.T) {
			if !ask(t, key(t), m.memo.Renew) {
				t.Fatal("Renew did not load")
			}
		},
		"put": func(t *rapid.T) {
			k := key(t)
			got, _ := m.load(t, k)(context.Background())
			m.memo.Put(k, got)
		},
		"invalidate": func(t *rapid.T) {
			k := key(t)
			m.memo.Invalidate(k)
			delete(m.held, k)
		},
		"purge": func(*rapid.T) {
			m.memo.Purge()
			clear(m.held)
		},
		"forward": func(t *rapid.T) {
			m.at = m.at.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "minutes")) * time.Minute)
		},
		"back": func(t *rapid.T) {
			m.memo.Put(99, flight.Loaded[int]{}) // keeps nothing, and reads the clock
			m.at = m.at.Add(-time.Duration(rapid.IntRange(2, 1<<20).Draw(t, "seconds")) * time.Second)
			m.memo.Put(99, flight.Loaded[int]{})
			clear(m.held)
		},
		"peek": func(t *rapid.T) {
			k := key(t)
			if got, fresh := m.memo.Peek(k); fresh && (got.Value != m.held[k].value || !m.at.Before(m.held[k].until)) {
				t.Fatalf("fresh %+v, want %+v", got, m.held[k])
			}
		},
		"": func(t *rapid.T) {
			if m.memo.Len() > machineEntries || m.memo.Bytes() > machineBytes || m.memo.Bytes() < 0 {
				t.Fatalf("%d bytes in %d entries", m.memo.Bytes(), m.memo.Len())
			}
			if m.memo.Len() == 0 && m.memo.Bytes() != 0 {
				t.Fatalf("%d bytes in nothing", m.memo.Bytes())
			}
		},
	})
}
