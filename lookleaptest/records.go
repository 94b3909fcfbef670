package lookleaptest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
)

// records are the calls that caches and stores have in common, of one handle.
type records struct {
	*probe
	get    func(ctx context.Context, key string) ([]byte, error)
	put    func(ctx context.Context, key string, value []byte) error // whatever is there
	delete func(ctx context.Context, key string) error
	// swap reports whether old, or for nil no record, was there; nil for a cache that cannot swap.
	swap func(ctx context.Context, key string, old, value []byte) (bool, error)
	open func() records // another handle of the same data
}

// key is the record of checks that need one.
const key = "word/key"

func (s records) lookup(key string) ([]byte, error) {
	return attempt(s.probe, func(ctx context.Context) ([]byte, error) { return s.get(ctx, key) })
}

func (s records) write(key string, value []byte) {
	s.Helper()
	s.must(s.do(func(ctx context.Context) error { return s.put(ctx, key, value) }), "Put("+shown(key)+")")
}

func (s records) remove(key string) {
	s.Helper()
	s.must(s.do(func(ctx context.Context) error { return s.delete(ctx, key) }), "Delete("+shown(key)+")")
}

func (s records) holds(key string, value []byte) {
	s.Helper()
	if got, err := s.lookup(key); err != nil || !bytes.Equal(got, value) {
		s.broken("Get(%s) returned %s and the error %v instead of %s", shown(key), shown(string(got)), err,
			shown(string(value)))
	}
}

func (s records) lacks(key string) {
	s.Helper()
	if value, err := s.lookup(key); !errors.Is(err, fs.ErrNotExist) {
		s.broken("Get(%s) returned %s and the error %v", shown(key), shown(string(value)), err)
	}
}

func (s records) returnsWhatWasPut() {
	for _, value := range []string{"first", allBytes(), " \n edges \x00\n "} {
		s.write(key, []byte(value))
		s.holds(key, []byte(value))
	}
}

func (s records) sizes() {
	s.write("size/nil", nil)
	s.holds("size/nil", nil)
	for _, size := range []int{0, 1, 255, 256, 65535, 65536, 1 << 20} {
		key, value := fmt.Sprint("size/", size), bytes.Repeat([]byte{0xa5}, size)
		s.write(key, value)
		s.holds(key, value)
	}
}

// distinctKeys returns the keys that are there at the end.
func (s records) distinctKeys() []string {
	keys := awkwardKeys()
	holds := func() {
		for _, key := range keys {
			s.holds(key, []byte("the value of "+key))
		}
	}
	for _, key := range keys {
		s.write(key, []byte("the value of "+key))
	}
	holds()
	for _, key := range []string{"a*", "a/b\x00", "A/b", "byte/\x00", "byte/A", "byte/%"} {
		s.remove("word/" + key)
		s.lacks("word/" + key)
		keys = slices.DeleteFunc(keys, func(k string) bool { return k == "word/"+key })
	}
	holds()
	return keys
}

func (s records) deletes() {
	s.write("word/gone", []byte("x"))
	s.write("word/gone/2", []byte("y"))
	s.remove("word/gone")
	s.lacks("word/gone")
	s.holds("word/gone/2", []byte("y"))
	s.remove("word/gone")
	s.remove("word/never put")
	s.write("word/gone", []byte("again"))
	s.holds("word/gone", []byte("again"))
}

func (s records) ownsItsBytes() {
	created, replaced := []byte("value"), []byte("value")
	s.write("word/created", created)
	s.write("word/replaced", []byte("x"))
	s.write("word/replaced", replaced)
	created[0], replaced[0] = 'X', 'X'
	for _, key := range []string{"word/created", "word/replaced"} {
		s.holds(key, []byte("value"))
		got, err := s.lookup(key)
		s.must(err, "Get")
		got[0] = 'Y'
		s.holds(key, []byte("value"))
	}
}

