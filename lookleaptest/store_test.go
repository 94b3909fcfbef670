package lookleaptest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap/anml/agent"
)

func TestOurStores(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		TestStore(t, Engine[agent.Store]{Open: func(testing.TB, string) agent.Store { return agent.NewMemoryStore() }, Private: true})
	})
	t.Run("directory", func(t *testing.T) {
		open, at := inDirectory(func(t testing.TB, dir string) agent.Store {
			d, err := agent.OpenDirStore(dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			return d
		})
		TestStore(t, Engine[agent.Store]{Open: open, Damage: cutFiles(at)})
	})
	t.Run("back-end", func(t *testing.T) {
		accepts(t, sharedStores(func(b *backEnd) agent.Store { return goodStore{b} }), storePromises)
	})
}

func TestBrokenStores(t *testing.T) {
	all := map[string]func(*backEnd) agent.Store{
		"missing-record":           func(b *backEnd) agent.Store { return emptyForMissing{goodStore{b}} },
		"get-returns-what-was-put": func(b *backEnd) agent.Store { return keepsFirst{goodStore{b}} },
		"keys-with-each-byte":      func(b *backEnd) agent.Store { return foldsStore{goodStore{b}} },
		"create-once":              func(b *backEnd) agent.Store { return createReplaces{goodStore{b}} },
		"one-of-many-creators":     func(b *backEnd) agent.Store { return looksThenCreates{goodStore{b}} },
		"delete":                   func(b *backEnd) agent.Store { return deleteMissingFails{goodStore{b}} },
		"keys-by-prefix":           func(b *backEnd) agent.Store { return globs{goodStore{b}} },
		"caller-owns-its-bytes":    func(*backEnd) agent.Store { return &aliases{records: map[string][]byte{}} },
		"concurrent-use":           func(b *backEnd) agent.Store { return &tornStore{goodStore: goodStore{b}} },
		"cancellation":             func(b *backEnd) agent.Store { return deletesBeforePut{goodStore{b}} },
		"shared-data":              func(*backEnd) agent.Store { return agent.NewMemoryStore() },
		"back-end-hangs":           func(b *backEnd) agent.Store { return missingWhenDown{goodStore{b}} },
		"damaged-data":             func(b *backEnd) agent.Store { return missingWhenDamaged{goodStore{b}} },
	}
	covers(t, storePromises, all)
	for promise, broken := range all {
		t.Run(promise, func(t *testing.T) { rejects(t, sharedStores(broken), storePromises, promise) })
	}
}

func sharedStores(open func(*backEnd) agent.Store) func() Engine[agent.Store] {
	return func() Engine[agent.Store] {
		backs := newBackEnds()
		return Engine[agent.Store]{
			Open:   func(_ testing.TB, name string) agent.Store { return open(backs.get(name)) },
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
	return append(bytes.Clone(value), twin...)
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

func (s goodStore) Put(ctx context.Context, key string, value []byte) error {
	return s.backEnd.Put(ctx, key, sealed(value), distant)
}

func (s goodStore) Create(ctx context.Context, key string, value []byte) error {
	if err := s.wait(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.entries[key]; ok {
		return fs.ErrExist
	}
	s.entries[key] = backEntry{sealed(value), distant}
	return nil
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

// emptyForMissing returns an empty value for a missing record.
type emptyForMissing struct{ goodStore }

func (s emptyForMissing) Get(ctx context.Context, key string) ([]byte, error) {
	value, err := s.goodStore.Get(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return value, err
}

// keepsFirst does not replace a record.
type keepsFirst struct{ goodStore }

func (s keepsFirst) Put(ctx context.Context, key string, value []byte) error {
	if err := s.Create(ctx, key, value); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// foldsStore makes keys valid UTF-8.
type foldsStore struct{ goodStore }

func (s foldsStore) Get(ctx context.Context, key string) ([]byte, error) {
	return s.goodStore.Get(ctx, strings.ToValidUTF8(key, "?"))
}

func (s foldsStore) Put(ctx context.Context, key string, value []byte) error {
	return s.goodStore.Put(ctx, strings.ToValidUTF8(key, "?"), value)
}

// createReplaces returns the right error after it has replaced the record.
type createReplaces struct{ goodStore }

func (s createReplaces) Create(ctx context.Context, key string, value []byte) error {
	err := s.goodStore.Create(ctx, key, value)
	if errors.Is(err, fs.ErrExist) {
		_ = s.Put(ctx, key, value)
	}
	return err
}

// looksThenCreates creates in two steps.
type looksThenCreates struct{ goodStore }

func (s looksThenCreates) Create(ctx context.Context, key string, value []byte) error {
	if _, err := s.Get(ctx, key); err == nil {
		return fs.ErrExist
	}
	time.Sleep(time.Microsecond)
	return s.Put(ctx, key, value)
}

// deleteMissingFails returns an error for a missing record.
type deleteMissingFails struct{ goodStore }

func (s deleteMissingFails) Delete(ctx context.Context, key string) error {
	if _, err := s.Get(ctx, key); err != nil {
		return err
	}
	return s.goodStore.Delete(ctx, key)
}

// globs takes a prefix for a pattern.
type globs struct{ goodStore }

func (s globs) Keys(ctx context.Context, prefix string) ([]string, error) {
	prefix, _, _ = strings.Cut(prefix, "*")
	return s.goodStore.Keys(ctx, prefix)
}

// aliases stores the slices of its callers.
type aliases struct {
	agent.Store
	mu      sync.Mutex
	records map[string][]byte
}

func (s *aliases) Get(_ context.Context, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records[key], nil
}

func (s *aliases) Put(_ context.Context, key string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records[key] = value
	return nil
}

func (s *aliases) Create(ctx context.Context, key string, value []byte) error {
	return s.Put(ctx, key, bytes.Clone(value))
}

// tornStore reads the two halves of a value one after the other.
type tornStore struct{ goodStore }

func (s *tornStore) Get(ctx context.Context, key string) ([]byte, error) {
	first, err := s.goodStore.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	time.Sleep(time.Microsecond)
	second, err := s.goodStore.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	half := len(second) / 2
	return append(bytes.Clone(first[:min(half, len(first))]), second[half:]...), nil
}

// deletesBeforePut loses a record if it is interrupted.
type deletesBeforePut struct{ goodStore }

func (s deletesBeforePut) Put(ctx context.Context, key string, value []byte) error {
	if err := s.Delete(context.WithoutCancel(ctx), key); err != nil {
		return err
	}
	return s.goodStore.Put(ctx, key, value)
}

// missingWhenDown reports a failure of the back end as a missing record.
type missingWhenDown struct{ goodStore }

func (s missingWhenDown) Get(ctx context.Context, key string) ([]byte, error) {
	value, err := s.goodStore.Get(ctx, key)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	return value, nil
}

// missingWhenDamaged takes a damaged record for a missing one.
type missingWhenDamaged struct{ goodStore }

func (s missingWhenDamaged) Get(ctx context.Context, key string) ([]byte, error) {
	value, err := s.goodStore.Get(ctx, key)
	if errors.Is(err, errDamaged) {
		return nil, fs.ErrNotExist
	}
	return value, err
}
