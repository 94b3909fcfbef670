package flight

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Memo keeps values until they expire, and loads a missing value once for all callers. If it is
// full, it drops the least recently used value. Values from before the clock was set back count as
// missing (see [Clock]). A Memo is safe for concurrent use.
type Memo[K comparable, V any] struct {
	clock *Clock
	group Group[K, Loaded[V]] // its lock guards the fields below
	size  func(K, V) int      // nil: bytes are not counted
	most  int                 // bytes
	kept  *simplelru.LRU[K, *entry[V]]
	bytes int
}

// Loaded is the result of a load.
type Loaded[V any] struct {
	Value V
	Until time.Time // when it expires; zero: it is only for the callers that wait, and not kept
	Err   error     // a negative result, kept like a value

	steps uint64 // Clock.Steps when the load began
}

type entry[V any] struct {
	Loaded[V]
	bytes int
}

// NewMemo returns a Memo that keeps at most entries values. Now returns the time.
func NewMemo[K comparable, V any](entries int, now func() time.Time) *Memo[K, V] {
	m := &Memo[K, V]{clock: NewClock(now, nil)}
	// Only a size below 1 is an error.
	m.kept, _ = simplelru.NewLRU(max(entries, 1), func(_ K, e *entry[V]) { m.bytes -= e.bytes })
	return m
}

// NewSizedMemo returns a Memo that also keeps at most a number of bytes. Size returns the bytes of
// a value; it is called once for each value. A value that is larger than the whole Memo is not kept.
func NewSizedMemo[K comparable, V any](entries, bytes int, size func(K, V) int, now func() time.Time) *Memo[K, V] {
	m := NewMemo[K, V](entries, now)
	m.size, m.most = size, bytes
	return m
}

// Get returns the value of a key, and loads it if it is missing or expired. The load runs as
// [Group.Do] says.
//
// An error that load returns goes to the callers that wait and is never kept. A [Loaded.Err] is
// kept until [Loaded.Until], unless it says that a context ended: that is about a caller and not
// about the key.
func (m *Memo[K, V]) Get(ctx context.Context, key K, load func(context.Context) (Loaded[V], error)) (V, error) {
	if got, fresh := m.look(key, true); fresh {
		return got.Value, got.Err
	}
	return m.load(ctx, key, load, false)
}

// Renew is [Memo.Get] for callers that need a value that was loaded after their call. It always
// loads, and the result replaces an older one. The result of a load that already runs goes to its
// callers and is not kept.
func (m *Memo[K, V]) Renew(ctx context.Context, key K, load func(context.Context) (Loaded[V], error)) (V, error) {
	return m.load(ctx, key, load, true)
}

func (m *Memo[K, V]) load(ctx context.Context, key K, load func(context.Context) (Loaded[V], error), renew bool) (V, error) {
	got, err := m.group.do(ctx, key, func(ctx context.Context) (Loaded[V], error) {
		m.clock.Now() // counts a step from before the load
		steps := m.clock.Steps()
		got, err := load(ctx)
		got.steps = steps
		return got, err
	}, &memory[Loaded[V]]{
		held: func() (Loaded[V], bool) { return m.find(key, m.clock.Now(), true) },
		keep: func(got Loaded[V]) { m.keep(key, got) },
	}, renew)
	if err != nil {
		var none V
		return none, err
	}
	return got.Value, got.Err
}

// look returns a kept value and whether it has not expired.
func (m *Memo[K, V]) look(key K, use bool) (got Loaded[V], fresh bool) {
	now := m.clock.Now()
	m.group.mu.Lock()
	defer m.group.mu.Unlock()
	return m.find(key, now, use)
}

// find is look at a time. The caller holds the lock.
func (m *Memo[K, V]) find(key K, now time.Time, use bool) (got Loaded[V], fresh bool) {
	e, ok := m.kept.Peek(key)
	if !ok || e.steps != m.clock.Steps() {
		return got, false
	}
	if fresh = now.Before(e.Until); fresh && use {
		m.kept.Get(key) // moves it to the front
	}
	return e.Loaded, fresh
}

// keep keeps the result of a load; the caller holds the lock. A value that expires at once removes the previous one; a
// failure does not.
func (m *Memo[K, V]) keep(key K, got Loaded[V]) {
	holds := m.clock.Now().Before(got.Until) && m.clock.Steps() == got.steps
	if errors.Is(got.Err, context.Canceled) || errors.Is(got.Err, context.DeadlineExceeded) || got.Err != nil && !holds {
		return
	}
	e := &entry[V]{Loaded: got}
	if m.size != nil && got.Err == nil { // a failure has no value to measure
		e.bytes = m.size(key, got.Value)
	}
	m.kept.Remove(key)
	if !holds || m.size != nil && e.bytes > m.most {
		return
	}
	m.bytes += e.bytes
	m.kept.Add(key, e)
	for m.size != nil && m.bytes > m.most {
		m.kept.RemoveOldest()
	}
}

// Peek returns the kept value of a key without loading it, and reports whether it has not expired.
// It also returns expired values, so that a load can revalidate them, but no values from before
// the clock was set back.
func (m *Memo[K, V]) Peek(key K) (got Loaded[V], fresh bool) { return m.look(key, false) }

// Fresh returns the kept value of a key without loading it. It returns false for a value that is
// missing, expired or a negative result. Unlike [Memo.Peek], it counts as a use of the key.
func (m *Memo[K, V]) Fresh(key K) (value V, ok bool) {
	if got, fresh := m.look(key, true); fresh && got.Err == nil {
		return got.Value, true
	}
	return value, false
}

// Put keeps a value. The result of a load that runs goes to its callers and is not kept.
func (m *Memo[K, V]) Put(key K, got Loaded[V]) {
	m.clock.Now()
	got.steps = m.clock.Steps()
	m.group.mu.Lock()
	defer m.group.mu.Unlock()
	delete(m.group.calls, key)
	m.keep(key, got)
}

// Invalidate drops a key. The result of a load that runs goes to its callers and is not kept;
// later callers load again.
func (m *Memo[K, V]) Invalidate(key K) {
	m.group.mu.Lock()
	defer m.group.mu.Unlock()
	delete(m.group.calls, key)
	m.kept.Remove(key)
}

// Purge drops every key, as Invalidate does.
func (m *Memo[K, V]) Purge() {
	m.group.mu.Lock()
	defer m.group.mu.Unlock()
	clear(m.group.calls)
	m.kept.Purge()
}

// Len returns the number of kept values, including expired ones.
func (m *Memo[K, V]) Len() int {
	m.group.mu.Lock()
	defer m.group.mu.Unlock()
	return m.kept.Len()
}

// Bytes returns the size of the kept values, including expired ones. It is 0 for a Memo that
// [NewMemo] made.
func (m *Memo[K, V]) Bytes() int {
	m.group.mu.Lock()
	defer m.group.mu.Unlock()
	return m.bytes
}
