package lookleap_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
)

// TestMemoryCacheBytes fills a cache with fewer entries than it may have, and with more bytes.
func TestMemoryCacheBytes(t *testing.T) {
	ctx := t.Context()
	c := lookleap.NewMemoryCacheSize(100, 4000)
	has := func(key string) bool {
		_, _, err := c.Get(ctx, key)
		return err == nil
	}
	kilobyte := make([]byte, 1000)
	for _, key := range []string{"a", "b", "c"} {
		_ = c.Put(ctx, key, kilobyte, planTime)
	}
	if !has("b") || !has("c") || !has("a") {
		t.Fatal("three kilobytes do not fit into four")
	}
	_ = c.Put(ctx, "d", kilobyte, planTime)
	if has("b") || !has("a") || !has("d") {
		t.Error("the least recently used entry is not the one that was dropped")
	}
	for range 50 {
		_ = c.Put(ctx, "d", kilobyte, planTime) // counts once
	}
	if !has("a") || !has("c") {
		t.Error("an entry that replaces itself drops others")
	}
	_ = c.Delete(ctx, "a")
	_ = c.Put(ctx, "e", kilobyte, planTime)
	if !has("c") || !has("d") || !has("e") {
		t.Error("the room of a deleted entry is lost")
	}
	_ = c.Put(ctx, "e", make([]byte, 5000), planTime)
	if has("e") {
		t.Error("an entry is larger than the cache, or an old value is left")
	}
	_ = c.Put(ctx, "f", kilobyte, planTime)
	if !has("f") {
		t.Error("after an entry that is too large nothing fits")
	}
	one := lookleap.NewMemoryCache(0)
	_ = errors.Join(one.Put(ctx, "a", nil, planTime), one.Put(ctx, "b", nil, planTime))
	if _, _, err := one.Get(ctx, "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a cache of one entry has two: %v", err)
	}
	tiny := lookleap.NewMemoryCacheSize(0, 0)
	if err := tiny.Put(ctx, "a", nil, planTime); err != nil {
		t.Error(err)
	}
}

// meddler is a shared cache that others can write to.
type meddler struct{ lookleap.Cache }

// place returns the name under which the cache below a sealed cache has a key.
func place(key string) string { return placeWith(resumeKey, key) }

func placeWith(secret []byte, key string) string {
	below := &namesSeen{}
	sealed, err := lookleap.SealedCache(below, secret)
	if err != nil {
		panic(err)
	}
	_ = sealed.Delete(context.Background(), key)
	return below.last
}

// namesSeen notes the name that it was asked for.
type namesSeen struct {
	lookleap.Cache
	last string
}

func (n *namesSeen) Delete(_ context.Context, name string) error { n.last = name; return nil }

func (m meddler) meddle(t *testing.T, from, to string, change func([]byte) []byte, longer time.Duration) {
	t.Helper()
	from, to = place(from), place(to)
	value, expires, err := m.Get(context.Background(), from)
	if err != nil {
		t.Fatal(err)
	}
	_ = m.Put(context.Background(), to, change(value), expires.Add(longer))
}

