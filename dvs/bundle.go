package dvs

import (
	"context"
	"path"

	"github.com/lookleap/lookleap"
)

// Bundle is a verified skill with the files that a framework shall see:
// [Loaded.Bundle] makes one, [NewVerifiedFS] takes some.
type Bundle struct {
	ID      string            // canonical URL of the SKILL.md
	Root    string            // its trust root
	Files   map[string][]byte // by path below the skill's directory, SKILL.md among them, as they were served
	Verdict *lookleap.Verdict // that the skill is verified; without it the bundle is refused

	source *Loaded // whose trust may end; nil: the bundle was made by hand
}

// isEntry reports whether a file below a skill's directory is a skill of its own.
func isEntry(name string) bool { return foldName(path.Base(name)) == foldName(EntryFile) }

// Bundle fetches files of the skill's own directory and gives them with the
// SKILL.md, all or nothing. The files are named as the skill would refer to them;
// if none is named, they are those that its instructions point to, as far as the
// server has them, and no skills of their own. Nothing outside of the directory is fetched, and the user is
// not asked.
func (s *Loaded) Bundle(ctx context.Context, files ...string) (Bundle, error) {
	if err := s.ready(); err != nil {
		return Bundle{}, err
	}
	skill, err := s.Skill()
	if err != nil {
		return Bundle{}, err
	}
	entry, err := s.File()
	if err != nil {
		return Bundle{}, err
	}
	b := Bundle{ID: s.ID.String(), Root: s.Root.String(), Files: map[string][]byte{EntryFile: entry}, Verdict: s.Verdict, source: s}
	named, total := len(files) > 0, len(entry)
	if !named {
		for _, r := range skill.References() {
			files = append(files, r.Target)
		}
	}
	for _, file := range files {
		t, err := s.Resolve(file)
		switch {
		case (err != nil || t.Access != Bundled || isEntry(t.Name)) && !named:
			continue
		case err != nil:
			return Bundle{}, err
		case t.Access != Bundled:
			return Bundle{}, refuse(lookleap.CodeNotBundled, file, "the file is not in the skill's directory", "name files of the directory")
		case b.Files[t.Name] != nil:
			continue
		case len(b.Files) >= s.loader.limits.Files:
			return Bundle{}, refuse(lookleap.CodeLimit, file, "the skill has more files than allowed", "name the files that are needed")
		}
		r, err := s.Resource(ctx, file)
		switch {
		case lookleap.CodeOf(err) == lookleap.CodeSkillNotFound && !named:
			continue
		case err != nil:
			return Bundle{}, err
		}
		if total += len(r.Bytes()); total > s.loader.limits.Total {
			return Bundle{}, refuse(lookleap.CodeTooLarge, file, "all files together are larger than allowed", "name the files that are needed")
		}
		b.Files[t.Name] = r.Bytes()
	}
	return b, nil
}
