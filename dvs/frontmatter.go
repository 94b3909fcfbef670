package dvs

import (
	"bytes"
	"fmt"

	"github.com/lookleap/lookleap"
)

// origin is where a header begins in its file: line and offset.
type origin = lookleap.Position

// readFrontmatter reads the header of a text strictly: the plain reader where it
// is sure, the YAML parser elsewhere. line is that of the header's first octet.
func readFrontmatter(text []byte, header span, line, depth int) ([]Field, *fault) {
	if f := checkCharacters(text, header); f != nil {
		return nil, f
	}
	start := origin{Line: line, Offset: header.start}
	if fields, ok := readPlain(string(header.of(text)), start); ok {
		return fields, nil
	}
	fields, f := readYAML(header.of(text), start, depth)
	if f != nil {
		f.at += header.start
		return nil, f
	}
	return fields, nil
}

// skillParser reads one SKILL.md.
type skillParser struct {
	report
	data    []byte // as it was given
	profile Profile
	limits  Limits
}

func newSkillParser(data []byte, profile Profile, limits Limits) *skillParser {
	return &skillParser{report: report{text: data}, data: data, profile: profile, limits: limits.withDefaults()}
}

// broken reports a breach of this draft: fatal, but under Lenient a warning.
func (p *skillParser) broken(f *fault) {
	if p.profile == Lenient {
		p.add(lookleap.SeverityWarning, f)
		return
	}
	p.add(lookleap.SeverityError, f)
}

// stricter reports a breach of the public format alone: fatal under AgentSkills,
// else information.
func (p *skillParser) stricter(f *fault) {
	if p.profile == AgentSkills {
		p.add(lookleap.SeverityError, f)
		return
	}
	p.add(lookleap.SeverityInfo, f)
}

// fatal reports what no profile can read.
func (p *skillParser) fatal(f *fault) { p.add(lookleap.SeverityError, f) }

// file reads header and body. They count only if there is no fatal finding.
func (p *skillParser) file() (meta *Metadata, body string, hidden int) {
	if len(p.data) > p.limits.Skill {
		p.fatal(&fault{code: lookleap.CodeTooLarge, requirement: "DVS-4.2-08", at: p.limits.Skill,
			message: fmt.Sprintf("the file is larger than %d octets", p.limits.Skill), fix: "move parts of it to files of their own"})
		return nil, "", 0
	}
	if p.profile == Lenient {
		text := p.recode(p.data)
		if p.read(text); len(text) > p.limits.Skill {
			p.fatal(&fault{code: lookleap.CodeTooLarge, requirement: "DVS-4.2-08", at: p.limits.Skill,
				message: fmt.Sprintf("in UTF-8 the file is larger than %d octets", p.limits.Skill), fix: "save the file as UTF-8, and move parts of it to files of their own"})
			return nil, "", 0
		}
	} else if at := invalidText(p.data); at >= 0 {
		p.fatal(notUTF8(at))
		return nil, "", 0
	}
	meta, at := p.metadata()
	if p.err() != nil {
		return nil, "", 0
	}
	body = string(p.text[at:])
	hidden = p.checkBody(body, at)
	return meta, body, hidden
}

// header reads the header alone.
func (p *skillParser) header() *Metadata {
	p.data = p.data[:min(len(p.data), p.limits.Skill)]
	p.read(p.data)
	if p.profile == Lenient {
		p.read(p.recode(p.data))
	}
	meta, _ := p.metadata()
	return meta
}

// read takes another text than before.
func (p *skillParser) read(text []byte) { p.text, p.place = text, lineCounter{} }

// metadata reads the header by the profile and gives where the body begins.
func (p *skillParser) metadata() (meta *Metadata, bodyAt int) {
	if bytes.HasPrefix(p.text, []byte(byteOrderMark)) {
		p.add(lookleap.SeverityInfo, &fault{code: lookleap.CodeByteOrderMark, requirement: "DVS-4.2-07", message: "the file begins with a byte order mark", fix: "save it without"})
	}
	header, body, f := split(p.text)
	var fields []Field
	if f == nil {
		fields, f = p.strict(header)
	}
	switch {
	case f == nil:
	case p.profile != Lenient:
		p.fatal(f)
		return nil, 0
	default:
		header, body, fields = p.rescue(header, body, f)
	}
	meta = &Metadata{Header: DigestOf(header.of(p.text))}
	p.checkFields(meta, fields, header)
	return meta, body.start
}

// strict reads the header by the rules of this draft.
func (p *skillParser) strict(header span) ([]Field, *fault) {
	if size := header.end - header.start; size > p.limits.Frontmatter {
		return nil, badFrontmatter(header.start+p.limits.Frontmatter, fmt.Sprintf("the metadata is larger than %d octets", p.limits.Frontmatter),
			"close it with a --- line and move the rest to the instructions")
	}
	return readFrontmatter(p.text, header, p.position(header.start).Line, p.limits.Depth)
}
