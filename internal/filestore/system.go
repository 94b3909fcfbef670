package filestore

import (
	"io/fs"
	"os"
)

// system is what this package asks the operating system for. Three things differ between systems.
// Windows does not rename over a file or remove a file that is open, unless every process has
// opened it for that; [OpenFile] does. Windows cannot write a directory to disk, and does not need
// it: its file system keeps a journal of names. And each system locks files by calls of its own.
// Tests replace the system by one that is as strict as Windows: see [Simulate].
type system interface {
	open(path string, flag int, perm fs.FileMode) (*os.File, error)
	rename(from, to string) error
	remove(path string) error
	sync(f *os.File) error
	syncDir(dir string) error
	tryLock(f *os.File) (bool, error)
	unlock(f *os.File) error
}

var current system = native{}

func (native) sync(f *os.File) error { return f.Sync() }

// OpenFile opens a regular file as os.OpenFile does, so that other processes can replace and remove
// it. The error for a pipe, a device and a directory wraps [ErrNotRegular].
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := current.open(path, flag, perm)
	return regular(path, f, err)
}

// Remove removes a file. On Windows, it fails if this process or another one has the file open
// without the help of [OpenFile].
func Remove(path string) error { return current.remove(path) }

// SyncDir writes the names in a directory to disk, on systems that need a call for it.
func SyncDir(dir string) error { return current.syncDir(dir) }

// TryLock takes the lock of an open file, also against other processes, and reports whether it was
// free. The lock ends with [Unlock], when the file is closed, and with the process. It does not
// keep others from reading the file. On a system without locks, it returns an error that wraps
// [errors.ErrUnsupported].
func TryLock(f *os.File) (bool, error) { return current.tryLock(f) }

// Unlock releases the lock.
func Unlock(f *os.File) error { return current.unlock(f) }
