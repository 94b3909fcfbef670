package dvs

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"maps"
	"slices"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// IndexShape is one of the forms of an index that are in use.
type IndexShape uint8

const (
	// IndexArray: the form of this draft, an array of name, description, path.
	IndexArray IndexShape = iota
	// IndexFiles: that of discovery v0.1, at the same URL: an object with the
	// array skills of name, description, files.
	IndexFiles
	// IndexDigests: that of discovery v0.2, at another URL: each skill with the
	// digest of its SKILL.md.
	IndexDigests
)

// Published is a skill that its owner publishes: its metadata and its files.
type Published struct {
	Name        string
	Description string
	Files       map[string][]byte // by path below its directory
}

// NewPublished makes one of the files of a skill's directory. What agents would
// refuse is refused: a SKILL.md that is not valid, or files with unsafe names.
func NewPublished(files map[string][]byte, limits Limits) (*Published, error) {
	if err := checkFiles(files, limits.withDefaults()); err != nil {
		return nil, err
	}
	content, ok := files[EntryFile]
	if !ok {
		return nil, refuse(CodeMissingSkillMD, EntryFile, "the directory has no SKILL.md", "add one")
	}
	skill, _, err := ParseSkill(content, DVS, limits)
	if err != nil {
		return nil, err
	}
	return &Published{Name: skill.Name, Description: skill.Description, Files: maps.Clone(files)}, nil
}

// Lock gives the lockfile that agents have who load the skill from this URL
// under this root, with all of its files. It is for those who publish or review
// a skill: nothing is fetched, and nobody is verified.
func (p *Published) Lock(skill SkillURL, root TrustRoot, limits Limits) (*Lockfile, error) {
	id := skill.String()
	if !root.Covers(skill) {
		return nil, refuse(CodeOutsideTrustRoot, id, "the skill does not lie under the trust root", "")
	}
	said := Bundle{ID: id, Root: root.String(), Files: p.Files, Verdict: &lookleap.Verdict{Subject: id, OK: true}} // leaves only digests
	v := NewVerifiedFS([]Bundle{said}, VerifiedFSOptions{Limits: limits})
	if err := v.reports[0].Err; err != nil {
		return nil, err
	}
	return v.lock, nil
}

// WellKnownSkillURL gives the URL at which an origin best publishes a skill of a
// name (section 3.2).
func WellKnownSkillURL(origin, name string) (string, error) {
	if !isName(name) {
		return "", refuse(lookleap.CodeBadName, name, "the name cannot stand in a URL path", "use lower-case letters a to z, digits and hyphens only")
	}
	u, err := domain.Parse(origin)
	if err != nil {
		return "", badURL(origin, err)
	}
	if u.Path() != "/" || u.HasQuery() {
		return "", refuse(CodeNoOriginDiscovery, origin, "well-known paths belong to a whole origin", "leave out path and query")
	}
	return u.Origin() + SkillsPrefix + name + "/" + EntryFile, nil
}

// indexEntry is an entry of any shape; the members that apply are set.
type indexEntry struct {
	Name        string   `json:"name"`
	Type        string   `json:"type,omitempty"`
	Description string   `json:"description"`
	Path        string   `json:"path,omitempty"`
	Files       []string `json:"files,omitempty"`
	URL         string   `json:"url,omitempty"`
	Digest      *Digest  `json:"digest,omitempty"`
}

// WriteIndex writes the index of skills that are published below
// [SkillsPrefix], sorted by name. Two skills of one name are an error, since
// one would take the place of the other.
func WriteIndex(w io.Writer, shape IndexShape, skills []*Published) error {
	sorted := slices.Clone(skills)
	slices.SortFunc(sorted, func(a, b *Published) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	entries := make([]indexEntry, 0, len(sorted))
	for i, s := range sorted {
		if i > 0 && sorted[i-1].Name == s.Name {
			return refuse(CodeNameClash, s.Name, "two skills have one name, and so one URL", "rename one of them")
		}
		entries = append(entries, s.entry(shape))
	}
	var index any = entries
	switch shape {
	case IndexFiles:
		index = map[string]any{"skills": entries}
	case IndexDigests:
		index = struct {
			Schema string       `json:"$schema"`
			Skills []indexEntry `json:"skills"`
		}{IndexSchema, entries}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(index)
}

func (p *Published) entry(shape IndexShape) indexEntry {
	e := indexEntry{Name: p.Name, Description: p.Description}
	switch shape {
	case IndexFiles:
		e.Files = []string{EntryFile}
		for _, file := range slices.Sorted(maps.Keys(p.Files)) {
			if file != EntryFile {
				e.Files = append(e.Files, file)
			}
		}
	case IndexDigests:
		digest := DigestOf(p.Files[EntryFile])
		e.Type, e.URL, e.Digest = "skill-md", AgentSkillsPrefix+p.Name+"/"+EntryFile, &digest
	default:
		e.Path = SkillsPrefix + p.Name + "/"
	}
	return e
}

// WriteSitemap writes a sitemap with the URLs of an origin's skills.
func WriteSitemap(w io.Writer, origin string, skills []*Published) error {
	b := bytes.NewBufferString(xml.Header + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	for _, s := range skills {
		url, err := WellKnownSkillURL(origin, s.Name)
		if err != nil {
			return err
		}
		b.WriteString("  <url><loc>")
		if err := xml.EscapeText(b, []byte(url)); err != nil {
			return err
		}
		b.WriteString("</loc></url>\n")
	}
	b.WriteString("</urlset>\n")
	_, err := w.Write(b.Bytes())
	return err
}
