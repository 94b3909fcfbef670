package lookleaptest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/dvs"
)

// TestMoreBrokenStores has stores, and trust stores around them, that are wrong in the calls,
// keys and sizes that a first test leaves out.
func TestMoreBrokenStores(t *testing.T) {
	for name, c := range map[string]struct {
		promise string
		open    func(*backEnd) agent.Store
	}{
		"one-page-of-keys":           {"keys-by-prefix", func(b *backEnd) agent.Store { return firstPage{goodStore{b}} }},
		"prefixes-of-any-case":       {"keys-by-prefix", func(b *backEnd) agent.Store { return foldsPrefixes{goodStore{b}} }},
		"prefix-with-escapes":        {"keys-by-prefix", func(b *backEnd) agent.Store { return unescapes{goodStore{b}} }},
		"keys-as-text":               {"keys-with-each-byte", func(b *backEnd) agent.Store { return textKeys{goodStore{b}} }},
		"create-folds-keys":          {"keys-with-each-byte", func(b *backEnd) agent.Store { return foldsCreate{goodStore{b}} }},
		"delete-folds-keys":          {"keys-with-each-byte", func(b *backEnd) agent.Store { return foldsDelete{goodStore{b}} }},
		"delete-by-prefix":           {"delete", func(b *backEnd) agent.Store { return deletesPrefix{goodStore{b}} }},
		"trimmed-values":             {"get-returns-what-was-put", func(b *backEnd) agent.Store { return trims{goodStore{b}} }},
		"cancelled-put-is-nil":       {"cancellation", func(b *backEnd) agent.Store { return losesPuts{goodStore{b}} }},
		"cancelled-create-is-nil":    {"cancellation", func(b *backEnd) agent.Store { return losesCreates{goodStore{b}} }},
		"cancelled-delete-is-nil":    {"cancellation", func(b *backEnd) agent.Store { return losesDeletes{goodStore{b}} }},
		"keys-without-damaged-ones":  {"damaged-data", func(b *backEnd) agent.Store { return wholeKeys{goodStore{b}} }},
		"cancelled-keys-are-missing": {"cancellation", func(b *backEnd) agent.Store { return noKeysWhenCancelled{goodStore{b}} }},
	} {
		t.Run(name, func(t *testing.T) { rejects(t, sharedStores(c.open), storePromises, c.promise) })
	}
}

// TestMoreBrokenTrustStores has trust stores that compare too little.
func TestMoreBrokenTrustStores(t *testing.T) {
	around := func(broken func(goodStore) agent.Store) func(*backEnd) dvs.TrustStore {
		return func(b *backEnd) dvs.TrustStore { return otherStore{goodTrust{goodStore{b}}, broken(goodStore{b})} }
	}
	comparing := func(same func(stored, old []byte) bool) func(*backEnd) dvs.TrustStore {
		return func(b *backEnd) dvs.TrustStore { return comparesBy{goodTrust{goodStore{b}}, same} }
	}
	for name, c := range map[string]struct {
		promise string
		open    func(*backEnd) dvs.TrustStore
	}{
		"old-longer-than-stored": {"put-compares", comparing(func(stored, old []byte) bool { return bytes.HasPrefix(old, stored) })},
		"first-64-bytes": {"put-compares", comparing(func(stored, old []byte) bool {
			return bytes.Equal(stored[:min(64, len(stored))], old[:min(64, len(old))])
		})},
		"same-length":             {"put-compares", comparing(func(stored, old []byte) bool { return len(stored) == len(old) })},
		"empty-old-is-missing":    {"put-compares", func(b *backEnd) dvs.TrustStore { return emptyIsNil{goodTrust{goodStore{b}}} }},
		"put-revives":             {"put-compares", func(b *backEnd) dvs.TrustStore { return revives{goodTrust{goodStore{b}}} }},
		"list-of-one-page":        {"list-by-prefix", around(func(s goodStore) agent.Store { return firstPage{s} })},
		"cancelled-delete-is-nil": {"cancellation", around(func(s goodStore) agent.Store { return losesDeletes{s} })},
		"cancelled-list-is-empty": {"cancellation", around(func(s goodStore) agent.Store { return noKeysWhenCancelled{s} })},
		"cancelled-put-is-nil":    {"cancellation", func(b *backEnd) dvs.TrustStore { return losesTrust{goodTrust{goodStore{b}}} }},
		"compares-within-a-process": {"shared-data", func(b *backEnd) dvs.TrustStore {
			return &comparesAlone{comparesThenPuts{goodTrust{goodStore{b}}}, make(chan struct{}, 1)}
		}},
	} {
		t.Run(name, func(t *testing.T) { rejects(t, sharedTrust(c.open), trustPromises, c.promise) })
	}
}

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

// firstPage lists the first thousand keys.
type firstPage struct{ goodStore }

func (s firstPage) Keys(ctx context.Context, prefix string) ([]string, error) {
	keys, err := s.goodStore.Keys(ctx, prefix)
	slices.Sort(keys)
	return keys[:min(1000, len(keys))], err
}

// foldsPrefixes ignores the letter case of a prefix.
type foldsPrefixes struct{ goodStore }

func (s foldsPrefixes) Keys(ctx context.Context, prefix string) (keys []string, err error) {
	all, err := s.goodStore.Keys(ctx, "")
	for _, key := range all {
		if len(key) >= len(prefix) && strings.EqualFold(key[:len(prefix)], prefix) {
			keys = append(keys, key)
		}
	}
	return keys, err
}

