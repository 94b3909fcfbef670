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
// first, and loads each missing one once however many callers ask. A Memo is
// safe for concurrent use; reading what it holds takes no lock.
type Memo[K comparable, V any] struct {
	now   func() time.Time
	group Group[K, Loaded[V]]

	entries sync.Map // K to *entry[V]: what readers see
	added   atomic.Uint64

	mu  sync.Mutex
	lru *simplelru.LRU[K, *entry[V]] // what leaves first
}

// Loaded is what a load found out.
type Loaded[V any] struct {
	Value V
	Until time.Time // until when it is kept; zero: for those who wait alone
	Err   error     // a negative result, kept like a value
}

type entry[V any] struct {
	Loaded[V]
	seen atomic.Uint64 // Memo.added when it was last moved to the front
}

// NewMemo keeps up to entries values by a clock.
func NewMemo[K comparable, V any](entries int, now func() time.Time) *Memo[K, V] {
	m := &Memo[K, V]{now: now}
	lru, err := simplelru.NewLRU(max(entries, 1), func(key K, _ *entry[V]) { m.entries.Delete(key) })
	if err != nil {
		panic(err) // only a size below 1 is an error
	}
	m.lru = lru
	return m
}

// Get gives the value of a key, loading it where it is missing or expired. The
// load runs as [Group.Do] says. Its second result is the end of the load itself:
// such an error goes to those who wait and is never kept, while [Loaded.Err]
// is kept until [Loaded.Until]. An error that says that a context ended is not
// kept either way, since it tells about a caller and not about the question.
func (m *Memo[K, V]) Get(ctx context.Context, key K, load func(context.Context) (Loaded[V], error)) (V, error) {
	if e := m.fresh(key); e != nil {
		return e.Value, e.Err
	}
	got, err := m.group.do(ctx, key, load, (*memoStore[K, V])(m))
	if err != nil {
		var none V
		return none, err
	}
	return got.Value, got.Err
}

// fresh gives an entry that has not expired.
func (m *Memo[K, V]) fresh(key K) *entry[V] {
	e := m.entry(key)
	if e == nil || !m.now().Before(e.Until) {
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

func (m *Memo[K, V]) keep(key K, got Loaded[V]) {
	if !m.now().Before(got.Until) || errors.Is(got.Err, context.Canceled) || errors.Is(got.Err, context.DeadlineExceeded) {
		return
	}
	e := &entry[V]{Loaded: got}
	m.mu.Lock()
	defer m.mu.Unlock()
	e.seen.Store(m.added.Add(1))
	m.lru.Add(key, e)
	m.entries.Store(key, e)
}

// Peek gives what is held for a key without loading anything, and whether it is
// still fresh. Expired values stay until they leave for others, so that a load
// can revalidate them.
func (m *Memo[K, V]) Peek(key K) (got Loaded[V], fresh bool) {
	e := m.entry(key)
	if e == nil {
		return got, false
	}
	return e.Loaded, m.now().Before(e.Until)
}

// Put keeps a value that was found out in another way. A load that is under way
// goes to its callers and is not kept.
func (m *Memo[K, V]) Put(key K, got Loaded[V]) {
	m.Invalidate(key)
	m.keep(key, got)
}

// Invalidate drops a key. A load that began before goes to its callers and is
// not kept; whoever asks from now on loads anew.
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
