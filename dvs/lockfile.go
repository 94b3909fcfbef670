package dvs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// LockMediaType is the type of a [Lockfile] in JSON.
const LockMediaType = "application/vnd.lookleap.dvs-lock+json;version=1"

// Lockfile lists the skills that a program uses, with their URLs and the digest of each file. If a
// file changes, even by its publisher, a program that is frozen to the lockfile refuses it.
type Lockfile struct {
	Skills []LockedSkill `json:"skills"` // sorted by URL
}

// LockedSkill is one skill of a lockfile.
type LockedSkill struct {
	URL       string       `json:"url"`               // canonical URL of the SKILL.md or archive
	Artifact  Artifact     `json:"artifact,omitzero"` // set if URL does not tell; see ParseArtifactURL
	Root      string       `json:"trustRoot"`
	Directory string       `json:"directory"` // in a VerifiedFS
	Files     []LockedFile `json:"files"`     // sorted by path

	// Development is set if the files are those of a server of the development mode. A [Loader] refuses
	// the skill then, and [Lockfile.Verify] accepts only a bundle that was loaded in that mode.
	Development bool `json:"development,omitempty"`

	// Installed says how an installer put the skill into folders; nil: none did.
	Installed *Installation `json:"installed,omitempty"`

	// Capabilities is what the skill may do, as far as its text says; nil: the lockfile does not say.
	// It is for people who read the difference of two lockfiles: only digests are checked.
	Capabilities Capabilities `json:"capabilities,omitzero"`
}

// Installation is what an installer keeps of a skill that it put into folders. A skill from a local
// directory has no URL and no root: only the user answers for it.
type Installation struct {
	Source string   `json:"source"`           // as the user named it: owner/repo, a URL or a directory
	Name   string   `json:"name,omitempty"`   // by the publisher
	Ref    string   `json:"ref,omitempty"`    // branch or tag of a repository
	Commit string   `json:"commit,omitempty"` // that it had
	Agents []string `json:"agents,omitempty"` // in whose folders the skill is, sorted
	Folder string   `json:"folder,omitempty"` // in which it is instead, below the directory of the lockfile
	Copied bool     `json:"copied,omitempty"` // each agent has a copy; otherwise links lead to one
	Signer string   `json:"signer,omitempty"` // fingerprint of who signed the files; "": no one
}

// LockedFile is one file of a skill.
type LockedFile struct {
	Path    string `json:"path"`             // below the skill's directory
	Digest  Digest `json:"digest"`           // as it was served
	Written Digest `json:"written,omitzero"` // as a VerifiedFS shows it, if that differs

	Executable bool `json:"executable,omitempty"` // the file may be run
}

// written is the digest of the file as a VerifiedFS shows it.
func (f *LockedFile) written() Digest {
	if f.Written.IsZero() {
		return f.Digest
	}
	return f.Written
}

// Bounds of a lockfile, in bytes, and of one skill in it.
const (
	maxLockfile    = 16 << 20
	maxLockedFiles = 10_000
)

// ParseLockfile reads what [Lockfile.MarshalJSON] wrote. Another type or version, an unknown
// member, a URL or root that is not canonical, an unsafe path and a duplicate are errors with a
// position.
func ParseLockfile(data []byte) (*Lockfile, error) {
	if len(data) > maxLockfile {
		return nil, refuse(CodeBadLock, "lockfile", fmt.Sprintf("the lockfile is larger than %d bytes", maxLockfile), "split it")
	}
	var written struct {
		Type   string         `json:"type"`
		Skills *[]LockedSkill `json:"skills"`
	}
	if err := strictjson.Decode(data, &written); err != nil {
		return nil, badLock(err)
	}
	switch {
	case written.Type != LockMediaType:
		return nil, badLock((&jsonFault{fmt.Sprintf("the type is not %s", LockMediaType), "", []any{"type"}}).in(data, CodeBadLock))
	case written.Skills == nil:
		return nil, badLock((&jsonFault{message: "the list of skills is missing"}).in(data, CodeBadLock))
	}
	urls, directories := map[string]bool{}, map[string]bool{}
	for i, s := range *written.Skills {
		f := s.check()
		switch {
		case f != nil:
		case s.URL != "" && urls[s.URL]:
			f = &jsonFault{"the skill is listed twice", "list it once", []any{"url"}}
		case directories[s.Directory]:
			f = &jsonFault{"two skills have this directory", "use one directory for each skill", []any{"directory"}}
		}
		if f != nil {
			f.at = append([]any{"skills", i}, f.at...)
			return nil, badLock(f.in(data, CodeBadLock))
		}
		urls[s.URL], directories[s.Directory] = true, true
	}
	lock := &Lockfile{Skills: *written.Skills}
	lock.sort()
	return lock, nil
}

