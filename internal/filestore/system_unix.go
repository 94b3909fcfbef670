//go:build unix

package filestore

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// WithoutWaiting is a flag for opening a file: a named pipe is opened at once, without waiting for
// the program at its other end.
const WithoutWaiting = syscall.O_NONBLOCK

// native is the operating system.
type native struct{ locks }

func (native) open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag|WithoutWaiting, perm)
}

func (native) rename(from, to string) error { return os.Rename(from, to) }
func (native) remove(path string) error     { return os.Remove(path) }

func (native) syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
