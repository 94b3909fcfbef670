package filestore

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
	"strings"

	"github.com/lookleap/lookleap/internal/plaintext"
)

// Dir is a directory of records under keys that begin with a word and a slash: one file for each
// record, which only its owner can read. A record is written completely or not at all, and is on
// disk when the call returns. Several processes may use one directory. A damaged record is an error
// and never counts as missing.
type Dir struct {
	dir  string
	lock *Lock // of writers; readers see the old file or the new one
}

// MaxRecord is the largest record of a Dir, in bytes.
const MaxRecord = 64 << 20

// TemporaryName is the file that the writer writes before it is renamed. OpenDir removes what a
// crash left of it.
const TemporaryName = ".new"

// OpenDir opens a directory, and makes it if it does not exist.
func OpenDir(dir string) (*Dir, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := Open(filepath.Join(dir, ".lock"))
	if err != nil {
		return nil, err
	}
	d := &Dir{dir, lock}
	err = lock.With(context.Background(), func() error {
		if err := Remove(filepath.Join(dir, TemporaryName)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Missing returns the error for a record that does not exist. It wraps fs.ErrNotExist.
func Missing(key string) error {
	return fmt.Errorf("the store has no record %s: %w", plaintext.Quote(key, 200), fs.ErrNotExist)
}

// Get returns a record. The error for a missing one wraps fs.ErrNotExist.
func (d *Dir) Get(ctx context.Context, key string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found, value, err := d.read(d.File(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Missing(key)
	}
	if err == nil && found != key {
		err = fmt.Errorf("%w: it is the record of another key", ErrDamaged)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record %s: %w", plaintext.Quote(key, 200), err)
	}
	return value, nil
}

// Write writes a record unless test returns an error. Test gets the record that is there, and runs
// while no other writer can change the directory.
func (d *Dir) Write(ctx context.Context, key string, value []byte, test func(stored []byte, exists bool) error) error {
	head := recordHead(key, value)
	if len(head)+len(key)+len(value) > MaxRecord {
		return fmt.Errorf("the record %s is larger than %d bytes", plaintext.Quote(key, 200), MaxRecord)
	}
	return d.lock.With(ctx, func() error {
		stored, err := d.Get(ctx, key)
		exists := !errors.Is(err, fs.ErrNotExist)
		if exists && err != nil {
			return err
		}
		if err := test(stored, exists); err != nil {
			return err
		}
		return Replace(d.File(key), filepath.Join(d.dir, TemporaryName), head, []byte(key), value)
	})
}

// Delete removes a record. A missing record is not an error.
func (d *Dir) Delete(ctx context.Context, key string) error {
	return d.lock.With(ctx, func() error {
		if err := Remove(d.File(key)); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		return SyncDir(d.dir)
	})
}

// Keys returns the keys that begin with a prefix. A damaged record is an error, since its key might
// be one of them.
func (d *Dir) Keys(ctx context.Context, prefix string) ([]string, error) {
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

// Close closes the directory. Later writes return an error.
func (d *Dir) Close() error { return d.lock.Close() }

// File returns the path of a record: the key's word, for people, and the key's hash, since a key
// may be a URL.
func (d *Dir) File(key string) string {
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

// ErrDamaged is the error of a record that is not as it was written.
var ErrDamaged = errors.New("the record is damaged")

func recordHead(key string, value []byte) []byte {
	return fmt.Appendf(nil, recordForm, len(key), len(value), recordSum([]byte(key), value))
}

func recordSum(key, value []byte) []byte {
	h := sha256.New()
	h.Write(key)
	h.Write(value)
	return h.Sum(nil)
}

func (d *Dir) read(path string) (key string, value []byte, err error) {
	f, err := OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, MaxRecord))
	if err != nil {
		return "", nil, err
	}
	return parseRecord(data)
}

func parseRecord(data []byte) (key string, value []byte, err error) {
	head, rest, ok := bytes.Cut(data, []byte("\n"))
	var keyLen, valueLen int
	var sum []byte
	if _, err := fmt.Sscanf(string(head)+"\n", recordForm, &keyLen, &valueLen, &sum); !ok || err != nil {
		return "", nil, ErrDamaged
	}
	if keyLen < 0 || keyLen > len(rest) || valueLen != len(rest)-keyLen ||
		!bytes.Equal(sum, recordSum(rest[:keyLen], rest[keyLen:])) {
		return "", nil, ErrDamaged
	}
	return string(rest[:keyLen]), rest[keyLen:], nil
}