// badLock makes a refusal of JSON one of a lockfile.
func badLock(err error) error {
	refused := badJSON(CodeBadLock, "lockfile", err)
	refused.Fix = cmp.Or(refused.Fix, "write it again with Lockfile.MarshalJSON")
	return refused
}

// check judges one skill of a lockfile.
func (s *LockedSkill) check() *jsonFault {
	if s.URL == "" && s.Root == "" && s.Installed != nil && s.Installed.Source != "" {
		return s.checkFiles()
	}
	url, err := ParseArtifactURL(s.URL, s.Artifact, Rules{})
	if err != nil || url.String() != s.URL {
		return &jsonFault{"this is not the canonical URL of a SKILL.md or archive", canonicalFix(url.String()), []any{"url"}}
	}
	root, err := ParseTrustRoot(s.Root, Rules{})
	switch {
	case err != nil || root.String() != s.Root:
		return &jsonFault{"this is not a canonical trust root", canonicalFix(root.String()), []any{"trustRoot"}}
	case !root.Covers(url):
		return &jsonFault{"the skill is not under this trust root", "write the root that the skill was loaded under", []any{"trustRoot"}}
	}
	return s.checkFiles()
}

// checkFiles judges where a skill of a lockfile is, and what it consists of.
func (s *LockedSkill) checkFiles() *jsonFault {
	switch {
	case !isDirectoryName(s.Directory):
		return &jsonFault{"the directory is not safe on every system", "use lower-case letters a to z, digits and hyphens only", []any{"directory"}}
	case s.Installed != nil && !isSafeFolder(s.Installed.Folder):
		return &jsonFault{"the folder is not below the directory of the lockfile, or is not safe on every system",
			"write a relative path without .. and without .git", []any{"installed", "folder"}}
	case s.Installed != nil && s.Installed.Commit != "" && !isFullCommit(s.Installed.Commit):
		return &jsonFault{"this is not a whole commit", "write 40 or 64 hex digits", []any{"installed", "commit"}}
	case len(s.Files) > maxLockedFiles:
		return &jsonFault{fmt.Sprintf("the skill has more than %d files", maxLockedFiles), "split it", []any{"files"}}
	case !slices.ContainsFunc(s.Files, func(f LockedFile) bool { return f.Path == EntryFile }):
		return &jsonFault{"the skill has no " + EntryFile, "add it, or lock the skill again", []any{"files"}}
	}
	names := nameTable{}
	for i, f := range s.Files {
		var unsafe *lookleap.Error
		if errors.As(names.add(f.Path, false), &unsafe) {
			return &jsonFault{unsafe.Message, unsafe.Fix, []any{"files", i, "path"}}
		}
		if f.Digest.IsZero() {
			return &jsonFault{"the digest is missing", "write sha256: and 64 lower-case hex digits", []any{"files", i, "digest"}}
		}
	}
	for i, c := range s.Capabilities {
		if rankOf(c.Kind) < 0 || c.Value == "" || c.File == "" {
			return &jsonFault{"the kind of capability is unknown, or its value or file is missing", "lock the skill again", []any{"capabilities", i, "kind"}}
		}
	}
	return nil
}

