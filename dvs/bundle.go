package dvs

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Bundle is a verified skill with the files that a framework needs. [Loaded.Bundle] makes one, and
// [NewVerifiedFS] accepts a list of them.
type Bundle struct {
	ID       string            // canonical URL of the SKILL.md
	Root     string            // its trust root
	Artifact Artifact          // set if ID does not tell; see ParseArtifactURL
	Files    map[string][]byte // by path below the skill's directory, SKILL.md among them, as they were served
	Verdict  *lookleap.Verdict // that the skill is verified; without it the bundle is refused

	// Executable are the files that may be run, as their archive says. Files that were fetched one by
	// one are not in it.
	Executable map[string]bool

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

// Bundle fetches files of the skill's own directory and returns them with the SKILL.md, or an
// error if one of them fails. The arguments are references as the skill would write them.
// Nothing outside the directory is fetched, and the user is not asked, unless the files are not
// those of the version that the user approved ([Options].Trust).
//
// Without arguments, it takes all files that are known: the members of an archive, the files that
// an index of v0.1 lists, and the files that the instructions refer to, also from bundled Markdown
// files. Each file is fetched once. It leaves out other skills, and files that the server does not
// have; [Bundle.Findings] reports them.
func (s *Loaded) Bundle(ctx context.Context, files ...string) (Bundle, error) {
	skill, err := s.Skill()
	if err != nil {
		return Bundle{}, err
	}
	s.mu.Lock()
	entry := s.file
	s.mu.Unlock()
	b := &bundler{skill: s, absent: map[string]lookleap.Code{}, directories: map[string]bool{},
		Bundle: Bundle{ID: s.ID.String(), Root: s.Root.String(), Artifact: s.ID.untold(), Files: map[string][]byte{},
			Executable: nameSet{}, Verdict: s.Verdict, source: s, digests: map[string]Digest{}}}
	b.add(EntryFile, entry, skill)
	if len(files) > 0 {
		err = b.named(ctx, files)
	} else {
		err = b.known(ctx)
	}
	if err == nil {
		err = s.checkFiles(ctx, b.Files, len(files) == 0)
	}
	if err == nil && len(files) == 0 {
		if err = s.loader.policies.signed(s.ID, b.Files, s.loader.host.Time()); err != nil {
			err = s.loader.refuseTarget(ctx, s.ID.String(), err)
		}
	}
	if err != nil {
		return Bundle{}, err
	}
	return b.Bundle, nil
}

type bundler struct {
	Bundle
	skill     *Loaded
	total     int                      // bytes
	misses    int                      // paths in texts that led to no file, one after the other
	absent    map[string]lookleap.Code // files that were asked for and are not bundled, and why
	documents []bundledDocument        // whose references are still to be followed

	directories map[string]bool // first segments of the paths of bundled files
}

type bundledDocument struct {
	name string
	text *Skill // of other files than SKILL.md, only the body
}

// named adds the files that the caller asks for.
func (b *bundler) named(ctx context.Context, files []string) error {
	for _, file := range files {
		t, err := b.skill.Resolve(file)
		switch {
		case err != nil:
			return err
		case t.Access != Bundled:
			return refuse(CodeNotBundled, file, "the file is not in the skill's directory", "name files of the directory")
		}
		if err := b.fetch(ctx, t, true); err != nil {
			return err
		}
	}
	return nil
}

func (b *bundler) known(ctx context.Context) error {
	listed := b.skill.listed
	if b.skill.packed {
		b.skill.mu.Lock()
		listed = slices.Sorted(maps.Keys(b.skill.members))
		b.skill.mu.Unlock()
	}
	for _, name := range listed {
		t, _ := b.skill.Resolve((&url.URL{Path: name}).EscapedPath())
		if t.Access != Bundled {
			continue // an index listed it, and nothing refers to it yet
		}
		if isEntry(t.Name) {
			if t.Name != EntryFile {
				b.leaveOut(lookleap.SeverityInfo, CodeNotBundled, "the file belongs to another skill", lookleap.Position{Path: t.Name})
			}
			continue
		}
		if _, err := b.try(ctx, t); err != nil {
			return err
		}
		if code := b.absent[t.Name]; code != "" {
			b.leaveOut(lookleap.SeverityWarning, code, "the index lists the file, and it is not bundled: "+absences[code],
				lookleap.Position{Path: t.Name})
		}
	}
	if s := b.skill; !s.packed && s.loader.policies.needSignature(s.ID) {
		for _, name := range signatureNames {
			if t, _ := s.Resolve(name); t.Access == Bundled {
				if _, err := b.try(ctx, t); err != nil {
					return err
				}
			}
		}
	}
	for followed := 0; len(b.documents) > 0; {
		d := b.documents[0]
		b.documents = b.documents[1:]
		for _, r := range d.text.References() {
			followed++
			if followed > maxReferences {
				b.leaveOut(lookleap.SeverityWarning, lookleap.CodeLimit,
					fmt.Sprintf("only the first %d references were followed", maxReferences), lookleap.Position{Path: d.name})
				return nil
			}
			if err := b.follow(ctx, d.name, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow adds the file that a reference leads to, or reports why it does not.
func (b *bundler) follow(ctx context.Context, from string, r Reference) error {
	at := r.Position
	at.Path = from
	_, absolute := schemeOf(r.Target)
	if strings.HasPrefix(r.Target, "//") {
		return nil
	}
	skip := func(message string) error {
		b.leaveOut(lookleap.SeverityInfo, CodeNotBundled, message, at)
		return nil
	}
	var code lookleap.Code
	quoted := plaintext.Quote(r.Target, 100)
	for _, ref := range b.readings(from, r) {
		t, _ := b.skill.Resolve(ref)
		outside := t.Access != Bundled
		switch {
		case outside && (absolute || r.Bare), !outside && t.Name == EntryFile:
			return nil
		case outside:
			return skip("the reference " + quoted + " leads out of the skill's directory")
		case isEntry(t.Name):
			return skip("the reference " + quoted + " leads to another skill")
		case r.Bare && b.digests[t.Name].IsZero() && (!b.isLikely(r) || b.misses >= maxMisses):
			return skip("the path " + quoted + " is more likely one of the user's files, so it was not asked for")
		}
		ok, err := b.try(ctx, t)
		if ok {
			b.misses = 0
		}
		if ok || err != nil {
			return err
		}
		code = cmp.Or(code, b.absent[t.Name])
	}
	severity := lookleap.SeverityWarning
	if r.Bare {
		b.misses++
		severity = lookleap.SeverityInfo // perhaps it was not meant as a reference
	}
	b.leaveOut(severity, code, fmt.Sprintf("the file %s is not bundled: %s", quoted, absences[code]), at)
	return nil
}

// maxMisses is how many paths in texts are tried in vain, one after the other.
const maxMisses = 2

// bundledDirectories are the directories in which skills keep their files: those of the draft
// and of the public format, and what authors use besides.
var bundledDirectories = wordSet{list: "assets bin checklists data examples guides prompts recipes reference references resources rules schemas scripts snippets templates workflows"}

// projectFiles are Markdown files that a text about other people's work mentions.
var projectFiles = wordSet{list: "agents.md changelog.md claude.md code_of_conduct.md contributing.md copilot-instructions.md design.md gemini.md history.md license.md memory.md notes.md plan.md prd.md progress.md readme.md roadmap.md security.md soul.md spec.md tasks.md todo.md"}

// isLikely reports whether a path in a text is worth a request. Most of such paths are names of
// files in the project that the user works on.
func (b *bundler) isLikely(r Reference) bool {
	if b.skill.packed {
		return true // without a request
	}
	first, _, nested := strings.Cut(strings.TrimPrefix(r.Target, "./"), "/")
	switch {
	case nested && b.directories[first]:
		return true
	case nested:
		return bundledDirectories.has(strings.ToLower(first))
	default:
		return !r.Code && !projectFiles.has(strings.ToLower(first))
	}
}

// readings returns the references from the SKILL.md that a reference in a bundled file may mean. A
// link is relative to its file. Authors also write paths as they are below the skill's directory.
func (b *bundler) readings(from string, r Reference) []string {
	directory := path.Dir(from)
	if _, absolute := schemeOf(r.Target); absolute || directory == "." || strings.HasPrefix(r.Target, "/") {
		return []string{r.Target}
	}
	relative := (&url.URL{Path: directory}).EscapedPath() + "/" + r.Target
	switch first, _, nested := strings.Cut(r.Target, "/"); {
	case first == ".." || first == ".":
		return []string{relative}
	case nested && b.directories[first]:
		return []string{r.Target, relative}
	default:
		return []string{relative, r.Target}
	}
}

// absences say why a file is not bundled.
var absences = map[lookleap.Code]string{
	CodeSkillNotFound:      "it does not exist",
	CodeSkillForbidden:     "the server denied access to it",
	lookleap.CodeMediaType: "the server sent a page or another media type in its place",
}

// try fetches a file unless that was tried before. It reports whether the bundle has the file. That
// a server does not have it, or keeps it for itself, is not an error.
func (b *bundler) try(ctx context.Context, t Target) (bool, error) {
	if b.absent[t.Name] != "" {
		return false, nil
	}
	err := b.fetch(ctx, t, false)
	switch code := lookleap.CodeOf(err); code {
	case CodeSkillNotFound, CodeSkillForbidden, lookleap.CodeMediaType: // some servers answer 403 for what is not there
		b.absent[t.Name] = code
		return false, nil
	}
	return err == nil, err
}

// fetch adds a file to the bundle, once. Unless pages are wanted, it refuses a page in the place of
// another file, which servers send for what they do not have.
func (b *bundler) fetch(ctx context.Context, t Target, pages bool) error {
	if !b.digests[t.Name].IsZero() {
		return nil
	}
	limits := b.skill.loader.limits
	if len(b.Files) >= limits.Files {
		return refuse(lookleap.CodeLimit, t.Name, "the skill has more files than allowed", "name the files that are needed")
	}
	r, err := b.skill.bundledResource(ctx, t)
	switch {
	case err != nil:
		return err
	case b.total+len(r.data) > limits.Total:
		return refuse(lookleap.CodeTooLarge, t.Name, "all files together are larger than allowed", "name the files that are needed")
	case r.page && !pages && !strings.HasPrefix(strings.ToLower(path.Ext(t.Name)), ".htm"):
		return refuse(lookleap.CodeMediaType, t.Name, "the server sent a page in the place of the file", "")
	}
	b.add(t.Name, r.data, &Skill{Body: string(r.data), BodyPosition: lookleap.Position{Line: 1, Column: 1}})
	return nil
}

func (b *bundler) add(name string, content []byte, text *Skill) {
	b.Files[name], b.digests[name] = content, DigestOf(content)
	if b.skill.executable[name] {
		b.Executable[name] = true
	}
	b.total += len(content)
	if directory, _, nested := strings.Cut(name, "/"); nested {
		b.directories[directory] = true
	}
	if KindOf(name, content) == Instructions {
		b.documents = append(b.documents, bundledDocument{name, text})
	}
}

const maxBundleFindings = 500

func (b *bundler) leaveOut(severity lookleap.Severity, code lookleap.Code, message string, at lookleap.Position) {
	if len(b.Findings) < maxBundleFindings || code == lookleap.CodeLimit {
		b.Findings = append(b.Findings, lookleap.Finding{Severity: severity, Code: code, Requirement: "DVS-4.1-04",
			Message: message, Position: at})
	}
}
