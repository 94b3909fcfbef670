package install

import (
	"cmp"
	"path/filepath"
	"strings"

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
func (c *Check) OK() bool { return len(c.Findings) == 0 }

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
	checks := make([]Check, 0, len(skills))
	for _, s := range skills {
		c, err := p.check(s)
		if err != nil {
			return nil, err
		}
		checks = append(checks, c)
	}
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

func (p *Place) check(s *dvs.LockedSkill) (Check, error) {
	c := Check{Entry: *s}
	spots, err := p.spots(s)
	if err != nil {
		return c, err
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
	return c, nil
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
