package lookleaptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/dvs"
)

// TestTrustStore tests an implementation of [dvs.TrustStore]: a record is replaced only by a
// caller who has read it, a missing record is distinct from a damaged one, and List lists
// exactly the keys with a prefix.
func TestTrustStore(t *testing.T, e Engine[dvs.TrustStore]) {
	t.Helper()
	testContract(t, e, trustPromises)
}

var trustPromises = []promise[dvs.TrustStore]{
	{
		name:   "missing-record",
		text:   "for a key without a record, Get returns an error that is fs.ErrNotExist",
		verify: asStore(storeMissing),
	}, {
		name:   "get-returns-what-was-put",
		text:   "Get returns the value of the last Put, of 0 bytes to 1 MiB",
		verify: asStore(storeRoundTrip),
	}, {
		name:   "keys-with-each-byte",
		text:   "two keys that differ in one byte are two records, for each method",
		verify: asStore(storeKeys),
	}, {
		name:   "put-compares",
		text:   "Put of a record that is not the stored one returns ErrTrustConflict and changes nothing; nil stands for a missing record, and an empty record is not missing",
		verify: trustCompares,
	}, {
		name:   "one-of-many-writers",
		text:   "of concurrent calls of Put with the same old record exactly one succeeds, and no change is lost",
		verify: trustWriters,
	}, {
		name:   "delete",
		text:   "after Delete the record is missing and can be stored again, other records remain, and deleting a missing record is not an error",
		verify: asStore(storeDelete),
	}, {
		name:   "list-by-prefix",
		text:   "List returns each key that begins with the prefix once, however many there are, and no other key",
		verify: asStore(storeList),
	}, {
		name:   "caller-owns-its-bytes",
		text:   "changing a slice after Put, or one that Get returned, does not change the record",
		verify: asStore(storeAliasing),
	}, {
		name:   "cancellation",
		text:   "a call whose context has ended returns, with nil only if it did what it says, and the record stays whole",
		verify: trustCancelled,
	}, {
		name:   "shared-data",
		needs:  needsSharing,
		text:   "what one handle changes, each other handle sees at once, and no change through several handles is lost",
		verify: trustShared,
	}, {
		name:   "back-end-hangs",
		needs:  needsHang,
		text:   "while the back end hangs, each call returns an error by the deadline of its context, and a record never counts as missing",
		verify: trustHangs,
	}, {
		name:   "damaged-data",
		needs:  needsDamage,
		text:   "a damaged record is an error or is still whole; it never counts as missing and is not replaced as a missing one",
		verify: asStore(storeDamaged),
	},
}

type trustTrial = trial[dvs.TrustStore]

// asStore verifies a promise that stores of package anml/agent give too.
func asStore(verify func(*storeTrial)) func(*trustTrial) {
	return func(r *trustTrial) { verify(asStoreTrial(r)) }
}

func asStoreTrial(r *trustTrial) *storeTrial {
	return &storeTrial{TB: r.TB, text: r.text, data: r.data, engine: Engine[agent.Store]{
		Open:   func(t testing.TB, name string) agent.Store { return writer{r.engine.Open(t, name)} },
		Damage: r.engine.Damage, Hang: r.engine.Hang, Patience: r.engine.Patience,
	}}
}

// writer writes without a condition.
type writer struct{ dvs.TrustStore }

func (w writer) Put(ctx context.Context, key string, value []byte) error {
	for {
		old, err := w.Get(ctx, key)
		if errors.Is(err, fs.ErrNotExist) {
			old, err = nil, nil
		} else if old == nil {
			old = []byte{}
		}
		if err == nil {
			err = w.TrustStore.Put(ctx, key, old, value)
		}
		if !errors.Is(err, dvs.ErrTrustConflict) {
			return err
		}
	}
}

func (w writer) Create(ctx context.Context, key string, value []byte) error {
	err := w.TrustStore.Put(ctx, key, nil, value)
	if errors.Is(err, dvs.ErrTrustConflict) {
		return fmt.Errorf("%w: %w", fs.ErrExist, err)
	}
	return err
}

func (w writer) Keys(ctx context.Context, prefix string) ([]string, error) {
	return w.List(ctx, prefix)
}

// trustScript are the calls of one handle.
type trustScript struct {
	*trustTrial
	store dvs.TrustStore
}

func (s trustScript) put(old, value string, missing bool) error {
	return s.attempt(func(ctx context.Context) error {
		if missing {
			return s.store.Put(ctx, "word/key", nil, []byte(value))
		}
		return s.store.Put(ctx, "word/key", []byte(old), []byte(value))
	})
}

func (s trustScript) holds(value string) {
	s.Helper()
	var got []byte
	err := s.attempt(func(ctx context.Context) (err error) {
		got, err = s.store.Get(ctx, "word/key")
		return err
	})
	if err != nil || !bytes.Equal(got, []byte(value)) {
		s.broken("Get returned %q and the error %v instead of %q", got, err, value)
	}
}

// conflicts checks that a Put changes nothing.
func (s trustScript) conflicts(err error, what, value string) {
	s.Helper()
	if !errors.Is(err, dvs.ErrTrustConflict) {
		s.broken("Put %s returned %v", what, err)
	}
	s.holds(value)
}

