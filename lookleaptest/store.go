package lookleaptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// TestStore tests an implementation of [lookleap.Store]: records are whole, a record is replaced
// only by a caller who has read it, a missing record is distinct from a damaged one, and Keys lists
// exactly the keys with a prefix.
func TestStore(t *testing.T, e Engine[lookleap.Store]) {
	t.Helper()
	testContract(t, e, storePromises)
}

var storePromises = []promise[lookleap.Store]{
	{
		name:   "missing-record",
		text:   "for a key without a record, Get returns an error that is fs.ErrNotExist",
		verify: storeMissing,
	}, {
		name:   "get-returns-what-was-put",
		text:   "Get returns the value of the last Put, of 0 bytes to 1 MiB",
		verify: storeRoundTrip,
	}, {
		name:   "keys-with-each-byte",
		text:   "two keys that differ in one byte are two records, for each method",
		verify: storeKeys,
	}, {
		name:   "put-compares",
		text:   "Put of a record that is not the stored one returns ErrConflict and changes nothing; nil stands for a missing record, and an empty record is not missing",
		verify: storeCompares,
	}, {
		name:   "one-of-many-creators",
		text:   "of concurrent calls of Put for one missing record exactly one succeeds, and its value is stored",
		verify: storeCreators,
	}, {
		name:   "one-of-many-writers",
		text:   "of concurrent calls of Put with the same old record exactly one succeeds, and no change is lost",
		verify: storeWriters,
	}, {
		name:   "until",
		text:   "a record whose time has not come is there, however many others follow, whether or not others are dropped",
		verify: storeUntil,
	}, {
		name:   "delete",
		text:   "after Delete the record is missing and can be created again, other records remain, and deleting a missing record is not an error",
		verify: storeDelete,
	}, {
		name:   "keys-by-prefix",
		text:   "Keys returns each key that begins with the prefix once, however many there are, and no other key",
		verify: storeList,
	}, {
		name:   "caller-owns-its-bytes",
		text:   "changing a slice after Put, or one that Get returned, does not change the record",
		verify: storeAliasing,
	}, {
		name:   "concurrent-use",
		text:   "concurrent calls are safe, and Get returns the whole value of one Put",
		verify: storeConcurrent,
	}, {
		name:   "cancellation",
		text:   "a call whose context has ended returns, with nil only if it did what it says, and the record stays whole",
		verify: storeCancelled,
	}, {
		name:   "shared-data",
		needs:  needsSharing,
		text:   "what one handle changes, each other handle sees at once, also after a restart, and no change through several handles is lost",
		verify: storeShared,
	}, {
		name:   "back-end-hangs",
		needs:  needsHang,
		text:   "while the back end hangs, each call returns an error by the deadline of its context, and a record never counts as missing",
		verify: storeHangs,
	}, {
		name:   "damaged-data",
		needs:  needsDamage,
		text:   "a damaged record is an error or is still whole; it never counts as missing, for Get as for Keys, and is not replaced as a missing one",
		verify: storeDamaged,
	},
}

type storeTrial = trial[lookleap.Store]

// storeScript are the calls of one handle.
type storeScript struct {
	*storeTrial
	store lookleap.Store
}

func openStore(r *storeTrial) storeScript {
	r.Helper()
	return storeScript{r, r.open()}
}

func (s storeScript) get(key string) (value []byte, err error) {
	err = s.attempt(func(ctx context.Context) (err error) {
		value, err = s.store.Get(ctx, key)
		return err
	})
	return value, err
}

// put writes a record, whatever is there.
func (s storeScript) put(key string, value []byte) {
	s.Helper()
	err := s.attempt(func(ctx context.Context) error { return overwrite(ctx, s.store, key, value) })
	s.must(err, fmt.Sprintf("Put(%s)", shown(key)))
}

func overwrite(ctx context.Context, s lookleap.Store, key string, value []byte) (err error) {
	for range 50 { // other callers may be faster
		err = lookleap.UpdateRecord(ctx, s, key, time.Time{}, func([]byte) ([]byte, error) { return append([]byte{}, value...), nil })
		if !errors.Is(err, lookleap.ErrConflict) {
			return err
		}
	}
	return err
}

