package lookleaptest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

func TestOurStores(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		TestStore(t, Engine[lookleap.Store]{Open: func(testing.TB, string) lookleap.Store { return lookleap.NewMemoryStore() }, Private: true})
	})
	t.Run("directory", func(t *testing.T) {
		open, at := inDirectory(func(t testing.TB, dir string) lookleap.Store {
			s, err := lookleap.OpenStore(dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s
		})
		TestStore(t, Engine[lookleap.Store]{Open: open, Damage: cutFiles(at)})
	})
	t.Run("back-end", func(t *testing.T) {
		accepts(t, sharedStores(func(b *backEnd) lookleap.Store { return goodStore{b} }), storePromises)
	})
}

func sharedStores(open func(*backEnd) lookleap.Store) func() Engine[lookleap.Store] {
	return func() Engine[lookleap.Store] {
		backs := newBackEnds()
		return Engine[lookleap.Store]{
			Open:   func(_ testing.TB, name string) lookleap.Store { return open(backs.get(name)) },
			Damage: backs.damage, Hang: backs.stop,
		}
	}
}

// goodStore is a correct store over a back end. It stores a value before its copy in
// reverse, so that it finds damage.
type goodStore struct{ *backEnd }

var errDamaged = errors.New("the record is damaged")

func sealed(value []byte) []byte {
	twin := bytes.Clone(value)
	slices.Reverse(twin)
	return append(append([]byte{}, value...), twin...)
}

func unsealed(data []byte) ([]byte, error) {
	value := data[:len(data)/2]
	if !bytes.Equal(sealed(value), data) {
		return nil, errDamaged
	}
	return value, nil
}

func (s goodStore) Get(ctx context.Context, key string) ([]byte, error) {
	data, _, err := s.backEnd.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	return unsealed(data)
}

func (s goodStore) Put(ctx context.Context, key string, old, value []byte, _ time.Time) error {
	swapped, err := s.swap(ctx, key, sealed(value), distant, func(stored []byte, exists bool) bool {
		return exists == (old != nil) && bytes.Equal(stored, sealed(old))
	})
	if err == nil && !swapped {
		return lookleap.ErrConflict
	}
	return err
}

