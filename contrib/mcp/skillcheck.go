package lookleapmcp

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// skillName are the naming rules of Agent Skills.
var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Limits of what an entry says, which is kept in plans and in the trust store.
const (
	maxSkillName   = 64
	maxDescription = 1024 // characters
	maxMetadata    = 64 << 10
)

// checkEntry judges what a server says of a skill, before anything is read or asked. It
// returns the skill's files by their paths below its directory.
func checkEntry(e *Entry) (map[string]File, error) {
	no := func(code lookleap.Code, message, fix string) error {
		return &lookleap.Error{Code: code, Subject: quote(e.URI, 300), Message: message, Fix: fix}
	}
	root, ok := strings.CutSuffix(e.URI, "/"+dvs.EntryFile)
	u, err := url.Parse(e.URI)
	switch {
	case err != nil || !ok || u.Scheme == "" || u.Host == "" || u.User != nil || strings.ContainsAny(e.URI, "?#\\"):
		return nil, no(dvs.CodeNotSkillURL, "this is not the URI of a SKILL.md", "")
	case !skillName.MatchString(e.Name()) || len(e.Name()) > maxSkillName:
		return nil, no(dvs.CodeBadFrontmatter, "the skill has no valid name: "+quote(e.Name(), 100), "")
	case root != "" && path.Base(root) != e.Name():
		return nil, no(dvs.CodeNameDirectory, "the name "+quote(e.Name(), 100)+" is not that of the skill's directory", "")
	case strings.TrimSpace(e.Description()) == "" || utf8.RuneCountInString(e.Description()) > maxDescription:
		return nil, no(dvs.CodeBadDescription, fmt.Sprintf("the skill has no description, or one of more than %d characters",
			maxDescription), "")
	case metadataSize(e) > maxMetadata:
		return nil, no(lookleap.CodeTooLarge, fmt.Sprintf("the header and metadata of the skill have more than %d bytes", maxMetadata), "")
	case e.Files.Dynamic:
		return nil, no(dvs.CodeDigestMismatch, "the server publishes no digests of the skill, so the user cannot agree to what it says", "ask the operator of the server for a list of files")
	case len(e.Files.Files) > maxSkillFiles:
		return nil, no(lookleap.CodeLimit, fmt.Sprintf("the skill has %d files, more than %d", len(e.Files.Files), maxSkillFiles), "")
	}
	files := make(map[string]File, len(e.Files.Files))
	total := int64(0)
	for _, f := range e.Files.Files {
		name, below := strings.CutPrefix(f.URI, root+"/")
		decoded, err := url.PathUnescape(name)
		if !below || err != nil || !fs.ValidPath(decoded) || decoded == "." ||
			strings.Count(decoded, "/") != strings.Count(name, "/") || strings.ContainsAny(f.URI, "?#\\") ||
			strings.ContainsAny(decoded, "\\:\x00") {
			return nil, no(dvs.CodeUnsafeName, "the file "+quote(f.URI, 200)+" is not in the directory of the skill", "")
		}
		if _, twice := files[decoded]; twice {
			return nil, no(dvs.CodeDuplicateEntry, "the file "+quote(decoded, 200)+" is listed twice", "")
		}
		if f.Size < 0 || f.Digest.IsZero() {
			return nil, no(dvs.CodeDigestMismatch, "the file "+quote(decoded, 200)+" has no size or digest", "")
		}
		total += f.Size
		if f.Size > maxSkillBytes || total > maxSkillBytes {
			return nil, no(lookleap.CodeTooLarge, fmt.Sprintf("the files of the skill have more than %d bytes", maxSkillBytes), "")
		}
		files[decoded] = f
	}
	if err := dvs.CheckFileNames(slices.Sorted(maps.Keys(files))...); err != nil {
		return nil, err
	}
	if files[dvs.EntryFile].URI != e.URI {
		return nil, no(dvs.CodeMissingSkillMD, "the list of files has no "+dvs.EntryFile, "")
	}
	return files, nil
}

// metadataSize returns the bytes of the header and the metadata of an entry.
func metadataSize(e *Entry) int {
	text, err := json.Marshal([]any{e.Frontmatter, e.Meta})
	if err != nil {
		return maxMetadata + 1
	}
	return len(text)
}

// checkContent compares a file with its line in the manifest.
func checkContent(name string, content []byte, f File) error {
	message := ""
	switch {
	case int64(len(content)) != f.Size:
		message = fmt.Sprintf("the server sent %d bytes, and its list of files says %d", len(content), f.Size)
	case dvs.DigestOf(content) != f.Digest:
		message = "the bytes are not those whose digest the server's list of files has"
	default:
		return nil
	}
	return &lookleap.Error{Code: dvs.CodeDigestMismatch, Subject: quote(name, 200), Message: message,
		Fix: "get the entry again and load the skill again: if it changed, the user is asked about the change"}
}

// checkSkill compares the SKILL.md with the entry that the user agreed to, and reads it.
func checkSkill(e *Entry, content []byte, limits dvs.Limits) (*dvs.Skill, error) {
	fields, err := frontmatter(content)
	if err != nil {
		return nil, &lookleap.Error{Code: dvs.CodeBadFrontmatter, Subject: quote(e.URI, 300),
			Message: "the header of the SKILL.md cannot be read", Err: err}
	}
	if !sameFields(e.Frontmatter, fields) {
		return nil, &lookleap.Error{Code: dvs.CodeIndexMismatch, Subject: quote(e.URI, 300),
			Message: "the header of the SKILL.md is not the one that the server listed"}
	}
	skill, _, err := dvs.ParseSkill(content, dvs.DVS, limits)
	return skill, err
}
