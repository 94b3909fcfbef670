package dvs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
)

// ArchiveFormat is a format of archives that hold the directory of a skill (discovery v0.2).
type ArchiveFormat uint8

const (
	// TarGzip is a gzip-compressed tar archive: .tar.gz or .tgz.
	TarGzip ArchiveFormat = iota
	// Zip is a zip archive: .zip.
	Zip
)

// Extension returns ".tar.gz" or ".zip".
func (f ArchiveFormat) Extension() string {
	if f == Zip {
		return ".zip"
	}
	return ".tar.gz"
}

// MediaType returns the media type with which a server sends an archive.
func (f ArchiveFormat) MediaType() string {
	if f == Zip {
		return "application/zip"
	}
	return "application/gzip"
}

// ReadArchive reads all files of a skill from an archive, by their paths below the skill's
// directory. The first bytes tell the format. The SKILL.md has to be at the root of the archive.
//
// It refuses what could escape from the directory, what two readers or systems could read in two
// ways, and what is larger than the limits: absolute paths, "..", links, devices, names that
// [ReadSkillDir] refuses, names that are the same on some systems, encrypted members, parts of a
// multi-disk archive, and bytes that belong to no member. Size and number of the files count while
// they are unpacked. A refusal is a [*lookleap.Error] with the name of the member as its subject.
//
// A .tar.gz is read as a stream. A .zip has its directory at the end, so it is read into memory
// first. Apart from what r holds, memory grows with Limits.Archive and Limits.Total together.
func ReadArchive(r io.Reader, limits Limits) (map[string][]byte, error) {
	s, err := readArchive(r, limits)
	if err != nil {
		return nil, err
	}
	return s.files, nil
}

// readArchive is ReadArchive that keeps which files may be run.
func readArchive(r io.Reader, limits Limits) (*fileSet, error) {
	if r == nil {
		return nil, usageError("there is no archive", "pass a reader, such as a file")
	}
	s := newFileSet(limits)
	compressed := &limitedReader{reader: r, most: int64(s.limits.Archive)}
	buffered := bufio.NewReader(compressed)
	magic, _ := buffered.Peek(4)
	var err error
	switch {
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		err = walkTarGzip(buffered, int64(s.limits.Total), s.limits.Files+maxDirectories, s.tarMember)
	case bytes.HasPrefix(magic, []byte(zipLocalHeader)):
		var data []byte
		if data, err = io.ReadAll(buffered); err == nil { // Limits.Archive ends it
			err = s.zip(data)
		}
	default:
		err = badArchive("", "the file is neither a .tar.gz nor a .zip archive", nil)
	}
	var known *lookleap.Error
	switch {
	case compressed.err != nil: // the decoders wrap it
		return nil, ioError(compressed.err)
	case errors.As(err, &known):
		return nil, known
	case err != nil:
		return nil, badArchive("", "the archive cannot be read", err)
	}
	return s, s.checkEntry()
}

// limitedReader returns an error beyond a limit.
type limitedReader struct {
	reader io.Reader
	most   int64
	err    error // other than io.EOF
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.reader.Read(p)
	l.most -= int64(n)
	if l.most < 0 {
		n, err = 0, refuse(lookleap.CodeTooLarge, "", "the archive is larger than allowed", "leave large files out")
	}
	if err != nil && err != io.EOF {
		l.err = err
	}
	return n, err
}

// member adds a file of an archive. A leading "./", as programs write it, is left out.
func (s *fileSet) member(written string, mode fs.FileMode, content io.Reader) error {
	name := strings.TrimPrefix(written, "./")
	err := s.read(name, content, 0)
	if mode&0o111 != 0 {
		s.executable[name] = true
	}
	var known *lookleap.Error
	if err != nil && !errors.As(err, &known) {
		return badArchive(name, "the file cannot be unpacked", err)
	}
	return err
}

// memberDirectory adds a directory of an archive.
func (s *fileSet) memberDirectory(written string) error {
	name := strings.TrimSuffix(strings.TrimPrefix(written, "./"), "/")
	if name == "" && written != "" { // the skill's directory itself
		return nil
	}
	return s.directory(name)
}

