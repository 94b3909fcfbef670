package dvs

import (
	"maps"
	"path"
	"slices"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// Bundle is a verified skill with the files that a framework needs. [Loaded.Bundle] makes one, and
// [NewVerifiedFS] accepts a list of them.
type Bundle struct {
	ID       string            // canonical URL of the SKILL.md
	Root     string            // its trust root
	Artifact Artifact          // set if ID does not tell; see ParseArtifactURL
	Files    map[string][]byte // by path below the skill's directory, SKILL.md among them, as they were served
	Verdict  *lookleap.Verdict // that the skill is verified; without it the bundle is refused

	// Findings report what the instructions refer to and the bundle does not have: files that the
	// server lacks (skill-not-found), and what was left out (not-bundled, media-type, limit). The
	// position is that of the reference, with the file that has it as its path.
	Findings []lookleap.Finding

	source  *Loaded           // whose trust may end; nil: the bundle was made by hand
	digests map[string]Digest // by path: what was fetched
}

// checkUnchanged returns an error for a bundle that differs from its verdict or from what was
// fetched.
func (b *Bundle) checkUnchanged() error {
	if b.Verdict == nil || !b.Verdict.OK || b.Verdict.Subject != domain.Redact(b.ID) {
		return refuse(CodeNeedsRoot, b.ID, "no verdict says that this skill is verified", "load it through a Loader")
	}
	const fix = "use the bundle as Loaded.Bundle returned it"
	root, digest := verifiedAs(b.Verdict)
	switch {
	case root != "" && root != domain.Redact(b.Root), b.source != nil && (b.source.ID.String() != b.ID || b.source.Root.String() != b.Root):
		return refuse(CodeNeedsRoot, b.Root, "the skill was verified under another trust root or URL", fix)
	case digest != "" && digest != b.servedDigest().String():
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

// servedDigest returns the digest of what the server sent: the SKILL.md, or the archive.
func (b *Bundle) servedDigest() Digest {
	if b.source != nil && b.source.ID.artifact == SkillArchive {
		return b.source.Digest // the digests of the members follow from it
	}
	return DigestOf(b.Files[EntryFile])
}

// isEntry reports whether a file below a skill's directory is the SKILL.md of another skill.
func isEntry(name string) bool { return foldName(path.Base(name)) == foldName(EntryFile) }
