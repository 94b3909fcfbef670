package dvs

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
)

// Materialize writes the skills to a directory that does not exist yet or is
// empty, for programs that need real files. Its parent has to exist. A directory
// that exists stays the same one with the same permissions, so that it may be the
// working directory. There are no links, no file can be run without being told to
// (permissions are 0644), and whatever the names are, nothing is written outside
// of the directory.
//
// All is written to a directory named .dvs-partial-* first, in the target or, if
// that does not exist, beside it; then it takes its place. On an error nothing is
// left. What a killed process left is removed by the next Materialize to the same
// target, unless a process that still runs is writing there.
func (v *VerifiedFS) Materialize(dir string) error {
	if v == nil {
		return usageError("there is no file system", "make it with NewVerifiedFS")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return writeError(dir, err)
	}
	for _, directory := range slices.Sorted(maps.Keys(v.sources)) {
		if refused := v.withdrawn(directory); refused != nil {
			return refused
		}
	}
	exists, err := checkTarget(dir)
	if err != nil {
		return err
	}
	parent, pattern := dir, partialPrefix
	if !exists {
		parent, pattern = filepath.Dir(dir), partialPrefix+filepath.Base(dir)+"-"
	}
	if err := removeLeftovers(parent, pattern); err != nil {
		return err
	}
	if exists {
		if err := checkEmpty(dir); err != nil {
			return err
		}
	}
	p, err := newPartial(parent, pattern)
	if err != nil {
		return writeError(dir, err)
	}
	defer p.remove()
	if err := v.write(p.path(partialNew)); err != nil {
		return writeError(dir, err)
	}
	if exists {
		err = p.moveInto(dir)
	} else {
		err = os.Rename(p.path(partialNew), dir)
	}
	if err != nil {
		return writeError(dir, err)
	}
	return nil
}

func writeError(dir string, err error) error {
	return &lookleap.Error{Code: lookleap.CodeIO, Subject: dir, Message: "the skills could not be written", Err: err}
}

// checkTarget reports whether a target exists. It refuses one that leads elsewhere or is no directory.
func checkTarget(dir string) (exists bool, err error) {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, writeError(dir, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return false, refuse(CodeLink, dir, "the directory is a link", "give the directory itself")
	case !info.IsDir():
		return false, refuse(lookleap.CodeIO, dir, "a file stands where the directory should be", "give another path")
	}
	return true, nil
}

func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return writeError(dir, err)
	}
	if len(entries) > 0 {
		if first := entries[0].Name(); strings.HasPrefix(first, partialPrefix) {
			return refuse(lookleap.CodeIO, filepath.Join(dir, first), "another process is writing skills here, or one that was killed left this directory", "wait for that process, or remove the directory yourself")
		}
		return refuse(lookleap.CodeIO, dir, "the directory is not empty", "give a new directory, and remove the old one yourself")
	}
	return nil
}

// write creates every node below a directory, through a root that no name can
// leave.
func (v *VerifiedFS) write(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range slices.Sorted(maps.Keys(v.nodes)) { // a directory before what is in it
		n := v.nodes[name]
		switch {
		case name == ".":
		case n.IsDir():
			err = root.Mkdir(filepath.FromSlash(name), 0o755)
		default:
			err = writeNew(root, filepath.FromSlash(name), n.content)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeNew writes a file that must not exist.
func writeNew(root *os.Root, name string, content []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}
