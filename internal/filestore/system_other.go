//go:build !unix && !windows

package filestore

import (
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

// syncDir does nothing: these systems have no call for it.
func (native) syncDir(string) error { return nil }
