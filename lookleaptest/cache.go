package lookleaptest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// TestCache tests an implementation of [lookleap.Cache]: misses, keys and values with each
// byte, sizes, expiry, concurrent use, cancellation, handles that share data, a back end
// that hangs, and damaged data. The cache must have space for 512 entries and a value of 1
// MiB.
func TestCache(t *testing.T, e Engine[lookleap.Cache]) {
	t.Helper()
	testContract(t, e, cachePromises)
}

type cacheTrial = trial[lookleap.Cache]

var cachePromises = []promise[lookleap.Cache]{
	{
		name:   "missing-entry",
		text:   "for a key without an entry, Get returns an error that is fs.ErrNotExist",
		verify: cacheMissing,
	}, {
		name:   "get-returns-what-was-put",
		text:   "Get returns the value and the expiry of the last Put, and the expiry at most a second earlier",
		verify: cacheRoundTrip,
	}, {
		name:   "sizes",
		text:   "values of 0 bytes to 1 MiB are stored whole",
		verify: cacheSizes,
	}, {
		name:   "keys-with-each-byte",
		text:   "two keys that differ in one byte are two entries",
		verify: cacheKeys,
	}, {
		name:   "delete",
		text:   "after Delete the entry is missing, other entries remain, and deleting a missing entry is not an error",
		verify: cacheDelete,
	}, {
		name:   "caller-owns-its-bytes",
		text:   "changing a slice after Put, or one that Get returned, does not change the entry",
		verify: cacheAliasing,
	}, {
		name:   "expiry",
		text:   "an expired entry is a miss or is returned with its own expiry, and a distant expiry is no earlier one",
		verify: cacheExpiry,
	}, {
		name:   "concurrent-use",
		text:   "concurrent calls are safe, and Get returns value and expiry of the same Put",
		verify: cacheConcurrent,
	}, {
		name:   "compare-and-swap",
		text:   "a CompareAndSwap succeeds only if the entry has the old value, or if old is nil and there is none; of concurrent calls with one old value exactly one succeeds",
		verify: cacheSwaps,
	}, {
		name:   "compare-and-swap-shared",
		needs:  needsSharing,
		text:   "no change is lost when several handles change an entry with CompareAndSwap",
		verify: cacheSwapsShared,
	}, {
		name:   "cancellation",
		text:   "a call whose context has ended returns, and the entry stays whole",
		verify: cacheCancelled,
	}, {
		name:   "shared-data",
		needs:  needsSharing,
		text:   "what one handle puts or deletes, each other handle sees at once",
		verify: cacheShared,
	}, {
		name:   "back-end-hangs",
		needs:  needsHang,
		text:   "while the back end hangs, each call returns an error by the deadline of its context, and later calls succeed once it answers",
		verify: cacheHangs,
	}, {
		name:   "damaged-data",
		needs:  needsDamage,
		text:   "reading a damaged entry returns, and a new Put replaces the entry",
		verify: cacheDamaged,
	},
}

// distant is an expiry that no test reaches.
var distant = time.Date(2100, 2, 28, 23, 59, 59, 0, time.UTC)

// cacheScript are the calls of one handle.
type cacheScript struct {
	*cacheTrial
	cache lookleap.Cache
}

func openCache(r *cacheTrial) cacheScript {
	r.Helper()
	return cacheScript{r, r.open()}
}

func (s cacheScript) put(key string, value []byte, expires time.Time) {
	s.Helper()
	err := s.attempt(func(ctx context.Context) error { return s.cache.Put(ctx, key, value, expires) })
	s.must(err, fmt.Sprintf("Put(%s)", shown(key)))
}

func (s cacheScript) get(key string) (value []byte, expires time.Time, err error) {
	err = s.attempt(func(ctx context.Context) (err error) {
		value, expires, err = s.cache.Get(ctx, key)
		return err
	})
	return value, expires, err
}

func (s cacheScript) delete(key string) {
	s.Helper()
	err := s.attempt(func(ctx context.Context) error { return s.cache.Delete(ctx, key) })
	s.must(err, fmt.Sprintf("Delete(%s)", shown(key)))
}

