package filestore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrSharing is the error of [Simulate] for what Windows refuses because a file is open.
var ErrSharing = errors.New("the file is open in this process")

// Simulate makes this package as strict as Windows is in the worst case: this process cannot
// replace or remove a file that it has open, and cannot write a directory to disk. It reports false
// on systems where it cannot find out which files are open. The function that it returns ends the
// simulation. Tests that use it do not run in parallel.
func Simulate() (end func(), ok bool) {
	if _, err := openFiles(); err != nil {
		return func() {}, false
	}
	current = strict{}
	return func() { current = native{} }, true
}

// strict is a system with the rules of Windows.
type strict struct{ native }

func (s strict) rename(from, to string) error {
	if err := errors.Join(mustBeClosed("rename", from), mustBeClosed("rename", to)); err != nil {
		return err
	}
	return s.native.rename(from, to)
}

func (s strict) remove(path string) error {
	if err := mustBeClosed("remove", path); err != nil {
		return err
	}
	return s.native.remove(path)
}

func (strict) syncDir(string) error { return nil }

func mustBeClosed(op, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil // there is no file that could be open
	}
	open, err := openFiles()
	if err != nil {
		return err
	}
	for _, other := range open {
		if os.SameFile(info, other) {
			return &fs.PathError{Op: op, Path: path, Err: ErrSharing}
		}
	}
	return nil
}

// openFiles returns the files that this process has open.
func openFiles() ([]fs.FileInfo, error) {
	const descriptors = "/proc/self/fd"
	entries, err := os.ReadDir(descriptors)
	if err != nil {
		return nil, err
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(descriptors, e.Name())); err == nil {
			files = append(files, info)
		}
	}
	return files, nil
}
