//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package filestore

import (
	"errors"
	"io/fs"
	"os"
)

// locks has no call for locks: what other processes may write too cannot be kept in files here.
type locks struct{}

func (locks) tryLock(f *os.File) (bool, error) {
	return false, &fs.PathError{Op: "lock", Path: f.Name(), Err: errors.ErrUnsupported}
}

func (locks) unlock(*os.File) error { return nil }