// holds checks that a key has this value and this expiry.
func (s cacheScript) holds(key string, value []byte, expires time.Time) {
	s.Helper()
	got, until, err := s.get(key)
	switch {
	case err != nil:
		s.broken("Get(%s) returned the error %q", shown(key), err)
	case !bytes.Equal(got, value):
		s.broken("Get(%s) returned %s instead of %s", shown(key), shown(string(got)), shown(string(value)))
	case until.After(expires) || expires.Sub(until) > time.Second:
		s.broken("Get(%s) returned the expiry %v instead of %v", shown(key), until, expires)
	}
}

// lacks checks that a key has no entry.
func (s cacheScript) lacks(key string) {
	s.Helper()
	if value, _, err := s.get(key); !errors.Is(err, fs.ErrNotExist) {
		s.broken("Get(%s) returned %s and the error %v", shown(key), shown(string(value)), err)
	}
}

func cacheMissing(r *cacheTrial) {
	s := openCache(r)
	s.lacks("never put")
	s.lacks("")
}

func cacheRoundTrip(r *cacheTrial) {
	s := openCache(r)
	s.put("key", []byte("first"), distant)
	s.holds("key", []byte("first"), distant)
	s.put("key", allBytes(), distant.Add(-time.Hour))
	s.holds("key", allBytes(), distant.Add(-time.Hour))
	s.put("key", []byte(" \n edges \x00\n "), distant)
	s.holds("key", []byte(" \n edges \x00\n "), distant)
	zone := time.FixedZone("", 3600)
	s.put("key", []byte("third"), distant.In(zone))
	s.holds("key", []byte("third"), distant)
}

func cacheSizes(r *cacheTrial) {
	s := openCache(r)
	for _, size := range []int{0, 1, 255, 256, 65535, 65536, 1 << 20} {
		key, value := fmt.Sprint("size/", size), bytes.Repeat([]byte{0xa5}, size)
		s.put(key, value, distant)
		s.holds(key, value, distant)
	}
	s.put("size/nil", nil, distant)
	s.holds("size/nil", nil, distant)
}

func cacheKeys(r *cacheTrial) {
	s := openCache(r)
	keys := awkwardKeys()
	for i, key := range keys {
		s.put(key, fmt.Append(nil, i), distant)
	}
	for i, key := range keys {
		s.holds(key, fmt.Append(nil, i), distant)
	}
	s.delete("a*")
	s.delete("a/b")
	s.lacks("a/b")
	s.delete("byte/A")
	s.lacks("byte/A")
	s.holds("byte/a", fmt.Append(nil, slices.Index(keys, "byte/a")), distant)
	s.holds("a/b/", []byte("1"), distant)
	s.holds("a?", fmt.Append(nil, slices.Index(keys, "a?")), distant)
}

func cacheDelete(r *cacheTrial) {
	s := openCache(r)
	s.put("gone", []byte("x"), distant)
	s.put("stays", []byte("y"), distant)
	s.delete("gone")
	s.lacks("gone")
	s.holds("stays", []byte("y"), distant)
	s.delete("gone")
	s.delete("never put")
	s.put("gone", []byte("again"), distant)
	s.holds("gone", []byte("again"), distant)
}

func cacheAliasing(r *cacheTrial) {
	s := openCache(r)
	value := []byte("value")
	s.put("key", value, distant)
	value[0] = 'X'
	s.holds("key", []byte("value"), distant)
	got, _, err := s.get("key")
	s.must(err, "Get")
	got[0] = 'Y'
	s.holds("key", []byte("value"), distant)
}

func cacheExpiry(r *cacheTrial) {
	s := openCache(r)
	for _, passed := range []time.Time{time.Now().Add(-time.Minute), time.Unix(0, 0), time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC)} {
		passed = passed.Truncate(time.Second)
		s.put("passed", []byte("old"), passed)
		value, until, err := s.get("passed")
		if err == nil && until.After(passed) {
			s.broken("the entry that expired at %v was returned as %q with the expiry %v", passed, value, until)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.broken("for an entry that expired at %v, Get returned the error %q", passed, err)
		}
	}
	s.put("passed", []byte("new"), distant)
	s.holds("passed", []byte("new"), distant)
	s.put("passed", []byte("old"), time.Now().Add(-time.Minute))
	if value, until, err := s.get("passed"); err == nil && until.After(time.Now()) {
		s.broken("after Put with a passed expiry, Get still returned %q with the expiry %v", value, until)
	}
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	s.put("last", []byte("x"), last)
	s.holds("last", []byte("x"), last)
}