func trustCompares(r *trustTrial) {
	s := trustScript{r, r.open()}
	if err := s.put("old", "new", false); !errors.Is(err, dvs.ErrTrustConflict) {
		s.broken("Put with an old record, of a missing one, returned %v", err)
	}
	if err := s.put("", "new", false); !errors.Is(err, dvs.ErrTrustConflict) {
		s.broken("Put with an empty old record, of a missing one, returned %v", err)
	}
	s.must(s.put("", "", true), "Put of a missing record")
	s.conflicts(s.put("", "x", true), "of an empty record as a missing one", "")
	s.must(s.put("", "one", false), "Put of an empty record")
	s.conflicts(s.put("", "x", true), "of an existing record as a missing one", "one")
	s.conflicts(s.put("on", "x", false), "with a part of the record", "one")
	s.conflicts(s.put("one ", "x", false), "with the record and one more byte", "one")
	s.conflicts(s.put("One", "x", false), "with a record of another letter case", "one")
	s.must(s.put("one", "two", false), "Put with the stored record")
	s.conflicts(s.put("one", "x", false), "with the previous record", "two")
	s.must(s.put("two", "two", false), "Put of the same value")
	s.holds("two")
	long := strings.Repeat("r", 4096)
	s.must(s.put("two", long+"1", false), "Put of a long record")
	s.conflicts(s.put(long+"2", "x", false), "with a long record whose last byte differs", long+"1")
	s.must(s.put(long+"1", "two", false), "Put with the long record")
	s.must(s.attempt(func(ctx context.Context) error { return s.store.Delete(ctx, "word/key") }), "Delete")
	if err := s.put("two", "x", false); !errors.Is(err, dvs.ErrTrustConflict) {
		s.broken("Put with a record that was deleted since returned %v", err)
	}
}

func trustWriters(r *trustTrial) {
	s := trustScript{r, r.open()}
	s.countTogether(s.store)
}

// countTogether lets many callers add to one number through the handles.
func (s trustScript) countTogether(handles ...dvs.TrustStore) {
	s.Helper()
	const callers, each = 8, 5
	s.must(s.put("", "0", true), "Put of a missing record")
	for i, err := range s.together(callers, func(ctx context.Context, i int) error {
		store := handles[i%len(handles)]
		for done := 0; done < each; {
			old, err := store.Get(ctx, "word/key")
			if err != nil {
				return err
			}
			var n int
			if _, err := fmt.Sscan(string(old), &n); err != nil {
				return err
			}
			switch err := store.Put(ctx, "word/key", old, fmt.Append(nil, n+1)); {
			case err == nil:
				done++
			case !errors.Is(err, dvs.ErrTrustConflict):
				return err
			}
		}
		return nil
	}) {
		if err != nil {
			s.broken("caller %d of %d returned the error %q", i, callers, err)
		}
	}
	s.holds(fmt.Sprint(callers * each))
}

// trustCancelled tests what stores promise too, and a Put whose old record is right: writer
// reads the record first, which returns the error of the context.
func trustCancelled(r *trustTrial) {
	storeCancelled(asStoreTrial(r))
	s := trustScript{r, r.open()}
	s.must(s.attempt(func(ctx context.Context) error { return s.store.Delete(ctx, "word/key") }), "Delete")
	s.must(s.put("", "before", true), "Put")
	err := r.attemptIn(cancelled(), func(ctx context.Context) error {
		return s.store.Put(ctx, "word/key", []byte("before"), []byte("after"))
	})
	if errors.Is(err, errHung) {
		s.broken("Put: %v", err)
	}
	value, getErr := storeScript{storeTrial: asStoreTrial(r), store: writer{s.store}}.get("word/key")
	if getErr != nil || string(value) != "after" && (string(value) != "before" || err == nil) {
		s.broken("Put returned %v, and then Get %q and the error %v", err, value, getErr)
	}
}

func trustShared(r *trustTrial) {
	one, two := trustScript{r, r.open()}, trustScript{r, r.open()}
	one.countTogether(one.store, two.store)
	two.must(two.put("40", "end", false), "Put through another handle")
	one.holds("end")
	trustScript{r, r.open()}.holds("end")
}

func trustHangs(r *trustTrial) {
	s := trustScript{r, r.open()}
	s.must(s.put("", "before", true), "Put")
	resume := r.engine.Hang(r.TB)
	for name, call := range map[string]func(context.Context) error{
		"Get":    func(ctx context.Context) error { _, err := s.store.Get(ctx, "word/key"); return err },
		"Put":    func(ctx context.Context) error { return s.store.Put(ctx, "word/other", nil, []byte("x")) },
		"Delete": func(ctx context.Context) error { return s.store.Delete(ctx, "word/third") },
		"List":   func(ctx context.Context) error { _, err := s.store.List(ctx, "word/"); return err },
	} {
		err := s.attempt(call)
		if err == nil || errors.Is(err, errHung) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, dvs.ErrTrustConflict) {
			resume()
			s.broken("%s returned %v", name, err)
		}
	}
	resume()
	s.must(s.put("before", "after", false), "Put after the back end answered again")
	s.holds("after")
}
