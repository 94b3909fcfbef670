package dvs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lookleap/lookleap"
)

// A partial directory holds a tree until it takes its place. A process that writes to it holds the
// lock file; a lock that nobody holds says that the process was killed.
const (
	partialPrefix = ".dvs-partial-"
	partialNew    = "new"   // the tree
	partialLock   = "lock"  // locked while the directory is in use
	partialNames  = "names" // of what was or will be moved to the directory above, one a line
)

type partial struct {
	dir  string
	lock *os.File
}

func newPartial(parent, pattern string) (*partial, error) {
	dir, err := os.MkdirTemp(parent, pattern+"*")
	if err != nil {
		return nil, err
	}
	p := &partial{dir: dir}
	p.lock, err = os.OpenFile(p.path(partialLock), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil && !tryLock(p.lock) {
		err = errors.New("the lock of a new directory is taken")
	}
	if err == nil {
		err = os.Mkdir(p.path(partialNew), 0o755)
	}
	if err == nil {
		err = os.Chmod(p.path(partialNew), 0o755) // whatever the umask
	}
	if err != nil {
		p.remove()
		return nil, err
	}
	return p, nil
}

func (p *partial) path(name string) string { return filepath.Join(p.dir, name) }

// remove removes the directory. The names go while it is locked: without the lock, they say what another
// process has to remove.
func (p *partial) remove() {
	os.Remove(p.path(partialNames))
	if p.lock != nil {
		p.lock.Close()
	}
	os.RemoveAll(p.dir)
}

// moveInto moves every entry of the tree to a directory, and takes all back on an error. The names
// are written before, so that a later process can do that too.
func (p *partial) moveInto(dir string) error {
	entries, err := os.ReadDir(p.path(partialNew))
	if err != nil {
		return err
	}
	var names strings.Builder
	for _, e := range entries {
		fmt.Fprintln(&names, e.Name())
	}
	if err := os.WriteFile(p.path(partialNames), []byte(names.String()), 0o600); err != nil {
		return err
	}
	for i, e := range entries {
		target := filepath.Join(dir, e.Name())
		if _, err = os.Lstat(target); err == nil {
			err = &fs.PathError{Op: "rename", Path: target, Err: fs.ErrExist}
		} else {
			err = os.Rename(filepath.Join(p.path(partialNew), e.Name()), target)
		}
		if err != nil {
			for _, moved := range entries[:i] {
				err = errors.Join(err, os.RemoveAll(filepath.Join(dir, moved.Name())))
			}
			return err
		}
	}
	return nil
}

// removeLeftovers removes the partial directories of processes that were killed, and what they had
// moved to the directory above.
func removeLeftovers(parent, pattern string) error {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return writeError(parent, err)
	}
	for _, e := range entries {
		random, ok := strings.CutPrefix(e.Name(), pattern)
		if !ok || strings.Trim(random, "0123456789") != "" {
			continue
		}
		if info, err := e.Info(); err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 || !isOwn(info) {
			continue // another user may have put it there, to have something removed
		}
		if err := removeLeftover(parent, filepath.Join(parent, e.Name())); err != nil {
			return &lookleap.Error{Code: lookleap.CodeIO, Subject: filepath.Join(parent, e.Name()), Message: "what a killed process left here cannot be removed", Fix: "remove it yourself", Err: err}
		}
	}
	return nil
}

func removeLeftover(parent, dir string) error {
	lock, err := os.OpenFile(filepath.Join(dir, partialLock), os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist): // a process is just making it
		return nil
	case err != nil:
		return err
	}
	defer lock.Close()
	if !tryLock(lock) {
		return nil
	}
	names, err := os.ReadFile(filepath.Join(dir, partialNames))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for name := range strings.FieldsSeq(string(names)) {
		if !isDirectoryName(name) {
			return fmt.Errorf("%s has a name that was not written by Materialize", partialNames)
		}
		if err := os.RemoveAll(filepath.Join(parent, name)); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}
