package lookleaptest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// call is what a cache or a store is called with; key is the prefix for keys.
type call struct {
	context.Context
	key        string
	old, value []byte
	expires    time.Time
}

// calls are what a back end does for a cache and for a store.
type calls struct {
	get  func(call) ([]byte, time.Time, error)
	put  func(call) error // whatever is there
	del  func(call) error
	swap func(call) (bool, error)
	keys func(call) ([]string, error)
}

type cacheOver struct{ calls }

func (c cacheOver) Get(ctx context.Context, key string) ([]byte, time.Time, error) {
	return c.get(call{Context: ctx, key: key})
}

func (c cacheOver) Put(ctx context.Context, key string, value []byte, expires time.Time) error {
	return c.put(call{ctx, key, nil, value, expires})
}

func (c cacheOver) Delete(ctx context.Context, key string) error {
	return c.del(call{Context: ctx, key: key})
}

func (c cacheOver) CompareAndSwap(ctx context.Context, key string, old, value []byte, expires time.Time) (bool, error) {
	return c.swap(call{ctx, key, old, value, expires})
}

type storeOver struct{ calls }

func (s storeOver) Get(ctx context.Context, key string) ([]byte, error) {
	value, _, err := s.get(call{Context: ctx, key: key})
	return value, err
}

func (s storeOver) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	swapped, err := s.swap(call{ctx, key, old, value, until})
	if err == nil && !swapped {
		return lookleap.ErrConflict
	}
	return err
}

func (s storeOver) Delete(ctx context.Context, key string) error {
	return s.del(call{Context: ctx, key: key})
}

func (s storeOver) Keys(ctx context.Context, prefix string) ([]string, error) {
	return s.keys(call{Context: ctx, key: prefix})
}

// backEnds are the records of each name, on one server that can be stopped.
type backEnds struct {
	named map[string]*backEnd
	hang  chan chan struct{} // holds what each call waits for
}

func newBackEnds() *backEnds {
	b := &backEnds{map[string]*backEnd{}, make(chan chan struct{}, 1)}
	b.hang <- nil
	return b
}

func (b *backEnds) stop(testing.TB) (resume func()) {
	<-b.hang
	until := make(chan struct{})
	b.hang <- until
	return func() {
		<-b.hang
		b.hang <- nil
		close(until)
	}
}

func (b *backEnds) get(name string) *backEnd {
	if b.named[name] == nil {
		b.named[name] = &backEnd{entries: map[string]backEntry{}, server: b}
	}
	return b.named[name]
}

// backEnd is correct.
type backEnd struct {
	mu      sync.Mutex
	entries map[string]backEntry
	server  *backEnds
}

type backEntry struct {
	value   []byte
	expires time.Time
	damaged bool
}

var errDamaged = errors.New("the record is damaged")

// run does something with the entries when the server answers.
func (b *backEnd) run(ctx context.Context, do func() error) error {
	until := <-b.server.hang
	b.server.hang <- until
	if until == nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if until != nil {
		select {
		case <-until:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return do()
}

func (b *backEnd) calls() calls {
	c := calls{
		get: func(c call) (value []byte, expires time.Time, err error) {
			err = b.run(c, func() error {
				e, ok := b.entries[c.key]
				switch {
				case !ok:
					return fs.ErrNotExist
				case e.damaged:
					return errDamaged
				}
				value, expires = bytes.Clone(e.value), e.expires
				return nil
			})
			return value, expires, err
		},
		put: func(c call) error {
			return b.run(c, func() error { b.entries[c.key] = backEntry{bytes.Clone(c.value), c.expires, false}; return nil })
		},
		del: func(c call) error {
			return b.run(c, func() error { delete(b.entries, c.key); return nil })
		},
		keys: func(c call) (keys []string, err error) {
			err = b.run(c, func() error {
				for key := range b.entries {
					if strings.HasPrefix(key, c.key) {
						keys = append(keys, key)
					}
				}
				return nil
			})
			return keys, err
		},
	}
	c.swap = func(c call) (swapped bool, err error) {
		err = b.run(c, func() error {
			e, ok := b.entries[c.key]
			if swapped = !e.damaged && ok == (c.old != nil) && bytes.Equal(e.value, c.old); swapped {
				b.entries[c.key] = backEntry{bytes.Clone(c.value), c.expires, false}
			}
			return nil
		})
		return swapped, err
	}
	return c
}

// over is the engine of what is opened over a back end for each name.
func over[T any](open func(calls) T) func() Engine[T] {
	return func() Engine[T] {
		backs := newBackEnds()
		return Engine[T]{
			Open: func(_ testing.TB, name string) T { return open(backs.get(name).calls()) },
			Damage: func(_ testing.TB, name string) {
				for key, e := range backs.get(name).entries {
					e.damaged = true
					backs.get(name).entries[key] = e
				}
			},
			Hang: backs.stop,
		}
	}
}

func TestOurCaches(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		TestCache(t, Engine[lookleap.Cache]{
			Open:    func(testing.TB, string) lookleap.Cache { return lookleap.NewMemoryCache(512) },
			Private: true,
		})
	})
	t.Run("sealed-and-shared", func(t *testing.T) {
		accepts(t, over(func(c calls) lookleap.Cache {
			sealed, err := lookleap.SealedCache(cacheOver{c}, bytes.Repeat([]byte{7}, lookleap.MinKeyLen))
			if err != nil {
				t.Fatal(err)
			}
			return sealed
		}), cachePromises)
	})
	t.Run("of-a-host", func(t *testing.T) {
		accepts(t, func() Engine[lookleap.Cache] {
			e := over(func(c calls) lookleap.Cache { return (&lookleap.Host{Cache: cacheOver{c}}).SharedCache() })()
			e.Hang = nil // a Host lets a cache rest for some seconds after a call that hung
			return e
		}, cachePromises)
	})
}

