package dvs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Metadata is the header of a SKILL.md (section 4.3): level 1 of progressive loading. It is
// untrusted text of the publisher; show it with [Metadata.Display] or quote it.
type Metadata struct {
	Name        string  // lower-case letters, digits and hyphens; under Lenient any text, so never a path
	Description string  // decoded and trimmed, at most 1,024 characters; under Lenient of any length
	Extra       []Field // every other key in the order of the file; it never grants a permission
	Header      Digest  // of the bytes between the fences

	nameAt int // offset of the name in the file
}

// Skill is a SKILL.md that was accepted under a profile. Do not change it; it may be shared.
type Skill struct {
	Metadata
	Body         string // the instructions: what follows the header, as it was written
	BodyPosition lookleap.Position
	Digest       Digest // of the whole file
	Hidden       int    // invisible characters of the body
	Profile      Profile
}

// ParseSkill reads a SKILL.md (sections 4.2 to 4.4). The findings have line, column and fix. If
// one of them has [lookleap.SeverityError], ParseSkill returns no Skill, and the error is the
// first of these findings as a [*lookleap.Error]. Under [Lenient], each repair is a warning.
//
// If Lenient reads a file that another profile refuses, the message of the error says so. Files of
// more than a quarter of Limits.Skill are not read again for that.
//
// It takes time in proportion to the length of data, and keeps no reference to it.
func ParseSkill(data []byte, profile Profile, limits Limits) (*Skill, []lookleap.Finding, error) {
	return ParseSkillIn("", data, profile, limits)
}

// ParseSkillIn is [ParseSkill] for a file in a directory of a known name. Under [Lenient], that is
// the name of a skill whose file has none.
func ParseSkillIn(directory string, data []byte, profile Profile, limits Limits) (*Skill, []lookleap.Finding, error) {
	skill, findings, err := parseSkill(directory, data, Digest{}, profile, limits)
	return skill, findings, orByLenient(directory, data, profile, limits, findings, err)
}

// orByLenient returns the error of a file that was refused, if any, which says so if the profile Lenient
// reads the file.
func orByLenient(directory string, data []byte, profile Profile, limits Limits, findings []lookleap.Finding, err error) error {
	if err == nil || profile == Lenient || len(data) > limits.withDefaults().Skill/4 { // of large files, reading twice costs too much
		return err
	}
	if _, _, refused := parseMetadataIn(directory, data, Lenient, limits); refused != nil {
		return err
	}
	first := slices.IndexFunc(findings, isFatal)
	findings[first].Message += "; the profile Lenient reads the skill"
	return findings[first].AsError(EntryFile)
}

func isFatal(f lookleap.Finding) bool { return f.Severity == lookleap.SeverityError }

// parseSkill reads a SKILL.md by one profile. The digest is that of data; zero: it is not known yet.
func parseSkill(directory string, data []byte, digest Digest, profile Profile, limits Limits) (*Skill, []lookleap.Finding, error) {
	p := newSkillParser(directory, data, profile, limits)
	if len(data) > p.limits.Skill {
		p.tooLarge(fmt.Sprintf("the file is larger than %d bytes", p.limits.Skill), "move parts of it to files of their own")
		return nil, p.findings, p.err()
	}
	if profile == Lenient {
		text := p.recode(data)
		p.setText(text)
		if len(text) > p.limits.Skill {
			p.tooLarge(fmt.Sprintf("in UTF-8 the file is larger than %d bytes", p.limits.Skill),
				"save the file as UTF-8, and move parts of it to files of their own")
			return nil, p.findings, p.err()
		}
	} else if at := invalidText(data); at >= 0 {
		p.fatal(notUTF8(at))
		return nil, p.findings, p.err()
	}
	meta, bodyAt := p.metadata()
	if err := p.err(); err != nil {
		return nil, p.findings, err
	}
	body := string(p.text[bodyAt:])
	hidden := p.checkBody(body, bodyAt)
	if err := p.err(); err != nil {
		return nil, p.findings, err
	}
	if digest.IsZero() {
		digest = DigestOf(data)
	}
	return &Skill{Metadata: *meta, Body: body, BodyPosition: p.position(bodyAt), Digest: digest, Hidden: hidden, Profile: profile},
		p.findings, nil
}

// ParseMetadata reads only the header of a SKILL.md; data may end after it. It does not check the
// body.
func ParseMetadata(data []byte, profile Profile, limits Limits) (*Metadata, []lookleap.Finding, error) {
	return parseMetadataIn("", data, profile, limits)
}

// parseMetadataIn is [ParseMetadata] for a file in a directory of a known name.
func parseMetadataIn(directory string, data []byte, profile Profile, limits Limits) (*Metadata, []lookleap.Finding, error) {
	data = data[:min(len(data), limits.withDefaults().Skill)]
	p := newSkillParser(directory, data, profile, limits)
	if profile == Lenient {
		p.setText(p.recode(data))
	}
	meta, _ := p.metadata()
	if err := p.err(); err != nil {
		return nil, p.findings, orByLenient(directory, data, profile, limits, p.findings, err)
	}
	return meta, p.findings, nil
}

// Value returns the value of an extra key, and whether it is there.
func (m *Metadata) Value(key string) (*Value, bool) {
	if m == nil {
		return nil, false
	}
	v := find(m.Extra, key)
	return v, v != nil
}

