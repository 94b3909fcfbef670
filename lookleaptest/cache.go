package lookleaptest

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
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
	{"missing-entry", "for a key without an entry, Get returns an error that is fs.ErrNotExist", "",
		ofCache(func(s records) {
			s.lacks("never put")
			s.lacks("")
		})},
	{"get-returns-what-was-put", "Get returns the value and the expiry of the last Put, " +
		"and the expiry at most a second earlier", "", ofCache(records.returnsWhatWasPut)},
	{"sizes", "values of 0 bytes to 1 MiB are stored whole", "", ofCache(records.sizes)},
	{"keys-with-each-byte", "two keys that differ in one byte are two entries", "",
		ofCache(func(s records) { s.distinctKeys() })},
	{"delete", "after Delete the entry is missing, other entries remain, " +
		"and deleting a missing entry is not an error", "", ofCache(records.deletes)},
	{"caller-owns-its-bytes", "changing a slice after Put, or one that Get returned, does not change the entry", "",
		ofCache(records.ownsItsBytes)},
	{"expiry", "an expired entry is a miss or is returned with its own expiry, " +
		"and a distant expiry is no earlier one", "", cacheExpiry},
	{"concurrent-use", "concurrent calls are safe, and Get returns value and expiry of the same Put", "",
		ofCache(records.concurrentUse)},
	{"compare-and-swap", "a CompareAndSwap succeeds only if the entry has the old value, or if old is nil and " +
		"there is none; of concurrent calls with one old value exactly one succeeds", "", ofSwapper(func(s records) {
		s.compares()
		s.counts(s)
	})},
	{"compare-and-swap-shared", "no change is lost when several handles change an entry with CompareAndSwap", needsSharing,
		ofSwapper(func(s records) { s.counts(s, s.open()) })},
	{"cancellation", "a call whose context has ended returns, and the entry stays whole", "",
		ofCache(func(s records) { s.cancelled(s.calls()) })},
	{"shared-data", "what one handle puts or deletes, each other handle sees at once", needsSharing,
		ofCache(func(s records) { s.shares() })},
	{"back-end-hangs", "while the back end hangs, each call returns an error by the deadline of its context, " +
		"and later calls succeed once it answers", needsHang, func(r *cacheTrial) {
		s := recordsOf(r)
		s.hangs(func() func() { return r.engine.Hang(r.TB) }, s.calls())
	}},
	{"damaged-data", "reading a damaged entry returns, and a new Put replaces the entry", needsDamage,
		func(r *cacheTrial) {
			s := recordsOf(r)
			s.write(key, []byte("whole"))
			r.engine.Damage(r.TB, r.data)
			if _, err := s.lookup(key); errors.Is(err, errHung) {
				s.broken("Get: %v", err)
			}
			s.write(key, []byte("new"))
			s.holds(key, []byte("new"))
		}},
}

func ofCache(verify func(records)) func(*cacheTrial) {
	return func(r *cacheTrial) { verify(recordsOf(r)) }
}

// ofSwapper skips the promise if the cache is not a CompareAndSwapper.
func ofSwapper(verify func(records)) func(*cacheTrial) {
	return func(r *cacheTrial) {
		s := recordsOf(r)
		if s.swap == nil {
			s.Skip("not tested: the cache is not a CompareAndSwapper")
		}
		verify(s)
	}
}

// recordsOf opens a cache, in which the expiry of a record follows from its value.
func recordsOf(r *cacheTrial) records {
	r.Helper()
	cache := r.open()
	expiry := func(value []byte) time.Time {
		return distant.Add(-time.Duration(crc32.ChecksumIEEE(value)%1e6) * time.Minute).In(time.FixedZone("", 3600))
	}
	s := records{probe: &r.probe, delete: cache.Delete, open: func() records { return recordsOf(r) }}
	s.get = func(ctx context.Context, key string) ([]byte, error) {
		value, expires, err := cache.Get(ctx, key)
		if put := expiry(value); err == nil && (expires.After(put) || put.Sub(expires) > time.Second) {
			err = fmt.Errorf("the value that expires at %v was returned with the expiry %v", put, expires)
		}
		return value, err
	}
	s.put = func(ctx context.Context, key string, value []byte) error {
		return cache.Put(ctx, key, value, expiry(value))
	}
	if swapper, ok := cache.(lookleap.CompareAndSwapper); ok {
		s.swap = func(ctx context.Context, key string, old, value []byte) (bool, error) {
			return swapper.CompareAndSwap(ctx, key, old, value, expiry(value))
		}
	}
	return s
}

func cacheExpiry(r *cacheTrial) {
	cache := r.open()
	put := func(value string, expires time.Time) {
		r.must(r.do(func(ctx context.Context) error { return cache.Put(ctx, key, []byte(value), expires) }), "Put")
	}
	get := func() (value string, expires time.Time, err error) {
		err = r.do(func(ctx context.Context) error {
			data, until, err := cache.Get(ctx, key)
			value, expires = string(data), until
			return err
		})
		return value, expires, err
	}
	holds := func(want string, expires time.Time) {
		if value, until, err := get(); err != nil || value != want || until.After(expires) ||
			expires.Sub(until) > time.Second {
			r.broken("Get returned %q with the expiry %v and the error %v instead of %q with %v", value, until, err,
				want, expires)
		}
	}
	for _, passed := range []time.Time{time.Now().Add(-time.Minute), time.Unix(0, 0), time.Unix(-1e7, 0)} {
		passed = passed.Truncate(time.Second)
		put("old", passed)
		value, until, err := get()
		if err == nil && until.After(passed) {
			r.broken("the entry that expired at %v was returned as %q with the expiry %v", passed, value, until)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.broken("for an entry that expired at %v, Get returned the error %q", passed, err)
		}
	}
	put("new", distant)
	holds("new", distant)
	put("old", time.Now().Add(-time.Minute))
	if value, until, err := get(); err == nil && until.After(time.Now()) {
		r.broken("after Put with a passed expiry, Get still returned %q with the expiry %v", value, until)
	}
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	put("last", last)
	holds("last", last)
}