func TestOurStores(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		TestStore(t, Engine[lookleap.Store]{
			Open:    func(testing.TB, string) lookleap.Store { return lookleap.NewMemoryStore() },
			Private: true,
		})
	})
	t.Run("directory", func(t *testing.T) {
		base := t.TempDir()
		TestStore(t, Engine[lookleap.Store]{
			Open: func(t testing.TB, name string) lookleap.Store {
				err := os.MkdirAll(filepath.Join(base, name), 0o700)
				if err != nil {
					t.Fatal(err)
				}
				s, err := lookleap.OpenStore(filepath.Join(base, name))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				return s
			},
			Damage: func(t testing.TB, name string) { // cuts each file in half
				files, err := filepath.Glob(filepath.Join(base, name, "*"))
				for _, file := range files {
					if info, err := os.Stat(file); err != nil || os.Truncate(file, info.Size()/2) != nil {
						t.Fatal(file, err)
					}
				}
				if err != nil || len(files) == 0 {
					t.Fatal("there is nothing to damage", err)
				}
			},
		})
	})
	t.Run("back-end", func(t *testing.T) {
		accepts(t, over(func(c calls) lookleap.Store { return storeOver{c} }), storePromises)
	})
}

func TestBrokenCaches(t *testing.T) {
	broken := map[string]bool{}
	for _, b := range brokenRecords {
		if broken[b.cache] = true; b.cache != "" {
			t.Run(b.cache+"/"+b.name, func(t *testing.T) {
				rejects(t, over(func(c calls) lookleap.Cache { return cacheOver{b.over(c)} }), cachePromises, b.cache)
			})
		}
	}
	covers(t, cachePromises, broken)
}

func TestBrokenStores(t *testing.T) {
	broken := map[string]bool{}
	for _, b := range brokenRecords {
		if broken[b.store] = true; b.store != "" {
			t.Run(b.store+"/"+b.name, func(t *testing.T) {
				rejects(t, over(func(c calls) lookleap.Store { return storeOver{b.over(c)} }), storePromises, b.store)
			})
		}
	}
	covers(t, storePromises, broken)
}

// brokenRecord breaks a promise of caches, of stores or of both.
type brokenRecord struct {
	cache, store, name string
	spoil              func(next calls, c *calls)
}

func (b brokenRecord) over(next calls) calls {
	c := next
	b.spoil(next, &c)
	return c
}

