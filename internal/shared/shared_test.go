package shared_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/shared"
)

var start = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// process returns a host whose clock is at a time, and its view of a cache.
func process(cache lookleap.Cache, now *time.Time, o shared.Options, codes *[]lookleap.Code) *shared.Cache[string] {
	host := &lookleap.Host{Cache: cache, Now: func() time.Time { return *now }}
	host.Observe = func(_ context.Context, e lookleap.Event) { *codes = append(*codes, e.Code) }
	return shared.New[string](host, o)
}

func TestCache(t *testing.T) {
	now, reported := start, []lookleap.Code(nil)
	under := lookleap.NewMemoryCache(10)
	c := process(under, &now, shared.Options{Prefix: "test/1/", Skew: time.Minute, Remembered: 10}, &reported)
	entry := func(found time.Time, value string) shared.Entry[string] {
		return shared.Entry[string]{Asked: found, Found: found, Value: value}
	}
	put := func(key string, found time.Time) []byte {
		t.Helper()
		if !c.Put(t.Context(), key, entry(found, "value"), start.Add(time.Hour)) {
			t.Fatal("not stored")
		}
		stored, _, err := under.Get(t.Context(), "test/1/"+key)
		if err != nil {
			t.Fatal(err)
		}
		return stored
	}
	wantForged := func(t *testing.T, key string) {
		t.Helper()
		reported = nil
		if e, err := c.Get(t.Context(), key); !errors.Is(err, shared.ErrForged) || len(reported) != 1 || reported[0] != lookleap.CodeCacheForged {
			t.Errorf("%+v, %v; reported %v", e, err, reported)
		}
	}
	t.Run("accept-written", func(t *testing.T) {
		put("a", start)
		if e, err := c.Get(t.Context(), "a"); err != nil || e.Value != "value" || !e.Found.Equal(start) {
			t.Error(e, err)
		}
	})
	t.Run("accept-nothing", func(t *testing.T) {
		if _, err := c.Get(t.Context(), "none"); !errors.Is(err, fs.ErrNotExist) || len(reported) > 0 {
			t.Error(err, reported)
		}
	})
	t.Run("reject-moved", func(t *testing.T) {
		_ = under.Put(t.Context(), "test/1/b", put("a", start), start.Add(time.Hour))
		wantForged(t, "b")
	})
	t.Run("reject-damaged", func(t *testing.T) {
		stored := put("d", start)
		_ = under.Put(t.Context(), "test/1/d", stored[:len(stored)-1], start.Add(time.Hour))
		wantForged(t, "d")
		_ = under.Put(t.Context(), "test/1/d", []byte("garbage"), start.Add(time.Hour))
		wantForged(t, "d")
	})
	t.Run("reject-future", func(t *testing.T) {
		put("f", start.Add(time.Minute+1))
		wantForged(t, "f")
		put("g", start.Add(time.Minute))
		if _, err := c.Get(t.Context(), "g"); err != nil {
			t.Error(err)
		}
	})
	t.Run("reject-older-one-put-back", func(t *testing.T) {
		old := put("o", start)
		put("o", start.Add(time.Second))
		_ = under.Put(t.Context(), "test/1/o", old, start.Add(time.Hour))
		wantForged(t, "o")
	})
	t.Run("tombstone", func(t *testing.T) {
		put("t1", start.Add(-time.Second))
		put("t2", start)
		stone, err := c.Newest(t.Context(), "t1", "none", "t2")
		if err != nil || !stone.Found.Equal(start) {
			t.Fatal(stone, err)
		}
		if !c.Ends(stone, start.Add(time.Minute)) || c.Ends(stone, start.Add(time.Minute+1)) || c.Ends(nil, start) {
			t.Error("a tombstone ends what was asked for before it, within the tolerance of the clocks")
		}
	})
	t.Run("accept-host-without-cache", func(t *testing.T) {
		none := shared.New[string](&lookleap.Host{}, shared.Options{})
		none.Delete(t.Context(), "a")
		if _, err := none.Get(t.Context(), "a"); none.Active() || !errors.Is(err, fs.ErrNotExist) || none.Put(t.Context(), "a", entry(start, ""), start) {
			t.Error(err)
		}
	})
	t.Run("accept-write-of-a-caller-who-left", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if !c.Put(ctx, "l", entry(start, "value"), start.Add(time.Hour)) {
			t.Error("not stored")
		}
	})
	t.Run("reject-expired", func(t *testing.T) {
		put("e", start)
		now = start.Add(time.Hour)
		if _, err := c.Get(t.Context(), "e"); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	})
}

