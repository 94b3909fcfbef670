package lookleaptest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
)

func storeCompares(r *storeTrial) {
	s, long := openStore(r), strings.Repeat("r", 4096)
	const missing = "missing"
	for _, c := range []struct {
		what, old, value, stored string // stored is what is there after a conflict
	}{
		{"with an old record, of a missing one", "old", "new", missing},
		{"with an empty old record, of a missing one", "", "new", missing},
		{"of a missing record", missing, "", ""},
		{"of an empty record as a missing one", missing, "x", "!"},
		{"of an empty record", "", "one", ""},
		{"of an existing record as a missing one", missing, "x", "!one"},
		{"with a part of the record", "on", "x", "!one"},
		{"with the record and one more byte", "one ", "x", "!one"},
		{"with a record of another letter case", "One", "x", "!one"},
		{"with the stored record", "one", "two", ""},
		{"with the previous record", "one", "x", "!two"},
		{"of the same value", "two", "two", ""},
		{"of a long record", "two", long + "1", ""},
		{"with a long record whose last byte differs", long + "2", "x", "!" + long + "1"},
		{"with the long record", long + "1", "two", ""},
	} {
		old := []byte(c.old)
		if c.old == missing {
			old = nil
		}
		err := s.swap("word/key", old, []byte(c.value))
		stored, conflict := strings.CutPrefix(c.stored, "!")
		if conflict = conflict || c.stored == missing; conflict != errors.Is(err, lookleap.ErrConflict) || !conflict && err != nil {
			s.broken("Put %s returned %v", c.what, err)
		}
		switch {
		case c.stored == missing:
			s.lacks("word/key")
		case conflict:
			s.holds("word/key", []byte(stored))
		default:
			s.holds("word/key", []byte(c.value))
		}
	}
	s.delete("word/key")
	if err := s.swap("word/key", []byte("two"), []byte("x")); !errors.Is(err, lookleap.ErrConflict) {
		s.broken("Put with a record that was deleted since returned %v", err)
	}
	s.lacks("word/key")
}

func storeCreators(r *storeTrial) {
	s := openStore(r)
	for round := range 20 {
		s.oneCreates(fmt.Sprint("word/", round), s.store)
	}
}

// oneCreates lets many callers create a record through the handles at the same moment.
func (s storeScript) oneCreates(key string, handles ...lookleap.Store) {
	s.Helper()
	winner := -1
	for i, err := range s.together(16, func(ctx context.Context, i int) error {
		return handles[i%len(handles)].Put(ctx, key, nil, fmt.Append(nil, i), time.Time{})
	}) {
		switch {
		case err == nil && winner >= 0:
			s.broken("callers %d and %d both created the record", winner, i)
		case err == nil:
			winner = i
		case !errors.Is(err, lookleap.ErrConflict):
			s.broken("one of 16 concurrent calls returned the error %q", err)
		}
	}
	if winner < 0 {
		s.broken("none of 16 concurrent calls created the record")
	}
	s.holds(key, fmt.Append(nil, winner))
}

func storeWriters(r *storeTrial) {
	s := openStore(r)
	s.countTogether(s.store)
}

// countTogether lets many callers add to one number through the handles.
func (s storeScript) countTogether(handles ...lookleap.Store) {
	s.Helper()
	const callers, each = 8, 5
	s.put("word/number", []byte("0"))
	for i, err := range s.together(callers, func(ctx context.Context, i int) error {
		store := handles[i%len(handles)]
		for done := 0; done < each; {
			old, err := store.Get(ctx, "word/number")
			if err != nil {
				return err
			}
			var n int
			if _, err := fmt.Sscan(string(old), &n); err != nil {
				return err
			}
			switch err := store.Put(ctx, "word/number", old, fmt.Append(nil, n+1), time.Time{}); {
			case err == nil:
				done++
			case !errors.Is(err, lookleap.ErrConflict):
				return err
			}
		}
		return nil
	}) {
		if err != nil {
			s.broken("caller %d of %d returned the error %q", i, callers, err)
		}
	}
	s.holds("word/number", fmt.Append(nil, callers*each))
}
