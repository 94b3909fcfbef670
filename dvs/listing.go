package dvs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Listing is a skill in the list of an origin (section 3.2). All fields except Skill are hints:
// the SKILL.md decides, and its digest has to match.
//
// An index may list a skill at another origin if it has a digest for it. [Listing.Foreign] reports
// that. Such a skill loads only under a registered root of its own URL, or after the user agreed.
type Listing struct {
	Skill       SkillURL
	Name        string   // by the index; "" in a sitemap
	Description string   // by the index
	Files       []string // paths below the skill's directory, by an index of v0.1
	Digest      Digest   // of the SKILL.md or archive, by an index of v0.2; zero: not promised
	Source      string   // URL of the index or sitemap that lists it

	packed *packedSkill // of a repository; nil: the skill is fetched
}

// Directory returns the directory of a skill in its [Repository], "" if it is the repository itself.
func (l *Listing) Directory() string {
	if l == nil || l.packed == nil {
		return ""
	}
	return l.packed.directory
}

// Origin returns the origin of the list that names the skill, or "".
func (l *Listing) Origin() string {
	if l == nil {
		return ""
	}
	u, _ := domain.Rules{AllowSpecial: true}.Parse(l.Source)
	return u.Origin() // "" for the zero URL
}

// Foreign reports whether the skill is at another origin than the list that names it.
func (l *Listing) Foreign() bool {
	if l == nil || l.Skill.IsZero() {
		return false
	}
	origin := l.Origin()
	return origin != "" && origin != l.Skill.page.Origin() && origin != l.Skill.served.Origin()
}

// wish asks for the skill of a listing.
func (l *Listing) wish(to level) wish {
	w := wish{Level: to, Claim: Claim{URL: l.Skill.String(), Listed: l.Digest, Artifact: l.Skill.artifact},
		Hint: &hint{Name: l.Name, Description: l.Description}, Files: slices.Clone(l.Files)}
	if l.packed != nil {
		w.packed = l.packed
		l.packed.claim(&w.Claim)
	}
	if l.Foreign() {
		w.Hint.Origin = l.Origin()
	}
	return w
}

// Skipped is the detail of an error of [Loader.Discover] after which the list goes on: an entry
// that was skipped, or a file that could not be read. [errors.As] finds it.
type Skipped struct{ Finding lookleap.Finding }

// Error returns the message of the finding.
func (s *Skipped) Error() string {
	if s == nil {
		return ""
	}
	return s.Finding.Message
}

// Listings is the content of one index or sitemap.
type Listings struct {
	Skills   []Listing
	Children []string           // further sitemaps that a sitemap index names
	Findings []lookleap.Finding // entries skipped, and why

	source string
	seen   map[string]bool
	more   int // findings beyond the limit
	files  int // that an index named
}

const maxListingFindings = 200

func newListings(source string) *Listings {
	return &Listings{source: source, seen: make(map[string]bool)}
}

func (l *Listings) find(severity lookleap.Severity, code lookleap.Code, requirement, message string, at lookleap.Position) {
	if len(l.Findings) >= maxListingFindings {
		l.more++
		return
	}
	l.Findings = append(l.Findings, lookleap.Finding{Severity: severity, Code: code, Requirement: requirement,
		Message: message, Position: at})
}

func (l *Listings) done() *Listings {
	if l.more > 0 {
		l.Findings = append(l.Findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeLimit,
			Message: fmt.Sprintf("%d more findings are not shown", l.more)})
	}
	return l
}

// entryAt resolves the location of an entry. Without a digest, it has to be on the same origin as
// the list (DVS-3.2-18 to DVS-3.2-20).
func (r Rules) entryAt(source domain.URL, ref string, artifact Artifact, digest Digest) (SkillURL, error) {
	u, err := r.urls().Resolve(source, ref)
	if err != nil {
		refused := badURL(ref, err)
		if refused.Code == lookleap.CodeNotHTTPS {
			refused.Code = codeEntryOutside
		}
		return SkillURL{}, refused
	}
	if u.Origin() != source.Origin() && digest.IsZero() {
		return SkillURL{}, refuse(codeEntryOutside, ref, "the entry is at another origin, for which this file does not speak",
			"list it at its own origin, or with its digest")
	}
	if plain, ok := r.withoutView(u); ok {
		u = plain
	}
	if u.HasQuery() && !r.AllowQuery {
		return SkillURL{}, refuse(codeQueryInSkillURL, ref, "a skill URL has no query", "list the URL without it")
	}
	if artifact == SingleFile && strings.HasSuffix(u.Path(), "/"+EntryFile) {
		artifact = SkillDirectory
	}
	return r.artifactAt(ref, u, artifact)
}