// Text returns the value of an extra key as one text, or "": license, compatibility or allowed-tools,
// which is a request of the publisher and grants no permission.
func (m *Metadata) Text(key string) string {
	if v, ok := m.Value(key); ok {
		return v.flat()
	}
	return ""
}

// Annotations returns the scalar values below the metadata key.
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

// Display returns the description on one line without invisible characters. It is safe in a list
// or a prompt, but still untrusted text.
func (m *Metadata) Display() string {
	if m == nil {
		return ""
	}
	return oneLine(m.Description)
}

// ValueKind says what a [Value] is.
type ValueKind uint8

const (
	// Null: nothing, "~" or "null" without quotes.
	Null ValueKind = iota
	// Text: any other scalar. It is kept as it was written: 0777, no and 1e3 are
	// text, since readers disagree about what else they are.
	Text
	// List: a sequence.
	List
	// Map: a mapping from texts, in the order of the file.
	Map
)

var valueKinds = [...]string{"nothing", "a text", "a list", "a mapping"}

// String returns the kind with its article, for messages.
func (k ValueKind) String() string { return valueKinds[min(int(k), len(valueKinds)-1)] }

// Value is one value of a frontmatter.
type Value struct {
	Kind     ValueKind
	Text     string  // of a Text, decoded; of a Null as written
	Items    []Value // of a List
	Fields   []Field // of a Map
	Position lookleap.Position
}

// Field is one key of a mapping and its value. Position is the key's.
type Field struct {
	Key      string
	Value    Value
	Position lookleap.Position
}

func (v *Value) isScalar() bool { return v.Kind <= Text }

// flat returns all texts below the value, in order and joined by blanks.
func (v *Value) flat() string {
	var parts []string
	var walk func(*Value)
	walk = func(v *Value) {
		if v.Text != "" {
			parts = append(parts, v.Text)
		}
		for i := range v.Items {
			walk(&v.Items[i])
		}
		for i := range v.Fields {
			parts = append(parts, v.Fields[i].Key+":")
			walk(&v.Fields[i].Value)
		}
	}
	walk(v)
	return strings.Join(parts, " ")
}

// Digest is the SHA-256 of some bytes, after content coding was removed. The
// zero Digest means that no digest is known.
type Digest [sha256.Size]byte

// DigestOf computes the digest of data.
func DigestOf(data []byte) Digest { return sha256.Sum256(data) }

const digestPrefix = "sha256:"

// ParseDigest reads "sha256:" and 64 lower-case hex digits. All zeros are an error.
func ParseDigest(text string) (Digest, error) {
	var d Digest
	digits, ok := strings.CutPrefix(text, digestPrefix)
	ok = ok && len(digits) == hex.EncodedLen(len(d)) && strings.ToLower(digits) == digits
	if ok {
		_, err := hex.Decode(d[:], []byte(digits))
		ok = err == nil
	}
	switch {
	case !ok:
		return Digest{}, refuse(lookleap.CodeUsage, "", plaintext.Quote(text, 100)+" is not a digest",
			"write sha256: and 64 lower-case hex digits")
	case d.IsZero(): // the zero Digest means "unknown", so it cannot be an expected digest
		return Digest{}, refuse(lookleap.CodeUsage, "", plaintext.Quote(text, 100)+" is the digest of nothing that is known", "")
	}
	return d, nil
}

// String returns "sha256:" and 64 lower-case hex digits.
func (d Digest) String() string { return digestPrefix + hex.EncodeToString(d[:]) }

// IsZero reports whether there is no digest.
func (d Digest) IsZero() bool { return d == Digest{} }

// MarshalText returns the result of String, and "" for the zero Digest.
func (d Digest) MarshalText() ([]byte, error) {
	if d.IsZero() {
		return nil, nil
	}
	return []byte(d.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (d *Digest) UnmarshalText(text []byte) (err error) {
	*d = Digest{}
	if len(text) > 0 {
		*d, err = ParseDigest(string(text))
	}
	return err
}

// Profile selects the rules by which [ParseSkill] reads a SKILL.md. What a stricter profile
// accepts, the others accept with the same result: AgentSkills ⊂ DVS ⊂ Lenient.
type Profile uint8

const (
	// DVS has the rules of this draft (sections 4.2 to 4.4). It is the zero value.
	DVS Profile = iota
	// AgentSkills adds the stricter rules of the public Agent Skills
	// format: hyphens of the name, types and sizes of the optional fields, and
	// the name of the directory if it is known, which has to be the skill's name.
	AgentSkills
	// Lenient reads what current clients read, such as a description with an unquoted ": ". What
	// DVS would refuse is a warning with the position, the repair and the fix. A visible
	// description is required, and a name, unless the name of the directory is known, which then
	// stands in. Use it to read what is published today, not to check what you publish.
	Lenient
)

var profileNames = [...]string{"dvs", "agentskills", "lenient"}

// String returns dvs, agentskills or lenient.
func (p Profile) String() string {
	if int(p) < len(profileNames) {
		return profileNames[p]
	}
	return fmt.Sprintf("Profile(%d)", uint8(p))
}

// MarshalText returns dvs, agentskills or lenient.
func (p Profile) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what MarshalText wrote; any other text is an error.
func (p *Profile) UnmarshalText(text []byte) error {
	return unmarshalName(p, profileNames[:], text, "the profile")
}
