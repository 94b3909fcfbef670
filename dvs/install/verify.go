package install

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// Check is what [Place.Verify] found about one skill.
type Check struct {
	Entry    dvs.LockedSkill
	Paths    []string           // where it has to be
	Findings []lookleap.Finding // what is not as the lockfile says: the path is relative to the place
}

// OK reports whether the skill is installed as the lockfile says.
func (c *Check) OK() bool { return c != nil && len(c.Findings) == 0 }

// Verify compares the installed skills with the lockfile: each file, its permission to be run, and each
// link. Names choose some of them. It sends no request.
func (p *Place) Verify(names ...string) ([]Check, error) {
	lock, err := p.Lock()
	if err != nil {
		return nil, err
	}
	skills, err := chosen(lock, names)
	if err != nil {
		return nil, err
	}
	checks := make([]Check, len(skills))
	var all sync.WaitGroup
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(skills)) { // reading many small files is work for all processors
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(skills); i = int(next.Add(1)) - 1 {
				checks[i] = p.check(skills[i])
			}
		})
	}
	all.Wait()
	return checks, nil
}

// chosen returns the installed skills with these names, or all.
func chosen(lock *dvs.Lockfile, names []string) (all []*dvs.LockedSkill, err error) {
	for _, name := range names {
		s, err := Find(lock, name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if len(names) == 0 {
		for i := range lock.Skills {
			if lock.Skills[i].Installed != nil {
				all = append(all, &lock.Skills[i])
			}
		}
	}
	return all, nil
}

func (p *Place) check(s *dvs.LockedSkill) Check {
	c := Check{Entry: *s}
	spots, err := p.spots(s)
	var e *lookleap.Error
	if errors.As(err, &e) {
		c.Findings = append(c.Findings, changed(e.Code, "", e.Subject+": "+e.Message, e.Fix))
	}
	for _, at := range spots {
		c.Paths = append(c.Paths, at.path)
		now := look(at, s)
		if now.absent {
			now.changes = []lookleap.Finding{changed(dvs.CodeLockMissing, "", "the skill is not there", "lookleap skill sync restores it")}
		}
		for _, f := range now.changes {
			f.Path = p.relative(filepath.Join(at.path, filepath.FromSlash(f.Path)))
			c.Findings = append(c.Findings, f)
		}
	}
	return c
}

// Unlisted returns a finding for each skill in the folders of agents that the lockfile does not have, for
// example one that was copied there by hand. Agents use them too. It opens no file.
func (p *Place) Unlisted() ([]lookleap.Finding, error) {
	lock, err := p.Lock()
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{} // by real path
	for i := range lock.Skills {
		if lock.Skills[i].Installed == nil {
			continue
		}
		spots, _ := p.spots(&lock.Skills[i]) // check reports an agent that is not known
		for _, at := range spots {
			seen[realPath(at.path)] = true
		}
	}
	var all []lookleap.Finding
	for _, folder := range p.Folders() {
		entries, err := os.ReadDir(folder)
		if info, bad := os.Stat(folder); err != nil && bad == nil && info.IsDir() {
			return nil, failed(folder, "the folder cannot be read", err)
		}
		for _, e := range entries {
			at := filepath.Join(folder, e.Name())
			real := realPath(at)
			if !exists(filepath.Join(at, dvs.EntryFile)) || seen[real] || strings.HasPrefix(e.Name(), partial) {
				continue
			}
			seen[real] = true
			all = append(all, lookleap.Finding{Severity: lookleap.SeverityInfo, Code: dvs.CodeNotLocked,
				Message: "the skill is in a folder of agents and not in the lockfile", Position: lookleap.Position{Path: p.relative(at)}})
		}
	}
	return all, nil
}

// realPath returns a path without links, as far as it can be read.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// relative returns a path below the place as reports show it.
func (p *Place) relative(path string) string {
	rel, err := filepath.Rel(p.Dir, path)
	if err != nil {
		rel = path
	}
	return filepath.ToSlash(rel)
}

// withoutCommit returns the URL of a skill without the commit in it.
func withoutCommit(s *dvs.LockedSkill) string {
	commit := ""
	if s.Installed != nil {
		commit = s.Installed.Commit
	}
	if u, err := dvs.ParseArtifactURL(s.URL, s.Artifact, dvs.Rules{}); err == nil {
		commit = cmp.Or(u.Commit(), commit)
	}
	if commit == "" {
		return s.URL
	}
	return strings.Replace(s.URL, "/"+commit+"/", "/", 1)
}
