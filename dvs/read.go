package dvs

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// reading is what a document says.
type reading struct {
	evidence Evidence          // of the document, with what its bytes say
	skill    *Skill            // nil: the document is not a skill
	entry    []byte            // the SKILL.md
	members  map[string][]byte // of an archive or repository, by path

	executable nameSet // of the members
	findings   []lookleap.Finding
}

// readDocument reads the skill from what the server sent. An archive with another digest than the
// expected one is not unpacked.
func readDocument(at *located, doc *document, limits Limits) reading {
	r := reading{evidence: doc.Evidence}
	if r.evidence.Fresh.Before(at.now) {
		r.evidence.Fresh = at.now // the caller asked for the copy and may use it, also if the user takes longer
	}
	if r.evidence.Status != 200 {
		return r
	}
	err := r.read(at, doc, limits)
	var e *lookleap.Error
	switch {
	case errors.As(err, &e):
		r.evidence.Content, r.evidence.ContentError = e.Code, e.Message
		if e.Position != (lookleap.Position{}) {
			r.evidence.Position = &e.Position
		} else if e.Subject != "" { // a member of an archive
			r.evidence.ContentError = plaintext.Quote(e.Subject, 200) + ": " + e.Message
		}
	case r.skill != nil:
		r.evidence.Content = lookleap.CodeOK
		if v, ok := r.skill.Value("trust-root"); ok {
			r.evidence.SelfDeclared = v.Text
		}
	}
	return r
}

// capable returns what the skill may do, as far as is known of its files.
func (r *reading) capable() Capabilities {
	if r.members == nil {
		return capabilitiesOfSkill(r.skill)
	}
	return CapabilitiesOf(r.members)
}

func (r *reading) servingHost(u SkillURL) string {
	if r != nil && r.evidence.Archive != "" {
		if at, err := (domain.Rules{AllowSpecial: true}).Parse(r.evidence.Archive); err == nil {
			return at.Host()
		}
	}
	return u.ServingHost()
}

func (r *reading) read(at *located, doc *document, limits Limits) (err error) {
	entry, digest := doc.Body.Bytes, r.evidence.Digest
	if at.skill.artifact == SkillArchive {
		if _, ok := at.Claim.expects(digest); !ok {
			return nil
		}
		all, err := readArchive(bytes.NewReader(entry), limits)
		if err != nil {
			return err
		}
		r.members, r.executable = all.files, all.executable
		entry = r.members[EntryFile]
		digest = DigestOf(entry)
	}
	if doc.Evidence.Archive != "" {
		r.members, r.executable = map[string][]byte{EntryFile: entry}, nameSet{}
		for _, m := range doc.Members {
			r.members[m.Path], r.executable[m.Path] = m.Content.Bytes, m.Executable
		}
	}
	r.entry = entry
	directory, profile := at.skill.directoryName(), at.Claim.Profile
	r.skill, r.findings, err = parseSkill(directory, entry, digest, profile, limits)
	if lookleap.CodeOf(err) == codeNoFrontmatter && profile == Lenient && at.Claim.Listed == r.evidence.Digest && at.Hint.complete() {
		r.skill, r.findings, err = parseUnder(at.Hint, directory, entry, digest, limits)
	}
	return orByLenient(directory, entry, profile, limits, r.findings, err)
}

// hint is what an index says about a skill.
type hint struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Origin      string `json:"origin,omitempty"` // of the index, if the skill is at another one
}

// foreign reports whether the skill was named by another origin than its own.
func (h *hint) foreign() bool { return h != nil && h.Origin != "" }

// mismatch returns a finding for each field in which the index differs from the file.
func (h *hint) mismatch(m *Metadata) []lookleap.Finding {
	var findings []lookleap.Finding
	for _, c := range []struct{ what, index, file string }{{"name", h.Name, m.Name}, {"description", h.Description, m.Description}} {
		if c.index != "" && strings.TrimSpace(c.index) != c.file {
			findings = append(findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: CodeIndexMismatch,
				Requirement: "DVS-3.2-21",
				Message: fmt.Sprintf("the index has another %s than the file: %s", c.what,
					plaintext.Quote(c.index, 200)), Fix: "generate the index from the files"})
		}
	}
	return findings
}

// header returns what an index says of a skill as the header of a SKILL.md.
func (h *hint) header() string {
	return "---\nname: " + quoteYAML(h.Name) + "\ndescription: " +
		quoteYAML(strings.Join(strings.Fields(h.Description), " ")) + "\n---\n"
}

func (h *hint) complete() bool {
	return h != nil && h.Name != "" && strings.TrimSpace(h.Description) != ""
}

// parseUnder reads a SKILL.md without a header, whose digest an index states, with the name and
// description of that index.
func parseUnder(h *hint, directory string, entry []byte, digest Digest, limits Limits) (*Skill, []lookleap.Finding, error) {
	header := h.header()
	skill, findings, err := parseSkill(directory, append([]byte(header), entry...), digest, Lenient, limits)
	for i := range findings {
		if at := &findings[i].Position; at.Offset >= len(header) {
			at.Offset, at.Line = at.Offset-len(header), at.Line-strings.Count(header, "\n")
		}
	}
	return skill, append(findings, lookleap.Finding{Severity: lookleap.SeverityWarning, Code: codeNoFrontmatter, Requirement: "DVS-4.3-01",
		Message: "the file has no metadata, so its name and description are those of the index", Fix: "add a header with name and description",
		Position: lookleap.Position{Path: EntryFile}}), err
}

// metadata reads what an index says by the rules for the file itself.
func (e *Listing) metadata(profile Profile, limits Limits) (*Metadata, bool) {
	h := hint{Name: e.Name, Description: e.Description}
	meta, _, err := ParseMetadata([]byte(h.header()), profile, limits)
	if err != nil {
		return nil, false
	}
	meta.Header = Digest{} // there is no such file
	return meta, true
}
