package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// partial begins the name of a directory that is being written.
const partial = ".lookleap-partial-"

// write writes the files of a skill to a directory, which then has nothing else: all of them or none.
func write(at string, skill *dvs.LockedSkill, files map[string][]byte) error {
	folder := filepath.Dir(at)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return failed(at, "the skill cannot be written", err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return failed(at, "the skill cannot be written", err)
	}
	defer root.Close()
	fresh, old, name := partial+"new-"+filepath.Base(at), partial+"old-"+filepath.Base(at), filepath.Base(at)
	defer root.RemoveAll(fresh)
	err = writeFiles(root, fresh, skill, files)
	if err == nil {
		if err = root.Rename(name, old); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		if err = root.Rename(fresh, name); err != nil {
			err = errors.Join(err, root.Rename(old, name))
		}
	}
	if err != nil {
		return failed(at, "the skill cannot be written", err)
	}
	_ = root.RemoveAll(old) // else the next one who writes here removes it
	return nil
}

func writeFiles(root *os.Root, dir string, skill *dvs.LockedSkill, files map[string][]byte) error {
	if err := root.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, f := range skill.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		perm := fs.FileMode(0o644)
		if f.Executable {
			perm = 0o755
		}
		if err := root.WriteFile(name, files[f.Path], perm); err != nil {
			return err
		}
	}
	return nil
}

// removeLeftovers removes from a folder what a process left that was killed. Only one process writes at a
// time. A directory that had no successor yet is restored if it is as the lockfile says.
func (p *Place) removeLeftovers(lock *dvs.Lockfile, folder string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), partial) {
			continue
		}
		at := filepath.Join(folder, e.Name())
		if name, old := strings.CutPrefix(e.Name(), partial+"old-"); old && p.isLocked(lock, at, filepath.Join(folder, name)) {
			if _, err := os.Lstat(filepath.Join(folder, name)); errors.Is(err, fs.ErrNotExist) {
				_ = os.Rename(at, filepath.Join(folder, name))
				continue
			}
		}
		_ = os.RemoveAll(at)
	}
}

// isLocked reports whether a directory has the files that the lockfile has for another one.
func (p *Place) isLocked(lock *dvs.Lockfile, at, other string) bool {
	for i := range lock.Skills {
		s := &lock.Skills[i]
		if s.Installed == nil || s.Directory != filepath.Base(other) {
			continue
		}
		spots, _ := p.spots(s) // of an agent that is not known, nothing is
		return slices.ContainsFunc(spots, func(o spot) bool { return sameSpot(o, spot{path: other}) }) &&
			look(spot{path: at}, s).isAsLocked()
	}
	return false
}

// link makes a link to the directory of a skill, or a copy where links do not work.
func link(at spot, skill *dvs.LockedSkill, files map[string][]byte) error {
	folder := filepath.Dir(at.path)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return failed(at.path, "the folder cannot be made", err)
	}
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return failed(at.path, "the folder cannot be read", err)
	}
	target, err := filepath.EvalSymlinks(at.link)
	if err == nil {
		target, err = filepath.Rel(real, target)
	}
	if err != nil {
		return failed(at.path, "the link cannot be made", err)
	}
	if now, err := os.Readlink(at.path); err == nil && now == target {
		return nil
	}
	if err := os.RemoveAll(at.path); err != nil {
		return failed(at.path, "what is there cannot be replaced", err)
	}
	if os.Symlink(target, at.path) == nil {
		return nil
	}
	return write(at.path, skill, files)
}

// state is what is at a spot.
type state struct {
	absent  bool
	linked  bool               // it is the link that it should be
	changes []lookleap.Finding // how a directory differs from what the lockfile says; the path is that of a file
}

// isAsLocked reports whether the skill is there as the lockfile says.
func (s state) isAsLocked() bool { return !s.absent && len(s.changes) == 0 }

