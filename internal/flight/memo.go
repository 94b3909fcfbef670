package flight

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Memo keeps values until they expire, and loads a missing value once for all callers. If it is
// full, it drops the least recently used value. Values from before the clock was set back count as
// missing (see [Clock]). A Memo is safe for concurrent use. To read a kept value takes no lock.
type Memo[K comparable, V any] struct {
	clock *Clock
	group Group[K, Loaded[V]]
	size  func(K, V) int // nil: bytes are not counted
	most  int            // bytes

	entries sync.Map // K to *entry[V]: what readers see
	added   atomic.Uint64

	mu    sync.Mutex
	lru   *simplelru.LRU[K, *entry[V]] // which value to drop first
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
	seen  atomic.Uint64 // Memo.added when the entry was last moved to the front
}

// NewMemo returns a Memo that keeps at most entries values. Now returns the time.
func NewMemo[K comparable, V any](entries int, now func() time.Time) *Memo[K, V] {
	m := &Memo[K, V]{clock: NewClock(now, nil)}
	lru, err := simplelru.NewLRU(max(entries, 1), func(key K, e *entry[V]) {
		m.bytes -= e.bytes
		m.entries.Delete(key)
	})
	if err != nil {
		panic(err) // only a size below 1 is an error
	}
	m.lru = lru
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
	if e := m.fresh(key); e != nil {
		return e.Value, e.Err
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
	}, (*memoStore[K, V])(m), renew)
	if err != nil {
		var none V
		return none, err
	}
	return got.Value, got.Err
}

// fresh returns an entry that has not expired.
func (m *Memo[K, V]) fresh(key K) *entry[V] {
	e := m.entry(key)
	if e == nil || !m.holds(&e.Loaded) {
		return nil
	}
	// The order only decides which value the next addition drops. So an entry moves to the front
	// once after each addition, and other readers take no lock.
	if added := m.added.Load(); e.seen.Load() != added {
		e.seen.Store(added)
		m.mu.Lock()
		m.lru.Get(key)
		m.mu.Unlock()
	}
	return e
}

// holds reports whether a value has not expired and the clock was not set back since its load.
func (m *Memo[K, V]) holds(got *Loaded[V]) bool {
	return m.clock.Now().Before(got.Until) && m.clock.Steps() == got.steps
}

func (m *Memo[K, V]) entry(key K) *entry[V] {
	found, ok := m.entries.Load(key)
	if !ok {
		return nil
	}
	return found.(*entry[V])
}

// memoStore is the Memo as the store of its Group.
type memoStore[K comparable, V any] Memo[K, V]

func (s *memoStore[K, V]) held(key K) (Loaded[V], bool) {
	got, fresh := (*Memo[K, V])(s).Peek(key)
	return got, fresh
}

func (s *memoStore[K, V]) keep(key K, got Loaded[V]) { (*Memo[K, V])(s).keep(key, got) }

// keep keeps the result of a load. A value that expires at once removes the previous one; a
// failure does not.
func (m *Memo[K, V]) keep(key K, got Loaded[V]) {
	holds := m.holds(&got)
	if errors.Is(got.Err, context.Canceled) || errors.Is(got.Err, context.DeadlineExceeded) || got.Err != nil && !holds {
		return
	}
	e := &entry[V]{Loaded: got}
	if m.size != nil && got.Err == nil { // a failure has no value to measure
		e.bytes = m.size(key, got.Value)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lru.Remove(key)
	if !holds || m.size != nil && e.bytes > m.most {
		return
	}
	m.bytes += e.bytes
	e.seen.Store(m.added.Add(1))
	m.lru.Add(key, e)
	m.entries.Store(key, e)
	for m.size != nil && m.bytes > m.most {
		m.lru.RemoveOldest()
	}
}

// Peek returns the kept value of a key without loading it, and reports whether it has not expired.
// It also returns expired values, so that a load can revalidate them, but no values from before
// the clock was set back.
func (m *Memo[K, V]) Peek(key K) (got Loaded[V], fresh bool) {
	e := m.entry(key)
	if e == nil {
		return got, false
	}
	fresh = m.holds(&e.Loaded)
	if m.clock.Steps() != e.steps {
		return got, false
	}
	return e.Loaded, fresh
}

// Fresh returns the kept value of a key without loading it. It returns false for a value that is
// missing, expired or a negative result. Unlike [Memo.Peek], it counts as a use of the key.
func (m *Memo[K, V]) Fresh(key K) (value V, ok bool) {
	if e := m.fresh(key); e != nil && e.Err == nil {
		return e.Value, true
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
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lru.Remove(key)
}

// Purge drops every key, as Invalidate does.
func (m *Memo[K, V]) Purge() {
	m.group.mu.Lock()
	defer m.group.mu.Unlock()
	clear(m.group.calls)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lru.Purge()
}

// Len returns the number of kept values, including expired ones.
func (m *Memo[K, V]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lru.Len()
}

// Bytes returns the size of the kept values, including expired ones. It is 0 for a Memo that
// [NewMemo] made.
func (m *Memo[K, V]) Bytes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes
}
