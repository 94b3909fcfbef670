package dvs

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// readFrontmatter reads the header of a text strictly. line is that of the header's first byte.
func readFrontmatter(text []byte, header span, line int) ([]Field, *fault) {
	if f := checkCharacters(text, header); f != nil {
		return nil, f
	}
	fields, f := readYAML(header.of(text), lookleap.Position{Line: line, Offset: header.start})
	if f != nil {
		f.at += header.start
		return nil, f
	}
	return fields, nil
}

type skillParser struct {
	report
	profile Profile
	limits  Limits

	directory string // name of the directory that the file is in, "" if it is not known
}

func newSkillParser(directory string, data []byte, profile Profile, limits Limits) *skillParser {
	return &skillParser{report: report{text: data}, profile: profile, limits: limits.withDefaults(), directory: directory}
}

// violation reports a breach of this draft: fatal, but under Lenient a warning.
func (p *skillParser) violation(f *fault) {
	severity := lookleap.SeverityError
	if p.profile == Lenient {
		severity = lookleap.SeverityWarning
	}
	p.add(severity, f)
}

// formatViolation reports a breach of the public format alone: fatal under AgentSkills,
// else information.
func (p *skillParser) formatViolation(f *fault) {
	severity := lookleap.SeverityInfo
	if p.profile == AgentSkills {
		severity = lookleap.SeverityError
	}
	p.add(severity, f)
}

// fatal reports what no profile can read.
func (p *skillParser) fatal(f *fault) { p.add(lookleap.SeverityError, f) }

func (p *skillParser) tooLarge(message, fix string) {
	p.fatal(&fault{code: lookleap.CodeTooLarge, requirement: "DVS-4.2-08", at: p.limits.Skill, message: message, fix: fix})
}

// setText takes another text than before.
func (p *skillParser) setText(text []byte) { p.text, p.place = text, lineCounter{} }

// metadata reads the header by the profile and returns it with the offset of the body.
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
	case p.profile != Lenient, f.code == CodeLink:
		p.fatal(f)
		return nil, 0
	default:
		header, body, fields = p.repairHeader(header, body, f)
	}
	if p.profile == Lenient {
		fields = p.chooseFields(fields)
	}
	meta = &Metadata{Header: DigestOf(header.of(p.text)), Extra: fields[:0]} // in place: find reads them first
	meta.Name, meta.nameAt = p.name(find(fields, "name"), header)
	description := find(fields, "description")
	meta.Description = p.description(description, header)
	if description != nil {
		p.comment(description)
	}
	for i := range fields {
		if key := fields[i].Key; key != "name" && key != "description" {
			meta.Extra = append(meta.Extra, fields[i])
		}
	}
	for i := range meta.Extra {
		p.checkExtra(&meta.Extra[i])
	}
	return meta, body.start
}

// strict reads the header by the rules of this draft.
func (p *skillParser) strict(header span) ([]Field, *fault) {
	if size := header.end - header.start; size > maxFrontmatter {
		return nil, badFrontmatter(header.start+maxFrontmatter, fmt.Sprintf("the metadata is larger than %d bytes", maxFrontmatter),
			"close it with a --- line and move the rest to the instructions")
	}
	return readFrontmatter(p.text, header, p.position(header.start).Line)
}

type span struct{ start, end int }

func (s span) of(text []byte) []byte { return text[s.start:s.end] }

const byteOrderMark = "\ufeff"

// split finds the header between its fences and the body after them: the first line is a fence, and the
// next fence ends the header wherever it stands. A fence is three hyphens in the first column, and blanks.
func split(text []byte) (header, body span, f *fault) {
	start := 0
	if bytes.HasPrefix(text, []byte(byteOrderMark)) {
		start = len(byteOrderMark)
	}
	first, next := lineAt(text, start)
	if !isFence(first.of(text)) {
		return span{}, span{}, missingFence(text, first)
	}
	header.start = next
	for at := next; at < len(text); {
		found := bytes.Index(text[at:], []byte("---"))
		if found < 0 {
			break
		}
		at += found
		line, after := lineAt(text, at)
		if text[at-1] == '\n' && isFence(line.of(text)) {
			header.end = at
			return header, span{after, len(text)}, nil
		}
		at = max(line.end, at+1)
	}
	return header, span{}, &fault{code: codeUnterminated, requirement: "DVS-4.3-01", at: first.start,
		message: "the metadata has no closing --- line", fix: "end the metadata with a line of exactly three hyphens"}
}

