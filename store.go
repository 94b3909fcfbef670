package lookleap

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/filestore"
)

// Store keeps small records that must not be lost, as bytes under keys that begin with a word
// and a slash: which plans were carried out ([Host].Plans), and what one user agreed to or refused
// in the document packages. A store of a user holds personal data and belongs to that user alone.
//
// Any error other than those that the methods name stops what needed the record, so a store that
// fails never permits anything.
//
// What an engine must guarantee: each method is atomic across all processes, and is called from
// several goroutines at once. A Get or Keys that begins after a Put or Delete has returned sees
// its effect, in each process. What was acknowledged survives a crash. A damaged record is an error
// and never counts as missing. Package lookleaptest tests an engine.
type Store interface {
	// Get returns a record. The error for a missing record is [fs.ErrNotExist].
	Get(ctx context.Context, key string) ([]byte, error)
	// Put stores a record if the stored one still equals old; nil means that there is none yet.
	// Otherwise it changes nothing and returns [ErrConflict]. Of concurrent calls with the same
	// old record, exactly one succeeds. A store may drop the record after until; the zero time
	// means that it is kept.
	Put(ctx context.Context, key string, old, value []byte, until time.Time) error
	// Delete removes a record. A missing record is not an error.
	Delete(ctx context.Context, key string) error
	// Keys returns the keys that begin with a prefix, in any order.
	Keys(ctx context.Context, prefix string) ([]string, error)
}

// ErrConflict is the error of a [Store] for a record that was changed since it was read.
var ErrConflict = coded.New(string(CodeConflict), "the record was changed since it was read")

// ErrBusy means that another process kept the directory of a [Store], or the file of a ledger,
// locked for too long.
var ErrBusy = filestore.ErrBusy

// maxRecordTries is how often a change of a record is tried again because another process was
// faster. Each time one of them succeeds.
const maxRecordTries = 32

// UpdateRecord replaces a record of a store by what change makes of it; nil stands for no record.
// It writes nothing if change returns nil or an error. If another process changes the record
// meanwhile, UpdateRecord calls change again, at most 32 times; then it returns [ErrConflict].
func UpdateRecord(ctx context.Context, s Store, key string, until time.Time, change func(old []byte) ([]byte, error)) error {
	if s == nil || change == nil {
		return usageError("a record needs a store and a change")
	}
	for range maxRecordTries {
		old, err := s.Get(ctx, key)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			old = nil
		case err != nil:
			return err
		case old == nil:
			old = []byte{} // there is a record
		}
		value, err := change(old)
		if err != nil || value == nil {
			return err
		}
		if err := s.Put(ctx, key, old, value, until); !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return ErrConflict
}

// NewMemoryStore returns a store in memory, for the parts of one process that share it.
func NewMemoryStore() Store { return &memoryStore{records: make(map[string]memoryRecord)} }

type memoryStore struct {
	mu      sync.RWMutex
	records map[string]memoryRecord
	sweep   int // how many records there are when old ones are dropped next
}

type memoryRecord struct {
	value []byte
	drop  time.Time // by the monotonic clock; zero: never
}

func (m *memoryStore) Get(_ context.Context, key string) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	r, ok := m.records[key]
	if !ok {
		return nil, filestore.Missing(key)
	}
	return bytes.Clone(r.value), nil
}

func (m *memoryStore) Put(_ context.Context, key string, old, value []byte, until time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	stored, exists := m.records[key]
	if exists == (old == nil) || !bytes.Equal(stored.value, old) {
		return ErrConflict
	}
	r, now := memoryRecord{value: append([]byte{}, value...)}, time.Now()
	if !until.IsZero() {
		r.drop = now.Add(until.Sub(now))
	}
	if m.records[strings.Clone(key)] = r; len(m.records) > m.sweep {
		maps.DeleteFunc(m.records, func(_ string, r memoryRecord) bool { return !r.drop.IsZero() && now.After(r.drop) })
		m.sweep = 2*len(m.records) + 100
	}
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
	slices.Sort(keys)
	return keys, nil
}

// FileStore is a [Store] in a directory, with one file for each record that only its owner can
// read. A record is written completely or not at all, and is on disk when Put returns. Several
// processes may use one directory; a lock ends with the process that holds it. A FileStore drops
// nothing by itself.
type FileStore struct{ dir *filestore.Dir }

// OpenStore opens the store in a directory, on a file system with locks, which only the agent may
// write to. The directory must exist: a store that is empty because a disk is not mounted would
// let plans run again and forget what the user refused. Close the store after use.
func OpenStore(dir string) (*FileStore, error) {
	if dir == "" {
		return nil, usageError("the directory of the store has no name")
	}
	_, err := os.Stat(dir)
	if err != nil {
		return nil, &Error{Code: CodeIO, Subject: dir, Message: "the store cannot be opened", Err: err,
			Fix: "make the directory, so that only the agent can read and write it"}
	}
	d, err := filestore.OpenDir(dir)
	if err != nil {
		return nil, &Error{Code: CodeIO, Subject: dir, Message: "the store cannot be opened", Err: err,
			Fix: "make the directory writable for the agent, on a file system with locks"}
	}
	return &FileStore{d}, nil
}

// Get returns a record.
func (f *FileStore) Get(ctx context.Context, key string) ([]byte, error) {
	if err := f.ready(); err != nil {
		return nil, err
	}
	return f.dir.Get(ctx, key)
}

// Put stores a record if the stored one still equals old.
func (f *FileStore) Put(ctx context.Context, key string, old, value []byte, _ time.Time) error {
	if err := f.ready(); err != nil {
		return err
	}
	return f.dir.Write(ctx, key, value, func(stored []byte, exists bool) error {
		if exists == (old == nil) || !bytes.Equal(stored, old) {
			return ErrConflict
		}
		return nil
	})
}

// Delete removes a record.
func (f *FileStore) Delete(ctx context.Context, key string) error {
	if err := f.ready(); err != nil {
		return err
	}
	return f.dir.Delete(ctx, key)
}

// Keys returns the keys that begin with a prefix. A damaged record is an error, since its key
// might be one of them.
func (f *FileStore) Keys(ctx context.Context, prefix string) ([]string, error) {
	if err := f.ready(); err != nil {
		return nil, err
	}
	return f.dir.Keys(ctx, prefix)
}

// Close closes the store. Later writes return an error.
func (f *FileStore) Close() error {
	if err := f.ready(); err != nil {
		return err
	}
	return f.dir.Close()
}

// ready returns an error unless OpenStore opened the store.
func (f *FileStore) ready() error {
	if f == nil || f.dir == nil {
		return usageError("the store is not open: open it with OpenStore")
	}
	return nil
}
