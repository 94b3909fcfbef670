package dvs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
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
// they are unpacked, and so does the compression ratio. A refusal is a [*lookleap.Error] with the
// name of the member as its subject.
//
// A .tar.gz is read as a stream. A .zip has its directory at the end, so it is read into memory
// first. Apart from what r holds, memory is at most Limits.Archive and Limits.Total together.
func ReadArchive(r io.Reader, limits Limits) (map[string][]byte, error) {
	if r == nil {
		return nil, usageError("there is no archive", "pass a reader, such as a file")
	}
	limits = limits.withDefaults()
	compressed := &countingReader{reader: r, most: limits.Archive}
	buffered := bufio.NewReader(compressed)
	magic, _ := buffered.Peek(4)
	u := &unpacker{limits: limits, files: map[string][]byte{}, names: nameTable{}, read: func() int { return compressed.count }}
	var err error
	switch format, ok := formatOf(magic); {
	case ok && format == TarGzip:
		err = u.tarGzip(buffered)
	case ok:
		data, readErr := io.ReadAll(buffered) // which ends at Limits.Archive
		if err = readErr; err == nil {
			err = u.zip(data)
		}
	default:
		err = refuse(CodeBadArchive, "", "the file is neither a .tar.gz nor a .zip archive", "publish the skill in one of these formats")
	}
	return u.finish(err, compressed.err)
}

// unpackArchive is [ReadArchive] for bytes in memory, which it does not copy.
func unpackArchive(data []byte, limits Limits) (map[string][]byte, error) {
	if format, _ := formatOf(data); format != Zip {
		return ReadArchive(bytes.NewReader(data), limits)
	}
	limits = limits.withDefaults()
	if len(data) > limits.Archive {
		return nil, archiveTooLarge(limits.Archive)
	}
	u := &unpacker{limits: limits, files: map[string][]byte{}, names: nameTable{}, read: func() int { return len(data) }}
	return u.finish(u.zip(data), nil)
}

// formatOf returns the format of an archive by its first bytes.
func formatOf(data []byte) (ArchiveFormat, bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\x1f\x8b")):
		return TarGzip, true
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return Zip, true
	}
	return 0, false
}

