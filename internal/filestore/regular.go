package filestore

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

var (
	// ErrNotRegular is the error for a pipe, a device, a socket or a directory in the place of a file.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge is the error for a file that is larger than the caller allows.
	ErrTooLarge = errors.New("the file is too large")
)

// OpenRegular opens a regular file for reading. A pipe would block the program until another one writes to
// it, and a device can be endless, so the error for them wraps [ErrNotRegular].
func OpenRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|WithoutWaiting, 0)
	return regular(path, f, err)
}

// ReadFile returns the content of a regular file. The error for a file with more than limit bytes
// wraps [ErrTooLarge].
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if int64(len(data)) > limit {
		err = &fs.PathError{Op: "read", Path: path, Err: ErrTooLarge}
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// regular closes a file that is not a regular one, and returns an error for it. A link to a file that
// does not exist is not a regular file: it never counts as a missing one.
func regular(path string, f *os.File, err error) (*os.File, error) {
	if errors.Is(err, fs.ErrNotExist) {
		if info, exists := os.Lstat(path); exists == nil && !info.Mode().IsRegular() {
			err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
		}
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: f.Name(), Err: ErrNotRegular}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// WriteWhole writes a file through a new one next to it: all of it or nothing. Only with sync does that
// hold after a crash of the machine too.
func WriteWhole(path string, content []byte, perm fs.FileMode, sync bool) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".lookleap-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after the renaming there is nothing to remove
	_, err = f.Write(content)
	if sync && err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Chmod(perm), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