func TestSealedCache(t *testing.T) {
	same := func(b []byte) []byte { return b }
	for _, c := range []struct {
		name   string
		meddle func(meddler)
		key    string
		forged bool
	}{
		{"untouched", func(meddler) {}, "grant:a", false},
		{"altered", func(m meddler) {
			m.meddle(t, "grant:a", "grant:a", func(b []byte) []byte { b[len(b)-1] ^= 1; return b }, 0)
		}, "grant:a", true},
		{"truncated", func(m meddler) { m.meddle(t, "grant:a", "grant:a", func(b []byte) []byte { return b[:4] }, 0) }, "grant:a", true},
		{"forged", func(m meddler) {
			m.meddle(t, "grant:a", "grant:a", func([]byte) []byte { return []byte(`{"tier":2}`) }, 0)
		}, "grant:a", true},
		{"moved-to-another-key", func(m meddler) { m.meddle(t, "grant:a", "grant:b", same, 0) }, "grant:b", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			below := meddler{lookleap.NewMemoryCache(8)}
			sealed, err := lookleap.SealedCache(below, resumeKey)
			if err != nil {
				t.Fatal(err)
			}
			if err := sealed.Put(t.Context(), "grant:a", []byte("tier 1"), planTime); err != nil {
				t.Fatal(err)
			}
			if raw, _, err := below.Get(t.Context(), place("grant:a")); err != nil || bytes.Contains(raw, []byte("tier")) {
				t.Error("the entry can be read without the key")
			}
			c.meddle(below)
			value, expires, err := sealed.Get(t.Context(), c.key)
			if c.forged != errors.Is(err, lookleap.ErrCacheForged) || c.forged != errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("got %q, %v", value, err)
			}
			if !c.forged && (string(value) != "tier 1" || !expires.Equal(planTime)) || c.forged && value != nil {
				t.Fatalf("got %q until %s", value, expires)
			}
		})
	}
	t.Run("expiry-extended", func(t *testing.T) {
		below := meddler{lookleap.NewMemoryCache(8)}
		sealed, _ := lookleap.SealedCache(below, resumeKey)
		_ = sealed.Put(t.Context(), "k", []byte("v"), planTime)
		below.meddle(t, "k", "k", same, 24*time.Hour)
		if _, expires, err := sealed.Get(t.Context(), "k"); err != nil || !expires.Equal(planTime) {
			t.Errorf("got %v, %v", expires, err)
		}
	})
	t.Run("O57", func(t *testing.T) {
		t.Run("reject-keys-in-clear", func(t *testing.T) {
			const url = "https://bank.example/report?user=alice"
			name := place(url)
			if strings.Contains(name, "bank") || len(name) != 64 || name == place(url+"x") || name == strings.TrimPrefix(lookleap.Digest([]byte(url)), "sha256:") {
				t.Errorf("the cache below sees %s", name)
			}
		})
		t.Run("reject-names-that-others-can-compute", func(t *testing.T) {
			if name := place("k"); name == placeWith(bytes.Repeat([]byte{1}, lookleap.MinKeyLen), "k") {
				t.Errorf("two secrets lead to the name %s", name)
			}
		})
		t.Run("accept-name-of-another-process", func(t *testing.T) {
			// All versions that share a cache and a secret have to compute the same name.
			if name := place("k"); name != "8da32494cb243235e2c0752826e67fd6bf07d1855199fcf8049b320f53cc4dbd" {
				t.Errorf("the name of the key is %s now", name)
			}
		})
		t.Run("accept-empty-value", func(t *testing.T) {
			sealed, _ := lookleap.SealedCache(lookleap.NewMemoryCache(8), resumeKey)
			_ = sealed.Put(t.Context(), "k", nil, planTime)
			if value, expires, err := sealed.Get(t.Context(), "k"); err != nil || len(value) != 0 || !expires.Equal(planTime) {
				t.Errorf("%q until %s, %v", value, expires, err)
			}
		})
		t.Run("accept-delete", func(t *testing.T) {
			below := lookleap.NewMemoryCache(8)
			sealed, _ := lookleap.SealedCache(below, resumeKey)
			_ = sealed.Put(t.Context(), "k", []byte("v"), planTime)
			if err := sealed.Delete(t.Context(), "k"); err != nil {
				t.Error(err)
			}
			if _, _, err := below.Get(t.Context(), place("k")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("still there: %v", err)
			}
		})
	})
	t.Run("key", func(t *testing.T) {
		if c, err := lookleap.SealedCache(nil, resumeKey); c != nil || err == nil {
			t.Error("no cache was taken")
		}
		if c, err := lookleap.SealedCache(lookleap.NewMemoryCache(1), []byte("short")); c != nil || err == nil {
			t.Error("a short key was taken")
		}
	})
}

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
			if err := cache.Put(t.Context(), "empty", nil, until); err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				key string
				old []byte
			}{{"empty", nil}, {"missing", []byte{}}} {
				if ok, err := swapper.CompareAndSwap(t.Context(), c.key, c.old, []byte("x"), until); ok || err != nil {
					t.Errorf("an entry that is %s has the value %#v: %v", c.key, c.old, err)
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
		if value, _, err := h.SharedCache().Get(t.Context(), "a"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q is stored, %v", value, err)
		}
	})
	t.Run("reject-old-value-of-a-missing-entry", func(t *testing.T) {
		c := &staleCache{lookleap.NewMemoryCache(10).(lookleap.CompareAndSwapper), nil}
		err := (&lookleap.Host{Cache: c}).UpdateCache(t.Context(), "a", func(old []byte) ([]byte, time.Time, bool) { return []byte("y"), until, old == nil })
		if value, _, _ := c.CompareAndSwapper.Get(t.Context(), "a"); err != nil || string(value) != "y" {
			t.Errorf("%q, %v", value, err)
		}
		sealed, _ := lookleap.SealedCache(c, key)
		if ok, err := sealed.(lookleap.CompareAndSwapper).CompareAndSwap(t.Context(), "b", nil, []byte("y"), until); !ok || err != nil {
			t.Errorf("%t, %v", ok, err)
		}
	})
	t.Run("reject-write-that-fails", func(t *testing.T) {
		c := &staleCache{lookleap.NewMemoryCache(10).(lookleap.CompareAndSwapper), errCacheDown}
		plain := struct{ lookleap.Cache }{c}
		err := (&lookleap.Host{Cache: plain}).UpdateCache(t.Context(), "a", func([]byte) ([]byte, time.Time, bool) { return nil, until, true })
		if !errors.Is(err, errCacheDown) {
			t.Error(err)
		}
	})
}

