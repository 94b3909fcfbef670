package dvs

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// Artifact says what a server sends for the URL of a skill.
type Artifact uint8

const (
	// SkillDirectory: the SKILL.md; the other files of the directory have URLs of their own.
	SkillDirectory Artifact = iota
	// SkillArchive: all files of the directory in one .tar.gz or .zip (discovery v0.2). The URL of
	// the archive is the identity of the skill, and every member is a bundled file.
	SkillArchive
	// SingleFile: a Markdown file of another name that an index of v0.2 lists as a skill. It has no
	// directory, so it has no bundled files.
	SingleFile
)

var artifactNames = [...]string{"directory", "archive", "skill-md"}

// String returns directory, archive or skill-md.
func (a Artifact) String() string { return artifactNames[min(int(a), len(artifactNames)-1)] }

// MarshalText returns directory, archive or skill-md.
func (a Artifact) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what MarshalText wrote; any other text is an error.
func (a *Artifact) UnmarshalText(text []byte) error {
	for i, name := range artifactNames {
		if string(text) == name {
			*a = Artifact(i)
			return nil
		}
	}
	return refuse(lookleap.CodeUsage, shorten(string(text)), "the kind of artifact is unknown", "use one of "+strings.Join(artifactNames[:], ", "))
}

// ParseArtifactURL reads the URL of a skill that is served as a certain artifact, as an index of
// v0.2 lists it. For a SkillDirectory, it is [ParseSkillURL]. Otherwise the URL denotes exactly the
// file.
func ParseArtifactURL(raw string, artifact Artifact, rules Rules) (SkillURL, error) {
	if artifact == SkillDirectory {
		return ParseSkillURL(raw, rules)
	}
	u, err := rules.parseSkillURL(raw)
	if err != nil {
		return SkillURL{}, err
	}
	return rules.artifactAt(raw, u, artifact)
}

// artifactAt returns the skill that a file at a canonical URL holds.
func (r Rules) artifactAt(raw string, u domain.URL, artifact Artifact) (SkillURL, error) {
	switch p, err := r.locate(u); {
	case err != nil:
		return SkillURL{}, err
	case !p.file:
		return SkillURL{}, refuse(CodeNotContentRoute, raw, "the path does not lead to a file of a repository", "use the page of the file in its repository")
	default:
		return SkillURL{place: p, fragment: u.FragmentDropped(), artifact: artifact}, nil
	}
}

// namesArchive reports whether a path is that of an archive by its extension.
func namesArchive(path string) bool {
	for _, extension := range []string{".tar.gz", ".tgz", ".zip"} {
		if n := len(path) - len(extension); n > 0 && strings.EqualFold(path[n:], extension) && path[n-1] != '/' {
			return true
		}
	}
	return false
}

// entryIn returns the URL that the SKILL.md of an archive has, as if the archive were a directory.
// References in the skill resolve against it. No request is sent to it.
func entryIn(archive domain.URL) (domain.URL, error) {
	return atPath(archive, archive.Host(), strings.TrimSuffix(archive.Path(), "/")+"/"+EntryFile)
}

// limit returns how many bytes the artifact of a candidate may have.
func (c *candidate) limit(limits Limits) int {
	if c.skill.artifact == SkillArchive {
		return limits.Archive
	}
	return limits.Skill
}

// readArtifact reads the skill from what the server sent. An archive with another digest than the
// expected one is not unpacked.
func (c *candidate) readArtifact(limits Limits) error {
	c.entry, c.Evidence.Digest = c.File.Bytes, DigestOf(c.File.Bytes)
	if c.skill.artifact == SkillArchive {
		if pin := c.Claim.Pin.Digest; !pin.IsZero() && pin != c.Evidence.Digest {
			return nil
		}
		var err error
		if c.members, err = unpackArchive(c.File.Bytes, limits); err != nil {
			return err
		}
		c.entry = c.members[EntryFile]
	}
	var err error
	c.parsed, c.findings, err = ParseSkillIn(c.skill.directoryName(), c.entry, c.Claim.Profile, limits)
	return err
}

// member returns a file of a skill that was served as an archive. No request is sent.
func (s *Loaded) member(ctx context.Context, t Target) (*Resource, error) {
	s.mu.Lock()
	content, ok := s.members[t.Name]
	s.mu.Unlock()
	v := s.loader.targetVerdict(t.URL)
	r := &Resource{Skill: s.ID.String(), URL: t.URL, Name: t.Name, Kind: KindOf(t.Name, content), Digest: DigestOf(content), Verdict: v, data: content}
	archive := lookleap.Evidence{URL: domain.Redact(s.ID.String()), Digest: s.Digest.String()}
	var check lookleap.Check
	switch {
	case !ok:
		check = failed(CodeSkillNotFound, "the archive of the skill has no such file", archive)
	case r.Kind == Instructions && !utf8.Valid(content):
		check = failed(lookleap.CodeNotUTF8, "the instructions are not UTF-8")
	default:
		check = passed("the file is a member of the archive that was verified", archive, lookleap.Evidence{Digest: r.Digest.String()})
	}
	check.Requirement = "DVS-4.1-03"
	v.Checks = append(v.Checks, check)
	if check.Status == lookleap.Failed {
		v.Code, v.Summary = check.Code, check.Message
		return nil, s.loader.refuse(ctx, v, nil)
	}
	v.OK, v.Expires, v.Summary = true, s.Verdict.Expires, "the "+r.Kind.String()+" was read from the archive"
	return r, nil
}

// fetchBundled returns a resolved file: of the archive, or from the server.
func (s *Loaded) fetchBundled(ctx context.Context, t Target) (*Resource, error) {
	if s.ID.artifact == SkillArchive && t.Access == Bundled {
		return s.member(ctx, t)
	}
	return s.loader.fetchResource(ctx, s.ID.String(), s.Root, s.directory(), s.resourceClaim(), t)
}
