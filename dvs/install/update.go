package install

import (
	"context"
	"slices"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// Updater finds newer versions of installed skills. It asks each source once. Close it.
type Updater struct {
	Dir string // of the lockfile, to which local sources are relative; "": the working directory

	loader *dvs.Loader
	tips   map[string]dvs.Tip // of repositories, by source
	found  map[string]*Found  // by source
}

// NewUpdater returns an updater that uses a loader.
func NewUpdater(loader *dvs.Loader) *Updater {
	return &Updater{loader: loader, tips: map[string]dvs.Tip{}, found: map[string]*Found{}}
}

// Close closes the sources that were read.
func (u *Updater) Close() {
	if u == nil {
		return
	}
	for _, f := range u.found {
		_ = f.Close() // only a temporary file is left
	}
}

// Newest loads the version of a skill that its source has now, and nil if that is the installed one. The
// loader asks its user about what changed since the version that was approved. An error has the code
// skill-not-found if the source no longer has the skill.
func (u *Updater) Newest(ctx context.Context, s *dvs.LockedSkill) (*Skill, error) {
	if u == nil || u.found == nil {
		return nil, refuse(lookleap.CodeUsage, "", "there is no updater", "make it with NewUpdater")
	}
	if s == nil || s.Installed == nil || s.Installed.Source == "" {
		return nil, refuse(dvs.CodeNotLocked, "", "the lockfile does not say from which source the skill was installed", "add it again")
	}
	source, err := ParseSource(s.Installed.Source)
	if err != nil {
		return nil, err
	}
	source.base = u.Dir
	if source.kind == repositorySource {
		tip, ok := u.tips[source.text]
		if !ok {
			if tip, err = u.loader.RepositoryTip(ctx, source.repository); err != nil {
				return nil, err
			}
			u.tips[source.text] = tip
		}
		if tip.Commit == s.Installed.Commit {
			return nil, nil
		}
	}
	found := u.found[source.text]
	if found == nil {
		if found, err = source.Find(ctx, u.loader); err != nil {
			return nil, err
		}
		u.found[source.text] = found
	}
	for _, c := range found.Skills {
		if !c.isVersionOf(s) {
			continue
		}
		skill, err := c.Load(ctx)
		if err != nil || sameFiles(&skill.Entry, s) && skill.Entry.URL == s.URL {
			return nil, err
		}
		return skill, nil
	}
	return nil, refuse(dvs.CodeSkillNotFound, s.Directory, "the source no longer has the skill: "+s.Installed.Source,
		"remove it, or find out where it went")
}

// isVersionOf reports whether a candidate is the same skill as an installed one.
func (c Candidate) isVersionOf(s *dvs.LockedSkill) bool {
	switch c.source.kind {
	case skillSource:
		return true
	case localSource:
		return s.Directory == dvs.DirectoryName(c.Name)
	}
	at := dvs.LockedSkill{URL: c.list.Skill.String(), Artifact: c.list.Skill.Artifact()}
	return withoutCommit(&at) == withoutCommit(s)
}

// sameFiles reports whether two versions have the same files.
func sameFiles(a, b *dvs.LockedSkill) bool {
	return slices.EqualFunc(a.Files, b.Files, func(x, y dvs.LockedFile) bool {
		return x.Path == y.Path && x.Digest == y.Digest && x.Executable == y.Executable
	})
}
