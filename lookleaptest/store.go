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
	{"missing-record", "for a key without a record, Get returns an error that is fs.ErrNotExist", "",
		ofStore(func(s storeScript) {
			s.lacks("word/never put")
			s.lists("word/")
		})},
	{"get-returns-what-was-put", "Get returns the value of the last Put, of 0 bytes to 1 MiB", "",
		ofStore(func(s storeScript) {
			s.returnsWhatWasPut()
			s.sizes()
		})},
	{"keys-with-each-byte", "two keys that differ in one byte are two records, for each method", "",
		ofStore(func(s storeScript) { s.lists("word/", s.distinctKeys()...) })},
	{"put-compares", "Put of a record that is not the stored one returns ErrConflict and changes nothing; " +
		"nil stands for a missing record, and an empty record is not missing", "",
		ofStore(func(s storeScript) { s.compares() })},
	{"one-of-many-creators", "of concurrent calls of Put for one missing record exactly one succeeds, " +
		"and its value is stored", "", ofStore(func(s storeScript) {
		for round := range 20 {
			s.oneCreates(fmt.Sprint("word/", round), s.records)
		}
	})},
	{"one-of-many-writers", "of concurrent calls of Put with the same old record exactly one succeeds, " +
		"and no change is lost", "", ofStore(func(s storeScript) { s.counts(s.records) })},
	{"until", "a record whose time has not come is there, however many others follow, " +
		"whether or not others are dropped", "", ofStore(storeScript.keepsUntil)},
	{"delete", "after Delete the record is missing and can be created again, other records remain, " +
		"and deleting a missing record is not an error", "", ofStore(func(s storeScript) {
		s.deletes()
		s.lists("word/", "word/gone", "word/gone/2")
	})},
	{"keys-by-prefix", "Keys returns each key that begins with the prefix once, however many there are, " +
		"and no other key", "", ofStore(storeScript.listsByPrefix)},
	{"caller-owns-its-bytes", "changing a slice after Put, or one that Get returned, does not change the record", "",
		ofStore(func(s storeScript) { s.ownsItsBytes() })},
	{"concurrent-use", "concurrent calls are safe, and Get returns the whole value of one Put", "",
		ofStore(func(s storeScript) { s.concurrentUse() })},
	{"cancellation", "a call whose context has ended returns, with nil only if it did what it says, " +
		"and the record stays whole", "", ofStore(storeScript.doesWhatItSays)},
	{"shared-data", "what one handle changes, each other handle sees at once, also after a restart, " +
		"and no change through several handles is lost", needsSharing, ofStore(func(s storeScript) {
		two := s.shares()
		for round := range 10 {
			s.oneCreates(fmt.Sprint("word/", round), s.records, two)
		}
		s.counts(s.records, two)
	})},
	{"back-end-hangs", "while the back end hangs, each call returns an error by the deadline of its context, " +
		"and a record never counts as missing", needsHang, ofStore(func(s storeScript) {
		s.hangs(func() func() { return s.trial.engine.Hang(s.TB) }, s.calls())
	})},
	{"damaged-data", "a damaged record is an error or is still whole; it never counts as missing, for Get as for Keys, " +
		"and is not replaced as a missing one", needsDamage, ofStore(storeScript.findsDamage)},
}

type storeTrial = trial[lookleap.Store]

// storeScript are the calls of one handle.
type storeScript struct {
	records
	trial *storeTrial
	store lookleap.Store
}

func ofStore(verify func(storeScript)) func(*storeTrial) {
	return func(r *storeTrial) { verify(openStore(r)) }
}

func openStore(r *storeTrial) storeScript {
	r.Helper()
	store := r.open()
	return storeScript{records{
		probe: &r.probe, get: store.Get, delete: store.Delete,
		put: func(ctx context.Context, key string, value []byte) (err error) {
			if value == nil {
				value = []byte{}
			}
			for range 50 { // other callers may be faster
				err = lookleap.UpdateRecord(ctx, store, key, time.Time{}, func([]byte) ([]byte, error) { return value, nil })
				if !errors.Is(err, lookleap.ErrConflict) {
					break
				}
			}
			return err
		},
		swap: func(ctx context.Context, key string, old, value []byte) (bool, error) {
			err := store.Put(ctx, key, old, value, time.Time{})
			if errors.Is(err, lookleap.ErrConflict) {
				return false, nil
			}
			return err == nil, err
		},
		open: func() records { return openStore(r).records },
	}, r, store}
}

func (s storeScript) putUntil(key, value string, until time.Time) {
	s.Helper()
	s.must(s.do(func(ctx context.Context) error { return s.store.Put(ctx, key, nil, []byte(value), until) }),
		"Put until "+until.String())
}