func (s goodStore) Keys(ctx context.Context, prefix string) (keys []string, err error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.entries {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// brokenStore is a store with some calls of its own.
type brokenStore struct {
	goodStore
	get  func(s goodStore, ctx context.Context, key string) ([]byte, error)
	put  func(s goodStore, ctx context.Context, key string, old, value []byte) error
	del  func(s goodStore, ctx context.Context, key string) error
	keys func(s goodStore, ctx context.Context, prefix string) ([]string, error)
}

func (s brokenStore) Get(ctx context.Context, key string) ([]byte, error) {
	if s.get == nil {
		return s.goodStore.Get(ctx, key)
	}
	return s.get(s.goodStore, ctx, key)
}

func (s brokenStore) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	if s.put == nil {
		return s.goodStore.Put(ctx, key, old, value, until)
	}
	return s.put(s.goodStore, ctx, key, old, value)
}

func (s brokenStore) Delete(ctx context.Context, key string) error {
	if s.del == nil {
		return s.goodStore.Delete(ctx, key)
	}
	return s.del(s.goodStore, ctx, key)
}

func (s brokenStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	if s.keys == nil {
		return s.goodStore.Keys(ctx, prefix)
	}
	return s.keys(s.goodStore, ctx, prefix)
}

// force writes a record, whatever is there.
func (s goodStore) force(ctx context.Context, key string, value []byte) error {
	return s.backEnd.Put(ctx, key, sealed(value), distant)
}

// comparing returns a Put that compares records in its own way.
func comparing(same func(stored, old []byte) bool) func(goodStore, context.Context, string, []byte, []byte) error {
	return func(s goodStore, ctx context.Context, key string, old, value []byte) error {
		stored, err := s.Get(ctx, key)
		if err == nil && old != nil && same(stored, old) {
			old = stored
		}
		return s.Put(ctx, key, old, value, distant)
	}
}

// looksThenPuts compares and writes in two steps.
func looksThenPuts(s goodStore, ctx context.Context, key string, old, value []byte) error {
	stored, err := s.Get(ctx, key)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if (err == nil) != (old != nil) || !bytes.Equal(stored, old) {
		return lookleap.ErrConflict
	}
	time.Sleep(time.Microsecond)
	return s.force(ctx, key, value)
}

func unlessCancelled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// brokenStores are stores that break a promise, by the promise, with what each does wrong.
var brokenStores = map[string]map[string]func(*backEnd) lookleap.Store{
	"missing-record": {
		"empty-value": broken(brokenStore{get: func(s goodStore, ctx context.Context, key string) ([]byte, error) {
			value, err := s.Get(ctx, key)
			if errors.Is(err, fs.ErrNotExist) {
				return nil, nil
			}
			return value, err
		}}),
	},
	"get-returns-what-was-put": {
		"keeps-the-first": broken(brokenStore{put: func(s goodStore, ctx context.Context, key string, old, value []byte) error {
			if old != nil {
				return nil
			}
			return s.Put(ctx, key, old, value, distant)
		}}),
		"trims-values": broken(brokenStore{put: func(s goodStore, ctx context.Context, key string, old, value []byte) error {
			return s.Put(ctx, key, old, bytes.Trim(value, " \n\x00"), distant)
		}}),
	},
	"keys-with-each-byte": {
		"valid-UTF-8": broken(brokenStore{get: func(s goodStore, ctx context.Context, key string) ([]byte, error) {
			return s.Get(ctx, strings.ToValidUTF8(key, "?"))
		}, put: func(s goodStore, ctx context.Context, key string, old, value []byte) error {
			return s.Put(ctx, strings.ToValidUTF8(key, "?"), old, value, distant)
		}}),
		"lists-valid-UTF-8": broken(brokenStore{keys: func(s goodStore, ctx context.Context, prefix string) ([]string, error) {
			keys, err := s.Keys(ctx, prefix)
			for i := range keys {
				keys[i] = strings.ToValidUTF8(keys[i], "?")
			}
			return keys, err
		}}),
		"creates-in-any-case": broken(brokenStore{put: func(s goodStore, ctx context.Context, key string, old, value []byte) error {
			keys, err := s.Keys(ctx, "")
			if err != nil {
				return err
			}
			for _, have := range keys {
				if old == nil && strings.EqualFold(have, key) {
					return lookleap.ErrConflict
				}
			}
			return s.Put(ctx, key, old, value, distant)
		}}),
		"deletes-up-to-NUL": broken(brokenStore{del: func(s goodStore, ctx context.Context, key string) error {
			key, _, _ = strings.Cut(key, "\x00")
			return s.Delete(ctx, key)
		}}),
	},
	"put-compares": {
		"replaces-then-refuses": broken(brokenStore{put: func(s goodStore, ctx context.Context, key string, old, value []byte) error {
			err := s.Put(ctx, key, old, value, distant)
			if errors.Is(err, lookleap.ErrConflict) {
				_ = s.force(ctx, key, value)
			}
			return err
		}}),
		"old-longer-than-stored": broken(brokenStore{put: comparing(func(stored, old []byte) bool { return bytes.HasPrefix(old, stored) })}),
		"any-letter-case":        broken(brokenStore{put: comparing(bytes.EqualFold)}),
		"first-64-bytes": broken(brokenStore{put: comparing(func(stored, old []byte) bool {
			return bytes.Equal(stored[:min(64, len(stored))], old[:min(64, len(old))])
		})}),
		"same-length": broken(brokenStore{put: comparing(func(stored, old []byte) bool { return len(stored) == len(old) })}),
		"empty-old-is-missing": broken(brokenStore{put: func(s goodStore, ctx context.Context, key string, old, value []byte) error {
			if _, err := s.Get(ctx, key); errors.Is(err, fs.ErrNotExist) && len(old) == 0 {
				old = nil
			}
			return s.Put(ctx, key, old, value, distant)
		}}),
		"empty-record-is-missing": broken(brokenStore{put: func(s goodStore, ctx context.Context, key string, old, value []byte) error {
			if stored, err := s.Get(ctx, key); err == nil && len(stored) == 0 && old == nil {
				old = []byte{}
			}
			return s.Put(ctx, key, old, value, distant)
		}}),
		"revives": broken(brokenStore{put: func(s goodStore, ctx context.Context, key string, old, value []byte) error {
			if _, err := s.Get(ctx, key); errors.Is(err, fs.ErrNotExist) && string(old) == "two" {
				old = nil
			}
			return s.Put(ctx, key, old, value, distant)
		}}),
	},
	"one-of-many-creators": {"in-two-steps": broken(brokenStore{put: func(s goodStore, ctx context.Context, key string, old, value []byte) error {
		if old == nil {
			return looksThenPuts(s, ctx, key, old, value)
		}
		return s.Put(ctx, key, old, value, distant)
	}})},
	"one-of-many-writers": {"in-two-steps": broken(brokenStore{put: func(s goodStore, ctx context.Context, key string, old, value []byte) error {
		if old != nil {
			return looksThenPuts(s, ctx, key, old, value)
		}
		return s.Put(ctx, key, old, value, distant)
	}})},
	"until": {
		"drops-at-once": func(b *backEnd) lookleap.Store { return dropsEarly{goodStore{b}} },
	},
	"delete": {
		"of-a-missing-one-fails": broken(brokenStore{del: func(s goodStore, ctx context.Context, key string) error {
			if _, err := s.Get(ctx, key); err != nil {
				return err
			}
			return s.Delete(ctx, key)
		}}),
		"by-prefix": broken(brokenStore{del: func(s goodStore, ctx context.Context, prefix string) error {
			keys, err := s.Keys(ctx, prefix)
			for _, key := range keys {
				err = errors.Join(err, s.Delete(ctx, key))
			}
			return err
		}}),
	},
	"keys-by-prefix": {
		"pattern": broken(brokenStore{keys: func(s goodStore, ctx context.Context, prefix string) ([]string, error) {
			prefix, _, _ = strings.Cut(prefix, "*")
			return s.Keys(ctx, prefix)
		}}),
		"first-page": broken(brokenStore{keys: func(s goodStore, ctx context.Context, prefix string) ([]string, error) {
			keys, err := s.Keys(ctx, prefix)
			slices.Sort(keys)
			return keys[:min(1000, len(keys))], err
		}}),
		"any-letter-case": broken(brokenStore{keys: func(s goodStore, ctx context.Context, prefix string) (keys []string, err error) {
			all, err := s.Keys(ctx, "")
			for _, key := range all {
				if len(key) >= len(prefix) && strings.EqualFold(key[:len(prefix)], prefix) {
					keys = append(keys, key)
				}
			}
			return keys, err
		}}),
		"escapes": broken(brokenStore{keys: func(s goodStore, ctx context.Context, prefix string) ([]string, error) {
			return s.Keys(ctx, strings.ReplaceAll(prefix, `\`, ""))
		}}),
	},
	"caller-owns-its-bytes": {
		"stores-the-slice":  func(*backEnd) lookleap.Store { return &aliases{records: map[string][]byte{}, get: bytes.Clone} },
		"returns-the-slice": func(*backEnd) lookleap.Store { return &aliases{records: map[string][]byte{}, put: bytes.Clone} },
	},
	"concurrent-use": {"halves": broken(brokenStore{get: func(s goodStore, ctx context.Context, key string) ([]byte, error) {
		first, err := s.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		time.Sleep(time.Microsecond)
		second, err := s.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		half := len(second) / 2
		return append(bytes.Clone(first[:min(half, len(first))]), second[half:]...), nil
	}})},
	"cancellation": {
		"deletes-then-puts": broken(brokenStore{put: func(s goodStore, ctx context.Context, key string, old, value []byte) error {
			if err := s.Delete(context.WithoutCancel(ctx), key); err != nil {
				return err
			}
			return s.force(ctx, key, value)
		}}),
		"put-is-nil": broken(brokenStore{put: func(s goodStore, ctx context.Context, key string, old, value []byte) error {
			return unlessCancelled(s.Put(ctx, key, old, value, distant))
		}}),
		"delete-is-nil": broken(brokenStore{del: func(s goodStore, ctx context.Context, key string) error {
			return unlessCancelled(s.Delete(ctx, key))
		}}),
		"keys-are-missing": broken(brokenStore{keys: func(s goodStore, ctx context.Context, prefix string) ([]string, error) {
			keys, err := s.Keys(ctx, prefix)
			return keys, unlessCancelled(err)
		}}),
	},
	"shared-data": {
		"of-one-process": func(*backEnd) lookleap.Store { return lookleap.NewMemoryStore() },
		"compares-within-a-process": func(b *backEnd) lookleap.Store {
			own := make(chan struct{}, 1)
			return brokenStore{goodStore: goodStore{b}, put: func(s goodStore, ctx context.Context, key string, old, value []byte) error {
				own <- struct{}{}
				defer func() { <-own }()
				return looksThenPuts(s, ctx, key, old, value)
			}}
		},
	},
	"back-end-hangs": {"missing": broken(brokenStore{get: func(s goodStore, ctx context.Context, key string) ([]byte, error) {
		value, err := s.Get(ctx, key)
		if err != nil {
			return nil, fs.ErrNotExist
		}
		return value, nil
	}})},
	"damaged-data": {
		"missing": broken(brokenStore{get: func(s goodStore, ctx context.Context, key string) ([]byte, error) {
			value, err := s.Get(ctx, key)
			if errors.Is(err, errDamaged) {
				return nil, fs.ErrNotExist
			}
			return value, err
		}}),
		"not-listed": broken(brokenStore{keys: func(s goodStore, ctx context.Context, prefix string) (whole []string, err error) {
			keys, err := s.Keys(ctx, prefix)
			for _, key := range keys {
				if _, err := s.Get(ctx, key); err == nil {
					whole = append(whole, key)
				}
			}
			return whole, err
		}}),
	},
}

func broken(s brokenStore) func(*backEnd) lookleap.Store {
	return func(b *backEnd) lookleap.Store {
		s.goodStore = goodStore{b}
		return s
	}
}

func TestBrokenStores(t *testing.T) {
	covers(t, storePromises, brokenStores)
	for promise, all := range brokenStores {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			t.Run(promise+"/"+name, func(t *testing.T) { rejects(t, sharedStores(all[name]), storePromises, promise) })
		}
	}
}

// dropsEarly drops a record that has a time at the next Put.
type dropsEarly struct{ goodStore }

func (s dropsEarly) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	err := s.goodStore.Put(ctx, key, old, value, until)
	if err == nil && strings.HasPrefix(key, "other/") {
		err = errors.Join(s.Delete(ctx, "word/later"), ctx.Err())
	}
	return err
}

// aliases keeps the slices of its callers, or those that it returns.
type aliases struct {
	mu       sync.Mutex
	records  map[string][]byte
	get, put func([]byte) []byte
}

func (s *aliases) Get(_ context.Context, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.records[key]
	if !ok {
		return nil, fs.ErrNotExist
	}
	if s.get != nil {
		value = s.get(value)
	}
	return value, nil
}

func (s *aliases) Put(_ context.Context, key string, _, value []byte, _ time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.put != nil {
		value = s.put(value)
	}
	s.records[key] = value
	return nil
}

func (s *aliases) Delete(context.Context, string) error { return nil }

func (s *aliases) Keys(context.Context, string) ([]string, error) { return nil, nil }
