package agent

import (
	"context"
	"slices"
	"strings"

	"github.com/lookleap/lookleap/internal/filestore"
	"github.com/lookleap/lookleap/internal/plugin"
)

// ErrBusy means that another process kept a file locked for too long.
var ErrBusy = filestore.ErrBusy

// Store keeps a user's small records across sessions, as bytes under keys that begin
// with a word and a slash. For a missing record, Get returns an error that wraps
// fs.ErrNotExist; for an existing one, Create returns an error that wraps fs.ErrExist.
// Any other error stops the disclosure that needed the record. A Store belongs to one
// user, holds personal data, and must be safe for concurrent use.
//
// What an engine must guarantee: each method is atomic, Create also across all processes. A
// Get that begins after a Put or Create has returned sees its value, in each process. What
// was acknowledged survives a crash: a consent that was withdrawn must not come back.
//
// [NewMemoryStore] and [OpenDirStore] are the implementations of this package.
type Store interface {
	Get(ctx context.Context, key string) ([]byte, error)
	Put(ctx context.Context, key string, value []byte) error
	// Create stores a record that does not exist yet. Of concurrent calls for one key,
	// in any process, exactly one succeeds.
	Create(ctx context.Context, key string, value []byte) error
	// Delete removes a record. A missing record is not an error.
	Delete(ctx context.Context, key string) error
	// Keys returns the keys that begin with a prefix, in any order.
	Keys(ctx context.Context, prefix string) ([]string, error)
}

// NewMemoryStore returns a store in memory. Several sessions of one user may share it.
func NewMemoryStore() Store { return new(memoryStore) }

type memoryStore struct{ filestore.Memory }

func (m *memoryStore) Put(_ context.Context, key string, value []byte) error {
	return m.Write(key, value, func([]byte, bool) error { return nil })
}

// store returns the user's store, with panics as errors, or one that keeps nothing.
func (s *Session) store() Store {
	if s.user.Store == nil {
		return noStore{}
	}
	if own, ok := s.user.Store.(*memoryStore); ok {
		return own
	}
	return guardedStore{s.user.Store, s.agent.plugins.store}
}

// keeps reports whether the user has a store.
func (s *Session) keeps() bool { return s.user.Store != nil }

type noStore struct{}

func (noStore) Get(_ context.Context, key string) ([]byte, error)       { return nil, filestore.Missing(key) }
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
	// Listed records are deleted, so a foreign key must not be among them.
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !strings.HasPrefix(key, prefix) }), nil
}

// DirStore is a [Store] in a directory, with one file for each record that only its
// owner can read. A record is written completely or not at all, and is on disk when Put
// returns. Several processes may use one directory. A damaged record is an error and
// never counts as missing.
type DirStore struct{ dir *filestore.Dir }

// OpenDirStore opens the store in a directory, and makes the directory if it does not
// exist. An empty path is an error with the code usage. Close the store after use.
func OpenDirStore(dir string) (*DirStore, error) {
	if dir == "" {
		return nil, missing("the store has no path", "name a directory")
	}
	d, err := filestore.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	return &DirStore{d}, nil
}

// ready returns an error unless OpenDirStore opened the store.
func (d *DirStore) ready() error {
	if d == nil || d.dir == nil {
		return missing("the store is not open", "open it with OpenDirStore")
	}
	return nil
}

// Get returns a record.
func (d *DirStore) Get(ctx context.Context, key string) ([]byte, error) {
	if err := d.ready(); err != nil {
		return nil, err
	}
	return d.dir.Get(ctx, key)
}

// Put writes a record and replaces the previous one.
func (d *DirStore) Put(ctx context.Context, key string, value []byte) error {
	if err := d.ready(); err != nil {
		return err
	}
	return d.dir.Write(ctx, key, value, func() error { return nil })
}

// Create writes a record that does not exist yet. A damaged record counts as existing:
// Create returns an error for it.
func (d *DirStore) Create(ctx context.Context, key string, value []byte) error {
	if err := d.ready(); err != nil {
		return err
	}
	return d.dir.Create(ctx, key, value)
}

// Delete removes a record.
func (d *DirStore) Delete(ctx context.Context, key string) error {
	if err := d.ready(); err != nil {
		return err
	}
	return d.dir.Delete(ctx, key)
}

// Keys returns the keys that begin with a prefix. A damaged record is an error, since
// its key might be one of them.
func (d *DirStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	if err := d.ready(); err != nil {
		return nil, err
	}
	return d.dir.Keys(ctx, prefix)
}

// Close closes the store. Later calls return an error.
func (d *DirStore) Close() error {
	if err := d.ready(); err != nil {
		return err
	}
	return d.dir.Close()
}