// add adds an entry unless its location is already in the list.
func (l *Listings) add(entry Listing, at lookleap.Position) {
	id := entry.Skill.String()
	if l.seen[id] {
		l.find(lookleap.SeverityWarning, CodeDuplicateEntry, "DVS-3.2-20",
			fmt.Sprintf("the location %s is listed twice", plaintext.Quote(domain.Redact(id), 200)), at)
		return
	}
	l.seen[id] = true
	entry.Source = l.source
	l.Skills = append(l.Skills, entry)
}

// Where origins list their skills.
const (
	SkillsPrefix      = "/.well-known/skills/"       // this draft, and Agent Skills discovery v0.1
	AgentSkillsPrefix = "/.well-known/agent-skills/" // Agent Skills discovery v0.2
	IndexFile         = "index.json"
	IndexSchema       = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
)

const indexDepth = 16

// ParseIndex reads the index of an origin that was served at the URL at. It accepts three shapes:
// an array of entries with name, description and path; an object with such an array, or with
// "files" (v0.1); an object with $schema and digests (v0.2). An entry that is incomplete, or that
// leads to another origin without a digest, is skipped with a finding. A schema that no version of
// discovery has is a finding; the entries are read as if the index named none. If the file is not an
// index, or names the schema of a later version, the error has the code bad-index or unknown-schema.
func ParseIndex(data []byte, at string, rules Rules, limits Limits) (*Listings, error) {
	limits = limits.withDefaults()
	source, err := rules.urls().Parse(at)
	if err != nil {
		return nil, badURL(at, err)
	}
	root, marked, err := strictjson.ParsePublished(data, strictjson.Limits{Size: limits.Index, Depth: indexDepth})
	if err != nil {
		return nil, badJSON(CodeBadIndex, at, err)
	}
	entries, form, refused := indexEntries(at, root)
	if refused != nil {
		return nil, refused
	}
	list := newListings(at)
	if marked {
		list.find(lookleap.SeverityInfo, lookleap.CodeByteOrderMark, "DVS-3.2-23", "the index begins with a byte order mark; save it without", lookleap.Position{Path: at})
	}
	if form == formUnknown {
		schema, _ := root.Member("$schema")
		list.find(lookleap.SeverityWarning, CodeUnknownSchema, "DVS-3.2-17", "the index names the schema "+
			plaintext.Quote(schema.Source(), 100)+
			", which no version of discovery has; its entries are read as if it named none", lookleap.Position{Offset: schema.Offset(), Path: at})
	}
	n := 0
	for entry := range entries.Elements() {
		n++
		if n > maxIndexEntries {
			list.find(lookleap.SeverityWarning, codeIndexTruncated, "DVS-3.2-22",
				fmt.Sprintf("the index has more than %d entries, and the rest is left out", maxIndexEntries), lookleap.Position{})
			break
		}
		place := lookleap.Position{Offset: entry.Offset(), Path: fmt.Sprintf("%s#%d", at, n-1)}
		listing, err := rules.indexEntry(list, source, entry, form, place)
		if err != nil {
			list.find(lookleap.SeverityWarning, lookleap.CodeOf(err), "DVS-3.2-20", "the entry is skipped: "+sentence(err), place)
			continue
		}
		list.add(listing, place)
	}
	return list.done(), nil
}

// indexForm says by which rules the entries of an index are read.
type indexForm uint8

const (
	formPaths   indexForm = iota // the draft and v0.1: no schema, no digests
	formDigests                  // v0.2: every entry has a type, a URL and a digest
	formUnknown                  // the index names a schema that no version of discovery has
)

// indexSchemas is the beginning of the schemas of all versions of discovery from v0.2 on.
const indexSchemas = "https://schemas.agentskills.io/discovery/"

// indexEntries returns the array of entries and their form. It refuses a schema of a later version
// of discovery, in which the same members may mean something else.
func indexEntries(at string, root strictjson.Value) (entries strictjson.Value, form indexForm, err error) {
	if root.Kind() == strictjson.Array {
		return root, formPaths, nil
	}
	if root.Kind() != strictjson.Object {
		return entries, form, refuse(CodeBadIndex, at, "an index is an array or an object", "")
	}
	if schema, ok := root.Member("$schema"); ok {
		switch text, _ := schema.Text(); {
		case text == IndexSchema:
			form = formDigests
		case strings.HasPrefix(text, indexSchemas):
			return entries, form, refuse(CodeUnknownSchema, at,
				"the index names the schema "+plaintext.Quote(schema.Source(), 100)+", which is not known here", "")
		default:
			form = formUnknown
		}
	}
	entries, _ = root.Member("skills")
	if entries.Kind() != strictjson.Array {
		return entries, form, refuse(CodeBadIndex, at, `the object has no array "skills"`, "")
	}
	return entries, form, nil
}

