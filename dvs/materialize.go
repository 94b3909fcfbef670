package dvs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/filestore"
)

// Materialize writes the skills to a directory that does not exist or is empty, for programs that
// need real files. Its parent has to exist. An existing directory keeps its identity and
// permissions, so it can be the working directory. Files have the permissions 0644, or 0755 if they
// may be run, less the umask, there are no links, and nothing is written outside the directory.
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
	for _, directory := range slices.Sorted(maps.Keys(v.skills)) {
		if refused := v.skills[directory].withdrawn(); refused != nil {
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
	if err := removeLeftovers(parent, pattern, exists); err != nil {
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
	err = v.write(p.path(partialNew))
	switch {
	case err != nil:
	case exists:
		err = p.moveInto(dir)
	default:
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

// write writes all files to a new directory, through a root that no name can leave.
func (v *VerifiedFS) write(dir string) error {
	err := os.Mkdir(dir, 0o755)
	if err == nil {
		err = os.Chmod(dir, 0o755) // whatever the umask
	}
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, s := range v.skills {
		for name, f := range s.tree {
			if f.Mode.IsDir() {
				continue
			}
			name = filepath.FromSlash(name)
			if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return err
			}
			if err := root.WriteFile(name, f.Data, 0o644|f.Mode&0o111); err != nil {
				return err
			}
		}
	}
	return nil
}

// A partial directory holds a tree until it takes its place. The process that writes to it holds a
// lock on the directory, so one that is not locked was left by a process that was killed.
const (
	partialPrefix = ".dvs-partial-"
	partialNew    = "new"   // the tree
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
	if p.lock, err = os.Open(dir); err != nil {
		p.remove()
		return nil, err
	}
	_, _ = filestore.TryLock(p.lock) // without it, the directory of a running process is removed, whose write then fails
	return p, nil
}

func (p *partial) path(name string) string { return filepath.Join(p.dir, name) }

// remove removes the directory. It removes the list of names while the lock is held: without the
// lock, another process would remove the files with these names.
func (p *partial) remove() {
	os.Remove(p.path(partialNames))
	if p.lock != nil {
		p.lock.Close()
	}
	os.RemoveAll(p.dir)
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

// removeLeftovers removes the partial directories of killed processes and, from an existing target,
// the entries that these had already moved there.
func removeLeftovers(parent, pattern string, moved bool) error {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return writeError(parent, err)
	}
	for _, e := range entries {
		random, ok := strings.CutPrefix(e.Name(), pattern)
		if info, err := e.Info(); !ok || strings.Trim(random, "0123456789") != "" ||
			err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
			continue // another user may have put it there, to have something removed
		}
		dir := filepath.Join(parent, e.Name())
		if err := removeLeftover(dir, moved); err != nil {
			return &lookleap.Error{Code: lookleap.CodeIO, Subject: dir,
				Message: "the leftovers of a killed process cannot be removed", Fix: "remove it yourself", Err: err}
		}
	}
	return nil
}

func removeLeftover(dir string, moved bool) error {
	lock, err := os.Open(dir)
	if err != nil {
		return err
	}
	p := &partial{dir, lock}
	if free, err := filestore.TryLock(lock); !free || err != nil {
		return lock.Close() // a process is writing to it, or that is not known on this system
	}
	names, err := os.ReadFile(p.path(partialNames))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, lock.Close())
	}
	for name := range strings.FieldsSeq(string(names)) {
		_, err := os.Lstat(p.path(filepath.Join(partialNew, name)))
		switch {
		case !isDirectoryName(name):
			err = fmt.Errorf("%s has a name that was not written by Materialize", partialNames)
		case err == nil || !moved:
			continue // it was not moved, so what has the name is someone else's
		default:
			err = os.RemoveAll(filepath.Join(filepath.Dir(dir), name))
		}
		if err != nil {
			return errors.Join(err, lock.Close())
		}
	}
	p.remove()
	return nil
}

// nameDirectories assigns a directory to every bundle that was not refused. Names from lockfiles
// are kept. Skills that share a name get names derived from their URLs, and these are assigned
// before plain names. So the result does not depend on the order of the bundles, and no skill can
// take the directory of another.
func nameDirectories(bundles []*preparedBundle, locks ...*Lockfile) {
	taken, given := map[string]bool{}, map[string]string{}
	take := func(directory string) bool {
		free := !taken[directory]
		taken[directory] = true
		return free
	}
	for _, lock := range locks {
		if lock == nil {
			continue
		}
		for _, s := range lock.Skills {
			if given[s.URL] == "" && isDirectoryName(s.Directory) && take(s.Directory) {
				given[s.URL] = s.Directory
			}
		}
	}
	var open []*preparedBundle
	same := map[string]int{}
	for _, p := range bundles {
		if p.report.Err != nil {
			continue
		}
		p.report.Directory = given[p.ID]
		if p.report.Directory == "" {
			open = append(open, p)
			same[DirectoryName(p.skill.Name)]++
		}
	}
	sharing := func(p *preparedBundle) int { return min(same[DirectoryName(p.skill.Name)], 2) } // 1: the name is its own
	slices.SortFunc(open, func(a, b *preparedBundle) int {
		return cmp.Or(cmp.Compare(sharing(b), sharing(a)), strings.Compare(a.ID, b.ID))
	})
	for _, p := range open {
		plain := DirectoryName(p.skill.Name)
		if p.report.Directory = plain; same[plain] > 1 || !take(plain) {
			p.report.Directory = derivedName(plain, p.ID, take)
		}
		if p.report.Directory == "" {
			p.report.Err = refuse(CodeNameClash, p.ID, "other skills have every name that this one could have", "use different names")
		}
	}
}

// derivedName takes the shortest free name that ends with a part of the digest of the skill's URL; ""
// if there is none.
func derivedName(plain, id string, take func(string) bool) string {
	digest := DigestOf([]byte(id))
	for size := 6; size < len(digest); size++ {
		suffix := fmt.Sprintf("-%x", digest[:size])
		directory := strings.TrimRight(plain[:min(len(plain), maxName-len(suffix))], "-") + suffix
		if take(directory) {
			return directory
		}
	}
	return ""
}

// isDirectoryName reports whether a name is one that directoryName makes.
func isDirectoryName(name string) bool { return name == DirectoryName(name) }

// DirectoryName returns the name of the directory of a skill with a name: one that strict loaders
// accept as a name too, of lower-case letters, digits and hyphens. Of a name that is one already, it is
// that name.
func DirectoryName(name string) string {
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
