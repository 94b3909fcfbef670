package dvs

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
)

// Materialize writes the skills to a directory that does not exist or is empty, for programs that
// need real files. Its parent has to exist. An existing directory keeps its identity and
// permissions, so it can be the working directory. Files have the permissions 0644 less the
// umask, there are no links, and nothing is written outside the directory.
//
// The files are first written to a directory named .dvs-partial-* in the target, or next to it if
// the target does not exist, and then moved. After an error nothing is left. The next Materialize
// to the same target removes the leftovers of a killed process, but not those of a running one.
func (v *VerifiedFS) Materialize(dir string) error {
	if v == nil {
		return usageError("there is no file system", "make it with NewVerifiedFS")
	}
	dir, err := absolute(dir)
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

// absolute returns the path of a target. That of the working directory has no links, although the
// shell may have come to it by one.
func absolute(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err == nil && filepath.Clean(dir) == "." {
		return filepath.EvalSymlinks(path)
	}
	return path, err
}

func writeError(dir string, err error) error {
	return &lookleap.Error{Code: lookleap.CodeIO, Subject: dir, Message: "the skills could not be written", Err: err}
}

// checkTarget reports whether a target exists. It refuses a link and a file.
func checkTarget(dir string) (exists bool, err error) {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, writeError(dir, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return false, refuse(CodeLink, dir, "the directory is a link", "use the path of the directory itself")
	case !info.IsDir():
		return false, refuse(lookleap.CodeIO, dir, "the path is a file, not a directory", "use another path")
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
			return refuse(lookleap.CodeIO, filepath.Join(dir, first),
				"another process is writing skills here, or one that was killed left this directory", "wait for that process, or remove the directory yourself")
		}
		return refuse(lookleap.CodeIO, dir, "the directory is not empty", "use a new directory, and remove the old one yourself")
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

// A partial directory holds a tree until it takes its place. A process that writes to it holds the
// lock file; a lock file that is not locked means that the process was killed.
const (
	partialPrefix = ".dvs-partial-"
	partialNew    = "new"   // the tree
	partialLock   = "lock"  // locked while the directory is in use
	partialNames  = "names" // of what was or will be moved to the directory above, one a line
)

// beingMade is how long a partial directory may have no lock file while a process makes it.
const beingMade = time.Minute

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
	p.lock, err = newLocked(p.path(partialLock))
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

// newLocked makes a lock file, which is locked when it gets its name: another process removes a
// directory whose lock file is not locked.
func newLocked(path string) (*os.File, error) {
	f, err := os.OpenFile(path+".new", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if !tryLock(f) {
		err = errors.New("the new lock file is already locked")
	} else if renamesOpen {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (p *partial) path(name string) string { return filepath.Join(p.dir, name) }

// remove removes the directory. It removes the list of names while the lock is held: without the
// lock, another process would remove the files with these names.
func (p *partial) remove() {
	os.Remove(p.path(partialNames))
	if p.lock != nil {
		p.lock.Close()
	}
	_ = removePartial(p.dir)
}

// removePartial removes a partial directory. The lock file goes last: by it, a later process knows
// what this one could not remove, perhaps because too many files are open.
func removePartial(dir string) error {
	if err := os.RemoveAll(filepath.Join(dir, partialNew)); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// moveInto moves every entry of the tree to a directory, and moves all back on an error. It writes
// the list of names first, so that a later process can finish or undo it.
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

// removeLeftovers removes the partial directories of killed processes, and the entries that these
// had already moved.
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
			return &lookleap.Error{Code: lookleap.CodeIO, Subject: filepath.Join(parent, e.Name()),
				Message: "the leftovers of a killed process cannot be removed", Fix: "remove it yourself", Err: err}
		}
	}
	return nil
}

func removeLeftover(parent, dir string) error {
	lock, err := os.OpenFile(filepath.Join(dir, partialLock), os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist): // a process is just making or removing it, or was killed
		if info, err := os.Stat(dir); err != nil || time.Since(info.ModTime()) < beingMade {
			return nil
		}
		return os.RemoveAll(dir)
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
		if _, err := os.Lstat(filepath.Join(dir, partialNew, name)); err == nil {
			continue // it was not moved, so what has the name is someone else's
		}
		if err := os.RemoveAll(filepath.Join(parent, name)); err != nil {
			return err
		}
	}
	return removePartial(dir)
}

// nameDirectories assigns a directory to every bundle that was not refused. Names from lockfiles
// are kept. Skills that share a name get names derived from their URLs, and these are assigned
// before plain names. So the result does not depend on the order of the bundles, and no skill can
// take the directory of another.
func nameDirectories(bundles []*preparedBundle, locks ...*Lockfile) {
	n := directoryNames{taken: map[string]bool{}, given: map[string]string{}}
	for _, lock := range locks {
		if lock == nil {
			continue
		}
		for _, s := range lock.Skills {
			if n.given[s.URL] == "" && isDirectoryName(s.Directory) && n.take(s.Directory) {
				n.given[s.URL] = s.Directory
			}
		}
	}
	var open []*preparedBundle
	same := map[string]int{}
	for _, p := range bundles {
		if p.report.Err != nil {
			continue
		}
		p.report.Directory = n.given[p.ID]
		if p.report.Directory == "" {
			open = append(open, p)
			same[directoryName(p.skill.Name)]++
		}
	}
	slices.SortFunc(open, func(a, b *preparedBundle) int { return strings.Compare(a.ID, b.ID) })
	for _, alone := range []bool{false, true} {
		for _, p := range open {
			plain := directoryName(p.skill.Name)
			switch {
			case alone != (same[plain] == 1):
			case alone && n.take(plain):
				p.report.Directory = plain
			default:
				p.report.Directory = n.derive(plain, p.ID)
				if p.report.Directory == "" {
					p.report.Err = refuse(CodeNameClash, p.ID, "other skills have every name that this one could have",
						"use different names")
				}
			}
		}
	}
}

// directoryNames are the names that are in use, and those from lockfiles by the URLs of their skills.
type directoryNames struct {
	taken map[string]bool
	given map[string]string
}

// take takes a name, unless another skill has it.
func (n *directoryNames) take(directory string) bool {
	free := !n.taken[directory]
	n.taken[directory] = true
	return free
}

// derive takes the shortest free name that ends with a part of the digest of the skill's URL; "" if
// there is none.
func (n *directoryNames) derive(plain, id string) string {
	digest := DigestOf([]byte(id))
	for size := 6; size < len(digest); size++ {
		suffix := fmt.Sprintf("-%x", digest[:size])
		directory := strings.TrimRight(plain[:min(len(plain), maxName-len(suffix))], "-") + suffix
		if n.take(directory) {
			return directory
		}
	}
	return ""
}

// isDirectoryName reports whether a name is one that directoryName makes.
func isDirectoryName(name string) bool { return name == directoryName(name) }

// directoryName makes the name of a skill's directory: one that strict loaders
// accept as a name too. Of a name that is one already, it is that name.
func directoryName(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= maxName {
			break
		}
	}
	slug := strings.Trim(b.String(), "-")
	if slug == "" {
		return "skill"
	}
	if isDevice(slug) {
		return "skill-" + slug
	}
	return slug
}