// concurrentUse puts values that have one number at both ends.
func (s records) concurrentUse() {
	stamp := func(n int) []byte {
		value := make([]byte, 4096)
		binary.BigEndian.PutUint64(value, uint64(n))
		binary.BigEndian.PutUint64(value[4088:], uint64(n))
		return value
	}
	s.write(key, stamp(0))
	s.together(16, func(ctx context.Context, i int) error {
		for n := range 10 {
			if err := s.put(ctx, key, stamp(i*10+n)); err != nil {
				return err
			}
			value, err := s.get(ctx, key)
			if err != nil {
				return err
			}
			if len(value) != 4096 || !bytes.Equal(value[:8], value[4088:]) {
				return errors.New("the value is a mixture of two")
			}
		}
		return nil
	})
}

// compares puts records with an old one that is the stored one, and with others.
func (s records) compares() {
	const missing = "missing"
	long := strings.Repeat("r", 4096)
	for _, c := range []struct {
		what, old, value, stored string // stored is what is there after a conflict
	}{
		{"with an old record, of a missing one", "old", "new", missing},
		{"with an empty old record, of a missing one", "", "new", missing},
		{"of a missing record", missing, "", ""},
		{"of an empty record as a missing one", missing, "x", "!"},
		{"of an empty record", "", "one", ""},
		{"of an existing record as a missing one", missing, "x", "!one"},
		{"with an empty old record, of another one", "", "x", "!one"},
		{"with a part of the record", "on", "x", "!one"},
		{"with the record and one more byte", "one ", "x", "!one"},
		{"with a record of another letter case", "One", "x", "!one"},
		{"with a record of the same length", "two", "x", "!one"},
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
		stored, conflict := strings.CutPrefix(c.stored, "!")
		conflict = conflict || c.stored == missing
		if swapped, err := s.swaps(old, c.value); err != nil || swapped == conflict {
			s.broken("Put %s: success %v and the error %v", c.what, swapped, err)
		}
		switch {
		case c.stored == missing:
			s.lacks(key)
		case conflict:
			s.holds(key, []byte(stored))
		default:
			s.holds(key, []byte(c.value))
		}
	}
	s.remove(key)
	if swapped, err := s.swaps([]byte("two"), "x"); err != nil || swapped {
		s.broken("Put with a record that was deleted since: success %v and the error %v", swapped, err)
	}
	s.lacks(key)
}

func (s records) swaps(old []byte, value string) (bool, error) {
	return attempt(s.probe, func(ctx context.Context) (bool, error) { return s.swap(ctx, key, old, []byte(value)) })
}

// oneCreates lets many callers create a record through the handles at the same moment.
func (s records) oneCreates(key string, handles ...records) {
	s.Helper()
	created := make([]bool, 16)
	s.together(len(created), func(ctx context.Context, i int) (err error) {
		created[i], err = handles[i%len(handles)].swap(ctx, key, nil, fmt.Append(nil, i))
		return err
	})
	winner := slices.Index(created, true)
	if winner < 0 || slices.Contains(created[winner+1:], true) {
		s.broken("of concurrent calls not exactly one created the record: %v", created)
	}
	s.holds(key, fmt.Append(nil, winner))
}

// counts lets many callers add to one number through the handles.
func (s records) counts(handles ...records) {
	s.Helper()
	const callers, each = 8, 5
	s.write("word/number", []byte("0"))
	s.together(callers, func(ctx context.Context, i int) error {
		handle := handles[i%len(handles)]
		for done := 0; done < each; {
			old, err := handle.get(ctx, "word/number")
			if err != nil {
				return err
			}
			n, err := strconv.Atoi(string(old))
			if err != nil {
				return err
			}
			swapped, err := handle.swap(ctx, "word/number", old, fmt.Append(nil, n+1))
			if err != nil {
				return err
			}
			if swapped {
				done++
			}
		}
		return nil
	})
	s.holds("word/number", fmt.Append(nil, callers*each))
}

