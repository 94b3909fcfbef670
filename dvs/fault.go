package dvs

import (
	"bytes"

	"github.com/lookleap/lookleap"
)

// SkillError is the first of the reasons why a SKILL.md was refused.
type SkillError struct{ Finding lookleap.Finding }

func (e *SkillError) Error() string { return "dvs: SKILL.md:" + e.Finding.String() }

// ReasonCode gives the code.
func (e *SkillError) ReasonCode() lookleap.Code { return e.Finding.Code }

// Shorter names for the codes that are used often below.
const (
	codeNoFrontmatter  = lookleap.CodeNoFrontmatter
	codeUnterminated   = lookleap.CodeUnterminated
	codeBadFrontmatter = lookleap.CodeBadFrontmatter
)

// fault is something wrong with a text, at an offset.
type fault struct {
	code         lookleap.Code
	requirement  string
	at           int
	message, fix string
	short        bool // more text could mend it
}

// maxFindings bounds the findings about one text. Fatal ones are always kept.
const maxFindings = 200

// report collects findings about one text.
type report struct {
	text     []byte
	findings []lookleap.Finding

	at, line, start int // an offset, the lines before it, and where its line begins
}

func (r *report) add(severity lookleap.Severity, f *fault) {
	switch n := len(r.findings); {
	case severity == lookleap.Fatal || n < maxFindings:
	case n == maxFindings:
		f = &fault{code: lookleap.CodeLimit, at: f.at, message: "there are more findings than are listed", fix: "mend the ones above first"}
	default:
		return
	}
	r.findings = append(r.findings, lookleap.Finding{
		Severity: severity, Code: f.code, Requirement: f.requirement, Message: f.message, Fix: f.fix, Position: r.position(f.at),
	})
}

// position gives line and column of an offset by counting, from the last one on
// if it lies before.
func (r *report) position(at int) lookleap.Position {
	at = min(max(at, 0), len(r.text))
	if at < r.at {
		r.at, r.line, r.start = 0, 0, 0
	}
	r.line += bytes.Count(r.text[r.at:at], []byte{'\n'})
	if last := bytes.LastIndexByte(r.text[r.at:at], '\n'); last >= 0 {
		r.start = r.at + last + 1
	}
	r.at = at
	return lookleap.Position{Line: r.line + 1, Column: at - r.start + 1, Offset: at}
}

// err gives the first fatal finding, if there is one.
func (r *report) err() error {
	for _, f := range r.findings {
		if f.Severity == lookleap.Fatal {
			return &SkillError{f}
		}
	}
	return nil
}
