package dvs

import (
	"github.com/lookleap/lookleap"
)

// Shorter names for the codes that are used often below.
const (
	codeNoFrontmatter  = CodeNoFrontmatter
	codeUnterminated   = CodeUnterminated
	codeBadFrontmatter = CodeBadFrontmatter
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

	place lineCounter
}

func (r *report) add(severity lookleap.Severity, f *fault) {
	switch n := len(r.findings); {
	case severity == lookleap.SeverityError || n < maxFindings:
	case n == maxFindings:
		f = &fault{code: lookleap.CodeLimit, at: f.at, message: "there are more findings than are listed", fix: "mend the ones above first"}
	default:
		return
	}
	r.findings = append(r.findings, lookleap.Finding{
		Severity: severity, Code: f.code, Requirement: f.requirement, Message: f.message, Fix: f.fix, Position: r.position(f.at),
	})
}

func (r *report) position(at int) lookleap.Position { return positionIn(&r.place, r.text, at) }

// lineCounter is an offset in a text, the lines before it, and where its line begins.
type lineCounter struct{ at, line, start int }

// positionIn returns line and column of an offset by counting from the last one, if that does not
// lie behind.
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

// err gives the first fatal finding, if there is one.
func (r *report) err() error {
	for _, f := range r.findings {
		if f.Severity == lookleap.SeverityError {
			return f.AsError(EntryFile)
		}
	}
	return nil
}
