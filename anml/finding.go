package anml

import (
	"fmt"
	"strings"
)

// Severity says what a finding did to the document. The zero value is the
// gravest.
type Severity uint8

const (
	SeverityError   Severity = iota // a document-MUST is broken: the element is not processed, or the safe reading was taken
	SeverityWarning                 // the document stands, but its author should look
	SeverityInfo                    // worth knowing
)

// String gives error, warning or info.
func (s Severity) String() string {
	switch s {
	case SeverityWarning:
		return "warning"
	case SeverityInfo:
		return "info"
	}
	return "error"
}

// MarshalText gives error, warning or info.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Position is a place in a document. Lines and columns count from 1, columns in
// octets; the zero value means that the place is not known, as in a document
// that was built and not read.
type Position struct {
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Offset int    `json:"offset,omitempty"`
	Path   string `json:"path,omitempty"` // elements from the root, such as /anml/interact/action[2]
}

// String gives line:column and path, as far as they are known.
func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.Path
	case p.Path == "":
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	}
	return fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Path)
}

// Finding is something noticed in a document. Remote text in its message is
// quoted, and short.
type Finding struct {
	Severity    Severity `json:"severity"`
	Code        string   `json:"code"`
	Requirement string   `json:"requirement,omitempty"` // such as ANML-8.6.1-02
	Message     string   `json:"message"`
	Fix         string   `json:"fix,omitempty"`
	Position
}

// String gives the finding in one line.
func (f Finding) String() string {
	var b strings.Builder
	if place := f.Position.String(); place != "" {
		b.WriteString(place + ": ")
	}
	fmt.Fprintf(&b, "%s: %s [%s]", f.Severity, f.Message, f.Code)
	if f.Fix != "" {
		b.WriteString("; " + f.Fix)
	}
	return b.String()
}

// found is a finding whose position is still a node: positions cost time, and
// most findings are never shown.
type found struct {
	severity          Severity
	code, requirement string
	message, fix      string
	at                node
	offset            int32
}

// findings collects, up to a limit, and counts the rest.
type findings struct {
	list  []found
	limit int
	lost  int
	seen  map[string]bool // lexical findings are made once for a kind
}

func (f *findings) add(at node, s Severity, code, requirement, message, fix string) {
	if len(f.list) == f.limit {
		f.lost++
		return
	}
	offset := int32(-1)
	if at.ok() {
		offset = at.row().offset
	}
	f.list = append(f.list, found{s, code, requirement, message, fix, at, offset})
}

// once adds a finding of a kind that is reported one time for a document.
func (f *findings) once(offset int, s Severity, code, requirement, message, fix string) {
	if f.seen[code] {
		return
	}
	if f.seen == nil {
		f.seen = make(map[string]bool)
	}
	f.seen[code] = true
	f.add(node{}, s, code, requirement, message, fix)
	if n := len(f.list); n > 0 && f.list[n-1].code == code {
		f.list[n-1].offset = int32(offset)
	}
}

// quoted shows remote text in a message: short, one line, without anything
// that a terminal obeys or that the eye misses.
func quoted(s string) string {
	const longest = 60
	cut := ""
	if runes := []rune(s[:min(len(s), 4*longest)]); len(runes) > longest || len(s) > 4*longest {
		s, cut = string(runes[:min(longest, len(runes))]), "…"
	}
	return fmt.Sprintf("%+q", s) + cut
}