// isSafeFolder reports whether skills may be written to a folder below the directory of a lockfile. What is
// below .git can be run by git, so no skill is put there.
func isSafeFolder(folder string) bool {
	folder = path.Clean(folder)
	if folder == "." {
		return true
	}
	_, err := foldFilePath(folder)
	return err == nil
}

func canonicalFix(canonical string) string {
	if canonical == "" {
		return "write a canonical https URL"
	}
	return "write " + canonical
}

// MarshalJSON writes the lockfile with its type, in sorted order.
func (l *Lockfile) MarshalJSON() ([]byte, error) {
	if l == nil {
		l = new(Lockfile)
	}
	type plain Lockfile
	sorted := l.clone()
	sorted.sort()
	return json.Marshal(struct {
		Type string `json:"type"`
		*plain
	}{LockMediaType, (*plain)(sorted)})
}

// UnmarshalJSON reads a lockfile as [ParseLockfile] does.
func (l *Lockfile) UnmarshalJSON(data []byte) error {
	if l == nil {
		return usageError("there is no lockfile to read into", "pass the address of one")
	}
	lock, err := ParseLockfile(data)
	if err == nil {
		*l = *lock
	}
	return err
}

// Verify checks that the lockfile has the skill of a bundle under the same root, with exactly
// these files.
func (l *Lockfile) Verify(b Bundle) error {
	if b.source != nil {
		if err := b.checkUnchanged(); err != nil {
			return err
		}
	}
	locked := l.Find(b.ID)
	if locked == nil || locked.Root != b.Root {
		return refuse(CodeNotLocked, b.ID, "the lockfile does not have this skill under this trust root",
			"add it to the lockfile after looking at it")
	}
	if locked.Development && !b.Verdict.Development() {
		return locked.refuseDevelopment()
	}
	return locked.verify(b.Files, func(f *LockedFile, found Digest) bool { return found == f.Digest })
}

func (s *LockedSkill) refuseDevelopment() error {
	return refuse(lookleap.CodeDevelopment, s.URL, "the skill was locked in development mode", "lock it again from its publisher")
}

// VerifyWritten checks the files of one directory of a [VerifiedFS], for example read back from
// disk.
func (s *LockedSkill) VerifyWritten(files map[string][]byte) error {
	if s == nil {
		s = new(LockedSkill)
	}
	return s.verify(files, func(f *LockedFile, found Digest) bool { return found == f.written() })
}

// Find returns the entry of a skill, or nil.
func (l *Lockfile) Find(url string) *LockedSkill {
	if l == nil || url == "" {
		return nil
	}
	for i := range l.Skills {
		if l.Skills[i].URL == url {
			return &l.Skills[i]
		}
	}
	return nil
}

// Changes returns a finding for every file that differs from the lockfile, sorted by path. The
// codes are digest-mismatch, lock-missing-file and not-locked. It accepts files as they were
// served and as a [VerifiedFS] shows them.
func (s *LockedSkill) Changes(files map[string][]byte) []lookleap.Finding {
	if s == nil {
		s = new(LockedSkill)
	}
	return s.changes(files, func(f *LockedFile, found Digest) bool { return found == f.Digest || found == f.written() })
}

