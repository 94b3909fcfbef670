package lookleap

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/lookleap/lookleap/internal/plugin"
)

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
// Like Put, it does not end with ctx.
func (h *Host) UpdateCache(ctx context.Context, key string, change func(old []byte) (value []byte, expires time.Time, ok bool)) error {
	if err := h.usable(); err != nil {
		return err
	}
	parts := h.parts()
	swapper, atomic := parts.cache.(CompareAndSwapper)
	for range maxSwaps {
		swapped, err := plugin.Await(context.WithoutCancel(h.enter(ctx)), parts.cacheCalls, func(ctx context.Context) (_ bool, err error) {
			defer partCache.guard(&err)
			old, _, err := parts.cache.Get(ctx, key)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return false, err
			}
			if err != nil {
				old = nil
			}
			value, expires, ok := change(bytes.Clone(old))
			switch {
			case !ok:
				return true, nil
			case atomic:
				return swapper.CompareAndSwap(ctx, key, old, value, expires)
			}
			return true, parts.cache.Put(ctx, key, value, expires)
		})
		if swapped || err != nil {
			return err
		}
	}
	return partCache.failed("other processes change the entry all the time")
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
	if sealed != nil {
		if plain, _, err := c.open(key, sealed); err == nil {
			found = append([]byte{}, plain...)
		}
	}
	if (found == nil) != (old == nil) || !bytes.Equal(found, old) {
		return false, nil
	}
	return c.swapper.CompareAndSwap(ctx, c.name(key), sealed, c.seal(key, value, expires), expires)
}
