package dvs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Where origins list their skills.
const (
	SkillsPrefix      = "/.well-known/skills/"       // this draft, and Agent Skills discovery v0.1
	AgentSkillsPrefix = "/.well-known/agent-skills/" // Agent Skills discovery v0.2
	IndexFile         = "index.json"
	IndexSchema       = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
)

// indexDepth is how deep an index may be nested.
const indexDepth = 16

// ParseIndex reads the index of an origin, which was served at the URL at. It
// has one of three shapes: an array of entries with name, description and path;
// an object with such an array, or with "files" (v0.1); an object with $schema
// and digests (v0.2). An entry that is incomplete, or that leads elsewhere, is
// skipped with a finding and does not spoil the rest. What is no index at all is
// an [*lookleap.Error] with bad-index or unknown-schema.
func ParseIndex(data []byte, at string, rules Rules, limits Limits) (*Listings, error) {
	limits = limits.withDefaults()
	source, err := rules.urls().Parse(at)
	if err != nil {
		return nil, badURL(at, err)
	}
	root, err := strictjson.Parse(data, strictjson.Limits{Size: limits.Index, Depth: indexDepth})
	if err != nil {
		return nil, badJSON(CodeBadIndex, at, err)
	}
	entries, digests, refused := indexEntries(at, root)
	if refused != nil {
		return nil, refused
	}
	list := newListings(at)
	n := 0
	for entry := range entries.Elements() {
		if n++; n > limits.IndexEntries {
			list.find(lookleap.SeverityWarning, CodeIndexTruncated, "DVS-3.2-22", fmt.Sprintf("the index has more than %d entries, and the rest is left out", limits.IndexEntries), lookleap.Position{})
			break
		}
		place := lookleap.Position{Offset: entry.Offset(), Path: fmt.Sprintf("%s#%d", at, n-1)}
		listing, err := rules.indexEntry(list, source, entry, digests, place)
		if err != nil {
			list.find(lookleap.SeverityWarning, lookleap.CodeOf(err), "DVS-3.2-20", "the entry is skipped: "+sentence(err), place)
			continue
		}
		list.add(listing, place)
	}
	return list.done(), nil
}

// indexEntries finds the array of entries and tells whether they promise digests.
func indexEntries(at string, root strictjson.Value) (entries strictjson.Value, digests bool, err *lookleap.Error) {
	if root.Kind() == strictjson.Array {
		return root, false, nil
	}
	if root.Kind() != strictjson.Object {
		return entries, false, refuse(CodeBadIndex, at, "an index is an array or an object", "")
	}
	if schema, ok := root.Member("$schema"); ok {
		text, _ := schema.Text()
		if text != IndexSchema {
			return entries, false, refuse(CodeUnknownSchema, at, "the index names the schema "+plaintext.Quote(schema.Source(), 100)+", which is not known here", "")
		}
		digests = true
	}
	entries, ok := root.Member("skills")
	if !ok || entries.Kind() != strictjson.Array {
		return entries, false, refuse(CodeBadIndex, at, `the object has no array "skills"`, "")
	}
	return entries, digests, nil
}

// indexEntry reads one entry.
func (r Rules) indexEntry(list *Listings, source domain.URL, v strictjson.Value, digests bool, at lookleap.Position) (Listing, error) {
	var fields struct{ name, description, path, url, kind, digest string }
	for _, f := range []struct {
		member string
		to     *string
	}{
		{"name", &fields.name}, {"description", &fields.description}, {"path", &fields.path}, {"url", &fields.url}, {"type", &fields.kind}, {"digest", &fields.digest},
	} {
		if err := textMember(v, f.member, f.to); err != nil {
			return Listing{}, err
		}
	}
	if !isName(fields.name) {
		return Listing{}, refuse(lookleap.CodeBadName, fields.name, "the entry has no usable name", "use lower-case letters, digits and hyphens")
	}
	listing := Listing{Name: fields.name, Description: fields.description}
	if digests {
		if fields.kind != "skill-md" {
			return Listing{}, refuse(CodeUnknownType, fields.kind, "only entries of the type skill-md are read here", "")
		}
		digest, err := ParseDigest(fields.digest)
		if err != nil || fields.url == "" {
			return Listing{}, refuse(CodeBadIndexEntry, fields.digest, "the entry lacks its url or a digest of the form sha256:…", "")
		}
		listing.Digest = digest
	}
	skill, err := r.entryLocation(source, fields.name, fields.path, fields.url)
	if err != nil {
		return Listing{}, err
	}
	listing.Skill = skill
	if fields.description == "" {
		list.find(lookleap.SeverityInfo, CodeBadIndexEntry, "DVS-3.2-16", "the entry has no description", at)
	}
	listing.Files = list.listedFiles(v, at)
	return listing, nil
}

func textMember(v strictjson.Value, name string, to *string) error {
	member, ok := v.Member(name)
	if v.Kind() != strictjson.Object {
		return refuse(CodeBadIndexEntry, "", "the entry is no object", "")
	}
	if !ok {
		return nil
	}
	text, err := member.Text()
	if err != nil {
		return refuse(CodeBadIndexEntry, name, "the value is not a string", "use a string")
	}
	*to = strings.Clone(text)
	return nil
}

// entryLocation gives the skill that an entry names by path or url; without
// either it lies in the directory of its name.
func (r Rules) entryLocation(source domain.URL, name, path, url string) (SkillURL, error) {
	if path == "" && url == "" {
		path = SkillsPrefix + name + "/"
	}
	var found SkillURL
	for _, ref := range []string{path, url} {
		if ref == "" {
			continue
		}
		skill, err := r.entryAt(source, ref)
		if err != nil {
			return SkillURL{}, err
		}
		if !found.IsZero() && found.String() != skill.String() {
			return SkillURL{}, refuse(CodeConflictingPath, ref, "path and url name two locations", "use one of them")
		}
		found = skill
	}
	return found, nil
}

// maxListedFiles is how many files an index may name, all its entries together.
const maxListedFiles = 10_000

// listedFiles reads the list of files of an entry of v0.1. A path that leads out of
// the directory is left out.
func (l *Listings) listedFiles(v strictjson.Value, at lookleap.Position) []string {
	member, ok := v.Member("files")
	if !ok {
		return nil
	}
	var files []string
	for f := range member.Elements() {
		if l.files == maxListedFiles {
			l.find(lookleap.SeverityWarning, CodeIndexTruncated, "DVS-3.2-22", fmt.Sprintf("the index has more than %d files, and the rest is left out", maxListedFiles), at)
			break
		}
		l.files++
		text, err := f.Text()
		if err == nil && !isListedPath(text) {
			err = errors.New("it is no path below the skill's directory")
		}
		if err != nil {
			l.find(lookleap.SeverityWarning, CodeBadIndexEntry, "DVS-4.1-04", fmt.Sprintf("a file of the entry is left out: %v", err), at)
			continue
		}
		files = append(files, strings.Clone(text))
	}
	return files
}

// isListedPath is the rule of discovery v0.1 for paths: printable ASCII without
// backslash, "?", "#" and brackets, relative, and without dot segments.
func isListedPath(path string) bool {
	for i := range len(path) {
		if c := path[i]; c < 0x20 || c > 0x7E || strings.IndexByte(`\?#[]%:`, c) >= 0 {
			return false
		}
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return true
}
