//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filestore

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

type locks struct{}

func (locks) tryLock(f *os.File) (bool, error) {
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case err == nil:
		return true, nil
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
		return false, nil
	default:
		return false, &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
}

func (locks) unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