// swap writes a record if the stored one is old; nil stands for none.
func (s storeScript) swap(key string, old, value []byte) error {
	return s.attempt(func(ctx context.Context) error { return s.store.Put(ctx, key, old, value, time.Time{}) })
}

func (s storeScript) delete(key string) {
	s.Helper()
	err := s.attempt(func(ctx context.Context) error { return s.store.Delete(ctx, key) })
	s.must(err, fmt.Sprintf("Delete(%s)", shown(key)))
}

func (s storeScript) holds(key string, value []byte) {
	s.Helper()
	got, err := s.get(key)
	if err != nil || !bytes.Equal(got, value) {
		s.broken("Get(%s) returned %s and the error %v instead of %s", shown(key), shown(string(got)), err, shown(string(value)))
	}
}

func (s storeScript) lacks(key string) {
	s.Helper()
	if value, err := s.get(key); !errors.Is(err, fs.ErrNotExist) {
		s.broken("Get(%s) returned %s and the error %v", shown(key), shown(string(value)), err)
	}
}

func (s storeScript) lists(prefix string, want ...string) {
	s.Helper()
	var keys []string
	err := s.attempt(func(ctx context.Context) (err error) {
		keys, err = s.store.Keys(ctx, prefix)
		return err
	})
	s.must(err, fmt.Sprintf("Keys(%s)", shown(prefix)))
	slices.Sort(keys)
	slices.Sort(want)
	if !slices.Equal(keys, want) {
		s.broken("Keys(%s) returned %q instead of %q", shown(prefix), keys, want)
	}
}

func storeMissing(r *storeTrial) {
	s := openStore(r)
	s.lacks("word/never put")
	s.lists("word/")
}

func storeRoundTrip(r *storeTrial) {
	s := openStore(r)
	s.put("word/key", []byte("first"))
	s.holds("word/key", []byte("first"))
	s.put("word/key", allBytes())
	s.holds("word/key", allBytes())
	s.put("word/key", []byte(" \n edges \x00\n "))
	s.holds("word/key", []byte(" \n edges \x00\n "))
	for _, size := range []int{0, 1, 65535, 65536, 1 << 20} {
		key, value := fmt.Sprint("size/", size), bytes.Repeat([]byte{0xa5}, size)
		s.put(key, value)
		s.holds(key, value)
	}
}

func storeKeys(r *storeTrial) {
	s := openStore(r)
	keys := awkwardKeys()
	for i, key := range keys {
		s.put("word/"+key, fmt.Append(nil, i))
	}
	for i, key := range keys {
		s.holds("word/"+key, fmt.Append(nil, i))
	}
	listed := make([]string, len(keys))
	for i, key := range keys {
		listed[i] = "word/" + key
	}
	s.lists("word/", listed...)
	for i, key := range keys {
		s.must(s.swap("new/"+key, nil, fmt.Append(nil, i)), fmt.Sprintf("Put(%s)", shown("new/"+key)))
	}
	for _, key := range []string{"a*", "a/b\x00", "A/b", "byte/\x00", "byte/A", "byte/%"} {
		s.delete("word/" + key)
		s.lacks("word/" + key)
		listed = slices.DeleteFunc(listed, func(k string) bool { return k == "word/"+key })
	}
	s.lists("word/", listed...)
}