// staleCache returns a value next to a missing entry, and an error for each Put.
type staleCache struct {
	lookleap.CompareAndSwapper
	put error
}

func (*staleCache) Get(context.Context, string) ([]byte, time.Time, error) {
	return []byte("stale"), time.Time{}, fmt.Errorf("redis: %w", fs.ErrNotExist)
}
func (s *staleCache) Put(context.Context, string, []byte, time.Time) error { return s.put }

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

// failingCache fails in every way.
type failingCache struct{}

var errCacheDown = errors.New("the cache is down")

func (failingCache) Get(context.Context, string) ([]byte, time.Time, error) {
	return []byte("stale"), planTime, errCacheDown // which says nothing
}
func (failingCache) Put(context.Context, string, []byte, time.Time) error { return errCacheDown }
func (failingCache) Delete(context.Context, string) error                 { return errCacheDown }

// TestCacheErrors: an error of the cache below reaches the caller, and is not a miss.
func TestCacheErrors(t *testing.T) {
	sealed, err := lookleap.SealedCache(failingCache{}, resumeKey)
	if err != nil {
		t.Fatal(err)
	}
	h := &lookleap.Host{Cache: failingCache{}}
	for name, c := range map[string]lookleap.Cache{"sealed": sealed, "host": h.SharedCache(), "swapping": &swappingCache{failingCache{}}} {
		t.Run("reject-"+name, func(t *testing.T) {
			if swapper, ok := c.(*swappingCache); ok {
				if c, err = lookleap.SealedCache(swapper, resumeKey); err != nil {
					t.Fatal(err)
				}
				if swapped, err := c.(lookleap.CompareAndSwapper).CompareAndSwap(t.Context(), "k", nil, nil, planTime); swapped || !errors.Is(err, errCacheDown) {
					t.Errorf("CompareAndSwap: %t, %v", swapped, err)
				}
			}
			_, _, got := c.Get(t.Context(), "k")
			for method, err := range map[string]error{"Get": got, "Put": c.Put(t.Context(), "k", nil, planTime), "Delete": c.Delete(t.Context(), "k")} {
				if !errors.Is(err, errCacheDown) || errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: %v", method, err)
				}
			}
		})
	}
	t.Run("reject-update", func(t *testing.T) {
		err := h.UpdateCache(t.Context(), "k", func([]byte) ([]byte, time.Time, bool) {
			t.Error("the change was made without the old value")
			return nil, planTime, true
		})
		if !errors.Is(err, errCacheDown) {
			t.Error(err)
		}
	})
	t.Run("reject-nil-host", func(t *testing.T) {
		var none *lookleap.Host
		c := none.SharedCache()
		for method, err := range map[string]error{
			"Put": c.Put(t.Context(), "k", nil, planTime), "Delete": c.Delete(t.Context(), "k"),
			"UpdateCache": none.UpdateCache(t.Context(), "k", nil),
		} {
			if lookleap.CodeOf(err) != lookleap.CodeUsage {
				t.Errorf("%s: %v", method, err)
			}
		}
	})
}

