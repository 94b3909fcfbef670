package dvs

import (
	"github.com/lookleap/lookleap"
)

// Metadata is what the header of a SKILL.md says (section 4.3): level 1 of
// progressive loading. All of it is the publisher's word and untrusted; show it
// by [Metadata.Display] or through a quoting printer.
type Metadata struct {
	Name        string  // lower-case letters, digits and hyphens; under Lenient any text, so never a path
	Description string  // decoded and trimmed, at most 1,024 characters; under Lenient of any length
	Extra       []Field // every other key in the order of the file, kept and never a permission
	Header      Digest  // of the octets between the fences

	nameAt int // offset of the name in the file
}

// Skill is a SKILL.md that a profile accepts. It is not changed once it was
// returned, and may be shared.
type Skill struct {
	Metadata
	Body         string // the instructions: what follows the header, as it was written
	BodyPosition lookleap.Position
	Digest       Digest // of the whole file
	Hidden       int    // characters of the body that nobody sees
	Profile      Profile
}

// ParseSkill reads a SKILL.md (sections 4.2 to 4.4). The findings are all that
// was noticed, whether the file is accepted or not: line and column in the file,
// and the fix. If one of them is fatal there is no Skill, and the error is a
// [*lookleap.Error] with the first of those. Under [Lenient], whatever was repaired
// is a warning.
//
// It takes time in proportion to the length of data, and keeps no part of it.
func ParseSkill(data []byte, profile Profile, limits Limits) (*Skill, []lookleap.Finding, error) {
	p := newSkillParser(data, profile, limits)
	meta, body, hidden := p.file()
	if err := p.err(); err != nil {
		return nil, p.findings, err
	}
	skill := &Skill{
		Metadata:     *meta,
		Body:         body,
		BodyPosition: p.position(len(p.text) - len(body)),
		Digest:       DigestOf(data),
		Hidden:       hidden,
		Profile:      profile,
	}
	return skill, p.findings, nil
}

// ParseMetadata reads the header of a SKILL.md and nothing after it, of which
// data needs no more: level 1 where reading stops early. What ParseSkill says
// about the body is left to activation.
func ParseMetadata(data []byte, profile Profile, limits Limits) (*Metadata, []lookleap.Finding, error) {
	p := newSkillParser(data, profile, limits)
	meta := p.header()
	if err := p.err(); err != nil {
		return nil, p.findings, err
	}
	return meta, p.findings, nil
}

// Value gives the value of an extra key, and whether it is there.
func (m *Metadata) Value(key string) (*Value, bool) {
	if m == nil {
		return nil, false
	}
	for i := range m.Extra {
		if m.Extra[i].Key == key {
			return &m.Extra[i].Value, true
		}
	}
	return nil, false
}

func (m *Metadata) text(key string) string {
	if v, ok := m.Value(key); ok {
		return v.flat()
	}
	return ""
}

// License gives the license key as one text, "" if there is none.
func (m *Metadata) License() string { return m.text("license") }

// Compatibility gives the compatibility key as one text, "" if there is none.
func (m *Metadata) Compatibility() string { return m.text("compatibility") }

// AllowedTools gives the allowed-tools key as one text, "" if there is none. It
// is what the publisher wishes, and permits nothing: no consent is skipped for
// it.
func (m *Metadata) AllowedTools() string { return m.text("allowed-tools") }

// Annotations gives the scalar values below the metadata key.
func (m *Metadata) Annotations() map[string]string {
	if m == nil {
		return nil
	}
	all := make(map[string]string)
	if v, ok := m.Value("metadata"); ok {
		for _, f := range v.Fields {
			if f.Value.isScalar() {
				all[f.Key] = f.Value.Text
			}
		}
	}
	return all
}

// Display gives the description without characters that a reader cannot see, on
// one line. It is safe in a list or a prompt, and still the publisher's word.
func (m *Metadata) Display() string {
	if m == nil {
		return ""
	}
	return oneLine(m.Description)
}
