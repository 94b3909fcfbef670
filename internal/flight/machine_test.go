package flight_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/lookleap/lookleap/internal/flight"
)

// waitingMachine compares a Memo whose loads take time with a model of it: callers
// come, leave and renew, loads end late, and the clock steps back meanwhile.
type waitingMachine struct {
	memo    *flight.Memo[int, int]
	at      time.Time
	steps   int
	held    map[int]heldValue
	current map[int]*waitingLoad // that later callers join
	loads   []*waitingLoad       // that have not ended
	callers []*waitingCaller     // that have not returned
	begun   []*waitingLoad       // by the Memo, in order
}

type waitingLoad struct {
	key, steps int
	end        chan flight.Loaded[int]
	left       error // why the context of the load ended
}

type waitingCaller struct {
	load     *waitingLoad
	cancel   context.CancelFunc
	returned bool
	value    int
	err      error
}

// ask calls Get or Renew in a goroutine, until it returns or waits.
func (m *waitingMachine) ask(t *rapid.T, key int, renew bool) {
	get := m.memo.Get
	if renew {
		get = m.memo.Renew
	}
	held, isHeld := m.held[key]
	isHeld = isHeld && m.at.Before(held.until) && !renew
	joined, begun := m.current[key], len(m.begun)
	ctx, cancel := context.WithCancel(context.Background())
	c := &waitingCaller{cancel: cancel}
	go func() {
		c.value, c.err = get(ctx, key, func(ctx context.Context) (flight.Loaded[int], error) {
			l := &waitingLoad{key: key, end: make(chan flight.Loaded[int])}
			m.begun = append(m.begun, l)
			got := <-l.end
			l.left = context.Cause(ctx)
			return got, nil
		})
		c.returned = true
	}()
	synctest.Wait()
	switch began := m.begun[begun:]; {
	case isHeld:
		if !c.returned || c.value != held.value || c.err != held.failed || len(began) > 0 {
			t.Fatalf("key %d is held as %+v: got %+v, %d loads", key, held, c, len(began))
		}
		cancel()
		return
	case joined != nil && !renew:
		if len(began) > 0 || c.returned {
			t.Fatalf("key %d is being loaded: %d loads more, %+v", key, len(began), c)
		}
		c.load = joined
	case len(began) != 1 || c.returned:
		t.Fatalf("key %d is missing: %d loads, %+v", key, len(began), c)
	default:
		c.load = began[0]
		c.load.steps = m.steps
		m.current[key] = c.load
		m.loads = append(m.loads, c.load)
	}
	m.callers = append(m.callers, c)
}

// waiting returns the callers of a load.
func (m *waitingMachine) waiting(l *waitingLoad) (list []*waitingCaller) {
	for _, c := range m.callers {
		if c.load == l {
			list = append(list, c)
		}
	}
	return list
}

// end ends a load. Its callers get the result, which is kept unless the key was
// renewed, invalidated or left, or the clock stepped back since the load began.
func (m *waitingMachine) end(t *rapid.T, l *waitingLoad, got flight.Loaded[int]) {
	callers := m.waiting(l)
	l.end <- got
	synctest.Wait()
	for _, c := range callers {
		if !c.returned || c.value != got.Value || c.err != got.Err {
			t.Fatalf("the load of key %d ended with %+v, its caller has %+v", l.key, got, c)
		}
		c.cancel()
	}
	if left := errors.Is(l.left, flight.ErrAbandoned); left != (len(callers) == 0) {
		t.Fatalf("%d callers wait, the context ended with %v", len(callers), l.left)
	}
	m.callers = slices.DeleteFunc(m.callers, func(c *waitingCaller) bool { return c.load == l })
	m.loads = slices.DeleteFunc(m.loads, func(other *waitingLoad) bool { return other == l })
	if m.current[l.key] != l {
		return
	}
	delete(m.current, l.key)
	switch holds := m.at.Before(got.Until) && m.steps == l.steps; {
	case holds:
		m.held[l.key] = heldValue{got.Value, got.Until, got.Err}
	case got.Err == nil:
		delete(m.held, l.key)
	}
}

