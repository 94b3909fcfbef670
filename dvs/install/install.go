package install

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// CodeSignerChanged is for a version that another signer signed than the installed one, or none.
const CodeSignerChanged lookleap.Code = "signer-changed"

// Options say where a skill is installed.
type Options struct {
	Agents []string // names of the table, see [Agents]; they are added to those that have the skill
	Folder string   // in which it is installed instead, below the place; "": those of the agents
	Copy   bool     // a copy for each agent, where otherwise links lead to one
	Force  bool     // also over what a user changed
}

// Result says what became of one skill.
type Result struct {
	Entry    dvs.LockedSkill // as the lockfile has it now
	Paths    []string        // where it is
	Change   *dvs.Change     // since the version that was installed before; nil: there was none
	Replaced []string        // paths that a user had changed, with [Options].Force
}

// Install writes a skill into the folders of agents, and into the lockfile. A version that is installed
// is replaced as a whole. An error with the code digest-mismatch names files that a user changed;
// name-clash says that another skill has the name; link that a folder of the project leads out of it.
func (p *Place) Install(ctx context.Context, skill *Skill, o Options) (result *Result, err error) {
	if skill == nil || skill.Entry.Installed == nil {
		return nil, &lookleap.Error{Code: lookleap.CodeUsage, Message: "there is no skill", Fix: "load it from a Candidate"}
	}
	if err := p.ready(); err != nil {
		return nil, err
	}
	if o.Folder != "" {
		if !filepath.IsLocal(o.Folder) {
			return nil, refuse(lookleap.CodeUsage, o.Folder, "the folder is not below the directory of the lockfile", "use a relative path without ..")
		}
		o.Folder = filepath.ToSlash(filepath.Clean(o.Folder))
		if err := safeFolder(o.Folder); err != nil {
			return nil, err
		}
	}
	if err := skill.Entry.VerifyWritten(skill.Files); err != nil {
		return nil, err
	}
	if err := p.Store.put(skill.Files); err != nil {
		return nil, failed(string(p.Store), "the files cannot be kept", err)
	}
	err = p.change(ctx, func(lock *dvs.Lockfile) error {
		result, err = p.install(lock, skill, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

func (p *Place) install(lock *dvs.Lockfile, skill *Skill, o Options) (*Result, error) {
	entry := skill.Entry
	installed := *entry.Installed
	entry.Installed = &installed
	old, other := previous(lock, &entry)
	switch {
	case other != nil:
		return nil, refuse(dvs.CodeNameClash, entry.Directory, "another skill has this name: "+whence(other),
			"remove that one first, or install this one for the user or in another project")
	case old == nil:
	case old.Root != entry.Root:
		return nil, refuse(dvs.CodeNeedsRoot, entry.Directory, "the skill was installed under the trust root "+old.Root+", and is now under "+entry.Root,
			"if that is right, remove the skill and add it again")
	case old.Installed.Signer != "" && old.Installed.Signer != installed.Signer:
		message := "the installed version was signed by " + old.Installed.Signer + ", and this one by no one"
		if installed.Signer != "" {
			message = "the installed version was signed by " + old.Installed.Signer + ", and this one by " + installed.Signer
		}
		return nil, refuse(CodeSignerChanged, entry.Directory, message, "if that is right, remove the skill and add it again")
	default:
		installed.Agents = old.Installed.Agents
	}
	installed.Folder, installed.Copied = o.Folder, o.Copy
	if o.Folder != "" {
		installed.Agents, installed.Copied = nil, false
	}
	for _, name := range o.Agents {
		if !slices.Contains(installed.Agents, name) {
			installed.Agents = append(slices.Clone(installed.Agents), name)
		}
	}
	slices.Sort(installed.Agents)
	result := &Result{Entry: entry}
	if old != nil {
		c := p.difference(old, skill)
		result.Change = &c
	}
	spots, err := p.spots(&entry)
	if err != nil {
		return nil, err
	}
	if result.Replaced, err = p.mayWrite(lock, spots, o.Force, old, &entry); err != nil {
		return nil, err
	}
	var gone []spot // where the new version is not
	planned := &dvs.Lockfile{}
	for _, s := range lock.Skills {
		if old == nil || s.Directory != old.Directory {
			planned.Skills = append(planned.Skills, s)
		}
	}
	planned.Skills = append(planned.Skills, entry)
	if old != nil {
		if gone, err = p.leftBehind(old, spots); err != nil {
			return nil, err
		}
		replaced, err := p.mayWrite(lock, gone, o.Force, old)
		if err != nil {
			return nil, err
		}
		result.Replaced = append(result.Replaced, replaced...)
	}
	if _, err := encodeLock(planned); err != nil { // before anything is written
		return nil, err
	}
	if err := p.writeAll(spots, &entry, skill.Files); err != nil {
		return nil, err
	}
	for _, at := range spots {
		result.Paths = append(result.Paths, at.path)
	}
	for _, at := range gone {
		if err := os.RemoveAll(at.path); err != nil {
			return nil, failed(at.path, "the skill cannot be removed", err)
		}
	}
	lock.Skills = planned.Skills
	return result, nil
}

// previous returns the entry of the same skill, perhaps with an earlier name, and that of another skill which
// has the directory; nil: there is none.
func previous(lock *dvs.Lockfile, entry *dvs.LockedSkill) (same, other *dvs.LockedSkill) {
	for i := range lock.Skills {
		switch s := &lock.Skills[i]; {
		case s.Installed != nil && sameSkill(s, entry):
			same = s
		case s.Directory == entry.Directory, s.URL != "" && s.URL == entry.URL:
			other = s
		}
	}
	return same, other
}

// whence says where an installed skill is from.
func whence(s *dvs.LockedSkill) string {
	if s.URL == "" && s.Installed != nil {
		return s.Installed.Source
	}
	return s.URL
}

// sameSkill reports whether two entries are versions of one skill: at the same URL, whatever the commit.
func sameSkill(a, b *dvs.LockedSkill) bool {
	if a.URL == "" || b.URL == "" {
		return a.URL == b.URL && a.Installed.Source == b.Installed.Source
	}
	return withoutCommit(a) == withoutCommit(b)
}

// difference compares the installed version with a new one.
func (p *Place) difference(old *dvs.LockedSkill, skill *Skill) dvs.Change {
	before, ok := p.Store.files(old)
	if !ok {
		before = map[string][]byte{}
		for _, f := range old.Files { // unknown content, but for files that did not change
			before[f.Path] = nil
			if now, still := skill.Files[f.Path]; still && dvs.DigestOf(now) == f.Digest {
				before[f.Path] = now
			}
		}
	}
	return dvs.Compare(before, skill.Files)
}

// mayWrite refuses to replace what a user changed, before anything is written. It removes what a process left
// that was killed.
func (p *Place) mayWrite(lock *dvs.Lockfile, spots []spot, force bool, versions ...*dvs.LockedSkill) (replaced []string, err error) {
	for _, at := range spots {
		if err := p.inside(filepath.Dir(at.path)); err != nil {
			return nil, err
		}
		p.removeLeftovers(lock, filepath.Dir(at.path))
		if p.isOwnLink(at, versions) {
			continue
		}
		more, err := replaceable(at, force, versions...)
		if err != nil {
			return nil, err
		}
		replaced = append(replaced, more...)
	}
	return replaced, nil
}

// isOwnLink reports whether a spot has the link that one of the versions has there.
func (p *Place) isOwnLink(at spot, versions []*dvs.LockedSkill) bool {
	return slices.ContainsFunc(versions, func(v *dvs.LockedSkill) bool {
		if v == nil {
			return false
		}
		spots, _ := p.spots(v) // of an agent that is not known, nothing is
		return slices.ContainsFunc(spots, func(s spot) bool {
			return s.path == at.path && s.link != "" && look(s, v).linked
		})
	})
}

// writeAll writes a skill where it is not yet.
func (p *Place) writeAll(spots []spot, entry *dvs.LockedSkill, files map[string][]byte) error {
	for _, at := range spots {
		var err error
		switch now := look(at, entry); {
		case now.linked:
		case at.link != "":
			err = link(at, entry, files)
		case !now.isAsLocked():
			err = write(at.path, entry, files)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// leftBehind returns where an old version is and the new one is not, the links first.
func (p *Place) leftBehind(old *dvs.LockedSkill, kept []spot) (gone []spot, err error) {
	spots, err := p.spots(old)
	for _, at := range slices.Backward(spots) {
		if !slices.ContainsFunc(kept, func(k spot) bool { return sameSpot(k, at) }) {
			gone = append(gone, at)
		}
	}
	return gone, err
}

// sameSpot reports whether two spots are one, perhaps by links to their folders.
func sameSpot(a, b spot) bool {
	return filepath.Base(a.path) == filepath.Base(b.path) && sameFile(filepath.Dir(a.path), filepath.Dir(b.path))
}

// Remove removes a skill from the folders of some agents, or from all if there are none, and then from
// the lockfile. It returns the paths that were removed. An agent that does not have the skill is refused, and
// so is what a user changed, unless force is set.
func (p *Place) Remove(ctx context.Context, name string, agents []string, force bool) (removed []string, err error) {
	err = p.change(ctx, func(lock *dvs.Lockfile) error {
		s, err := Find(lock, name)
		if err != nil {
			return err
		}
		for _, a := range agents {
			if !slices.Contains(s.Installed.Agents, a) {
				return refuse(lookleap.CodeUsage, name, "the skill is not installed for the agent "+a,
					"the lockfile has it for: "+cmp.Or(strings.Join(s.Installed.Agents, ", "), "no agent"))
			}
		}
		var kept []spot
		rest := *s.Installed
		rest.Agents = slices.DeleteFunc(slices.Clone(rest.Agents), func(a string) bool { return slices.Contains(agents, a) })
		stays := len(agents) > 0 && len(rest.Agents) > 0
		if stays {
			kept, _ = p.spots(&dvs.LockedSkill{Directory: s.Directory, Installed: &rest})
		}
		gone, _ := p.leftBehind(s, kept) // of an agent that is not known, there is nothing to remove
		if _, err := p.mayWrite(lock, gone, force, s); err != nil {
			return err
		}
		for _, at := range gone {
			if _, err := os.Lstat(at.path); err != nil {
				continue
			}
			if err := os.RemoveAll(at.path); err != nil {
				return failed(at.path, "the skill cannot be removed", err)
			}
			removed = append(removed, at.path)
		}
		if stays {
			s.Installed = &rest
			return nil
		}
		directory := s.Directory
		lock.Skills = slices.DeleteFunc(lock.Skills, func(o dvs.LockedSkill) bool { return o.Directory == directory })
		return nil
	})
	return removed, err
}