// countingReader counts what is read, and returns an error beyond a limit.
type countingReader struct {
	reader io.Reader
	count  int
	most   int
	err    error // other than io.EOF
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.reader.Read(p)
	c.count += n
	if c.count > c.most {
		n, err = 0, archiveTooLarge(c.most)
	}
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

func archiveTooLarge(most int) error {
	return refuse(lookleap.CodeTooLarge, "", fmt.Sprintf("the archive is larger than %d bytes", most), "leave large files out")
}

// The compression ratio of a whole archive. Files that people write stay far below it; a file of
// one repeated byte is 1,000 times as large as its compressed form.
const (
	maxRatio       = 100
	ratioAllowance = 1 << 20 // bytes to which the ratio does not apply
)

// maxArchiveDirectories bounds the directories of an archive, which Limits.Files does not count.
const maxArchiveDirectories = 10_000

// unpacker has the rules for the members of an archive, whatever its format. The readers of the
// formats report every member to it, in the order of the archive.
type unpacker struct {
	limits      Limits
	files       map[string][]byte
	names       nameTable
	directories int
	total       int
	read        func() int // compressed bytes read so far
}

// memberName returns the path of a member below the skill's directory, or "." for the directory
// itself. A leading "./", as programs write it, is left out.
func memberName(written string) string {
	name := strings.TrimSuffix(strings.TrimPrefix(written, "./"), "/")
	if name == "" && written != "" {
		return "."
	}
	return name
}

// directory takes a directory.
func (u *unpacker) directory(written string) error {
	u.directories++
	if u.directories > maxArchiveDirectories {
		return refuse(lookleap.CodeLimit, written,
			fmt.Sprintf("the archive has more than %d directories", maxArchiveDirectories), "split the skill")
	}
	if name := memberName(written); name != "." {
		return u.names.directory(name)
	}
	return nil
}

// file takes a file with the size that the archive states.
func (u *unpacker) file(written string, size int64, content io.Reader) error {
	name := memberName(written)
	switch {
	case strings.HasSuffix(written, "/"): // which some readers take for a directory
		return refuse(CodeUnsafeName, written, "the path does not lead to a file below the skill's directory", "rename the file")
	case len(u.files) >= u.limits.Files:
		return refuse(lookleap.CodeLimit, name, fmt.Sprintf("the archive has more than %d files", u.limits.Files), "split the skill")
	}
	if err := u.names.accept(name); err != nil {
		return err
	}
	if size < 0 || size > int64(min(u.limits.Resource, u.limits.Total-u.total)) {
		return refuse(lookleap.CodeTooLarge, name, "the file, or all files together, are larger than allowed", "leave large files out")
	}
	data := make([]byte, 0, min(size, 64<<10)) // what comes decides about the memory, not what is stated
	for len(data) < int(size) {
		if len(data) == cap(data) {
			data = slices.Grow(data, min(len(data), int(size)-len(data)))
		}
		n, err := content.Read(data[len(data):min(cap(data), int(size))])
		data = data[:len(data)+n]
		u.total += n
		if u.total > ratioAllowance && u.total/maxRatio > u.read() {
			return refuse(lookleap.CodeTooLarge, name,
				fmt.Sprintf("the archive unpacks to more than %d times its size", maxRatio), "leave such files out")
		}
		if err != nil && len(data) < int(size) {
			return badArchive(name, "the file is shorter than the archive states", err)
		}
	}
	u.files[name] = data
	return nil
}

// finish checks what an archive as a whole has to have.
func (u *unpacker) finish(err, readErr error) (map[string][]byte, error) {
	var known *lookleap.Error
	switch {
	case readErr != nil: // the decoders wrap it
		return nil, ioError(readErr)
	case errors.As(err, &known):
		return nil, known
	case err != nil:
		return nil, badArchive("", "the archive cannot be read", err)
	}
	if _, ok := u.files[EntryFile]; ok {
		return u.files, nil
	}
	for _, name := range slices.Sorted(maps.Keys(u.files)) {
		switch {
		case path.Base(name) == EntryFile:
			return nil, refuse(CodeMissingSkillMD, name, "the archive has a SKILL.md in a directory and none at its root",
				"pack the files of the skill's directory, not the directory itself")
		case isEntry(name):
			return nil, refuse(CodeMissingSkillMD, name, "the entry file of a skill is named SKILL.md, in this spelling", "rename it")
		}
	}
	return nil, refuse(CodeMissingSkillMD, "", "the archive has no SKILL.md", "add one at its root")
}

// badArchive returns a refusal of an archive that is damaged, or that two readers could read in two
// ways.
func badArchive(member, reason string, cause error) error {
	return &lookleap.Error{Code: CodeBadArchive, Subject: member, Message: reason, Fix: "pack the skill again", Err: cause}
}

// WriteArchive writes the files of a skill as an archive that [ReadArchive] reads: SKILL.md first,
// the others by name. The same files result in the same bytes on every system and with every version
// of Go: all members have the same time and permissions, and are stored without compression. It returns an error for files that ReadArchive refuses, and for names that a format
// does not hold: use [Zip] for names that are not ASCII or have more than 100 bytes.
func WriteArchive(w io.Writer, format ArchiveFormat, files map[string][]byte) error {
	if w == nil {
		return usageError("there is no writer", "pass one, such as a file")
	}
	if err := checkFiles(files, Limits{}.withDefaults()); err != nil {
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
	return refuse(lookleap.CodeUsage, shorten(string(text)), "the kind of artifact is unknown",
		"use one of "+strings.Join(artifactNames[:], ", "))
}

// entryIn returns the URL that the SKILL.md of an archive has, as if the archive were a directory.
// References in the skill resolve against it. No request is sent to it.
func entryIn(archive domain.URL) (domain.URL, error) {
	return atPath(archive, archive.Host(), strings.TrimSuffix(archive.Path(), "/")+"/"+EntryFile)
}

// member returns a file of a skill that was served as an archive. No request is sent.
func (s *Loaded) member(ctx context.Context, t Target) (*Resource, error) {
	s.mu.Lock()
	content, ok := s.members[t.Name]
	s.mu.Unlock()
	v := s.loader.targetVerdict(t.URL)
	r := &Resource{Skill: s.ID.String(), URL: t.URL, Name: t.Name, Kind: KindOf(t.Name, content),
		Digest: DigestOf(content), Verdict: v, data: content}
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
	v.OK = true
	v.Expires = s.Verdict.Expires
	v.Summary = "the " + r.Kind.String() + " was read from the archive"
	return r, nil
}

// fetchBundled returns a resolved file: of the archive, or from the server.
func (s *Loaded) fetchBundled(ctx context.Context, t Target) (*Resource, error) {
	if s.ID.artifact == SkillArchive && t.Access == Bundled {
		return s.member(ctx, t)
	}
	return s.loader.fetchResource(ctx, s.ID.String(), s.Root, s.directory(), s.resourceClaim(), t)
}