// unescapes drops the backslashes of a prefix, as a pattern of SQL does.
type unescapes struct{ goodStore }

func (s unescapes) Keys(ctx context.Context, prefix string) ([]string, error) {
	return s.goodStore.Keys(ctx, strings.ReplaceAll(prefix, `\`, ""))
}

// textKeys lists keys as valid UTF-8.
type textKeys struct{ goodStore }

func (s textKeys) Keys(ctx context.Context, prefix string) ([]string, error) {
	keys, err := s.goodStore.Keys(ctx, prefix)
	for i := range keys {
		keys[i] = strings.ToValidUTF8(keys[i], "?")
	}
	return keys, err
}

// foldsCreate ignores the letter case of keys in Create.
type foldsCreate struct{ goodStore }

func (s foldsCreate) Create(ctx context.Context, key string, value []byte) error {
	keys, err := s.Keys(ctx, "")
	if err != nil {
		return err
	}
	for _, have := range keys {
		if strings.EqualFold(have, key) {
			return fs.ErrExist
		}
	}
	return s.goodStore.Create(ctx, key, value)
}

// foldsDelete ends a key at its first NUL in Delete.
type foldsDelete struct{ goodStore }

func (s foldsDelete) Delete(ctx context.Context, key string) error {
	key, _, _ = strings.Cut(key, "\x00")
	return s.goodStore.Delete(ctx, key)
}

// deletesPrefix deletes all keys that begin with a key.
type deletesPrefix struct{ goodStore }

func (s deletesPrefix) Delete(ctx context.Context, prefix string) error {
	keys, err := s.Keys(ctx, prefix)
	for _, key := range keys {
		err = errors.Join(err, s.goodStore.Delete(ctx, key))
	}
	return err
}

// trims drops white space and NULs at the ends of a value.
type trims struct{ goodStore }

func (s trims) Put(ctx context.Context, key string, value []byte) error {
	return s.goodStore.Put(ctx, key, bytes.Trim(value, " \n\x00"))
}

// losesPuts reports no error for a record that was not stored.
type losesPuts struct{ goodStore }

func (s losesPuts) Put(ctx context.Context, key string, value []byte) error {
	return unlessCancelled(s.goodStore.Put(ctx, key, value))
}

// losesCreates reports no error for a record that was not created.
type losesCreates struct{ goodStore }

func (s losesCreates) Create(ctx context.Context, key string, value []byte) error {
	return unlessCancelled(s.goodStore.Create(ctx, key, value))
}

// losesDeletes reports no error for a record that was not deleted.
type losesDeletes struct{ goodStore }

func (s losesDeletes) Delete(ctx context.Context, key string) error {
	return unlessCancelled(s.goodStore.Delete(ctx, key))
}

// noKeysWhenCancelled lists no keys if it was cancelled.
type noKeysWhenCancelled struct{ goodStore }

func (s noKeysWhenCancelled) Keys(ctx context.Context, prefix string) ([]string, error) {
	keys, err := s.goodStore.Keys(ctx, prefix)
	return keys, unlessCancelled(err)
}

func unlessCancelled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// comparesBy compares records in its own way.
type comparesBy struct {
	goodTrust
	same func(stored, old []byte) bool
}

func (s comparesBy) Put(ctx context.Context, key string, old, value []byte) error {
	stored, err := s.Get(ctx, key)
	if err == nil && old != nil && s.same(stored, old) {
		old = stored
	}
	return s.goodTrust.Put(ctx, key, old, value)
}

// emptyIsNil takes an empty old record for a missing one.
type emptyIsNil struct{ goodTrust }

func (s emptyIsNil) Put(ctx context.Context, key string, old, value []byte) error {
	if _, err := s.Get(ctx, key); errors.Is(err, fs.ErrNotExist) && len(old) == 0 {
		old = nil
	}
	return s.goodTrust.Put(ctx, key, old, value)
}

// revives stores a record that was deleted since the caller read it.
type revives struct{ goodTrust }

func (s revives) Put(ctx context.Context, key string, old, value []byte) error {
	if _, err := s.Get(ctx, key); errors.Is(err, fs.ErrNotExist) && string(old) == "two" {
		old = nil
	}
	return s.goodTrust.Put(ctx, key, old, value)
}

// losesTrust reports no error for a record that was not stored.
type losesTrust struct{ goodTrust }

func (s losesTrust) Put(ctx context.Context, key string, old, value []byte) error {
	return unlessCancelled(s.goodTrust.Put(ctx, key, old, value))
}

// comparesAlone makes the two steps of a Put atomic within its process only.
type comparesAlone struct {
	comparesThenPuts
	own chan struct{}
}

func (s *comparesAlone) Put(ctx context.Context, key string, old, value []byte) error {
	s.own <- struct{}{}
	defer func() { <-s.own }()
	return s.comparesThenPuts.Put(ctx, key, old, value)
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

// wholeKeys lists only the records that can be read.
type wholeKeys struct{ goodStore }

func (s wholeKeys) Keys(ctx context.Context, prefix string) (whole []string, err error) {
	keys, err := s.goodStore.Keys(ctx, prefix)
	for _, key := range keys {
		if _, err := s.Get(ctx, key); err == nil {
			whole = append(whole, key)
		}
	}
	return whole, err
}
