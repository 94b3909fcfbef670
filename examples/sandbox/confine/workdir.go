package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/lookleap/lookleap/dvs"
)

// workDir is what a run has on disk.
type workDir struct {
	skill   string // the approved files
	scratch string // what the script may write
}

// inWorkDir makes the directories of a run, and removes them after it.
func (r *Runner) inWorkDir(c *dvs.Command, use func(*workDir) error) (err error) {
	base, err := os.MkdirTemp(r.options.Dir, "skill-*")
	if err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	defer func() { err = errors.Join(err, removeAll(base)) }()
	if base, err = filepath.EvalSymlinks(base); err != nil { // Landlock is about files, not names
		return fmt.Errorf("confine: %w", err)
	}
	w := &workDir{filepath.Join(base, "skill"), filepath.Join(base, "scratch")}
	if err := errors.Join(os.Mkdir(w.skill, 0o755), os.Chmod(w.skill, 0o755), os.Mkdir(w.scratch, 0o700),
		own(w.scratch), letThrough(base)); err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	if err := writeApproved(w.skill, c); err != nil {
		return fmt.Errorf("confine: writing the files of %q: %w", c.Skill, err)
	}
	return use(w)
}

// own makes the user that scripts run as the owner of a directory.
func own(dir string) error {
	if id := scriptUser(); id != os.Getuid() {
		return os.Chown(dir, id, id)
	}
	return nil
}

// letThrough lets the user that scripts run as pass a directory. It does not
// become theirs: its owner could replace the approved files.
func letThrough(dir string) error {
	if id := scriptUser(); id != os.Getuid() {
		return errors.Join(os.Chown(dir, -1, id), os.Chmod(dir, 0o710))
	}
	return nil
}

// removeAll removes also what a script has made inaccessible.
func removeAll(base string) error {
	if os.RemoveAll(base) == nil {
		return nil
	}
	_ = filepath.WalkDir(base, func(name string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(name, 0o700)
		}
		return nil
	})
	return os.RemoveAll(base)
}

// commandFiles are all approved files, the script among them.
func commandFiles(c *dvs.Command) map[string][]byte {
	files := make(map[string][]byte, len(c.Files)+1)
	for name, content := range c.Files {
		files[name] = content
	}
	if c.Name != "" {
		files[c.Name] = c.Script
	}
	return files
}

// writeApproved writes the approved bytes below a directory that no one else
// writes to, through a root that no name can leave, and then reads them back:
// what is there is what the user agreed to, or nothing runs.
func writeApproved(dir string, c *dvs.Command) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	files := commandFiles(c)
	approved := dvs.LockedSkill{URL: c.Skill}
	for name, content := range files {
		mode := os.FileMode(0o444)
		if name == c.Name {
			mode = 0o555
		}
		if err := write(root, name, content, mode); err != nil {
			return err
		}
		approved.Files = append(approved.Files, dvs.LockedFile{Path: name, Digest: dvs.DigestOf(content)})
	}
	written, err := dvs.ReadSkillDir(root.FS(), dvs.Limits{})
	if err != nil {
		return err
	}
	return approved.VerifyWritten(written)
}

// write writes a file below a root, with these permissions whatever the host's
// umask is: where the host is root, the script is another user.
func write(root *os.Root, name string, content []byte, mode os.FileMode) error {
	err := errors.Join(root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o755), root.WriteFile(filepath.FromSlash(name), content, mode))
	if err != nil {
		return err
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		err = errors.Join(err, root.Chmod(filepath.FromSlash(dir), 0o755))
	}
	return errors.Join(err, root.Chmod(filepath.FromSlash(name), mode))
}
