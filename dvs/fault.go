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

// report collects findings about one text.
type report struct {
	text     []byte
	findings []lookleap.Finding
}

func (r *report) add(severity lookleap.Severity, f *fault) {
	r.findings = append(r.findings, lookleap.Finding{
		Severity: severity, Code: f.code, Requirement: f.requirement, Message: f.message, Fix: f.fix, Position: r.position(f.at),
	})
}

// position gives line and column of an offset by counting.
func (r *report) position(at int) lookleap.Position {
	before := r.text[:min(max(at, 0), len(r.text))]
	return lookleap.Position{
		Line:   1 + bytes.Count(before, []byte{'\n'}),
		Column: len(before) - bytes.LastIndexByte(before, '\n'),
		Offset: len(before),
	}
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
