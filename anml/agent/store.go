package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/lookleap/lookleap/internal/plugin"
)

// Store keeps a user's small records across sessions, as bytes under keys that begin
// with a word and a slash. For a missing record, Get returns an error that wraps
// fs.ErrNotExist; for an existing one, Create returns an error that wraps fs.ErrExist.
// Any other error stops the disclosure that needed the record. A Store belongs to one
// user, holds personal data, and must be safe for concurrent use.
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
	return fmt.Errorf("the store has no record %q: %w", key, fs.ErrNotExist)
}

func recordExists(key string) error {
	return fmt.Errorf("the store already has a record %q: %w", key, fs.ErrExist)
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
	// Listed records are deleted, so a foreign key must not be among them.
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !strings.HasPrefix(key, prefix) }), nil
}

// DirStore is a [Store] in a directory, with one file for each record that only its
// owner can read. A record is written completely or not at all, and is on disk when Put
// returns. Several processes may use one directory. A damaged record is an error and
// never counts as missing.
type DirStore struct {
	dir  string
	lock *lockFile // of writers; readers see the old file or the new one
}

// maxRecord is the largest record of a DirStore, in bytes.
const maxRecord = 64 << 20

// temporaryName is the file that the writer writes before it is renamed. OpenDirStore
// removes what a crash left of it.
const temporaryName = ".new"

// OpenDirStore opens the store in a directory, and makes the directory if it does not
// exist. An empty path is an error with the code usage. Close the store after use.
func OpenDirStore(dir string) (*DirStore, error) {
	if dir == "" {
		return nil, missing("the store has no path", "name a directory")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := openLock(filepath.Join(dir, ".lock"))
	if err != nil {
		return nil, err
	}
	d := &DirStore{dir, lock}
	err = lock.with(context.Background(), func() error {
		if err := os.Remove(filepath.Join(dir, temporaryName)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// ready returns an error unless OpenDirStore opened the store.
func (d *DirStore) ready() error {
	if d == nil || d.lock == nil {
		return missing("the store is not open", "open it with OpenDirStore")
	}
	return nil
}

// Get returns a record.
func (d *DirStore) Get(ctx context.Context, key string) ([]byte, error) {
	if err := d.ready(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found, value, err := d.read(d.file(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noRecord(key)
	}
	if err == nil && found != key {
		err = fmt.Errorf("%w: it is the record of another key", errRecord)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record %q: %w", key, err)
	}
	return value, nil
}

// Put writes a record and replaces the previous one.
func (d *DirStore) Put(ctx context.Context, key string, value []byte) error {
	return d.write(ctx, key, value, func() error { return nil })
}

// Create writes a record that does not exist yet. A damaged record counts as existing:
// Create returns an error for it.
func (d *DirStore) Create(ctx context.Context, key string, value []byte) error {
	return d.write(ctx, key, value, func() error {
		_, err := os.Lstat(d.file(key))
		if err == nil {
			return recordExists(key)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

// write writes a record unless test returns an error; test runs under the lock.
func (d *DirStore) write(ctx context.Context, key string, value []byte, test func() error) error {
	if err := d.ready(); err != nil {
		return err
	}
	head := recordHead(key, value)
	if len(head)+len(key)+len(value) > maxRecord {
		return fmt.Errorf("the record %q is larger than %d bytes", key, maxRecord)
	}
	return d.lock.with(ctx, func() error {
		if err := test(); err != nil {
			return err
		}
		return replaceFile(d.file(key), filepath.Join(d.dir, temporaryName), head, []byte(key), value)
	})
}

// Delete removes a record.
func (d *DirStore) Delete(ctx context.Context, key string) error {
	if err := d.ready(); err != nil {
		return err
	}
	return d.lock.with(ctx, func() error {
		if err := os.Remove(d.file(key)); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		return syncDir(d.dir)
	})
}

// Keys returns the keys that begin with a prefix. A damaged record is an error, since
// its key might be one of them.
func (d *DirStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	if err := d.ready(); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(d.dir)
	if err != nil {
		return nil, err
	}
	word, _, whole := strings.Cut(prefix, "/")
	var keys []string
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		name := f.Name()
		if strings.HasPrefix(name, ".") || whole && !strings.HasPrefix(name, fileWord(word)+"-") {
			continue
		}
		key, _, err := d.read(filepath.Join(d.dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist): // deleted meanwhile
		case err != nil:
			return nil, fmt.Errorf("reading %s: %w", name, err)
		case strings.HasPrefix(key, prefix):
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// Close closes the store. Later calls return an error.
func (d *DirStore) Close() error {
	if err := d.ready(); err != nil {
		return err
	}
	return d.lock.close()
}

// file returns the path of a record: the key's word, for people, and the key's hash,
// since a key may be a URL.
func (d *DirStore) file(key string) string {
	word, _, _ := strings.Cut(key, "/")
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(d.dir, fileWord(word)+"-"+hex.EncodeToString(sum[:16]))
}

// fileWord returns the word at the beginning of a key for a file name.
func fileWord(word string) string {
	word = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, word)
	return word[:min(len(word), 32)]
}

// A record's file is a header line, then the key and the value.
const recordForm = "lookleap record %d %d %x\n"

var errRecord = errors.New("the record is damaged")

func recordHead(key string, value []byte) []byte {
	return fmt.Appendf(nil, recordForm, len(key), len(value), recordSum([]byte(key), value))
}

func recordSum(key, value []byte) []byte {
	h := sha256.New()
	h.Write(key)
	h.Write(value)
	return h.Sum(nil)
}

func (d *DirStore) read(path string) (key string, value []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxRecord+1))
	if err != nil {
		return "", nil, err
	}
	return parseRecord(data)
}

func parseRecord(data []byte) (key string, value []byte, err error) {
	head, rest, ok := bytes.Cut(data, []byte("\n"))
	var keyLen, valueLen int
	var sum []byte
	if n, err := fmt.Sscanf(string(head)+"\n", recordForm, &keyLen, &valueLen, &sum); !ok || n != 3 || err != nil {
		return "", nil, errRecord
	}
	if keyLen < 0 || keyLen > len(rest) || valueLen != len(rest)-keyLen ||
		!bytes.Equal(sum, recordSum(rest[:keyLen], rest[keyLen:])) {
		return "", nil, errRecord
	}
	return string(rest[:keyLen]), rest[keyLen:], nil
}
