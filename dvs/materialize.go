package dvs

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/lookleap/lookleap"
)

// Materialize writes the skills to a directory that does not exist yet or is
// empty, for programs that need real files. Its parent has to exist. All is
// written beside it first and then takes its place at once: on an error nothing
// is left. There are no links, no file can be run without being told to
// (permissions are 0644), and whatever the names are, nothing is written outside
// of the directory.
func (v *VerifiedFS) Materialize(dir string) error {
	if v == nil {
		return missing("there is no file system", "make it with NewVerifiedFS")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("dvs: materialize: %w", err)
	}
	for _, directory := range slices.Sorted(maps.Keys(v.sources)) {
		if refused := v.withdrawn(directory); refused != nil {
			return fmt.Errorf("dvs: materialize: %w", refused)
		}
	}
	if err := checkTarget(dir); err != nil {
		return err
	}
	beside, err := os.MkdirTemp(filepath.Dir(dir), ".dvs-*")
	if err != nil {
		return fmt.Errorf("dvs: materialize: %w", err)
	}
	defer os.RemoveAll(beside) // after the renaming there is nothing to remove
	if err := v.write(beside); err != nil {
		return fmt.Errorf("dvs: materialize: %w", err)
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("dvs: materialize: %w", err)
	}
	if err := os.Rename(beside, dir); err != nil {
		return fmt.Errorf("dvs: materialize: %w", err)
	}
	return nil
}

// checkTarget refuses a target that holds something, or leads elsewhere.
func checkTarget(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("dvs: materialize: %w", err)
	case info.Mode()&fs.ModeSymlink != 0:
		return refuse(lookleap.CodeLink, dir, "the directory is a link", "give the directory itself")
	case !info.IsDir():
		return refuse(lookleap.CodeIO, dir, "a file stands where the directory should be", "give another path")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("dvs: materialize: %w", err)
	}
	if len(entries) > 0 {
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
	if err := root.Chmod(".", 0o755); err != nil {
		return err
	}
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