func (s *LockedSkill) changes(files map[string][]byte, holds func(*LockedFile, Digest) bool) (changes []lookleap.Finding) {
	find := func(code lookleap.Code, file, message, fix string) {
		changes = append(changes, lookleap.Finding{Severity: lookleap.SeverityError, Code: code, Message: message,
			Fix: fix, Position: lookleap.Position{Path: file}})
	}
	locked := make(map[string]bool, len(s.Files))
	for i := range s.Files {
		f := &s.Files[i]
		locked[f.Path] = true
		if content, ok := files[f.Path]; !ok {
			find(CodeLockMissing, f.Path, "a file of the lockfile is not there", "restore it, or lock the skill again")
		} else if found := DigestOf(content); !holds(f, found) && onlyLineEnds(content, func(d Digest) bool { return holds(f, d) }) {
			find(CodeDigestMismatch, f.Path, fmt.Sprintf("only line ends differ: the file has the digest %s, the lockfile says %s", found, f.Digest),
				"restore the file without converting line ends; for Git, write the line \"* -text\" into .gitattributes")
		} else if !holds(f, found) {
			find(CodeDigestMismatch, f.Path, fmt.Sprintf("the file has the digest %s, the lockfile says %s", found, f.Digest),
				"restore it, or look at what changed and lock it again")
		}
	}
	for file := range files {
		if !locked[file] {
			find(CodeNotLocked, file, "the lockfile does not have this file", "remove it, or look at it and lock the skill again")
		}
	}
	slices.SortFunc(changes, func(a, b lookleap.Finding) int { return strings.Compare(a.Path, b.Path) })
	return changes
}

// onlyLineEnds reports whether a file has an accepted digest with the line ends of another system.
func onlyLineEnds(content []byte, holds func(Digest) bool) bool {
	lf := bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	return holds(DigestOf(lf)) || holds(DigestOf(bytes.ReplaceAll(lf, []byte("\n"), []byte("\r\n"))))
}

func (s *LockedSkill) verify(files map[string][]byte, holds func(*LockedFile, Digest) bool) error {
	for _, f := range s.changes(files, holds) {
		return refuse(f.Code, s.URL+" "+f.Path, f.Message, f.Fix)
	}
	return nil
}

// CheckLocked returns an error if the registry, a policy or a feed refuses a skill of a lockfile with these files,
// which the caller already has, for example in a store. It loads nothing: it sends requests only for feeds. The
// files need not be those of the lockfile; see [LockedSkill.VerifyWritten].
func (l *Loader) CheckLocked(ctx context.Context, s *LockedSkill, files map[string][]byte) error {
	if err := l.ready(); err != nil {
		return err
	}
	if s == nil {
		s = new(LockedSkill)
	}
	u, err := ParseArtifactURL(s.URL, s.Artifact, l.roots.Rules())
	if err != nil {
		return err
	}
	if err := cmp.Or(l.refreshTrust(ctx), l.refusalAt(u.page, u.String())); err != nil {
		return err
	}
	for name, content := range files {
		if err := l.withdrawn.Load().digest(DigestOf(content), s.URL+" "+name); err != nil {
			return err
		}
	}
	claim := Claim{URL: s.URL}
	if s.Installed != nil {
		claim.Pin.Commit = s.Installed.Commit
	}
	if s.Artifact != SkillArchive { // the digest of an archive is not kept
		claim.Pin.Digest = DigestOf(files[EntryFile])
	}
	err = l.policies.each(func(c *compiledPolicy) error {
		w := wish{Level: activated, Claim: claim, Under: s.Root}
		return cmp.Or(c.under(u, s.Root), c.pin(&w, u, l.roots.Rules()))
	})
	return cmp.Or(err, l.policies.signed(u, files, l.host.Time()))
}

func (l *Lockfile) sort() {
	slices.SortFunc(l.Skills, func(a, b LockedSkill) int {
		return cmp.Or(strings.Compare(a.URL, b.URL), strings.Compare(a.Directory, b.Directory))
	})
	for i := range l.Skills {
		slices.SortFunc(l.Skills[i].Files, func(a, b LockedFile) int { return strings.Compare(a.Path, b.Path) })
		l.Skills[i].Capabilities.sort()
	}
}

func (l *Lockfile) clone() *Lockfile {
	c := &Lockfile{Skills: append([]LockedSkill{}, l.Skills...)} // an empty list is [] in JSON, not null
	for i := range c.Skills {
		c.Skills[i].Files = append([]LockedFile{}, c.Skills[i].Files...)
		c.Skills[i].Capabilities = slices.Clone(c.Skills[i].Capabilities)
	}
	return c
}
