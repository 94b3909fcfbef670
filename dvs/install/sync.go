package install

import (
	"context"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/lookleap/lookleap/dvs"
)

// Synced says what [Place.Sync] did about one skill.
type Synced struct {
	Entry    dvs.LockedSkill
	Restored []string // paths that were written; nil: all was as the lockfile says
	Replaced []string // paths that a user had changed, if force was set
	Err      error    // why it could not be restored
}

// Sync installs what the lockfile says, and nothing else: each file with the locked digest. It takes
// files from the store, and those that are missing there from where they came: of a repository the
// archive of the locked commit, of a local directory what is there still. The user is not asked; the
// policies and feeds of the loader still count, also for files of the store. The loader is made when it is
// needed: from options that have the lockfile. A directory that a user changed is an error, unless force is
// set.
func (p *Place) Sync(ctx context.Context, loader func(*dvs.Lockfile) (*dvs.Loader, error), force bool, names ...string) ([]Synced, error) {
	var all []Synced
	err := p.change(ctx, func(lock *dvs.Lockfile) error {
		skills, err := chosen(lock, names)
		if err != nil {
			return err
		}
		s := &syncer{place: p, lock: lock, newLoader: loader, repositories: map[string]*dvs.Repository{}}
		defer s.close()
		for _, skill := range skills {
			one := Synced{Entry: *skill}
			one.Restored, one.Replaced, one.Err = s.restore(ctx, skill, force)
			all = append(all, one)
		}
		return nil
	})
	return all, err
}

// syncer restores the skills of one lockfile.
type syncer struct {
	place     *Place
	lock      *dvs.Lockfile
	newLoader func(*dvs.Lockfile) (*dvs.Loader, error)

	loader       *dvs.Loader                // nil until a skill has to be restored
	repositories map[string]*dvs.Repository // that were read, by URL and commit
}

func (s *syncer) close() {
	for _, r := range s.repositories {
		_ = r.Close() // only a temporary file is left
	}
}

// ready makes the loader, once.
func (s *syncer) ready() (err error) {
	if s.loader == nil {
		s.loader, err = s.newLoader(s.lock)
	}
	return err
}

func (s *syncer) restore(ctx context.Context, skill *dvs.LockedSkill, force bool) (written, replaced []string, err error) {
	spots, err := s.place.spots(skill)
	if err != nil {
		return nil, nil, err
	}
	var wrong []spot
	for _, at := range spots {
		if now := look(at, skill); !now.linked && !now.isAsLocked() { // a copy is as good as a link
			wrong = append(wrong, at)
			written = append(written, at.path)
		}
	}
	if len(wrong) == 0 {
		return nil, nil, nil
	}
	if replaced, err = s.place.mayWrite(s.lock, wrong, force, skill); err != nil {
		return nil, nil, err
	}
	files, ok := s.place.Store.files(skill)
	switch {
	case ok && skill.URL != "": // a local directory is no publisher's
		if err := s.ready(); err != nil {
			return nil, nil, err
		}
		if err := s.loader.CheckLocked(ctx, skill, files); err != nil {
			return nil, nil, err
		}
	case !ok:
		if files, err = s.fetch(ctx, skill); err != nil {
			return nil, nil, err
		}
		if err := s.place.Store.put(files); err != nil {
			return nil, nil, failed(string(s.place.Store), "the files cannot be kept", err)
		}
	}
	return written, replaced, s.place.writeAll(wrong, skill, files)
}

// fetch loads the locked version of a skill.
func (s *syncer) fetch(ctx context.Context, skill *dvs.LockedSkill) (map[string][]byte, error) {
	if skill.URL == "" {
		directory := filepath.FromSlash(skill.Installed.Source)
		if !filepath.IsAbs(directory) {
			directory = filepath.Join(s.place.Dir, directory)
		}
		files, err := dvs.ReadSkillDir(os.DirFS(directory), dvs.Limits{})
		if err != nil || skill.VerifyWritten(files) != nil {
			return nil, refuse(dvs.CodeLockMissing, skill.Directory,
				"the files are not kept here, and the directory "+skill.Installed.Source+" no longer has them", "add the skill again")
		}
		return files, nil
	}
	if err := s.ready(); err != nil {
		return nil, err
	}
	loaded, err := s.load(ctx, skill)
	if err != nil {
		return nil, err
	}
	var others []string
	for _, f := range skill.Files {
		if f.Path != dvs.EntryFile {
			others = append(others, (&url.URL{Path: f.Path}).EscapedPath())
		}
	}
	bundle, err := loaded.Bundle(ctx, others...)
	if err != nil {
		return nil, err
	}
	for _, f := range skill.Files { // the frozen loader has compared them; a file more is not installed
		if content, ok := bundle.Files[f.Path]; !ok || dvs.DigestOf(content) != f.Digest {
			return nil, refuse(dvs.CodeDigestMismatch, skill.URL+" "+f.Path, "the file is not the one of the lockfile", "update the skill")
		}
	}
	maps.DeleteFunc(bundle.Files, func(name string, _ []byte) bool {
		return !slices.ContainsFunc(skill.Files, func(f dvs.LockedFile) bool { return f.Path == name })
	})
	return bundle.Files, nil
}

// load loads a skill from the archive of its repository or, if it has none, from its URL.
func (s *syncer) load(ctx context.Context, skill *dvs.LockedSkill) (*dvs.Loaded, error) {
	commit := skill.Installed.Commit
	if commit == "" {
		if skill.Artifact != dvs.SkillDirectory { // its URL does not tell what it is
			at, err := dvs.ParseArtifactURL(skill.URL, skill.Artifact, dvs.Rules{})
			if err != nil {
				return nil, err
			}
			return s.loader.LoadListing(ctx, dvs.Listing{Skill: at})
		}
		return s.loader.Load(ctx, skill.URL)
	}
	at, err := dvs.ParseRepositoryURL(skill.URL, dvs.Rules{})
	if err != nil {
		return nil, err
	}
	key := at.Repository() + "@" + commit
	r := s.repositories[key]
	if r == nil {
		if r, err = s.loader.RepositoryAt(ctx, at, commit); err != nil {
			return nil, err
		}
		s.repositories[key] = r
	}
	entry, err := r.Skill(at.Below(commit))
	if err != nil {
		return nil, err
	}
	return s.loader.LoadListing(ctx, entry)
}
