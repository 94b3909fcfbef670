package lookleap

import (
	"bytes"
	"context"
	"io/fs"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

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

// DefaultCacheEntries is the size of the default cache of a [Host].
const DefaultCacheEntries = 4096

// NewMemoryCache returns a Cache in memory for the given number of entries, at least 1.
// It drops the least recently used entry when it is full.
func NewMemoryCache(entries int) Cache {
	c, err := lru.New[string, memoryEntry](max(entries, 1))
	if err != nil {
		panic(err) // only a size below 1 is an error
	}
	return memoryCache{c}
}

type memoryEntry struct {
	value   []byte
	expires time.Time
}

type memoryCache struct {
	entries *lru.Cache[string, memoryEntry]
}

func (c memoryCache) Get(_ context.Context, key string) ([]byte, time.Time, error) {
	e, ok := c.entries.Get(key)
	if !ok {
		return nil, time.Time{}, fs.ErrNotExist
	}
	return bytes.Clone(e.value), e.expires, nil
}

func (c memoryCache) Put(_ context.Context, key string, value []byte, expires time.Time) error {
	c.entries.Add(key, memoryEntry{bytes.Clone(value), expires})
	return nil
}

func (c memoryCache) Delete(_ context.Context, key string) error {
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
	if h == nil || t.IsZero() {
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