// look compares a spot with what a lockfile says of a skill.
func look(at spot, skill *dvs.LockedSkill) state {
	info, err := os.Lstat(at.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return state{absent: true}
	case err != nil:
		return state{changes: []lookleap.Finding{changed(lookleap.CodeIO, "", err.Error(), "")}}
	case info.Mode()&fs.ModeSymlink != 0 && at.link != "" && leadsTo(at.path, at.link):
		return state{linked: true}
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(at.path)
		return state{changes: []lookleap.Finding{changed(dvs.CodeLink, "", fmt.Sprintf("it is a link to %s", target), "remove the link")}}
	case !info.IsDir():
		return state{changes: []lookleap.Finding{changed(dvs.CodeLink, "", "it is no directory", "remove it")}}
	}
	files, err := dvs.ReadSkillDir(os.DirFS(at.path), dvs.Limits{})
	if err != nil {
		var e *lookleap.Error
		name := ""
		if errors.As(err, &e) {
			name = e.Subject
		}
		return state{changes: []lookleap.Finding{changed(lookleap.CodeOf(err), name, err.Error(), "")}}
	}
	changes := skill.Changes(files)
	if runtime.GOOS != "windows" {
		for _, f := range skill.Files {
			info, err := os.Stat(filepath.Join(at.path, filepath.FromSlash(f.Path)))
			if err == nil && (info.Mode()&0o111 != 0) != f.Executable {
				word := "may be run, and the lockfile says that it may not"
				if f.Executable {
					word = "may not be run, and the lockfile says that it may"
				}
				changes = append(changes, changed(dvs.CodeDigestMismatch, f.Path, "the file "+word, "lookleap skill sync --force restores it"))
			}
		}
	}
	return state{changes: changes}
}

// leadsTo reports whether a link leads to a directory, which need not be there.
func leadsTo(link, directory string) bool {
	if sameFile(link, directory) {
		return true
	}
	target, err := os.Readlink(link)
	if err != nil {
		return false
	}
	if !filepath.IsAbs(target) {
		above, err := filepath.EvalSymlinks(filepath.Dir(link))
		if err != nil {
			return false
		}
		target = filepath.Join(above, target)
	}
	return existingPart(target) == existingPart(directory)
}

// existingPart returns a path in which the part that exists has no links. The rest, of which a checkout has
// nothing yet, stays as it is.
func existingPart(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if _, err := os.Lstat(path); err == nil || filepath.Dir(path) == path {
		return path // a link that leads nowhere
	}
	return filepath.Join(existingPart(filepath.Dir(path)), filepath.Base(path))
}

func changed(code lookleap.Code, file, message, fix string) lookleap.Finding {
	return lookleap.Finding{Severity: lookleap.SeverityError, Code: code, Message: message, Fix: fix, Position: lookleap.Position{Path: file}}
}

// replaceable returns an error if a spot has something else than a skill that was installed, unless force
// is set: the user's work is not replaced. Empty directories are no one's work.
func replaceable(at spot, force bool, versions ...*dvs.LockedSkill) (replaced []string, err error) {
	var last state
	for _, v := range slices.Backward(versions) {
		if v == nil {
			continue
		}
		if last = look(at, v); last.absent || last.isAsLocked() {
			return nil, nil
		}
	}
	if info, err := os.Lstat(at.path); err == nil && info.IsDir() {
		if entries, err := os.ReadDir(at.path); err == nil && len(entries) == 0 {
			return nil, nil
		}
	}
	for _, c := range last.changes {
		replaced = append(replaced, filepath.Join(at.path, filepath.FromSlash(c.Path)))
	}
	if force {
		return replaced, nil
	}
	const most = 5
	shown := strings.Join(replaced[:min(len(replaced), most)], ", ")
	if n := len(replaced) - most; n > 0 {
		shown += fmt.Sprintf(" and %d more", n)
	}
	return nil, refuse(dvs.CodeDigestMismatch, at.path, "what is there is not what was installed: "+shown,
		"look at it, and use --force to replace it")
}