func missingFence(text []byte, first span) *fault {
	f := &fault{code: codeNoFrontmatter, requirement: "DVS-4.3-01", at: first.start,
		message: "the first line does not consist of exactly three hyphens", fix: "begin the file with a --- line"}
	line := bytes.TrimSpace(first.of(text))
	if target, ok := linkTarget(text); ok {
		f.code = CodeLink
		f.requirement = "DVS-4.2-09"
		f.message = "the file is a link to " + plaintext.Quote(target, 200) + ", which the server sends as text"
		f.fix = "use the URL of the file that the link leads to, or publish the file itself"
		return f
	}
	switch {
	case len(line) == 0:
		f.message, f.fix = "the file begins with a blank line", "remove everything before the first --- line"
	case isFence(line):
		f.message, f.fix = "there are blanks before the first --- line", "write the --- in the first column"
	case len(bytes.Trim(line, "-")) == 0 && len(line) > 1:
		f.message, f.fix = "the first line has another number of hyphens than three", "write exactly three hyphens"
	}
	return f
}

// linkTarget returns the relative path that a file consists of, if it has nothing else: git hosts
// send that for a symbolic link.
func linkTarget(text []byte) (target string, ok bool) {
	target = string(bytes.TrimSpace(text))
	if len(target) > maxPath || !strings.EqualFold(path.Ext(target), ".md") || !strings.Contains(target, "/") || strings.Contains(target, "://") {
		return "", false
	}
	return target, strings.IndexFunc(target, func(r rune) bool { return r <= ' ' || isControl(r) || strings.ContainsRune("<>\"|*?", r) }) < 0
}

// isFence reports whether a line, without its end, is a fence.
func isFence(line []byte) bool {
	return len(line) >= 3 && line[0] == '-' && line[1] == '-' && line[2] == '-' && len(bytes.Trim(line[3:], " \t")) == 0
}

// lineAt returns the line that begins at an offset, without the LF or CR LF that
// ends it, and where the next one begins.
func lineAt(text []byte, at int) (line span, next int) {
	n := bytes.IndexByte(text[at:], '\n')
	if n < 0 {
		return span{at, len(text)}, len(text)
	}
	end := at + n
	if end > at && text[end-1] == '\r' {
		end--
	}
	return span{at, end}, at + n + 1
}

// fault is something wrong with a text, at an offset.
type fault struct {
	code         lookleap.Code
	requirement  string
	at           int
	message, fix string
}

// maxFindings bounds the findings about one text. Fatal ones are always kept.
const maxFindings = 200

type report struct {
	text     []byte
	findings []lookleap.Finding

	place lineCounter
}

func (r *report) add(severity lookleap.Severity, f *fault) {
	switch n := len(r.findings); {
	case severity == lookleap.SeverityError || n < maxFindings:
	case n == maxFindings:
		f = &fault{code: lookleap.CodeLimit, at: f.at, message: "there are more findings than are listed", fix: "fix the ones above first"}
	default:
		return
	}
	r.findings = append(r.findings, lookleap.Finding{
		Severity: severity, Code: f.code, Requirement: f.requirement, Message: f.message, Fix: f.fix, Position: r.position(f.at),
	})
}

func (r *report) position(at int) lookleap.Position { return positionIn(&r.place, r.text, at) }

// lineCounter has an offset in a text, the number of lines before it, and the start of its line.
type lineCounter struct{ at, line, start int }

// positionIn returns line and column of an offset. It counts from the last offset if that is not
// greater.
func positionIn[T string | []byte](c *lineCounter, text T, at int) lookleap.Position {
	at = min(max(at, 0), len(text))
	if at < c.at {
		*c = lineCounter{}
	}
	for ; c.at < at; c.at++ {
		if text[c.at] == '\n' {
			c.line, c.start = c.line+1, c.at+1
		}
	}
	return lookleap.Position{Line: c.line + 1, Column: at - c.start + 1, Offset: at}
}

// err returns the first fatal finding, if there is one.
func (r *report) err() error {
	if i := slices.IndexFunc(r.findings, isFatal); i >= 0 {
		return r.findings[i].AsError(EntryFile)
	}
	return nil
}

// comment reports a comment that ends an unquoted value: YAML leaves out the rest of the line, which
// an author may have meant as a part of it.
func (p *skillParser) comment(v *Value) {
	at := v.Position.Offset
	if at >= len(p.text) || strings.IndexByte("\"'|>", p.text[at]) >= 0 {
		return
	}
	for first := true; at < len(p.text); first = false {
		line, next := lineAt(p.text, at)
		text := line.of(p.text)
		if !first && (len(text) == 0 || text[0] != ' ' && text[0] != '\t') {
			return
		}
		for i := 1; i < len(text); i++ {
			if text[i] == '#' && (text[i-1] == ' ' || text[i-1] == '\t') {
				p.add(lookleap.SeverityWarning, &fault{code: CodeBadDescription, requirement: "DVS-4.3-05", at: at + i,
					message: "a blank and # begin a comment, so the rest of the line is not a part of the description",
					fix:     "put the description in quotes"})
				return
			}
		}
		at = next
	}
}
