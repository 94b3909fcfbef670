// Package filestore has what the stores and ledgers in files share: a lock between processes, the
// replacement of a file as a whole, and a directory of records. A lock ends with the process that
// holds it.
package filestore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/lookleap/lookleap/internal/coded"
)

// ErrBusy means that another process kept a file locked for too long.
var ErrBusy = coded.New("io", "the file is locked by another process")

// MaxWait is the longest wait for a lock. Its holders write a few kilobytes.
const MaxWait = 10 * time.Second

// Lock is a lock between goroutines and processes, held on a file. If the file was
// removed, it is created again: otherwise two processes would lock two files.
type Lock struct {
	mu   sync.Mutex
	file *os.File
}

// Open opens the lock in a file, and creates the file if it does not exist.
func Open(path string) (*Lock, error) {
	f, err := OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &Lock{file: f}, nil
}

// OpenOn opens the lock of a directory, which leaves no file there: it is held on the directory itself
// or, on Windows, on a file of the user's temporary directory.
func OpenOn(dir string) (*Lock, error) {
	if runtime.GOOS == "windows" {
		return openApart(dir)
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	return &Lock{file: f}, nil
}

// openApart opens the lock of a directory in the user's temporary directory.
func openApart(dir string) (*Lock, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(dir))
	return Open(filepath.Join(os.TempDir(), "lookleap-"+hex.EncodeToString(sum[:16])+".lock"))
}

// With runs f while the lock is held.
func (l *Lock) With(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	deadline := time.NewTimer(MaxWait)
	defer deadline.Stop()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		held, err := l.try()
		if err != nil {
			return err
		}
		if held {
			return errors.Join(f(), Unlock(l.file))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return fmt.Errorf("%w: %s", ErrBusy, l.file.Name())
		case <-time.After(pause):
		}
	}
}

// try takes the lock if it is free and its file is still at the path.
func (l *Lock) try() (bool, error) {
	if free, err := TryLock(l.file); !free || err != nil {
		return false, err
	}
	path := l.file.Name()
	at, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, errors.Join(err, Unlock(l.file))
	}
	mine, serr := l.file.Stat()
	if serr != nil {
		return false, errors.Join(serr, Unlock(l.file))
	}
	if os.SameFile(at, mine) { // a missing file is not the same
		return true, nil
	}
	next, err := OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return false, errors.Join(err, Unlock(l.file))
	}
	_ = l.file.Close() // and its lock
	l.file = next
	return false, nil
}

// Close closes the file of the lock.
func (l *Lock) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}

// Replace replaces the content of a file, completely or not at all, through a
// temporary file in the same directory. The caller holds a lock and has closed the file.
func Replace(path, temporary string, content ...[]byte) error {
	f, err := OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(bytes.Join(content, nil))
	if err = errors.Join(err, current.sync(f), f.Close()); err == nil {
		err = current.rename(temporary, path)
	}
	if err != nil {
		_ = Remove(temporary)
		return err
	}
	return SyncDir(filepath.Dir(path))
}