func storeUntil(r *storeTrial) {
	s := openStore(r)
	now := time.Now()
	for name, until := range map[string]time.Time{"kept": {}, "later": now.Add(24 * time.Hour), "end": time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)} {
		s.must(s.attempt(func(ctx context.Context) error { return s.store.Put(ctx, "word/"+name, nil, []byte(name), until) }), "Put until "+until.String())
	}
	// A record that was about to be dropped, and is not any more.
	s.must(s.attempt(func(ctx context.Context) error {
		return s.store.Put(ctx, "word/changed", nil, []byte("x"), now.Add(24*time.Hour))
	}), "Put")
	s.must(s.swap("word/changed", []byte("x"), []byte("changed")), "Put")
	for i, until := range []time.Time{now.Add(-time.Second), now.Add(-12 * time.Hour), time.Unix(0, 0), now} {
		key := fmt.Sprint("gone/", i)
		s.must(s.attempt(func(ctx context.Context) error { return s.store.Put(ctx, key, nil, []byte("x"), until) }), "Put until "+until.String())
		if value, err := s.get(key); (err != nil || string(value) != "x") && !errors.Is(err, fs.ErrNotExist) {
			s.broken("Get of a record whose time has come returned %s and the error %v", shown(string(value)), err)
		}
	}
	for i := range 500 {
		s.put(fmt.Sprint("other/", i), []byte("x")) // lets the store tidy up
	}
	for _, name := range []string{"kept", "later", "end", "changed"} {
		s.holds("word/"+name, []byte(name))
	}
	s.lists("word/", "word/kept", "word/later", "word/end", "word/changed")
}

func storeDelete(r *storeTrial) {
	s := openStore(r)
	s.put("word/gone", []byte("x"))
	s.put("word/stays", []byte("y"))
	s.put("word/gone/2", []byte("z"))
	s.delete("word/gone")
	s.lacks("word/gone")
	s.holds("word/stays", []byte("y"))
	s.lists("word/", "word/stays", "word/gone/2")
	s.delete("word/gone")
	s.must(s.swap("word/gone", nil, []byte("again")), "Put after Delete")
	s.holds("word/gone", []byte("again"))
}

func storeList(r *storeTrial) {
	s := openStore(r)
	keys := []string{"word/a", "word/ab", "word/b", "word/a*", "word/a%", "words/a", "wor/a", "Word/a", "other/word/a", "word/"}
	for _, key := range keys {
		s.put(key, []byte("x"))
	}
	s.lists("word/", "word/a", "word/ab", "word/b", "word/a*", "word/a%", "word/")
	s.lists("word/a", "word/a", "word/ab", "word/a*", "word/a%")
	s.lists("word/a*", "word/a*")
	s.lists("word/a%", "word/a%")
	s.lists("word/_")
	s.lists("w?rd/")
	s.lists(`word/\a`)
	s.lists("word/[ab]")
	s.lists("", keys...)
	pages := make([]string, manyKeys)
	for i := range pages {
		pages[i] = fmt.Sprintf("many/%04d", i)
	}
	for _, err := range s.together(8, func(ctx context.Context, caller int) error {
		for i := caller; i < len(pages); i += 8 {
			if err := s.store.Put(ctx, pages[i], nil, []byte("x"), time.Time{}); err != nil {
				return err
			}
		}
		return nil
	}) {
		s.must(err, "Put")
	}
	s.lists("many/", pages...)
}

// manyKeys is more than engines return in one page.
const manyKeys = 1001

func storeAliasing(r *storeTrial) {
	s := openStore(r)
	value := []byte("value")
	s.must(s.swap("word/created", nil, value), "Put")
	s.must(s.swap("word/replaced", nil, []byte("x")), "Put")
	s.must(s.swap("word/replaced", []byte("x"), value), "Put")
	value[0] = 'X'
	for _, key := range []string{"word/created", "word/replaced"} {
		s.holds(key, []byte("value"))
		got, err := s.get(key)
		s.must(err, "Get")
		got[0] = 'Y'
		s.holds(key, []byte("value"))
	}
}

func storeConcurrent(r *storeTrial) {
	s := openStore(r)
	s.put("word/key", stamp(0))
	for i, err := range r.together(16, func(ctx context.Context, i int) error {
		for n := range 10 {
			if err := overwrite(ctx, s.store, "word/key", stamp(i*10+n)); err != nil {
				return err
			}
			value, err := s.store.Get(ctx, "word/key")
			if err != nil {
				return err
			}
			if len(value) != 4096 || !bytes.Equal(value[:8], value[4088:]) {
				return errors.New("the value is a mixture of two")
			}
		}
		return nil
	}) {
		if err != nil {
			s.broken("caller %d of 16: %v", i, err)
		}
	}
}

