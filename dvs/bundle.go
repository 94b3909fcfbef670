package dvs

import (
	"context"
	"maps"
	"path"
	"slices"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// Bundle is a verified skill with the files that a framework shall see:
// [Loaded.Bundle] makes one, [NewVerifiedFS] takes some.
type Bundle struct {
	ID      string            // canonical URL of the SKILL.md
	Root    string            // its trust root
	Files   map[string][]byte // by path below the skill's directory, SKILL.md among them, as they were served
	Verdict *lookleap.Verdict // that the skill is verified; without it the bundle is refused

	source  *Loaded           // whose trust may end; nil: the bundle was made by hand
	digests map[string]Digest // by path: what was fetched
}

// unchanged refuses a bundle that is not what its verdict is about, or not what was fetched.
func (b *Bundle) unchanged() error {
	if b.Verdict == nil || !b.Verdict.OK || b.Verdict.Subject != domain.Redact(b.ID) {
		return refuse(CodeNeedsRoot, b.ID, "no verdict says that this skill is verified", "load it through a Loader")
	}
	const fix = "use the bundle as Loaded.Bundle returned it"
	root, digest := verifiedAs(b.Verdict)
	switch {
	case root != "" && root != domain.Redact(b.Root), b.source != nil && (b.source.ID.String() != b.ID || b.source.Root.String() != b.Root):
		return refuse(CodeNeedsRoot, b.Root, "the skill was verified under another trust root or URL", fix)
	case digest != "" && digest != DigestOf(b.Files[EntryFile]).String():
		return refuse(CodeDigestMismatch, b.ID, "SKILL.md is not the file that was verified", fix)
	case b.source == nil:
		return nil
	case len(b.digests) != len(b.Files):
		return refuse(CodeDigestMismatch, b.ID, "the bundle has other files than were fetched", fix)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		if b.digests[name] != DigestOf(b.Files[name]) {
			return refuse(CodeDigestMismatch, name, "the file is not the one that was fetched", fix)
		}
	}
	return nil
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
	b := Bundle{ID: s.ID.String(), Root: s.Root.String(), Files: map[string][]byte{EntryFile: entry}, Verdict: s.Verdict, source: s,
		digests: map[string]Digest{EntryFile: DigestOf(entry)}}
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
			return Bundle{}, refuse(CodeNotBundled, file, "the file is not in the skill's directory", "name files of the directory")
		case !b.digests[t.Name].IsZero(): // each file is fetched once
			continue
		case len(b.Files) >= s.loader.limits.Files:
			return Bundle{}, refuse(lookleap.CodeLimit, file, "the skill has more files than allowed", "name the files that are needed")
		}
		r, err := s.Resource(ctx, file)
		switch {
		case lookleap.CodeOf(err) == CodeSkillNotFound && !named:
			continue
		case err != nil:
			return Bundle{}, err
		}
		if total += len(r.Bytes()); total > s.loader.limits.Total {
			return Bundle{}, refuse(lookleap.CodeTooLarge, file, "all files together are larger than allowed", "name the files that are needed")
		}
		b.Files[t.Name], b.digests[t.Name] = r.Bytes(), r.Digest
	}
	return b, nil
}