func (r Rules) indexEntry(list *Listings, source domain.URL, v strictjson.Value, form indexForm, at lookleap.Position) (Listing, error) {
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
		return Listing{}, refuse(lookleap.CodeBadName, fields.name, "the entry has no usable name",
			"use lower-case letters, digits and hyphens")
	}
	listing := Listing{Name: fields.name, Description: fields.description}
	artifact, ok := form.artifact(fields.kind, fields.url)
	if !ok {
		return Listing{}, refuse(codeUnknownType, fields.kind, "only entries of the types skill-md and archive are read here", "")
	}
	if _, ok := v.Member("sha256"); ok && fields.digest == "" {
		list.find(lookleap.SeverityWarning, codeBadIndexEntry, "DVS-3.2-17",
			"the entry has a member sha256, which is not read; a digest is written as \"digest\": \"sha256:…\" under the schema of v0.2", at)
	}
	digests := form == formDigests
	itself := artifact == SkillDirectory || strings.HasSuffix(fields.url, "/"+EntryFile) // the URL shows that a skill is there
	if digests || fields.digest != "" || !itself {
		digest, err := ParseDigest(fields.digest)
		if err != nil || digests && fields.url == "" {
			return Listing{}, refuse(codeBadIndexEntry, fields.digest, "the entry lacks its url or a digest of the form sha256:…", "")
		}
		listing.Digest = digest
	}
	path := fields.path
	if digests {
		path = "" // v0.2 does not have it
	}
	skill, err := r.entryLocation(source, fields.name, path, fields.url, artifact, listing.Digest)
	if err != nil {
		return Listing{}, err
	}
	listing.Skill = skill
	if fields.description == "" {
		list.find(lookleap.SeverityInfo, codeBadIndexEntry, "DVS-3.2-16", "the entry has no description", at)
	}
	listing.Files = list.listedFiles(v, at)
	return listing, nil
}

// artifact returns what an entry of a type at a URL is. Under an unknown schema, the URL of a
// SKILL.md says it too, since such indexes have types of their own.
func (f indexForm) artifact(kind, url string) (Artifact, bool) {
	switch {
	case f == formPaths:
		return SkillDirectory, true
	case kind == SingleFile.String():
		return SingleFile, true
	case kind == SkillArchive.String():
		return SkillArchive, true
	}
	return SkillDirectory, f == formUnknown && (kind == "" || strings.HasSuffix(url, "/"+EntryFile))
}

func textMember(v strictjson.Value, name string, to *string) error {
	member, ok := v.Member(name)
	if v.Kind() != strictjson.Object {
		return refuse(codeBadIndexEntry, "", "the entry is not an object", "")
	}
	if !ok {
		return nil
	}
	text, err := member.Text()
	if err != nil {
		return refuse(codeBadIndexEntry, name, "the value is not a string", "use a string")
	}
	*to = strings.Clone(text)
	return nil
}

// entryLocation returns the skill that an entry names by path or url. Without either, it lies
// in the directory of its name next to the index.
func (r Rules) entryLocation(source domain.URL, name, path, url string, artifact Artifact, digest Digest) (SkillURL, error) {
	if path == "" && url == "" {
		path = name + "/"
	}
	var found SkillURL
	for _, ref := range []string{path, url} {
		if ref == "" {
			continue
		}
		skill, err := r.entryAt(source, ref, artifact, digest)
		if err != nil {
			return SkillURL{}, err
		}
		if !found.IsZero() && found.String() != skill.String() {
			return SkillURL{}, refuse(codeConflictingPath, ref, "path and url name two locations", "use one of them")
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
	member, _ := v.Member("files") // without one there are no elements
	var files []string
	for f := range member.Elements() {
		if l.files == maxListedFiles {
			l.find(lookleap.SeverityWarning, codeIndexTruncated, "DVS-3.2-22",
				fmt.Sprintf("the index has more than %d files, and the rest is left out", maxListedFiles), at)
			break
		}
		l.files++
		text, err := f.Text()
		if err == nil && !isListedPath(text) {
			err = errors.New("it is not a path below the skill's directory")
		}
		if err != nil {
			l.find(lookleap.SeverityWarning, codeBadIndexEntry, "DVS-4.1-04", fmt.Sprintf("a file of the entry is left out: %v", err), at)
			continue
		}
		files = append(files, strings.Clone(text))
	}
	return files
}

// isListedPath implements the rule of discovery v0.1 for paths: printable ASCII without backslash,
// "?", "#", brackets, "%" and ":", relative, and without dot segments.
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
