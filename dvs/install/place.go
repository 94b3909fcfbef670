package install

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/filestore"
)

// Scope says who may use what is installed.
type Scope uint8

const (
	// Project: for those who work in one directory. Its lockfile is skills.lock there.
	Project Scope = iota
	// User: for one user, in the home directory. Its lockfile is .agents/skills.lock there.
	User
)

// Names of files and directories.
const (
	lockName  = "skills.lock"
	canonical = ".agents/skills" // has the one copy of each skill, to which links lead
)

// Place is a directory in which skills are installed: a project, or the home of a user. Its methods may
// be called by several processes at once.
type Place struct {
	Dir   string
	Scope Scope
	Store Store
}

// Open returns a place. For the scope User, the directory is the user's home, "" for that of the
// process. Store is the default one.
func Open(dir string, scope Scope) (*Place, error) {
	if dir == "" && scope == User {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, failed("", "the home directory is not known", err)
		}
		dir = home
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, failed(dir, "the directory is not known", err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, failed(dir, "there is no such directory", err)
	}
	return &Place{Dir: dir, Scope: scope, Store: DefaultStore()}, nil
}

// OpenNearest returns the place whose lockfile counts in a directory. For the scope Project that is the nearest
// directory that has one, from this directory upward to the one with .git or the home of the user. If there is
// none, it is the directory itself, as for [Open].
func OpenNearest(dir string, scope Scope) (*Place, error) {
	p, err := Open(dir, scope)
	if err != nil || scope == User {
		return p, err
	}
	home, _ := os.UserHomeDir()
	users := filepath.Join(home, ".agents") // has the lockfile of the user
	for at := p.Dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, lockName)); err == nil && !sameFile(at, users) {
			p.Dir = at
			return p, nil
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil || sameFile(at, home) || at == filepath.Dir(at) {
			return p, nil
		}
	}
}

// failed is an error of the file system.
func failed(subject, message string, err error) error {
	return &lookleap.Error{Code: lookleap.CodeIO, Subject: subject, Message: message, Err: err}
}

func refuse(code lookleap.Code, subject, message, fix string) *lookleap.Error {
	return &lookleap.Error{Code: code, Subject: subject, Message: message, Fix: fix}
}

// LockPath returns the path of the lockfile.
func (p *Place) LockPath() string {
	if p == nil {
		return lockName
	}
	if p.Scope == User {
		return filepath.Join(p.Dir, ".agents", lockName)
	}
	return filepath.Join(p.Dir, lockName)
}

// maxLock bounds the lockfile, in bytes.
const maxLock = 16 << 20

// Lock reads the lockfile: an empty one if there is none.
func (p *Place) Lock() (*dvs.Lockfile, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	content, err := filestore.ReadFile(p.LockPath(), maxLock)
	if errors.Is(err, fs.ErrNotExist) {
		return &dvs.Lockfile{}, nil
	}
	if err != nil {
		return nil, failed(p.LockPath(), "the lockfile cannot be read", err)
	}
	return dvs.ParseLockfile(content)
}

// ready returns an error for a place that Open did not return.
func (p *Place) ready() error {
	if p == nil || p.Dir == "" {
		return refuse(lookleap.CodeUsage, "", "there is no place to install skills in", "get it from Open")
	}
	return nil
}

// change edits the lockfile while no other process does.
func (p *Place) change(ctx context.Context, edit func(*dvs.Lockfile) error) error {
	if err := p.ready(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.LockPath()), 0o755); err != nil {
		return failed(p.LockPath(), "the lockfile cannot be written", err)
	}
	lock, err := filestore.OpenOn(p.Dir)
	if err != nil {
		return failed(p.Dir, "the directory cannot be opened", err)
	}
	defer lock.Close()
	began := false
	err = lock.With(ctx, func() error {
		began = true
		return p.edit(edit)
	})
	switch {
	case began:
	case errors.Is(err, errors.ErrUnsupported): // such as on Plan 9: two processes at once may lose an entry
		return p.edit(edit)
	case errors.Is(err, filestore.ErrBusy):
		return failed(p.Dir, "another process is installing skills here", err)
	}
	return err
}

func (p *Place) edit(edit func(*dvs.Lockfile) error) error {
	lock, err := p.Lock()
	if err != nil {
		return err
	}
	before := slices.Clone(lock.Skills)
	edited := edit(lock)
	if reflect.DeepEqual(lock.Skills, before) {
		return edited
	}
	return errors.Join(edited, WriteLock(p.LockPath(), lock)) // also after an error: some skills are done
}

// WriteLock replaces a lockfile as a whole, or makes it. It returns an error for a lockfile that could not be read
// again, such as one with a skill twice, and changes nothing then.
func WriteLock(path string, lock *dvs.Lockfile) error {
	content, err := encodeLock(lock)
	if err != nil {
		return err
	}
	if err := filestore.WriteWhole(path, append(content, '\n'), 0o644, true); err != nil {
		return failed(path, "the lockfile cannot be written", err)
	}
	return nil
}

