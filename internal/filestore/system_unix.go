//go:build unix

package filestore

import (
	"errors"
	"io/fs"
	"os"
)

// native is the operating system.
type native struct{ locks }

func (native) open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm)
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
