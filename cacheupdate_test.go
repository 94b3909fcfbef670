package lookleap_test

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

func TestUpdateCache(t *testing.T) {
	key := bytes.Repeat([]byte("k"), lookleap.MinKeyLen)
	sealed := func() lookleap.Cache {
		c, err := lookleap.SealedCache(lookleap.NewMemoryCache(100), key)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	until := time.Now().Add(time.Hour)
	for name, cache := range map[string]lookleap.Cache{"memory": lookleap.NewMemoryCache(100), "sealed": sealed()} {
		t.Run(name, func(t *testing.T) {
			swapper, ok := cache.(lookleap.CompareAndSwapper)
			if !ok {
				t.Fatal("it cannot swap")
			}
			swap := func(old, value string, want bool) {
				t.Helper()
				var before []byte
				if old != "" {
					before = []byte(old)
				}
				if got, err := swapper.CompareAndSwap(t.Context(), "swap", before, []byte(value), until); got != want || err != nil {
					t.Errorf("from %q to %q: %v, %v", old, value, got, err)
				}
			}
			swap("a", "b", false)
			swap("", "a", true)
			swap("", "b", false)
			swap("b", "c", false)
			swap("a", "b", true)
			if value, _, err := cache.Get(t.Context(), "swap"); string(value) != "b" || err != nil {
				t.Errorf("%s, %v", value, err)
			}
			// Many processes count; no step is lost, and each one starts again if it must.
			var wait sync.WaitGroup
			for range 4 {
				wait.Go(func() {
					h := &lookleap.Host{Cache: cache}
					for range 50 {
						for h.UpdateCache(t.Context(), "count", func(old []byte) ([]byte, time.Time, bool) {
							n, _ := strconv.Atoi(string(old))
							return fmt.Append(nil, n+1), until, true
						}) != nil {
						}
					}
				})
			}
			wait.Wait()
			if value, _, err := cache.Get(t.Context(), "count"); string(value) != "200" || err != nil {
				t.Errorf("%s, %v", value, err)
			}
		})
	}
	t.Run("accept-forged-entry-is-replaced", func(t *testing.T) {
		under := lookleap.NewMemoryCache(10)
		c, _ := lookleap.SealedCache(under, key)
		_ = c.Put(t.Context(), "a", []byte("x"), until)
		// The only entry of the cache below gets other bytes.
		h := &lookleap.Host{Cache: &forging{under.(lookleap.CompareAndSwapper)}}
		forged, _ := lookleap.SealedCache(h.Cache, key)
		h2 := &lookleap.Host{Cache: forged}
		if err := h2.UpdateCache(t.Context(), "a", func(old []byte) ([]byte, time.Time, bool) { return []byte("y"), until, old == nil }); err != nil {
			t.Fatal(err)
		}
		if value, _, err := c.Get(t.Context(), "a"); string(value) != "y" || err != nil {
			t.Errorf("%s, %v", value, err)
		}
	})
	t.Run("accept-unchanged", func(t *testing.T) {
		h := &lookleap.Host{Cache: lookleap.NewMemoryCache(10)}
		calls := 0
		if err := h.UpdateCache(t.Context(), "a", func([]byte) ([]byte, time.Time, bool) { calls++; return nil, time.Time{}, false }); err != nil || calls != 1 {
			t.Error(err, calls)
		}
	})
}

// forging damages what is read the first times, until it is replaced.
type forging struct{ lookleap.CompareAndSwapper }

func (f *forging) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	value, expires, err := f.CompareAndSwapper.Get(ctx, key)
	if err == nil && len(value) > 0 {
		damaged := append([]byte("damaged"), value...)
		if swapped, _ := f.CompareAndSwap(ctx, key, value, damaged, expires); swapped {
			return damaged, expires, nil
		}
	}
	return value, expires, err
}