// brokenCache is a cache whose calls fail.
type brokenCache struct {
	lookleap.Cache
	err error
}

func (b *brokenCache) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	if b.err != nil {
		return nil, time.Time{}, b.err
	}
	return b.Cache.Get(ctx, key)
}

func (b *brokenCache) Put(ctx context.Context, key string, value []byte, until time.Time) error {
	if b.err != nil {
		return b.err
	}
	return b.Cache.Put(ctx, key, value, until)
}

func (b *brokenCache) Delete(ctx context.Context, key string) error {
	if b.err != nil {
		return b.err
	}
	return b.Cache.Delete(ctx, key)
}

// TestTombstones: of two tombstones the later one stays, whichever is written last.
func TestTombstones(t *testing.T) {
	now, reported := start, []lookleap.Code(nil)
	under := &brokenCache{Cache: lookleap.NewMemoryCache(10)}
	c := process(under, &now, shared.Options{Prefix: "test/1/", Skew: time.Minute}, &reported)
	put := func(key string, found time.Time, value string) {
		c.PutNewest(t.Context(), key, shared.Entry[string]{Asked: found, Found: found, Value: value}, start.Add(time.Hour))
	}
	check := func(t *testing.T, key, want string) {
		t.Helper()
		if e, err := c.Get(t.Context(), key); err != nil || e.Value != want {
			t.Errorf("%+v, %v; want %s", e, err, want)
		}
	}
	t.Run("accept-first", func(t *testing.T) { put("a", start, "first"); check(t, "a", "first") })
	t.Run("accept-later", func(t *testing.T) { put("a", start.Add(time.Second), "later"); check(t, "a", "later") })
	t.Run("reject-earlier", func(t *testing.T) { put("a", start, "earlier"); check(t, "a", "later") })
	t.Run("accept-of-the-same-time", func(t *testing.T) { put("a", start.Add(time.Second), "same"); check(t, "a", "same") })
	t.Run("accept-in-the-place-of-a-damaged-one", func(t *testing.T) {
		_ = under.Put(t.Context(), "test/1/a", []byte("garbage"), start.Add(time.Hour))
		put("a", start, "repaired")
		check(t, "a", "repaired")
	})
	t.Run("reject-the-rest-after-a-failure", func(t *testing.T) {
		put("b", start, "b")
		reported, under.err = nil, errors.New("the disk is gone")
		put("b", start.Add(time.Second), "later")
		if _, err := c.Newest(t.Context(), "b", "a"); !errors.Is(err, under.err) {
			t.Error(err)
		}
		c.Delete(t.Context(), "b")
		if len(reported) != 4 || reported[0] != lookleap.CodeIO {
			t.Error(reported)
		}
		under.err = nil
		check(t, "b", "b")
	})
	t.Run("accept-first-error-next-to-an-entry", func(t *testing.T) {
		_ = under.Put(t.Context(), "test/1/bad", []byte("garbage"), start.Add(time.Hour))
		e, err := c.Newest(t.Context(), "bad", "b")
		if e == nil || e.Value != "b" || !errors.Is(err, shared.ErrForged) {
			t.Errorf("%+v, %v", e, err)
		}
	})
	t.Run("accept-deleted", func(t *testing.T) {
		reported = nil
		c.Delete(t.Context(), "b")
		c.Delete(t.Context(), "b")
		if _, err := c.Get(t.Context(), "b"); !errors.Is(err, fs.ErrNotExist) || len(reported) != 0 {
			t.Error(err, reported)
		}
	})
	t.Run("accept-host-without-cache", func(t *testing.T) {
		host := &lookleap.Host{Now: func() time.Time { return now }}
		none := shared.New[string](host, shared.Options{})
		none.PutNewest(t.Context(), "a", shared.Entry[string]{Found: start}, start.Add(time.Hour))
		if e, err := none.Newest(t.Context(), "a"); e != nil || err != nil {
			t.Error(e, err)
		}
		own := host.SharedCache() // the host keeps other entries there for itself
		if stored, _, err := own.Get(t.Context(), "a"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q, %v", stored, err)
		}
		if err := own.Put(t.Context(), "a", nil, start.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		none.Delete(t.Context(), "a")
		if _, _, err := own.Get(t.Context(), "a"); err != nil {
			t.Error(err)
		}
	})
}

// binary is a value with a form of its own, which may fail.
type binary struct{ text string }

func (b binary) MarshalBinary() ([]byte, error) {
	if b.text == "cannot be written" {
		return nil, errors.New(b.text)
	}
	return []byte("binary " + b.text), nil
}

func (b *binary) UnmarshalBinary(data []byte) error {
	if string(data) == "binary cannot be read" {
		return errors.New("cannot be read")
	}
	b.text = string(data)
	return nil
}

// TestBinaryValues: a value's own form is used, and its errors are not lost.
func TestBinaryValues(t *testing.T) {
	var reported []lookleap.Code
	host := &lookleap.Host{Cache: lookleap.NewMemoryCache(10), Now: func() time.Time { return start }}
	host.Observe = func(_ context.Context, e lookleap.Event) { reported = append(reported, e.Code) }
	c := shared.New[binary](host, shared.Options{Prefix: "test/1/"})
	entry := func(text string) shared.Entry[binary] {
		return shared.Entry[binary]{Asked: start, Found: start, Value: binary{text}}
	}
	if !c.Put(t.Context(), "a", entry("x"), start.Add(time.Hour)) {
		t.Error("not stored")
	}
	if e, err := c.Get(t.Context(), "a"); err != nil || e.Value.text != "binary x" {
		t.Errorf("%+v, %v", e, err)
	}
	if c.Put(t.Context(), "a", entry("cannot be written"), start.Add(time.Hour)) || len(reported) != 1 {
		t.Error("stored", reported)
	}
	c.PutNewest(t.Context(), "a", entry("cannot be written"), start.Add(time.Hour))
	if len(reported) != 2 {
		t.Error(reported)
	}
	if !c.Put(t.Context(), "a", entry("cannot be read"), start.Add(time.Hour)) {
		t.Error("not stored")
	}
	if e, err := c.Get(t.Context(), "a"); !errors.Is(err, shared.ErrForged) {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestWithoutHost: a cache of no host has no entries and drops what is written.
func TestWithoutHost(t *testing.T) {
	c := shared.New[string](nil, shared.Options{})
	e := shared.Entry[string]{Asked: start, Found: start}
	c.PutNewest(t.Context(), "a", e, start.Add(time.Hour))
	c.Delete(t.Context(), "a")
	if _, err := c.Get(t.Context(), "a"); c.Active() || err != fs.ErrNotExist || c.Put(t.Context(), "a", e, start.Add(time.Hour)) {
		t.Error(err)
	}
}

// TestAnswersOfCaches: what a cache says, what that means, and what is reported.
func TestAnswersOfCaches(t *testing.T) {
	now, reported := start, []lookleap.Event(nil)
	under := &brokenCache{Cache: lookleap.NewMemoryCache(10)}
	host := &lookleap.Host{Cache: under, Now: func() time.Time { return now }}
	host.Observe = func(_ context.Context, e lookleap.Event) { reported = append(reported, e) }
	c := shared.New[string](host, shared.Options{Prefix: "test/1/", Remembered: 1})
	entry := func(found time.Time) shared.Entry[string] { return shared.Entry[string]{Asked: found, Found: found} }
	until := start.Add(time.Hour)
	t.Run("wrapped-absence", func(t *testing.T) {
		under.err = fmt.Errorf("redis: %w", fs.ErrNotExist)
		_, err := c.Get(t.Context(), "a")
		c.Delete(t.Context(), "a")
		if err != fs.ErrNotExist || len(reported) != 0 {
			t.Errorf("%v; reported %+v", err, reported)
		}
	})
	t.Run("wrapped-forgery", func(t *testing.T) {
		under.err = fmt.Errorf("redis: %w", lookleap.ErrCacheForged)
		_, err := c.Get(t.Context(), "a")
		if !errors.Is(err, lookleap.ErrCacheForged) || len(reported) != 1 || reported[0].Code != lookleap.CodeCacheForged || reported[0].Finding.Fix == "" || !errors.Is(reported[0].Err, err) {
			t.Errorf("%v; reported %+v", err, reported)
		}
		if _, err := c.Newest(t.Context(), "a"); !errors.Is(err, lookleap.ErrCacheForged) {
			t.Errorf("newest: %v", err)
		}
	})
	t.Run("failed-writes", func(t *testing.T) {
		under.err = errors.New("the disk is gone")
		reported = nil
		if c.Put(t.Context(), "a", entry(start), until) || len(reported) != 1 || reported[0].Code != lookleap.CodeIO {
			t.Errorf("stored; reported %+v", reported)
		}
		under.err = nil
		if year := time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC); c.Put(t.Context(), "a", entry(year), until) || len(reported) != 2 {
			t.Errorf("stored; reported %+v", reported)
		}
	})
	t.Run("first-failure", func(t *testing.T) {
		for key, text := range map[string]string{"header": "garbage", "value": `{"key":"test/1/value","found":"2026-06-01T12:00:00Z"}` + "\n" + `5`} {
			if err := under.Put(t.Context(), "test/1/"+key, []byte(text), until); err != nil {
				t.Fatal(err)
			}
		}
		for _, keys := range [][]string{{"header", "value"}, {"value", "header"}} {
			_, err := c.Newest(t.Context(), keys...)
			if !errors.Is(err, shared.ErrForged) || strings.Contains(err.Error(), "json-syntax") != (keys[0] == "header") {
				t.Errorf("%v: %v", keys, err)
			}
			if strings.Contains(err.Error(), "was not written for its key") { // the cause says more
				t.Errorf("%v: %v", keys, err)
			}
		}
	})
	t.Run("newest-of-any-order", func(t *testing.T) {
		c := shared.New[string](host, shared.Options{Prefix: "test/2/"})
		c.Put(t.Context(), "old", entry(start.Add(-time.Second)), until)
		c.Put(t.Context(), "new", entry(start), until)
		for _, keys := range [][]string{{"old", "none", "new"}, {"new", "none", "old"}} {
			if e, err := c.Newest(t.Context(), keys...); err != nil || !e.Found.Equal(start) {
				t.Errorf("%v: %+v, %v", keys, e, err)
			}
		}
	})
	t.Run("older-than-one-that-was-read", func(t *testing.T) {
		writer := shared.New[string](host, shared.Options{Prefix: "test/1/"})
		writer.Put(t.Context(), "r", entry(start), until)
		if _, err := c.Get(t.Context(), "r"); err != nil {
			t.Error(err)
		}
		writer.Put(t.Context(), "r", entry(start.Add(-time.Second)), until)
		if _, err := c.Get(t.Context(), "r"); !errors.Is(err, shared.ErrForged) {
			t.Error(err)
		}
	})
}

// FuzzStoredEntry reads entries that anyone may have written: none panics, and none is read as the
// entry of another key or of the future.
func FuzzStoredEntry(f *testing.F) {
	f.Add([]byte(`{"key":"test/1/a","asked":"2026-06-01T12:00:00Z","found":"2026-06-01T12:00:00Z"}` + "\n" + `"value"`))
	f.Add([]byte(`{"key":"test/1/b","asked":"2026-06-01T12:00:00Z","found":"2026-06-01T12:00:00Z"}` + "\n" + `"value"`))
	f.Add([]byte(`{}`))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, stored []byte) {
		now, reported := start, []lookleap.Code(nil)
		under := lookleap.NewMemoryCache(1)
		c := process(under, &now, shared.Options{Prefix: "test/1/"}, &reported)
		_ = under.Put(t.Context(), "test/1/a", stored, start.Add(time.Hour))
		e, err := c.Get(t.Context(), "a")
		if err == nil && e.Found.After(now) || (err == nil) != (len(reported) == 0) {
			t.Errorf("%+v, %v; reported %v", e, err, reported)
		}
		if err != nil {
			return
		}
		c.Put(t.Context(), "a", *e, start.Add(time.Hour))
		if again, err := c.Get(t.Context(), "a"); err != nil || again.Value != e.Value || !again.Found.Equal(e.Found) {
			t.Errorf("%+v was written, %+v read: %v", e, again, err)
		}
	})
}