// shares returns another handle.
func (s records) shares() records {
	two := s.open()
	s.write(key, []byte("one"))
	two.holds(key, []byte("one"))
	two.write(key, []byte("two"))
	s.holds(key, []byte("two"))
	s.remove(key)
	two.lacks(key)
	two.write(key, []byte("three"))
	s.open().holds(key, []byte("three"))
	return two
}

// calls are one call of each method, of which "Put" replaces the value "before" of a record.
func (s records) calls() map[string]func(context.Context) error {
	calls := map[string]func(context.Context) error{
		"Get":    func(ctx context.Context) error { _, err := s.get(ctx, key); return err },
		"Put":    func(ctx context.Context) error { return s.put(ctx, key, []byte("after")) },
		"Delete": func(ctx context.Context) error { return s.delete(ctx, "word/gone") },
	}
	swap := func(key string, old []byte) func(context.Context) error {
		return func(ctx context.Context) error { _, err := s.swap(ctx, key, old, []byte("after")); return err }
	}
	if s.swap != nil {
		calls["Put of the stored record"], calls["Put of a new record"] = swap(key, []byte("before")), swap("word/new", nil)
	}
	return calls
}

// cancelled makes calls whose context has ended, and returns what they returned.
func (s records) cancelled(calls map[string]func(context.Context) error) map[string]error {
	s.write(key, []byte("before"))
	s.write("word/gone", []byte("x"))
	errs := map[string]error{}
	for name, call := range calls {
		_, errs[name] = attemptIn(s.probe, cancelled(), func(ctx context.Context) (any, error) { return nil, call(ctx) })
		if errors.Is(errs[name], errHung) {
			s.broken("%s: %v", name, errs[name])
		}
	}
	if value, err := s.lookup(key); err != nil || string(value) != "before" && string(value) != "after" {
		s.broken("Get returned %q and the error %v", value, err)
	}
	return errs
}

// hangs makes calls while the back end hangs.
func (s records) hangs(hang func() (resume func()), calls map[string]func(context.Context) error) {
	s.write(key, []byte("before"))
	resume := hang()
	for name, call := range calls {
		if err := s.do(call); err == nil || errors.Is(err, errHung) || errors.Is(err, fs.ErrNotExist) {
			resume()
			s.broken("%s returned %v", name, err)
		}
	}
	resume()
	s.write(key, []byte("after"))
	s.holds(key, []byte("after"))
}

// awkwardKeys are keys that an engine may confuse: one for each byte, parts of paths and
// patterns, keys that are prefixes of each other, and long keys that differ at the end.
func awkwardKeys() []string {
	long := strings.Repeat("k", 2048)
	keys := []string{
		"a/b", "a/b/", "a//b", "../a/b", "a/../b", "%61/b", "a%2Fb", "A/b", "a/B", "a/b ", " a/b", "a/b\x00", "a/b\n",
		"*", "a*", "a?", "a[b]", "{a}b", "a:b", "a\\b", "$1", "'; --", "https://shop.example/a?b=c#d",
		"é", "e\u0301", "\xff\xfe", "\xc3", "🔑", long + "1", long + "2",
	}
	for _, b := range []byte(allBytes()) {
		keys = append(keys, "byte/"+string([]byte{b}))
	}
	for i := range keys {
		keys[i] = "word/" + keys[i]
	}
	return keys
}

// shown returns a key or a value for a message, cut if it is long.
func shown(s string) string {
	if len(s) > 40 {
		return fmt.Sprintf("%q… (%d bytes)", s[:40], len(s))
	}
	return fmt.Sprintf("%q", s)
}

// allBytes is a value with each byte.
func allBytes() string {
	value := make([]byte, 256)
	for i := range value {
		value[i] = byte(i)
	}
	return string(value)
}

// distant is an expiry that no test reaches.
var distant = time.Date(2100, 2, 28, 23, 59, 59, 0, time.UTC)
