package lookleaptest

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/lookleap/lookleap"
)

// swapper returns the cache as a CompareAndSwapper, or skips the promise.
func (s cacheScript) swapper() lookleap.CompareAndSwapper {
	s.Helper()
	swapper, ok := s.cache.(lookleap.CompareAndSwapper)
	if !ok {
		s.Skip("not tested: the cache is not a CompareAndSwapper")
	}
	return swapper
}

// cacheSwaps tests a cache that is a CompareAndSwapper.
func cacheSwaps(r *cacheTrial) {
	s := openCache(r)
	swapper := s.swapper()
	swap := func(want bool, old []byte, value string) {
		s.Helper()
		var swapped bool
		err := s.attempt(func(ctx context.Context) (err error) {
			swapped, err = swapper.CompareAndSwap(ctx, "key", old, []byte(value), distant)
			return err
		})
		s.must(err, "CompareAndSwap")
		if swapped != want {
			s.broken("CompareAndSwap of %s with the old value %s (nil: %v) returned %v", shown(value),
				shown(string(old)), old == nil, swapped)
		}
	}
	swap(false, []byte("old"), "x")
	swap(false, []byte{}, "x")
	s.lacks("key")
	swap(true, nil, "one")
	swap(false, nil, "x")
	for _, other := range []string{"on", "one ", "One", "two", ""} { // "two" is as long as the value
		swap(false, []byte(other), "x")
	}
	s.holds("key", []byte("one"), distant)
	swap(true, []byte("one"), "two")
	s.holds("key", []byte("two"), distant)
	swap(true, []byte("two"), "")
	swap(false, nil, "x")
	s.holds("key", nil, distant)
	long := strings.Repeat("v", 4096)
	swap(true, []byte{}, long+"1")
	swap(false, []byte(long+"2"), "x")
	s.holds("key", []byte(long+"1"), distant)
	s.delete("key")
	swap(false, []byte(long+"1"), "x")
	s.lacks("key")
	s.countTogether(swapper)
}

// cacheSwapsShared lets several handles swap one entry.
func cacheSwapsShared(r *cacheTrial) {
	one, two := openCache(r), openCache(r)
	one.countTogether(one.swapper(), two.swapper())
}

// countTogether lets many callers add to one number through the handles.
func (s cacheScript) countTogether(handles ...lookleap.CompareAndSwapper) {
	s.Helper()
	const callers, each = 8, 5
	s.put("count", []byte("0"), distant)
	for i, err := range s.together(callers, func(ctx context.Context, i int) error {
		cache := handles[i%len(handles)]
		for done := 0; done < each; {
			old, _, err := cache.Get(ctx, "count")
			if err != nil {
				return err
			}
			n, err := strconv.Atoi(string(old))
			if err != nil {
				return err
			}
			swapped, err := cache.CompareAndSwap(ctx, "count", old, fmt.Append(nil, n+1), distant)
			if err != nil {
				return err
			}
			if swapped {
				done++
			}
		}
		return nil
	}) {
		if err != nil {
			s.broken("caller %d of %d returned the error %q", i, callers, err)
		}
	}
	s.holds("count", fmt.Append(nil, callers*each), distant)
}