// leave ends the context of a caller, and with the last one the load.
func (m *waitingMachine) leave(t *rapid.T, c *waitingCaller) {
	c.cancel()
	synctest.Wait()
	if !c.returned || !errors.Is(c.err, context.Canceled) {
		t.Fatalf("a caller left and has %+v", c)
	}
	m.callers = slices.DeleteFunc(m.callers, func(other *waitingCaller) bool { return other == c })
	if len(m.waiting(c.load)) == 0 && m.current[c.load.key] == c.load {
		delete(m.current, c.load.key)
	}
}

var errNegative = errors.New("negative")

func checkWaiting(t *rapid.T) {
	m := &waitingMachine{at: time.Unix(1.7e9, 0), held: map[int]heldValue{}, current: map[int]*waitingLoad{}}
	m.memo = flight.NewMemo[int, int](100, func() time.Time { return m.at })
	key := func(t *rapid.T) int { return rapid.IntRange(1, 3).Draw(t, "key") }
	value := 0
	defer func() { // no goroutine stays
		for _, c := range m.callers {
			c.cancel()
		}
		for _, l := range m.loads {
			l.end <- flight.Loaded[int]{}
		}
		synctest.Wait()
	}()
	t.Repeat(map[string]func(*rapid.T){
		"get":   func(t *rapid.T) { m.ask(t, key(t), false) },
		"renew": func(t *rapid.T) { m.ask(t, key(t), true) },
		"end": func(t *rapid.T) {
			if len(m.loads) == 0 {
				return // rapid fails an input whose actions are all skipped
			}
			value++
			got := flight.Loaded[int]{Value: value, Until: m.at.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "minutes")) * time.Minute)}
			if rapid.IntRange(0, 4).Draw(t, "failure") == 0 {
				got.Err = errNegative
			}
			m.end(t, rapid.SampledFrom(m.loads).Draw(t, "load"), got)
		},
		"leave": func(t *rapid.T) {
			if len(m.callers) == 0 {
				return
			}
			m.leave(t, rapid.SampledFrom(m.callers).Draw(t, "caller"))
		},
		"invalidate": func(t *rapid.T) {
			k := key(t)
			m.memo.Invalidate(k)
			delete(m.held, k)
			delete(m.current, k)
		},
		"forward": func(t *rapid.T) {
			m.at = m.at.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "minutes")) * time.Minute)
		},
		"back": func(t *rapid.T) {
			m.memo.Put(99, flight.Loaded[int]{}) // keeps nothing, and reads the clock
			m.at = m.at.Add(-time.Duration(rapid.IntRange(2, 1<<20).Draw(t, "seconds")) * time.Second)
			m.memo.Put(99, flight.Loaded[int]{})
			m.steps++
			clear(m.held)
		},
		"": func(t *rapid.T) {
			for _, c := range m.callers {
				if c.returned {
					t.Fatalf("a caller of key %d returned before its load: %+v", c.load.key, c)
				}
			}
			for k := range 4 {
				got, fresh := m.memo.Peek(k)
				held, ok := m.held[k]
				if ok = ok && m.at.Before(held.until); fresh != ok || ok && got.Value != held.value {
					t.Fatalf("key %d is %+v (fresh: %v), want %+v", k, got, fresh, held)
				}
			}
		},
	})
}

// inBubble runs a check in a bubble of its own, where [synctest.Wait] tells when all
// callers and loads wait. The check ends by a panic, which has to leave the bubble.
func inBubble(t *testing.T, check func(*rapid.T)) func(*rapid.T) {
	return func(r *rapid.T) {
		var ended any
		synctest.Test(t, func(*testing.T) {
			defer func() { ended = recover() }()
			check(r)
		})
		if ended != nil {
			panic(ended)
		}
	}
}

func TestMemoWhileLoadsWait(t *testing.T) {
	t.Run("O10", func(t *testing.T) {
		t.Run("accept-any-order-of-callers-and-clocks", func(t *testing.T) { rapid.Check(t, inBubble(t, checkWaiting)) })
	})
}

// FuzzMemo plays what its input says. The loads draw nothing: an input that ends while a load
// draws would look like a load that panics.
func FuzzMemo(f *testing.F) {
	f.Fuzz(func(t *testing.T, input []byte) {
		rapid.MakeFuzz(inBubble(t, checkWaiting))(t, input)
	})
}