func (s storeScript) list(prefix string) ([]string, error) {
	return attempt(s.probe, func(ctx context.Context) ([]string, error) { return s.store.Keys(ctx, prefix) })
}

func (s storeScript) lists(prefix string, want ...string) {
	s.Helper()
	keys, err := s.list(prefix)
	s.must(err, "Keys("+shown(prefix)+")")
	slices.Sort(keys)
	slices.Sort(want)
	if !slices.Equal(keys, want) {
		s.broken("Keys(%s) returned %q instead of %q", shown(prefix), keys, want)
	}
}

// calls adds the call of Keys.
func (s storeScript) calls() map[string]func(context.Context) error {
	calls := s.records.calls()
	calls["Keys"] = func(ctx context.Context) error { _, err := s.store.Keys(ctx, "word/"); return err }
	return calls
}

func (s storeScript) keepsUntil() {
	now := time.Now()
	kept := map[string]time.Time{
		"kept": {}, "later": now.Add(24 * time.Hour), "end": time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	}
	for name, until := range kept {
		s.putUntil("word/"+name, name, until)
	}
	s.putUntil("word/changed", "x", now.Add(24*time.Hour)) // was about to be dropped, and is not any more
	s.write("word/changed", []byte("changed"))
	for i, until := range []time.Time{now.Add(-time.Second), now.Add(-12 * time.Hour), time.Unix(0, 0), now} {
		gone := fmt.Sprint("gone/", i)
		s.putUntil(gone, "x", until)
		if value, err := s.lookup(gone); (err != nil || string(value) != "x") && !errors.Is(err, fs.ErrNotExist) {
			s.broken("Get of a record whose time has come returned %s and the error %v", shown(string(value)), err)
		}
	}
	for i := range 500 {
		s.write(fmt.Sprint("other/", i), []byte("x")) // lets the store tidy up
	}
	for _, name := range []string{"kept", "later", "end", "changed"} {
		s.holds("word/"+name, []byte(name))
	}
	s.lists("word/", "word/kept", "word/later", "word/end", "word/changed")
}

func (s storeScript) listsByPrefix() {
	keys := []string{"word/", "word/a", "word/ab", "word/b", "word/a*", "word/a%", "words/a", "wor/a", "Word/a", "other/word/a"}
	for _, key := range keys {
		s.write(key, []byte("x"))
	}
	s.lists("word/", "word/a", "word/ab", "word/b", "word/a*", "word/a%", "word/")
	s.lists("word/a", "word/a", "word/ab", "word/a*", "word/a%")
	s.lists("word/a*", "word/a*")
	s.lists("word/a%", "word/a%")
	for _, pattern := range []string{"word/_", "w?rd/", `word/\a`, "word/[ab]"} {
		s.lists(pattern)
	}
	s.lists("", keys...)
	pages := make([]string, 1001) // more than engines return in one page
	for i := range pages {
		pages[i] = fmt.Sprintf("many/%04d", i)
	}
	s.together(8, func(ctx context.Context, caller int) error {
		for i := caller; i < len(pages); i += 8 {
			if err := s.store.Put(ctx, pages[i], nil, []byte("x"), time.Time{}); err != nil {
				return err
			}
		}
		return nil
	})
	s.lists("many/", pages...)
}

func (s storeScript) doesWhatItSays() {
	var listed []string
	calls := s.calls()
	calls["Keys"] = func(ctx context.Context) (err error) { listed, err = s.store.Keys(ctx, key); return err }
	errs := s.cancelled(calls)
	value, _ := s.lookup(key)
	if put := "Put of the stored record"; string(value) == "before" && (errs["Put"] == nil || errs[put] == nil) {
		s.broken("Put returned %v and %v, and then Get %q", errs["Put"], errs[put], value)
	}
	if errs["Put of a new record"] == nil {
		s.holds("word/new", []byte("after"))
	}
	if errs["Delete"] == nil {
		s.lacks("word/gone")
	}
	if errs["Keys"] == nil && len(listed) != 1 {
		s.broken("Keys returned %q without an error", listed)
	}
}

func (s storeScript) findsDamage() {
	s.write(key, []byte(allBytes()))
	s.trial.engine.Damage(s.TB, s.trial.data)
	for _, handle := range []storeScript{s, openStore(s.trial)} {
		got, err := handle.lookup(key)
		switch {
		case err == nil && !bytes.Equal(got, []byte(allBytes())):
			s.broken("Get returned other bytes: %s", shown(string(got)))
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, errHung):
			s.broken("Get returned %v", err)
		}
		keys, err := handle.list("word/")
		if err == nil && !slices.Contains(keys, key) || errors.Is(err, errHung) {
			s.broken("Keys returned %q and the error %v", keys, err)
		}
		if swapped, _ := handle.swaps(nil, "again"); swapped {
			s.broken("a damaged record was replaced as a missing one")
		}
	}
}