// encodeLock returns the content of a lockfile that can be read again.
func encodeLock(lock *dvs.Lockfile) ([]byte, error) {
	content, err := json.MarshalIndent(lock, "", "  ")
	if err == nil {
		_, err = dvs.ParseLockfile(content)
	}
	return content, err
}

// Find returns the installed skill with a name: that of its directory or else that by its publisher.
func Find(lock *dvs.Lockfile, name string) (*dvs.LockedSkill, error) {
	if lock == nil {
		lock = &dvs.Lockfile{}
	}
	var found *dvs.LockedSkill
	for i := range lock.Skills {
		s := &lock.Skills[i]
		switch {
		case s.Installed == nil:
		case s.Directory == name:
			return s, nil
		case found == nil && strings.EqualFold(s.Installed.Name, name):
			found = s
		}
	}
	if found != nil {
		return found, nil
	}
	return nil, refuse(dvs.CodeNotLocked, name, "no skill of this name is installed here", "lookleap skill list shows which are")
}

// spot is a directory in which a skill is, or a link to it.
type spot struct {
	path string // absolute
	link string // absolute path of the directory that it leads to; "": it is a directory itself
}

// spots returns where a skill of the lockfile is, the directory before the links to it. With an error for
// an agent that is not known, it returns the spots of the others.
func (p *Place) spots(s *dvs.LockedSkill) ([]spot, error) {
	if s.Installed.Folder != "" {
		return []spot{{path: filepath.Join(p.Dir, filepath.FromSlash(s.Installed.Folder), s.Directory)}}, nil
	}
	one := filepath.Join(p.Dir, filepath.FromSlash(canonical), s.Directory)
	var all []spot
	if !s.Installed.Copied {
		all = append(all, spot{path: one})
	}
	var unknown error
	for _, name := range s.Installed.Agents {
		agent, ok := FindAgent(name)
		if !ok {
			unknown = cmp.Or(unknown, error(refuse(lookleap.CodeUsage, name, "there is no agent of this name in the table",
				"update lookleap, or remove the skill "+s.Directory)))
			continue
		}
		folder, err := p.folder(agent)
		if err != nil {
			unknown = cmp.Or(unknown, err)
			continue
		}
		at := spot{path: filepath.Join(folder, s.Directory)}
		if !s.Installed.Copied {
			if sameFile(folder, filepath.Dir(one)) {
				continue
			}
			at.link = one
		}
		if !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	return all, unknown
}

// folder returns the folder in which an agent looks for skills.
func (p *Place) folder(a Agent) (string, error) {
	if p.Scope == User {
		if a.Project == canonical {
			return filepath.Join(p.Dir, filepath.FromSlash(canonical)), nil // it reads that folder of a user too
		}
		if a.UserDir() == "" {
			return "", refuse(lookleap.CodeUsage, a.Name, a.Title+" has no folder for the skills of a user", "install the skill in a project")
		}
		return a.UserDir(), nil
	}
	if a.Project == "" {
		return "", refuse(lookleap.CodeUsage, a.Name, a.Title+" has no folder for the skills of a project", "install the skill for the user")
	}
	return filepath.Join(p.Dir, filepath.FromSlash(a.Project)), nil
}

// Folders returns the folders in which agents look for skills at the place, sorted.
func (p *Place) Folders() []string {
	if p.ready() != nil {
		return nil
	}
	all := []string{filepath.Join(p.Dir, filepath.FromSlash(canonical))}
	for _, a := range agents() {
		if folder, err := p.folder(a); err == nil {
			all = append(all, folder)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// sameFile reports whether two paths lead to one directory, perhaps by links.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, other)
}

// safeFolder refuses a folder below the place in which git or Mercurial has what it runs.
func safeFolder(relative string) error {
	if relative == "." {
		return nil
	}
	return dvs.CheckFileNames(relative)
}

// inside refuses a folder of a project that leads by a link out of it, or into its .git: a checkout of
// others can have one.
func (p *Place) inside(dir string) error {
	if p.Scope == User {
		return nil
	}
	top, err := filepath.EvalSymlinks(p.Dir)
	if err != nil {
		return failed(p.Dir, "the directory cannot be read", err)
	}
	at := dir
	for {
		real, err := filepath.EvalSymlinks(at)
		if errors.Is(err, fs.ErrNotExist) && at != p.Dir {
			if _, err := os.Lstat(at); err == nil {
				return refuse(dvs.CodeLink, at, "the link leads nowhere", "remove it")
			}
			at = filepath.Dir(at)
			continue
		}
		if err != nil {
			return failed(at, "the folder cannot be read", err)
		}
		rel, err := filepath.Rel(top, real)
		switch {
		case err != nil || !filepath.IsLocal(rel):
			return refuse(dvs.CodeLink, at, fmt.Sprintf("the folder leads out of the project, to %s", real), "remove the link")
		case safeFolder(filepath.ToSlash(rel)) != nil:
			return refuse(dvs.CodeLink, at, fmt.Sprintf("the folder leads to %s, where no skill may be written", real), "remove the link")
		}
		return nil
	}
}

func sortFiles(files []dvs.LockedFile) {
	slices.SortFunc(files, func(a, b dvs.LockedFile) int { return strings.Compare(a.Path, b.Path) })
}