// swappingCache never swaps.
type swappingCache struct{ lookleap.Cache }

func (*swappingCache) CompareAndSwap(context.Context, string, []byte, []byte, time.Time) (bool, error) {
	return false, nil
}

// TestUpdateOfOtherCaches: a cache that cannot swap is written; one that never swaps is an error.
func TestUpdateOfOtherCaches(t *testing.T) {
	set := func([]byte) ([]byte, time.Time, bool) { return []byte("new"), planTime, true }
	plain := struct{ lookleap.Cache }{lookleap.NewMemoryCache(8)}
	if err := (&lookleap.Host{Cache: plain}).UpdateCache(t.Context(), "k", set); err != nil {
		t.Error(err)
	}
	if value, _, err := plain.Get(t.Context(), "k"); err != nil || string(value) != "new" {
		t.Errorf("%q, %v", value, err)
	}
	if sealed, err := lookleap.SealedCache(plain, resumeKey); err != nil {
		t.Error(err)
	} else if _, ok := sealed.(lookleap.CompareAndSwapper); ok {
		t.Error("sealing makes a cache swap")
	}
	h := &lookleap.Host{Cache: &swappingCache{lookleap.NewMemoryCache(8)}}
	if err := h.UpdateCache(t.Context(), "k", set); lookleap.CodeOf(err) != lookleap.CodeCacheFailed {
		t.Error(err)
	}
}

// TestExpiredWithoutClock: without a clock every entry counts as expired.
func TestExpiredWithoutClock(t *testing.T) {
	c := lookleap.NewMemoryCache(8)
	h := &lookleap.Host{Cache: c, Now: func() time.Time { panic("broken clock") }}
	_ = c.Put(t.Context(), "k", []byte("v"), time.Date(9999, time.December, 31, 23, 59, 59, 1, time.UTC))
	if value, _, err := h.SharedCache().Get(t.Context(), "k"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%q, %v", value, err)
	}
}

// lateCache stores what it was given when it is released.
type lateCache struct {
	lookleap.Cache
	release chan struct{}
	stored  []byte
}

func (c *lateCache) Put(_ context.Context, _ string, value []byte, _ time.Time) error {
	<-c.release
	c.stored = bytes.Clone(value)
	return nil
}

func (c *lateCache) Delete(context.Context, string) error { <-c.release; return nil }

// TestCallsThatOutliveTheirCallers: a late Put stores what its caller gave, and there is a bound for
// the calls that no one waits for.
func TestCallsThatOutliveTheirCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		below := &lateCache{release: make(chan struct{})}
		c := (&lookleap.Host{Cache: below}).SharedCache()
		value := []byte("given")
		if err := c.Put(context.Background(), "k", value, planTime); lookleap.CodeOf(err) != lookleap.CodeCacheFailed {
			t.Error(err)
		}
		copy(value, "later")
		for i := range 70 {
			err := c.Delete(context.Background(), "k")
			if bound := i >= 63; err == nil || strings.Contains(err.Error(), "64 calls have not returned") != bound {
				t.Errorf("call %d: %v", i, err)
			}
		}
		close(below.release)
		synctest.Wait()
		if string(below.stored) != "given" {
			t.Errorf("it stored %q", below.stored)
		}
	})
}
