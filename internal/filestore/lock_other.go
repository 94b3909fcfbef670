//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package filestore

import (
	"errors"
	"os"
)

// tryLock has nothing to lock files with here: stores and ledgers in files, which
// other processes may write too, cannot be used.
func tryLock(f *os.File) (bool, error) {
	return false, &os.PathError{Op: "lock", Path: f.Name(), Err: errors.ErrUnsupported}
}

func unlock(*os.File) error { return nil }
