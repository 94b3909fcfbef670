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

// DirStore is a [Store] in a directory, one file for each record, readable by
// its owner alone. A record is written as a whole or not at all, and is on disk
// when Put returns. Several processes may use one directory at a time. A record
// that was damaged is an error, never an absence.
type DirStore struct {
	dir  string
	lock *lockFile // of writers; readers see the old file or the new one
}

// maxRecord bounds a record of a directory, in octets.
const maxRecord = 64 << 20

// temporaryName is the file that the one writer writes. What a crash leaves in
// it is removed.
const temporaryName = ".new"

// OpenDirStore opens the store in a directory, which it makes where there is none. The
// working directory is "."; an empty path is an error with the code usage.
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

// Get gives a record.
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
		return nil, fmt.Errorf("anml/agent: reading the record %q: %w", key, err)
	}
	return value, nil
}

// Put writes a record in the place of the one before.
func (d *DirStore) Put(ctx context.Context, key string, value []byte) error {
	return d.write(ctx, key, value, func() error { return nil })
}

// Create writes a record where there is none. A damaged one is one.
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

// write writes a record unless a test, made under the lock, forbids it.
func (d *DirStore) write(ctx context.Context, key string, value []byte, test func() error) error {
	if err := d.ready(); err != nil {
		return err
	}
	head := recordHead(key, value)
	if len(head)+len(key)+len(value) > maxRecord {
		return fmt.Errorf("anml/agent: the record %q is larger than %d octets", key, maxRecord)
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

// Keys lists the keys that begin with a prefix. A damaged record is an error:
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
			return nil, fmt.Errorf("anml/agent: reading %s: %w", name, err)
		case strings.HasPrefix(key, prefix):
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// Close ends the use of the directory.
func (d *DirStore) Close() error {
	if err := d.ready(); err != nil {
		return err
	}
	return d.lock.close()
}

// file is where a record is: the key's word, for people, and the key's hash,
// since a key may be a URL.
func (d *DirStore) file(key string) string {
	word, _, _ := strings.Cut(key, "/")
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(d.dir, fileWord(word)+"-"+hex.EncodeToString(sum[:16]))
}

// fileWord is the word at the beginning of a key as part of a file name.
func fileWord(word string) string {
	word = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, word)
	return word[:min(len(word), 32)]
}

// A record's file is a line of ours and the key and value as they are.
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
