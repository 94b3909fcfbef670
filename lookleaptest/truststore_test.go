package lookleaptest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/dvs"
)

func TestOurTrustStores(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		TestTrustStore(t, Engine[dvs.TrustStore]{Open: func(testing.TB, string) dvs.TrustStore { return dvs.NewMemoryTrustStore() }, Private: true})
	})
	t.Run("directory", func(t *testing.T) {
		open, at := inDirectory(func(t testing.TB, dir string) dvs.TrustStore {
			s, err := dvs.OpenTrustStore(dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s
		})
		TestTrustStore(t, Engine[dvs.TrustStore]{Open: open, Damage: cutFiles(at)})
	})
	t.Run("back-end", func(t *testing.T) {
		accepts(t, sharedTrust(func(b *backEnd) dvs.TrustStore { return goodTrust{goodStore{b}} }), trustPromises)
	})
}

func TestBrokenTrustStores(t *testing.T) {
	all := map[string]func(*backEnd) dvs.TrustStore{
		"missing-record": func(b *backEnd) dvs.TrustStore {
			return otherStore{goodTrust{goodStore{b}}, emptyForMissing{goodStore{b}}}
		},
		"get-returns-what-was-put": func(b *backEnd) dvs.TrustStore { return halfRecords{goodTrust{goodStore{b}}} },
		"keys-with-each-byte":      func(b *backEnd) dvs.TrustStore { return foldsTrust{goodTrust{goodStore{b}}} },
		"put-compares":             func(b *backEnd) dvs.TrustStore { return putsAlways{goodTrust{goodStore{b}}} },
		"one-of-many-writers":      func(b *backEnd) dvs.TrustStore { return comparesThenPuts{goodTrust{goodStore{b}}} },
		"delete": func(b *backEnd) dvs.TrustStore {
			return otherStore{goodTrust{goodStore{b}}, deleteMissingFails{goodStore{b}}}
		},
		"list-by-prefix":        func(b *backEnd) dvs.TrustStore { return otherStore{goodTrust{goodStore{b}}, globs{goodStore{b}}} },
		"caller-owns-its-bytes": func(*backEnd) dvs.TrustStore { return &trustAliases{records: map[string][]byte{}} },
		"cancellation":          func(b *backEnd) dvs.TrustStore { return deletesThenPuts{goodTrust{goodStore{b}}} },
		"shared-data":           func(*backEnd) dvs.TrustStore { return dvs.NewMemoryTrustStore() },
		"back-end-hangs": func(b *backEnd) dvs.TrustStore {
			return otherStore{goodTrust{goodStore{b}}, missingWhenDown{goodStore{b}}}
		},
		"damaged-data": func(b *backEnd) dvs.TrustStore {
			return otherStore{goodTrust{goodStore{b}}, missingWhenDamaged{goodStore{b}}}
		},
	}
	covers(t, trustPromises, all)
	for promise, broken := range all {
		t.Run(promise, func(t *testing.T) { rejects(t, sharedTrust(broken), trustPromises, promise) })
	}
}

func sharedTrust(open func(*backEnd) dvs.TrustStore) func() Engine[dvs.TrustStore] {
	return func() Engine[dvs.TrustStore] {
		backs := newBackEnds()
		return Engine[dvs.TrustStore]{
			Open:   func(_ testing.TB, name string) dvs.TrustStore { return open(backs.get(name)) },
			Damage: backs.damage, Hang: backs.stop,
		}
	}
}

// goodTrust is a correct store over a back end.
type goodTrust struct{ store goodStore }

func (s goodTrust) Get(ctx context.Context, key string) ([]byte, error) { return s.store.Get(ctx, key) }
func (s goodTrust) Delete(ctx context.Context, key string) error        { return s.store.Delete(ctx, key) }
func (s goodTrust) List(ctx context.Context, prefix string) ([]string, error) {
	return s.store.Keys(ctx, prefix)
}

func (s goodTrust) Put(ctx context.Context, key string, old, value []byte) error {
	if err := s.store.wait(ctx); err != nil {
		return err
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	stored, ok := s.store.entries[key]
	if ok != (old != nil) || ok && !bytes.Equal(stored.value, sealed(old)) {
		return dvs.ErrTrustConflict
	}
	s.store.entries[key] = backEntry{sealed(value), distant}
	return nil
}

// otherStore is a store whose Get, Delete and List are those of a broken one.
type otherStore struct {
	goodTrust
	broken agent.Store
}

func (s otherStore) Get(ctx context.Context, key string) ([]byte, error) {
	return s.broken.Get(ctx, key)
}
func (s otherStore) Delete(ctx context.Context, key string) error { return s.broken.Delete(ctx, key) }
func (s otherStore) List(ctx context.Context, prefix string) ([]string, error) {
	return s.broken.Keys(ctx, prefix)
}

// halfRecords returns the beginning of a long record.
type halfRecords struct{ goodTrust }

func (s halfRecords) Get(ctx context.Context, key string) ([]byte, error) {
	value, err := s.goodTrust.Get(ctx, key)
	return value[:min(len(value), 65535)], err
}

// foldsTrust ignores the letter case of keys.
type foldsTrust struct{ goodTrust }

func (s foldsTrust) Get(ctx context.Context, key string) ([]byte, error) {
	return s.goodTrust.Get(ctx, strings.ToLower(key))
}

func (s foldsTrust) Put(ctx context.Context, key string, old, value []byte) error {
	return s.goodTrust.Put(ctx, strings.ToLower(key), old, value)
}

// putsAlways does not compare.
type putsAlways struct{ goodTrust }

func (s putsAlways) Put(ctx context.Context, key string, _, value []byte) error {
	return s.store.Put(ctx, key, value)
}

// comparesThenPuts compares and writes in two steps.
type comparesThenPuts struct{ goodTrust }

func (s comparesThenPuts) Put(ctx context.Context, key string, old, value []byte) error {
	stored, err := s.Get(ctx, key)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if (err == nil) != (old != nil) || !bytes.Equal(stored, old) {
		return dvs.ErrTrustConflict
	}
	time.Sleep(time.Microsecond)
	return s.store.Put(ctx, key, value)
}

// trustAliases stores the slices of its callers.
type trustAliases struct {
	goodTrust
	records map[string][]byte
}

func (s *trustAliases) Get(_ context.Context, key string) ([]byte, error) {
	value, ok := s.records[key]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return value, nil
}

func (s *trustAliases) Put(_ context.Context, key string, _, value []byte) error {
	s.records[key] = value
	return nil
}

// deletesThenPuts loses a record if it is interrupted.
type deletesThenPuts struct{ goodTrust }

func (s deletesThenPuts) Put(ctx context.Context, key string, old, value []byte) error {
	if old != nil {
		if err := s.Delete(context.WithoutCancel(ctx), key); err != nil {
			return err
		}
	}
	return s.goodTrust.Put(ctx, key, nil, value)
}