func storeCancelled(r *storeTrial) {
	s := openStore(r)
	s.put("word/key", []byte("before"))
	s.put("word/gone", []byte("x"))
	var listed []string
	calls := map[string]func(context.Context) error{
		"Get": func(ctx context.Context) error { _, err := s.store.Get(ctx, "word/key"); return err },
		"Put": func(ctx context.Context) error {
			return s.store.Put(ctx, "word/key", []byte("before"), []byte("after"), time.Time{})
		},
		"create": func(ctx context.Context) error { return s.store.Put(ctx, "word/new", nil, []byte("new"), time.Time{}) },
		"Delete": func(ctx context.Context) error { return s.store.Delete(ctx, "word/gone") },
		"Keys":   func(ctx context.Context) (err error) { listed, err = s.store.Keys(ctx, "word/key"); return err },
	}
	errs := map[string]error{}
	for name, call := range calls {
		errs[name] = r.attemptIn(cancelled(), call)
		if errors.Is(errs[name], errHung) {
			s.broken("%s: %v", name, errs[name])
		}
	}
	value, err := s.get("word/key")
	if err != nil || string(value) != "after" && (string(value) != "before" || errs["Put"] == nil) {
		s.broken("Put returned %v, and then Get %q and the error %v", errs["Put"], value, err)
	}
	if errs["create"] == nil {
		s.holds("word/new", []byte("new"))
	}
	if errs["Delete"] == nil {
		s.lacks("word/gone")
	}
	if errs["Keys"] == nil && len(listed) != 1 {
		s.broken("Keys returned %q without an error", listed)
	}
}

func storeShared(r *storeTrial) {
	one, two := openStore(r), openStore(r)
	one.put("word/key", []byte("one"))
	two.holds("word/key", []byte("one"))
	two.put("word/key", []byte("two"))
	one.holds("word/key", []byte("two"))
	one.delete("word/key")
	two.lacks("word/key")
	two.lists("word/")
	for round := range 10 {
		one.oneCreates(fmt.Sprint("word/", round), one.store, two.store)
	}
	openStore(r).holds("word/0", must(one.get("word/0")))
	one.countTogether(one.store, two.store)
}

func storeHangs(r *storeTrial) {
	s := openStore(r)
	s.put("word/key", []byte("before"))
	resume := r.engine.Hang(r.TB)
	for name, call := range map[string]func(context.Context) error{
		"Get": func(ctx context.Context) error { _, err := s.store.Get(ctx, "word/key"); return err },
		"Put": func(ctx context.Context) error {
			return s.store.Put(ctx, "word/key", []byte("before"), []byte("x"), time.Time{})
		},
		"create": func(ctx context.Context) error { return s.store.Put(ctx, "word/third", nil, []byte("x"), time.Time{}) },
		"Delete": func(ctx context.Context) error { return s.store.Delete(ctx, "word/fourth") },
		"Keys":   func(ctx context.Context) error { _, err := s.store.Keys(ctx, "word/"); return err },
	} {
		err := s.attempt(call)
		if err == nil || errors.Is(err, errHung) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, lookleap.ErrConflict) {
			resume()
			s.broken("%s returned %v", name, err)
		}
	}
	resume()
	s.put("word/key", []byte("after"))
	s.holds("word/key", []byte("after"))
}

func storeDamaged(r *storeTrial) {
	s := openStore(r)
	value := allBytes()
	s.put("word/key", value)
	r.engine.Damage(r.TB, r.data)
	for _, handle := range []storeScript{s, openStore(r)} {
		got, err := handle.get("word/key")
		switch {
		case err == nil && !bytes.Equal(got, value):
			s.broken("Get returned other bytes: %s", shown(string(got)))
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, errHung):
			s.broken("Get returned %v", err)
		}
		var keys []string
		err = handle.attempt(func(ctx context.Context) (err error) { keys, err = handle.store.Keys(ctx, "word/"); return err })
		if err == nil && !slices.Contains(keys, "word/key") || errors.Is(err, errHung) {
			s.broken("Keys returned %q and the error %v", keys, err)
		}
		if handle.swap("word/key", nil, []byte("again")) == nil {
			s.broken("a damaged record was replaced as a missing one")
		}
	}
}

// must returns a value whose error was checked before.
func must[T any](value T, _ error) T { return value }
