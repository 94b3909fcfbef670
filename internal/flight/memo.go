package flight

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Memo keeps decoded values until they expire, the least recently used leaving
// first, and loads each missing one once however many callers ask. What was kept
// before the clock stepped back counts as missing (see [Clock]). A Memo is safe
// for concurrent use; reading what it holds takes no lock.
type Memo[K comparable, V any] struct {
	clock *Clock
	group Group[K, Loaded[V]]
	size  func(K, V) int // nil: bytes are not counted
	most  int            // bytes

	entries sync.Map // K to *entry[V]: what readers see
	added   atomic.Uint64

	mu    sync.Mutex
	lru   *simplelru.LRU[K, *entry[V]] // what leaves first
	bytes int
}

// Loaded is what a load found out.
type Loaded[V any] struct {
	Value V
	Until time.Time // until when it is kept; zero: for those who wait alone
	Err   error     // a negative result, kept like a value

	steps uint64 // of the clock, when this was found out
}

type entry[V any] struct {
	Loaded[V]
	bytes int
	seen  atomic.Uint64 // Memo.added when it was last moved to the front
}

// NewMemo returns a Memo that keeps up to entries values by the clock now.
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

// NewSizedMemo returns a Memo that also keeps no more than a number of bytes, as
// size counts them. A value that alone is larger is not kept. Size is called once
// for each value, and must be cheap.
func NewSizedMemo[K comparable, V any](entries, bytes int, size func(K, V) int, now func() time.Time) *Memo[K, V] {
	m := NewMemo[K, V](entries, now)
	m.size, m.most = size, bytes
	return m
}

// Get returns the value of a key, loading it where it is missing or expired. The
// load runs as [Group.Do] says. Its second result is the end of the load itself:
// such an error goes to those who wait and is never kept, while [Loaded.Err]
// is kept until [Loaded.Until]. An error that says that a context ended is not
// kept either way, since it tells about a caller and not about the question.
func (m *Memo[K, V]) Get(ctx context.Context, key K, load func(context.Context) (Loaded[V], error)) (V, error) {
	if e := m.fresh(key); e != nil {
		return e.Value, e.Err
	}
	return m.load(ctx, key, load, false)
}

// Renew is [Memo.Get] for callers who need what was found out after their call:
// it always loads, even while another load is under way, and keeps the result in
// place of an older one. The older load goes to its own callers and is not kept.
func (m *Memo[K, V]) Renew(ctx context.Context, key K, load func(context.Context) (Loaded[V], error)) (V, error) {
	return m.load(ctx, key, load, true)
}

func (m *Memo[K, V]) load(ctx context.Context, key K, load func(context.Context) (Loaded[V], error), renew bool) (V, error) {
	got, err := m.group.do(ctx, key, func(ctx context.Context) (Loaded[V], error) {
		m.clock.Now() // sees a step that came before the load
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
	// Order matters to what leaves next, so it is only kept up once after each
	// addition; until then a reader takes no lock.
	if added := m.added.Load(); e.seen.Load() != added {
		e.seen.Store(added)
		m.mu.Lock()
		m.lru.Get(key)
		m.mu.Unlock()
	}
	return e
}

// holds reports whether a value has not expired, by a clock that has not stepped
// back since it was found out.
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

// memoStore is what the Memo's Group sees of it.
type memoStore[K comparable, V any] Memo[K, V]

func (s *memoStore[K, V]) held(key K) (Loaded[V], bool) {
	got, fresh := (*Memo[K, V])(s).Peek(key)
	return got, fresh
}

func (s *memoStore[K, V]) keep(key K, got Loaded[V]) { (*Memo[K, V])(s).keep(key, got) }

// keep keeps what was found out. A value that may not be kept ends the one that
// it replaces; a failure does not.
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

// Peek returns what is held for a key without loading anything, and whether it is
// still fresh. Expired values stay until they leave for others, so that a load
// can revalidate them. What the clock's step back made doubtful is not given.
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

// Fresh returns the value that is held for a key without loading anything, and false if
// none is held, if it has expired or if it is a negative result. Unlike [Memo.Peek], it
// counts as a use of the key.
func (m *Memo[K, V]) Fresh(key K) (value V, ok bool) {
	if e := m.fresh(key); e != nil && e.Err == nil {
		return e.Value, true
	}
	return value, false
}

// Put keeps a value that was found out in another way. A load that is under way
// goes to its callers and is not kept.
func (m *Memo[K, V]) Put(key K, got Loaded[V]) {
	m.clock.Now()
	got.steps = m.clock.Steps()
	m.group.mu.Lock()
	defer m.group.mu.Unlock()
	delete(m.group.calls, key)
	m.keep(key, got)
}

// Invalidate drops a key. A load that began before goes to its callers and is
// not kept; callers from now on load again.
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

// Len is how many values are held, expired ones included.
func (m *Memo[K, V]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lru.Len()
}

// Bytes is the size of what is held, expired values included; 0 for a Memo that
// does not count it.
func (m *Memo[K, V]) Bytes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes
}
