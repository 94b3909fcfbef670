package lookleap

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/lookleap/lookleap/internal/plugin"
)

// Cache stores bytes under a key until they expire, so that several agents can share
// results. If there is no entry, Get returns an error for which errors.Is(err,
// [fs.ErrNotExist]) is true. Any other error counts as a miss too, and is reported.
//
// A Cache may return expired entries: readers check the expiry by their own clocks, and
// [Host.SharedCache] returns no expired entry. A Cache is called from several goroutines
// at once.
//
// Anyone who can write to a Cache can grant trust. Wrap it in [SealedCache] unless all of
// its writers are trusted.
type Cache interface {
	Get(ctx context.Context, key string) (value []byte, expires time.Time, err error)
	Put(ctx context.Context, key string, value []byte, expires time.Time) error
	Delete(ctx context.Context, key string) error
}

// The size of the default cache of a [Host]. The bytes allow 16 KiB for each entry, which
// is more than most documents have, and 64 documents of the largest size.
const (
	DefaultCacheEntries = 4096
	DefaultCacheBytes   = 64 << 20
)

// NewMemoryCache returns a Cache in memory for the given number of entries, at least 1, and
// for [DefaultCacheBytes]. It drops the least recently used entries when it is full.
func NewMemoryCache(entries int) Cache { return NewMemoryCacheSize(entries, DefaultCacheBytes) }

// NewMemoryCacheSize returns a Cache in memory for the given number of entries, at least 1,
// and of bytes. It counts the bytes of keys and values, and 200 more for each entry. It drops
// the least recently used entries when it is full, and does not store an entry that is larger
// than all of it.
func NewMemoryCacheSize(entries int, bytes int64) Cache {
	c := &memoryCache{left: bytes}
	// Only a size below 1 is an error.
	c.entries, _ = simplelru.NewLRU(max(entries, 1), func(key string, e memoryEntry) { c.left += e.size(key) })
	return c
}

type memoryEntry struct {
	value   []byte
	expires time.Time
}

// entryOverhead is about what the maps and lists of a cache take for an entry, in bytes.
const entryOverhead = 200

func (e memoryEntry) size(key string) int64 {
	return int64(len(key) + len(e.value) + entryOverhead)
}

type memoryCache struct {
	mu      sync.Mutex
	entries *simplelru.LRU[string, memoryEntry]
	left    int64 // bytes that still fit; what is removed adds to it
}

func (c *memoryCache) Get(_ context.Context, key string) ([]byte, time.Time, error) {
	c.mu.Lock()
	e, ok := c.entries.Get(key)
	c.mu.Unlock()
	if !ok {
		return nil, time.Time{}, fs.ErrNotExist
	}
	return bytes.Clone(e.value), e.expires, nil // no one changes the value of an entry
}

func (c *memoryCache) Put(_ context.Context, key string, value []byte, expires time.Time) error {
	e := memoryEntry{bytes.Clone(value), expires}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.store(key, e)
	return nil
}

// store stores an entry. The caller holds the mutex.
func (c *memoryCache) store(key string, e memoryEntry) {
	c.entries.Remove(key)
	c.entries.Add(strings.Clone(key), e)
	for c.left -= e.size(key); c.left < 0; {
		c.entries.RemoveOldest() // the new entry is the last one
	}
}

func (c *memoryCache) Delete(_ context.Context, key string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Remove(key)
	return nil
}

// hostCache is the cache of a [Host]. A panic in it is an error, and so is a call that
// does not return in time. An entry that has expired remains expired if the Host's clock
// is set back.
type hostCache struct {
	cache Cache
	bound *plugin.Bound
	host  *Host // nil: the cache of a nil *Host
}

type cached struct {
	value   []byte
	expires time.Time
}

func (c hostCache) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	if c.bound != nil && c.bound.Resting() {
		return nil, time.Time{}, partCache.failed("it did not answer a moment ago")
	}
	got, err := plugin.Await(ctx, c.bound, func(ctx context.Context) (got cached, err error) {
		defer partCache.guard(&err)
		got.value, got.expires, err = c.cache.Get(ctx, key)
		return got, err
	})
	if err == nil && c.host.hasPassed(got.expires) {
		return nil, time.Time{}, fs.ErrNotExist
	}
	return got.value, got.expires, err
}

// latestTime is the latest time of a Host's clock that the shared cache has seen.
type latestTime struct {
	mu     sync.Mutex
	latest time.Time
	seen   time.Time // when, by the system's monotonic clock
}

// believeLatest is how long the latest time counts after the clock was set back. No
// package uses older entries. The limit exists so that a clock that was years ahead does
// not disable the cache of a process forever.
const believeLatest = 7 * 24 * time.Hour

