package dvs

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/filestore"
)

// TrustStore keeps what one user decided about skills and trust roots, as bytes under keys that
// begin with a word and a slash. It belongs to one user and must be safe for concurrent use, also
// by several processes. [Options].Trust passes it to a [Loader], which owns the format of the
// records: see [TrustRecord].
//
// Any error other than those that the methods name stops what needed the record, so that a store
// that fails never permits anything. [NewMemoryTrustStore] and [OpenTrustStore] are the
// implementations of this package.
type TrustStore interface {
	// Get returns a record. The error for a missing record wraps [fs.ErrNotExist].
	Get(ctx context.Context, key string) ([]byte, error)
	// Put stores a record if the stored one still equals old; nil means that there is none yet.
	// Otherwise it changes nothing and returns [ErrTrustConflict]. Of concurrent calls with the
	// same old record, in any process, exactly one succeeds. The record is durable when Put returns.
	Put(ctx context.Context, key string, old, value []byte) error
	// List returns the keys that begin with a prefix, in any order.
	List(ctx context.Context, prefix string) ([]string, error)
	// Delete removes a record. A missing record is not an error.
	Delete(ctx context.Context, key string) error
}

// ErrTrustConflict is the error of a [TrustStore] for a record that was changed since it was read.
var ErrTrustConflict = coded.New(string(CodeTrustConflict), "the trust record was changed since it was read")

// MaxTrustRecord is the largest record that a [Loader] stores, in bytes.
const MaxTrustRecord = 8 << 20

// NewMemoryTrustStore returns a store in memory. Several loaders of one user may share it.
func NewMemoryTrustStore() TrustStore { return new(memoryTrustStore) }

type memoryTrustStore struct{ filestore.Memory }

func (m *memoryTrustStore) Put(_ context.Context, key string, old, value []byte) error {
	return m.Write(key, value, func(stored []byte, exists bool) error {
		if exists == (old == nil) || !bytes.Equal(stored, old) {
			return ErrTrustConflict
		}
		return nil
	})
}

func (m *memoryTrustStore) List(ctx context.Context, prefix string) ([]string, error) {
	return m.Keys(ctx, prefix)
}

// FileTrustStore is a [TrustStore] in a directory, with one file for each record that only its
// owner can read. A record is written completely or not at all, and is on disk when Put returns,
// so a process that is killed leaves the old record or the new one. Several processes may use one
// directory; a lock ends with the process that holds it. A damaged record is an error and never
// counts as missing.
type FileTrustStore struct{ dir *filestore.Dir }

// OpenTrustStore opens the store in a directory, and makes the directory if it does not exist. An
// empty path is an error with the code usage. Close the store after use.
func OpenTrustStore(dir string) (*FileTrustStore, error) {
	if dir == "" {
		return nil, usageError("the trust store has no path", "name a directory")
	}
	d, err := filestore.OpenDir(dir)
	if err != nil {
		return nil, &lookleap.Error{Code: CodeTrustStore, Subject: dir, Message: "the trust store cannot be opened", Err: err,
			Fix: "make the directory writable for the agent"}
	}
	return &FileTrustStore{d}, nil
}

// ready returns an error unless OpenTrustStore opened the store.
func (f *FileTrustStore) ready() error {
	if f == nil || f.dir == nil {
		return usageError("the trust store is not open", "open it with OpenTrustStore")
	}
	return nil
}

// Get returns a record.
func (f *FileTrustStore) Get(ctx context.Context, key string) ([]byte, error) {
	if err := f.ready(); err != nil {
		return nil, err
	}
	return f.dir.Get(ctx, key)
}

// Put stores a record if the stored one still equals old.
func (f *FileTrustStore) Put(ctx context.Context, key string, old, value []byte) error {
	if err := f.ready(); err != nil {
		return err
	}
	return f.dir.Write(ctx, key, value, func() error {
		stored, err := f.dir.Get(ctx, key)
		missing := errors.Is(err, fs.ErrNotExist)
		switch {
		case err != nil && !missing:
			return err
		case missing != (old == nil), !bytes.Equal(stored, old):
			return ErrTrustConflict
		}
		return nil
	})
}

// List returns the keys that begin with a prefix, in alphabetical order. A damaged record is an
// error, since its key might be one of them.
func (f *FileTrustStore) List(ctx context.Context, prefix string) ([]string, error) {
	if err := f.ready(); err != nil {
		return nil, err
	}
	keys, err := f.dir.Keys(ctx, prefix)
	slices.Sort(keys)
	return keys, err
}

// Delete removes a record.
func (f *FileTrustStore) Delete(ctx context.Context, key string) error {
	if err := f.ready(); err != nil {
		return err
	}
	return f.dir.Delete(ctx, key)
}

// Close closes the store. Later writes return an error.
func (f *FileTrustStore) Close() error {
	if err := f.ready(); err != nil {
		return err
	}
	return f.dir.Close()
}
