package lookleaptest

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// TestMoreBrokenCaches has caches whose CompareAndSwap is not one.
func TestMoreBrokenCaches(t *testing.T) {
	for name, c := range map[string]struct {
		promise string
		open    func(*backEnd) lookleap.Cache
	}{
		"swap-within-a-process": {"compare-and-swap-shared", func(b *backEnd) lookleap.Cache { return &swapsAlone{looksThenSwaps{b}, make(chan struct{}, 1)} }},
		"swap-by-prefix": {"compare-and-swap", func(b *backEnd) lookleap.Cache {
			return swapsBy{b, func(stored, old []byte) bool { return bytes.HasPrefix(old, stored) }}
		}},
		"swap-by-64-bytes": {"compare-and-swap", func(b *backEnd) lookleap.Cache {
			return swapsBy{b, func(stored, old []byte) bool {
				return bytes.Equal(stored[:min(64, len(stored))], old[:min(64, len(old))])
			}}
		}},
		"swap-of-any-case":     {"compare-and-swap", func(b *backEnd) lookleap.Cache { return swapsBy{b, bytes.EqualFold} }},
		"swap-of-empty-as-nil": {"compare-and-swap", func(b *backEnd) lookleap.Cache { return swapsEmpty{b} }},
		"swap-when-down":       {"back-end-hangs", func(b *backEnd) lookleap.Cache { return swapsWhenDown{b} }},
		"trimmed-values":       {"get-returns-what-was-put", func(b *backEnd) lookleap.Cache { return trimsCache{b} }},
		"no-expiry":            {"get-returns-what-was-put", func(b *backEnd) lookleap.Cache { return noExpiry{b} }},
		"keys-in-lower-case":   {"keys-with-each-byte", func(b *backEnd) lookleap.Cache { return lowersKeys{b} }},
		"delete-in-lower-case": {"keys-with-each-byte", func(b *backEnd) lookleap.Cache { return lowersDelete{b} }},
	} {
		t.Run(name, func(t *testing.T) { rejects(t, sharedCaches(c.open), cachePromises, c.promise) })
	}
}

// swap replaces an entry if same reports so.
func (b *backEnd) swap(ctx context.Context, key string, value []byte, expires time.Time, same func(stored []byte, exists bool) bool) (bool, error) {
	if err := b.wait(ctx); err != nil {
		return false, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	stored, exists := b.entries[key]
	if !same(stored.value, exists) {
		return false, nil
	}
	b.entries[key] = backEntry{bytes.Clone(value), expires}
	return true, nil
}

// swapsBy compares values in its own way.
type swapsBy struct {
	*backEnd
	same func(stored, old []byte) bool
}

func (c swapsBy) CompareAndSwap(ctx context.Context, key string, old, value []byte, expires time.Time) (bool, error) {
	return c.swap(ctx, key, value, expires, func(stored []byte, exists bool) bool { return exists == (old != nil) && c.same(stored, old) })
}

// swapsEmpty takes an empty value for a missing one.
type swapsEmpty struct{ *backEnd }

func (c swapsEmpty) CompareAndSwap(ctx context.Context, key string, old, value []byte, expires time.Time) (bool, error) {
	return c.swap(ctx, key, value, expires, func(stored []byte, _ bool) bool { return bytes.Equal(stored, old) })
}

// swapsWhenDown reports a swap that did not happen.
type swapsWhenDown struct{ *backEnd }

func (c swapsWhenDown) CompareAndSwap(ctx context.Context, key string, old, value []byte, expires time.Time) (bool, error) {
	swapped, err := swapsBy{c.backEnd, bytes.Equal}.CompareAndSwap(ctx, key, old, value, expires)
	return swapped || err != nil, nil
}

// swapsAlone makes the two steps of a swap atomic within its process only.
type swapsAlone struct {
	looksThenSwaps
	own chan struct{}
}

func (c *swapsAlone) CompareAndSwap(ctx context.Context, key string, old, value []byte, expires time.Time) (bool, error) {
	c.own <- struct{}{}
	defer func() { <-c.own }()
	return c.looksThenSwaps.CompareAndSwap(ctx, key, old, value, expires)
}

// trimsCache drops white space and NULs at the ends of a value.
type trimsCache struct{ *backEnd }

func (c trimsCache) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	return c.backEnd.Put(ctx, key, bytes.Trim(value, " \n\x00"), expires)
}

// noExpiry does not know when an entry expires.
type noExpiry struct{ *backEnd }

func (c noExpiry) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	value, _, err := c.backEnd.Get(ctx, key)
	return value, time.Time{}, err
}

// lowersKeys ignores the letter case of keys.
type lowersKeys struct{ *backEnd }

func (c lowersKeys) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	return c.backEnd.Get(ctx, strings.ToLower(key))
}

func (c lowersKeys) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	return c.backEnd.Put(ctx, strings.ToLower(key), value, expires)
}

// lowersDelete ignores the letter case of keys in Delete.
type lowersDelete struct{ *backEnd }

func (c lowersDelete) Delete(ctx context.Context, key string) error {
	return c.backEnd.Delete(ctx, strings.ToLower(key))
}