var brokenRecords = []brokenRecord{
	{"missing-entry", "missing-record", "empty-value", func(next calls, c *calls) {
		c.get = func(r call) ([]byte, time.Time, error) {
			value, expires, err := next.get(r)
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return value, expires, err
		}
	}},
	{"get-returns-what-was-put", "", "keeps-longer", putting(func(r *call) {
		r.expires = r.expires.Truncate(time.Hour).Add(time.Hour)
	})},
	{"get-returns-what-was-put", "get-returns-what-was-put", "trims-values", putting(func(r *call) {
		r.value = bytes.Trim(r.value, " \n\x00")
	})},
	{"get-returns-what-was-put", "", "no-expiry", func(next calls, c *calls) {
		c.get = func(r call) ([]byte, time.Time, error) {
			value, _, err := next.get(r)
			return value, time.Time{}, err
		}
	}},
	{"", "get-returns-what-was-put", "keeps-the-first", func(next calls, c *calls) {
		c.swap = func(r call) (bool, error) {
			if r.old != nil {
				return true, nil
			}
			return next.swap(r)
		}
	}},
	{"sizes", "get-returns-what-was-put", "cuts-at-64-KiB",
		putting(func(r *call) { r.value = r.value[:min(len(r.value), 65535)] })},
	{"keys-with-each-byte", "keys-with-each-byte", "ends-at-NUL", renamed(uptoNUL)},
	{"keys-with-each-byte", "keys-with-each-byte", "lower-case", renamed(strings.ToLower)},
	{"keys-with-each-byte", "keys-with-each-byte", "valid-UTF-8", renamed(validUTF8)},
	{"", "keys-with-each-byte", "lists-valid-UTF-8", func(next calls, c *calls) {
		c.keys = func(r call) ([]string, error) {
			keys, err := next.keys(r)
			for i := range keys {
				keys[i] = validUTF8(keys[i])
			}
			return keys, err
		}
	}},
	{"", "keys-with-each-byte", "creates-in-any-case", func(next calls, c *calls) {
		c.swap = func(r call) (bool, error) {
			keys, err := next.keys(call{Context: r})
			if r.old == nil && slices.ContainsFunc(keys, func(key string) bool { return strings.EqualFold(key, r.key) }) {
				return false, err
			}
			return next.swap(r)
		}
	}},
	{"keys-with-each-byte", "keys-with-each-byte", "deletes-up-to-NUL", deleting(func(next calls, r call) error {
		r.key = uptoNUL(r.key)
		return next.del(r)
	})},
	{"keys-with-each-byte", "keys-with-each-byte", "deletes-in-lower-case", deleting(func(next calls, r call) error {
		r.key = strings.ToLower(r.key)
		return next.del(r)
	})},
	{"delete", "delete", "leaves-an-empty-one", deleting(func(next calls, r call) error { return next.put(r) })},
	{"delete", "delete", "of-a-missing-one-fails", deleting(func(next calls, r call) error {
		if _, _, err := next.get(r); err != nil {
			return err
		}
		return next.del(r)
	})},
	{"delete", "delete", "by-prefix", deleting(func(next calls, r call) error {
		keys, err := next.keys(r)
		for _, r.key = range keys {
			err = errors.Join(err, next.del(r))
		}
		return err
	})},
	{"caller-owns-its-bytes", "caller-owns-its-bytes", "stores-the-slice", aliasing(bytes.Clone, asItIs)},
	{"caller-owns-its-bytes", "caller-owns-its-bytes", "returns-the-slice", aliasing(asItIs, bytes.Clone)},
	{"expiry", "", "refuses-past", func(next calls, c *calls) {
		c.put = func(r call) error {
			if r.expires.Before(time.Now()) {
				return nil
			}
			return next.put(r)
		}
	}},
	{"concurrent-use", "", "value-and-expiry-in-two-steps", func(next calls, c *calls) {
		c.put = func(r call) error {
			err := next.put(call{r, r.key + " expires", nil, nil, r.expires})
			time.Sleep(time.Microsecond)
			return errors.Join(err, next.put(r))
		}
		c.get = func(r call) ([]byte, time.Time, error) {
			value, _, err := next.get(r)
			time.Sleep(time.Microsecond)
			r.key += " expires"
			_, expires, _ := next.get(r)
			return value, expires, err
		}
	}},
	{"concurrent-use", "concurrent-use", "halves", func(next calls, c *calls) {
		c.get = func(r call) ([]byte, time.Time, error) {
			first, _, err := next.get(r)
			if err != nil {
				return nil, time.Time{}, err
			}
			time.Sleep(time.Microsecond)
			second, expires, err := next.get(r)
			half := len(second) / 2
			return append(bytes.Clone(first[:min(half, len(first))]), second[half:]...), expires, err
		}
	}},
	{"", "one-of-many-creators", "in-two-steps", swapping(func(next calls, r call) (bool, error) {
		if r.old == nil {
			return looksThenPuts(next, r)
		}
		return next.swap(r)
	})},
	{"compare-and-swap", "one-of-many-writers", "in-two-steps", swapping(func(next calls, r call) (bool, error) {
		if r.old != nil {
			return looksThenPuts(next, r)
		}
		return next.swap(r)
	})},
	{"compare-and-swap-shared", "shared-data", "compares-within-a-process", func(next calls, c *calls) {
		own := make(chan struct{}, 1)
		c.swap = func(r call) (bool, error) {
			own <- struct{}{}
			defer func() { <-own }()
			return looksThenPuts(next, r)
		}
	}},
	{"compare-and-swap", "put-compares", "replaces-then-refuses", swapping(func(next calls, r call) (bool, error) {
		swapped, err := next.swap(r)
		return swapped, errors.Join(err, next.put(r))
	})},
	{"compare-and-swap", "put-compares", "old-longer-than-stored", comparing(func(stored, old []byte) bool {
		return bytes.HasPrefix(old, stored)
	})},
	{"compare-and-swap", "put-compares", "any-letter-case", comparing(bytes.EqualFold)},
	{"compare-and-swap", "put-compares", "first-64-bytes", comparing(func(stored, old []byte) bool {
		return bytes.Equal(stored[:min(64, len(stored))], old[:min(64, len(old))])
	})},
	{"compare-and-swap", "put-compares", "same-length", comparing(func(stored, old []byte) bool {
		return len(stored) == len(old)
	})},
	{"compare-and-swap", "put-compares", "empty-old-is-missing", swapping(func(next calls, r call) (bool, error) {
		if _, _, err := next.get(r); errors.Is(err, fs.ErrNotExist) && len(r.old) == 0 {
			r.old = nil
		}
		return next.swap(r)
	})},
	{"compare-and-swap", "put-compares", "empty-record-is-missing", swapping(func(next calls, r call) (bool, error) {
		if stored, _, err := next.get(r); err == nil && len(stored) == 0 && r.old == nil {
			r.old = []byte{}
		}
		return next.swap(r)
	})},
	{"compare-and-swap", "put-compares", "revives", swapping(func(next calls, r call) (bool, error) {
		if _, _, err := next.get(r); errors.Is(err, fs.ErrNotExist) && string(r.old) == "two" {
			r.old = nil
		}
		return next.swap(r)
	})},
	{"", "until", "drops-at-once", swapping(func(next calls, r call) (bool, error) { // a record that has a time
		swapped, err := next.swap(r)
		if err == nil && strings.HasPrefix(r.key, "other/") {
			err = next.del(call{Context: r, key: "word/later"})
		}
		return swapped, err
	})},
	{"", "keys-by-prefix", "pattern", listing(func(next calls, r call) ([]string, error) {
		r.key, _, _ = strings.Cut(r.key, "*")
		return next.keys(r)
	})},
	{"", "keys-by-prefix", "first-page", listing(func(next calls, r call) ([]string, error) {
		keys, err := next.keys(r)
		slices.Sort(keys)
		return keys[:min(1000, len(keys))], err
	})},
	{"", "keys-by-prefix", "any-letter-case", listing(func(next calls, r call) ([]string, error) {
		keys, err := next.keys(call{Context: r})
		return slices.DeleteFunc(keys, func(key string) bool {
			return len(key) < len(r.key) || !strings.EqualFold(key[:len(r.key)], r.key)
		}), err
	})},
	{"", "keys-by-prefix", "escapes", listing(func(next calls, r call) ([]string, error) {
		r.key = strings.ReplaceAll(r.key, `\`, "")
		return next.keys(r)
	})},
	{"cancellation", "cancellation", "deletes-then-puts", func(next calls, c *calls) {
		c.put = func(r call) error {
			return errors.Join(next.del(call{Context: context.WithoutCancel(r), key: r.key}), next.put(r))
		}
		c.swap = func(r call) (bool, error) { return true, c.put(r) }
	}},
	{"", "cancellation", "put-is-nil", swapping(func(next calls, r call) (bool, error) {
		swapped, err := next.swap(r)
		return swapped || errors.Is(err, context.Canceled), unlessCancelled(err)
	})},
	{"", "cancellation", "delete-is-nil", deleting(func(next calls, r call) error {
		return unlessCancelled(next.del(r))
	})},
	{"", "cancellation", "keys-are-missing", listing(func(next calls, r call) ([]string, error) {
		keys, err := next.keys(r)
		return keys, unlessCancelled(err)
	})},
	{"shared-data", "shared-data", "reads-ahead", func(next calls, c *calls) {
		own := (&backEnd{entries: map[string]backEntry{}, server: newBackEnds()}).calls()
		c.get = func(r call) ([]byte, time.Time, error) {
			if value, expires, err := own.get(r); err == nil {
				return value, expires, nil
			}
			return next.get(r)
		}
		c.put = func(r call) error { return errors.Join(own.put(r), next.put(r)) }
		c.swap = func(r call) (bool, error) { return true, c.put(r) }
		c.del = func(r call) error { return errors.Join(own.del(r), next.del(r)) }
	}},
	{"shared-data", "shared-data", "of-one-process", aliasing(bytes.Clone, bytes.Clone)},
	{"back-end-hangs", "back-end-hangs", "missing", getting(func(next calls, r call) ([]byte, time.Time, error) {
		value, expires, err := next.get(r)
		if err != nil {
			err = fs.ErrNotExist
		}
		return value, expires, err
	})},
	{"back-end-hangs", "back-end-hangs", "no-deadline", getting(func(next calls, r call) ([]byte, time.Time, error) {
		r.Context = context.WithoutCancel(r)
		return next.get(r)
	})},
	{"back-end-hangs", "back-end-hangs", "swapped", swapping(func(next calls, r call) (bool, error) {
		swapped, err := next.swap(r)
		return swapped || err != nil, nil
	})},
	{"damaged-data", "", "stays-damaged", func(next calls, c *calls) {
		c.put = func(r call) error {
			if _, _, err := next.get(r); errors.Is(err, errDamaged) {
				return err
			}
			return next.put(r)
		}
	}},
	{"", "damaged-data", "missing", getting(func(next calls, r call) ([]byte, time.Time, error) {
		value, expires, err := next.get(r)
		if errors.Is(err, errDamaged) {
			err = fs.ErrNotExist
		}
		return value, expires, err
	})},
	{"", "damaged-data", "not-listed", listing(func(next calls, r call) ([]string, error) {
		keys, err := next.keys(r)
		return slices.DeleteFunc(keys, func(key string) bool {
			_, _, err := next.get(call{Context: r, key: key})
			return err != nil
		}), err
	})},
}

func getting(get func(next calls, r call) ([]byte, time.Time, error)) func(calls, *calls) {
	return func(next calls, c *calls) { c.get = func(r call) ([]byte, time.Time, error) { return get(next, r) } }
}

func deleting(del func(next calls, r call) error) func(calls, *calls) {
	return func(next calls, c *calls) { c.del = func(r call) error { return del(next, r) } }
}

func swapping(swap func(next calls, r call) (bool, error)) func(calls, *calls) {
	return func(next calls, c *calls) { c.swap = func(r call) (bool, error) { return swap(next, r) } }
}

func listing(keys func(next calls, r call) ([]string, error)) func(calls, *calls) {
	return func(next calls, c *calls) { c.keys = func(r call) ([]string, error) { return keys(next, r) } }
}

// putting changes what is put.
func putting(change func(*call)) func(calls, *calls) {
	return func(next calls, c *calls) {
		c.put = func(r call) error { change(&r); return next.put(r) }
		c.swap = func(r call) (bool, error) { change(&r); return next.swap(r) }
	}
}

// renamed changes the keys of what is put and read.
func renamed(key func(string) string) func(calls, *calls) {
	return func(next calls, c *calls) {
		putting(func(r *call) { r.key = key(r.key) })(next, c)
		c.get = func(r call) ([]byte, time.Time, error) { r.key = key(r.key); return next.get(r) }
	}
}

func uptoNUL(key string) string {
	key, _, _ = strings.Cut(key, "\x00")
	return key
}

func validUTF8(key string) string { return strings.ToValidUTF8(key, "?") }

// comparing compares records in its own way.
func comparing(same func(stored, old []byte) bool) func(calls, *calls) {
	return swapping(func(next calls, r call) (bool, error) {
		stored, _, err := next.get(r)
		if err == nil && r.old != nil && same(stored, r.old) {
			r.old = append([]byte{}, stored...)
		}
		return next.swap(r)
	})
}

// looksThenPuts compares and writes in two steps.
func looksThenPuts(next calls, r call) (bool, error) {
	stored, _, err := next.get(r)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if (err == nil) != (r.old != nil) || !bytes.Equal(stored, r.old) {
		return false, nil
	}
	time.Sleep(time.Microsecond)
	return true, next.put(r)
}

func asItIs(b []byte) []byte { return b }

// aliasing keeps the slices of its callers, or those that it returns.
func aliasing(get, put func([]byte) []byte) func(calls, *calls) {
	return func(_ calls, c *calls) {
		entries := map[string]call{}
		c.get = func(r call) ([]byte, time.Time, error) {
			if _, ok := entries[r.key]; !ok {
				return nil, time.Time{}, fs.ErrNotExist
			}
			return get(entries[r.key].value), entries[r.key].expires, nil
		}
		c.put = func(r call) error {
			r.value = put(r.value)
			entries[r.key] = r
			return nil
		}
		c.swap = func(r call) (bool, error) { return true, c.put(r) }
	}
}

func unlessCancelled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