// hasPassed reports whether the Host's clock has reached a time, now or within
// believeLatest. It returns false for the zero time.
func (h *Host) hasPassed(t time.Time) bool {
	if t.IsZero() {
		return false
	}
	now, err := h.clock()
	if err != nil {
		return true
	}
	l := &h.cacheTime
	l.mu.Lock()
	defer l.mu.Unlock()
	if system := time.Now(); now.After(l.latest) || system.Sub(l.seen) >= believeLatest {
		l.latest, l.seen = now, system
	}
	return !t.After(l.latest)
}

func (c hostCache) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	if c.bound != nil {
		value = bytes.Clone(value) // the call may outlive the caller
	}
	return c.change(ctx, func(ctx context.Context) error { return c.cache.Put(ctx, key, value, expires) })
}

func (c hostCache) Delete(ctx context.Context, key string) error {
	return c.change(ctx, func(ctx context.Context) error { return c.cache.Delete(ctx, key) })
}

// change runs Put or Delete. If the cache did not answer before, change makes the call
// without waiting for it, because other processes may need the change.
func (c hostCache) change(ctx context.Context, call func(context.Context) error) error {
	do := func(ctx context.Context) (_ struct{}, err error) {
		defer partCache.guard(&err)
		return struct{}{}, call(ctx)
	}
	if c.bound == nil || !c.bound.Resting() {
		_, err := plugin.Await(ctx, c.bound, do)
		return err
	}
	if _, _, err := plugin.Start(context.WithoutCancel(ctx), c.bound, do); err != nil {
		return err
	}
	return partCache.failed("it did not answer a moment ago")
}

// CompareAndSwapper is a [Cache] that can replace an entry only if it is unchanged. What
// withdraws an entry of the shared cache must not be replaced by an older withdrawal, so
// caches that several processes share should implement it.
type CompareAndSwapper interface {
	Cache
	// CompareAndSwap stores a value under a key and returns true if the entry there has the
	// value old, or if old is nil and there is no entry. Otherwise it changes nothing.
	CompareAndSwap(ctx context.Context, key string, old, value []byte, expires time.Time) (swapped bool, err error)
}

// maxSwaps is how often UpdateCache starts again because another process was faster.
const maxSwaps = 16

// UpdateCache replaces an entry of the shared cache. It calls change with the value there,
// or nil, and stores what change returns unless ok is false. If the Cache is a
// [CompareAndSwapper], no write of another process is lost in between; otherwise one may be.
// Like Put, it does not end with ctx. It waits no longer than one call of [Host.SharedCache];
// with a Cache that did not respond, change may be called after UpdateCache returned an error.
func (h *Host) UpdateCache(ctx context.Context, key string, change func(old []byte) (value []byte, expires time.Time, ok bool)) error {
	if err := h.usable(); err != nil {
		return err
	}
	parts := h.parts()
	c := hostCache{parts.cache, parts.cacheCalls, h}
	return c.change(context.WithoutCancel(h.enter(ctx)), func(ctx context.Context) error {
		for range maxSwaps {
			if done, err := c.update(ctx, key, change); done || err != nil {
				return err
			}
		}
		return partCache.failed("other processes change the entry all the time")
	})
}

// update changes an entry once. It returns false if another process was faster.
func (c hostCache) update(ctx context.Context, key string, change func(old []byte) ([]byte, time.Time, bool)) (done bool, err error) {
	old, _, err := c.cache.Get(ctx, key)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err != nil {
		old = nil
	}
	value, expires, ok := change(bytes.Clone(old))
	if !ok {
		return true, nil
	}
	if swapper, atomic := c.cache.(CompareAndSwapper); atomic {
		return swapper.CompareAndSwap(ctx, key, old, value, expires)
	}
	return true, c.cache.Put(ctx, key, value, expires)
}

func (c *memoryCache) CompareAndSwap(_ context.Context, key string, old, value []byte, expires time.Time) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries.Peek(key)
	if ok != (old != nil) || !bytes.Equal(e.value, old) {
		return false, nil
	}
	c.store(key, memoryEntry{bytes.Clone(value), expires})
	return true, nil
}

// sealedSwapper is a sealedCache over a CompareAndSwapper.
type sealedSwapper struct {
	sealedCache
	swapper CompareAndSwapper
}

// CompareAndSwap compares what is sealed, and swaps the entry that it was found in. An
// entry that cannot be opened counts as none.
func (c sealedSwapper) CompareAndSwap(ctx context.Context, key string, old, value []byte, expires time.Time) (bool, error) {
	sealed, _, err := c.cache.Get(ctx, c.name(key))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		sealed = nil
	case err != nil:
		return false, err
	}
	var found []byte
	if plain, _, err := c.open(key, sealed); err == nil {
		found = append([]byte{}, plain...)
	}
	if (found == nil) != (old == nil) || !bytes.Equal(found, old) {
		return false, nil
	}
	return c.swapper.CompareAndSwap(ctx, c.name(key), sealed, c.seal(key, value, expires), expires)
}