// cacheConcurrent puts values that contain their own expiry.
func cacheConcurrent(r *cacheTrial) {
	s := openCache(r)
	s.put("key", stamp(0), stampTime(0))
	for i, err := range r.together(32, func(ctx context.Context, i int) error {
		for n := range 20 {
			at := i*20 + n
			if err := s.cache.Put(ctx, "key", stamp(at), stampTime(at)); err != nil {
				return err
			}
			value, expires, err := s.cache.Get(ctx, "key")
			if err != nil {
				return err
			}
			if len(value) != 4096 || !bytes.Equal(value[:8], value[4088:]) {
				return errors.New("the value is a mixture of two")
			}
			put := stampTime(int(binary.BigEndian.Uint64(value)))
			if expires.After(put) || put.Sub(expires) > time.Second {
				return fmt.Errorf("a value that expires at %v was returned with the expiry %v", put, expires)
			}
		}
		return nil
	}) {
		if err != nil {
			s.broken("caller %d of 32: %v", i, err)
		}
	}
}

// stamp is a value that names its number at both ends.
func stamp(n int) []byte {
	value := make([]byte, 4096)
	binary.BigEndian.PutUint64(value, uint64(n))
	binary.BigEndian.PutUint64(value[4088:], uint64(n))
	return value
}

func stampTime(n int) time.Time { return distant.Add(-time.Duration(n) * time.Minute) }

func cacheCancelled(r *cacheTrial) {
	s := openCache(r)
	s.put("key", []byte("before"), distant)
	ctx := cancelled()
	for _, call := range []func(context.Context) error{
		func(ctx context.Context) error { _, _, err := s.cache.Get(ctx, "key"); return err },
		func(ctx context.Context) error { return s.cache.Put(ctx, "key", []byte("after"), distant) },
	} {
		if err := r.attemptIn(ctx, call); errors.Is(err, errHung) {
			s.broken("%v", err)
		}
	}
	value, _, err := s.get("key")
	if err != nil || string(value) != "before" && string(value) != "after" {
		s.broken("Get returned %q and the error %v", value, err)
	}
}

func cacheShared(r *cacheTrial) {
	one, two := openCache(r), openCache(r)
	one.put("key", []byte("one"), distant)
	two.holds("key", []byte("one"), distant)
	two.put("key", []byte("two"), distant)
	one.holds("key", []byte("two"), distant)
	one.delete("key")
	two.lacks("key")
	two.put("key", []byte("three"), distant)
	openCache(r).holds("key", []byte("three"), distant)
}

func cacheHangs(r *cacheTrial) {
	s := openCache(r)
	s.put("key", []byte("before"), distant)
	resume := r.engine.Hang(r.TB)
	calls := map[string]func(context.Context) error{
		"Get":    func(ctx context.Context) error { _, _, err := s.cache.Get(ctx, "key"); return err },
		"Put":    func(ctx context.Context) error { return s.cache.Put(ctx, "other", []byte("x"), distant) },
		"Delete": func(ctx context.Context) error { return s.cache.Delete(ctx, "third") },
	}
	if swapper, ok := s.cache.(lookleap.CompareAndSwapper); ok {
		calls["CompareAndSwap"] = func(ctx context.Context) error {
			_, err := swapper.CompareAndSwap(ctx, "key", []byte("before"), []byte("swapped"), distant)
			return err
		}
	}
	for name, call := range calls {
		if err := s.attempt(call); err == nil || errors.Is(err, errHung) || errors.Is(err, fs.ErrNotExist) {
			resume()
			s.broken("%s returned %v", name, err)
		}
	}
	resume()
	s.put("key", []byte("after"), distant)
	s.holds("key", []byte("after"), distant)
}

func cacheDamaged(r *cacheTrial) {
	s := openCache(r)
	s.put("key", []byte("whole"), distant)
	r.engine.Damage(r.TB, r.data)
	if _, _, err := s.get("key"); errors.Is(err, errHung) {
		s.broken("Get: %v", err)
	}
	s.put("key", []byte("new"), distant)
	s.holds("key", []byte("new"), distant)
}