// checkEntry refuses files without a SKILL.md.
func (s *fileSet) checkEntry() error {
	if _, ok := s.files[EntryFile]; ok {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		switch {
		case path.Base(name) == EntryFile:
			return refuse(CodeMissingSkillMD, name, "the archive has a SKILL.md in a directory and none at its root",
				"pack the files of the skill's directory, not the directory itself")
		case isEntry(name):
			return refuse(CodeMissingSkillMD, name, "the entry file of a skill is named SKILL.md, in this spelling", "rename it")
		}
	}
	return refuse(CodeMissingSkillMD, "", "the archive has no SKILL.md", "add one at its root")
}

// badArchive returns a refusal of an archive that is damaged, or that two readers could read in two
// ways.
func badArchive(member, reason string, cause error) error {
	return &lookleap.Error{Code: CodeBadArchive, Subject: member, Message: reason, Fix: "pack the skill again", Err: cause}
}

// WriteArchive writes the files of a skill as an archive that [ReadArchive] reads: SKILL.md first,
// the others by name. The same files result in the same bytes on every system and with every version
// of Go: all members have the same time and are stored without compression. A file that begins with "#!" may be
// run, the others not. It
// returns an error for files that ReadArchive refuses, and for names that a format does not hold: use
// [Zip] for names that are not ASCII or have more than 100 bytes.
func WriteArchive(w io.Writer, format ArchiveFormat, files map[string][]byte) error {
	if w == nil {
		return usageError("there is no writer", "pass one, such as a file")
	}
	if err := checkFiles(files, Limits{}); err != nil {
		return err
	}
	if _, ok := files[EntryFile]; !ok {
		return refuse(CodeMissingSkillMD, EntryFile, "the skill has no SKILL.md", "add one")
	}
	names := []string{EntryFile}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name != EntryFile {
			names = append(names, name)
		}
	}
	if format == Zip {
		return writeZip(w, names, files)
	}
	return writeTarGzip(w, names, files)
}

func archivedMode(content []byte) uint32 {
	if isShebang(content) {
		return 0o755
	}
	return 0o644
}

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
	return unmarshalName(a, artifactNames[:], text, "the kind of artifact")
}

// member returns a file that came with the skill. No request is sent.
func (s *Loaded) member(ctx context.Context, t Target) (*Resource, error) {
	s.mu.Lock()
	content, ok := s.members[t.Name]
	s.mu.Unlock()
	v := s.loader.targetVerdict(t.URL)
	r := &Resource{Skill: s.ID.String(), URL: t.URL, Name: t.Name, Kind: KindOf(t.Name, content),
		Digest: DigestOf(content), Verdict: v, data: content}
	archive := lookleap.Evidence{URL: s.ID.String(), Digest: s.Digest.String()}
	var check lookleap.Check
	switch {
	case !ok:
		check = failed(CodeSkillNotFound, "the archive of the skill has no such file", archive)
	case r.Kind == Instructions && !utf8.Valid(content):
		check = failed(lookleap.CodeNotUTF8, "the instructions are not UTF-8")
	default:
		check = passed("the file is a member of the archive that was verified", archive, lookleap.Evidence{Digest: r.Digest.String()})
	}
	v.Checks = append(v.Checks, about("DVS-4.1-03", check))
	if check.Status == lookleap.Failed {
		v.Code, v.Summary = check.Code, check.Message
		return nil, s.loader.refuse(ctx, v, nil)
	}
	v.OK = true
	v.Expires = s.Verdict.Expires
	v.Summary = "the " + r.Kind.String() + " was read from the archive"
	return r, nil
}

// fetchBundled returns a resolved file: of the archive, or from the server.
func (s *Loaded) fetchBundled(ctx context.Context, t Target) (*Resource, error) {
	if s.packed && t.Access == Bundled {
		return s.member(ctx, t)
	}
	claim := s.claim
	claim.Pin = Pin{Commit: s.pinned()} // a known digest is that of the SKILL.md alone
	return s.loader.fetchResource(ctx, s.ID.String(), s.Root, s.directory(), claim, t)
}
