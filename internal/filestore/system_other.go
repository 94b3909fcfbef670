//go:build !unix && !windows

package filestore

import (
	"io/fs"
	"os"
)

// WithoutWaiting is a flag for opening a file. These systems need none: opening a file does not wait.
const WithoutWaiting = 0

// native is the operating system.
type native struct{ locks }

func (native) open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm)
}

func (native) rename(from, to string) error { return os.Rename(from, to) }
func (native) remove(path string) error     { return os.Remove(path) }

// syncDir does nothing: these systems have no call for it.
func (native) syncDir(string) error { return nil }
