package lookleap

import (
	"fmt"
	"strings"
)

// Severity says what a [Finding] did to the result. The zero value is the most
// restrictive one.
type Severity uint8

const (
	// Fatal findings refuse the input.
	SeverityError Severity = iota
	// Warning findings leave the result standing, but somebody should look.
	SeverityWarning
	// Info findings are worth knowing.
	SeverityInfo
)

var severityNames = [...]string{"error", "warning", "info"}

// String gives error, warning or info.
func (s Severity) String() string {
	if int(s) < len(severityNames) {
		return severityNames[s]
	}
	return severityNames[SeverityError]
}

// MarshalText gives error, warning or info.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote; any other text is an error.
func (s *Severity) UnmarshalText(text []byte) error {
	for i, name := range severityNames {
		if string(text) == name {
			*s = Severity(i)
			return nil
		}
	}
	return usageError(fmt.Sprintf("unknown severity %q", text))
}

// Finding is something that a parser or check noticed: what, where, and how to
// mend it. A finding is reported, never swallowed.
type Finding struct {
	Severity    Severity `json:"severity"`
	Code        Code     `json:"code"`
	Requirement string   `json:"requirement,omitempty"` // id in docs/conformance
	Message     string   `json:"message"`               // one sentence; remote text in it is quoted
	Fix         string   `json:"fix,omitempty"`         // what the author of the input can do
	Position
}

// Position is a place in an input. Lines and columns count from 1, columns in
// octets; the zero value means that the place is not known.
type Position struct {
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Offset int    `json:"offset,omitempty"` // octets before the place
	Path   string `json:"path,omitempty"`   // element path or JSON pointer
}

// String gives the place as line:column and path, as far as they are known.
func (p Position) String() string {
	var parts []string
	if p.Line > 0 {
		parts = append(parts, fmt.Sprintf("%d:%d", p.Line, p.Column))
	}
	if p.Path != "" {
		parts = append(parts, p.Path)
	}
	return strings.Join(parts, " ")
}

// String returns the finding as one line: position, severity, message, code and fix.
// No text of others in it can hide or forge anything.
func (f Finding) String() string {
	var b strings.Builder
	if place := f.Position.String(); place != "" {
		b.WriteString(place + ": ")
	}
	fmt.Fprintf(&b, "%s: %s (%s)", f.Severity, f.Message, f.Code)
	if f.Fix != "" {
		b.WriteString("; " + f.Fix)
	}
	return line(b.String())
}
