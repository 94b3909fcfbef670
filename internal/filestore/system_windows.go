package filestore

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// WithoutWaiting is a flag for opening a file. Windows needs none: opening a file does not wait.
const WithoutWaiting = 0

// native is the operating system. It opens and renames files through [os.Root], which opens them
// so that they can be deleted while they are open, and renames as POSIX demands.
type native struct{}

func (native) open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.OpenFile(filepath.Base(path), flag, perm)
}

func (native) rename(from, to string) error {
	if filepath.Dir(from) != filepath.Dir(to) {
		return os.Rename(from, to)
	}
	dir, err := os.OpenRoot(filepath.Dir(from))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Rename(filepath.Base(from), filepath.Base(to))
}

func (native) remove(path string) error { return os.Remove(path) }

// syncDir does nothing: Windows has no call for it and keeps a journal of names.
func (native) syncDir(string) error { return nil }

// lockedByte returns the only byte that is locked. It lies behind the end of every file, because
// Windows lets no one else read locked bytes.
func lockedByte() *windows.Overlapped {
	return &windows.Overlapped{Offset: math.MaxUint32 - 1, OffsetHigh: math.MaxInt32}
}

func (native) tryLock(f *os.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	switch err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, lockedByte()); {
	case err == nil:
		return true, nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return false, nil
	default:
		return false, &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
}

func (native) unlock(f *os.File) error {
	if err := windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, lockedByte()); err != nil {
		return &fs.PathError{Op: "unlock", Path: f.Name(), Err: err}
	}
	return nil
}
