package agent

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/lookleap/lookleap/internal/plugin"
)

// Store keeps a user's small records across sessions, as bytes under keys that
// begin with a word and a slash. Get gives an error for which
// errors.Is(err, fs.ErrNotExist) holds when there is nothing, Create one for which
// errors.Is(err, fs.ErrExist) holds when there is something. Any other error of
// a Store stops the disclosure that needed it. A Store belongs to one user, is
// called from several goroutines at once, and holds personal data.
//
// [NewMemoryStore] and [OpenDirStore] are the two that come with the package.
type Store interface {
	Get(ctx context.Context, key string) ([]byte, error)
	Put(ctx context.Context, key string, value []byte) error
	// Create is Put where there is nothing yet. Of several callers at the same
	// moment, in other processes too, one succeeds.
	Create(ctx context.Context, key string, value []byte) error
	// Delete removes a record; there being none is no error.
	Delete(ctx context.Context, key string) error
	// Keys lists the keys that begin with a prefix, in any order.
	Keys(ctx context.Context, prefix string) ([]string, error)
}

// NewMemoryStore is a store that ends with the process. Several sessions of one
// user may share it.
func NewMemoryStore() Store { return &memoryStore{records: make(map[string][]byte)} }

type memoryStore struct {
	mu      sync.RWMutex
	records map[string][]byte
}

func (m *memoryStore) Get(_ context.Context, key string) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	value, ok := m.records[key]
	if !ok {
		return nil, noRecord(key)
	}
	return bytes.Clone(value), nil
}

func (m *memoryStore) Put(_ context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[key] = bytes.Clone(value)
	return nil
}

func (m *memoryStore) Create(_ context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.records[key]; ok {
		return recordExists(key)
	}
	m.records[key] = bytes.Clone(value)
	return nil
}

func (m *memoryStore) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, key)
	return nil
}

func (m *memoryStore) Keys(_ context.Context, prefix string) ([]string, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var keys []string
	for key := range m.records {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

func noRecord(key string) error {
	return fmt.Errorf("anml/agent: the store has nothing under %q: %w", key, fs.ErrNotExist)
}

func recordExists(key string) error {
	return fmt.Errorf("anml/agent: the store has something under %q: %w", key, fs.ErrExist)
}

// store is the user's store as the session uses it: a panic in it is an error,
// and without one nothing is kept.
func (s *Session) store() Store {
	if s.user.Store == nil {
		return noStore{}
	}
	if own, ok := s.user.Store.(*memoryStore); ok {
		return own
	}
	return guardedStore{s.user.Store, s.agent.plugins.store}
}

// keeps reports whether anything outlives the session.
func (s *Session) keeps() bool { return s.user.Store != nil }

type noStore struct{}

func (noStore) Get(_ context.Context, key string) ([]byte, error)       { return nil, noRecord(key) }
func (noStore) Put(context.Context, string, []byte) error               { return nil }
func (noStore) Create(context.Context, string, []byte) error            { return nil }
func (noStore) Delete(context.Context, string) error                    { return nil }
func (noStore) Keys(context.Context, string) (keys []string, err error) { return nil, nil }

type guardedStore struct {
	store Store
	bound *plugin.Bound
}

func (g guardedStore) Get(ctx context.Context, key string) ([]byte, error) {
	return plugin.Await(ctx, g.bound, func(ctx context.Context) ([]byte, error) { return g.store.Get(ctx, key) })
}

func (g guardedStore) Put(ctx context.Context, key string, value []byte) error {
	return do(ctx, g.bound, func(ctx context.Context) error { return g.store.Put(ctx, key, value) })
}

func (g guardedStore) Create(ctx context.Context, key string, value []byte) error {
	return do(ctx, g.bound, func(ctx context.Context) error { return g.store.Create(ctx, key, value) })
}

func (g guardedStore) Delete(ctx context.Context, key string) error {
	return do(ctx, g.bound, func(ctx context.Context) error { return g.store.Delete(ctx, key) })
}

func (g guardedStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	keys, err := plugin.Await(ctx, g.bound, func(ctx context.Context) ([]string, error) { return g.store.Keys(ctx, prefix) })
	if err != nil {
		return nil, err
	}
	// Records are deleted by what is listed here, so nothing else may be among it.
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !strings.HasPrefix(key, prefix) }), nil
}

// guard turns the panic of a host's plug-in into an error.
func guard(part string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("anml/agent: the host's %s panicked: %v", part, p)
	}
}
