package anml

import (
	"fmt"

	"github.com/lookleap/lookleap"
)

// found is a finding whose position is still a node: positions cost time, and
// most findings are never shown.
type found struct {
	severity     lookleap.Severity
	code         lookleap.Code
	requirement  string
	message, fix string
	at           node
	offset       int32
}

// findings collects, up to a limit, and counts the rest.
type findings struct {
	list  []found
	limit int
	lost  int
	seen  map[lookleap.Code]bool // lexical findings are made once for a kind
}

func (f *findings) add(at node, s lookleap.Severity, code lookleap.Code, requirement, message, fix string) {
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
func (f *findings) once(offset int, s lookleap.Severity, code lookleap.Code, requirement, message, fix string) {
	if f.seen[code] {
		return
	}
	if f.seen == nil {
		f.seen = make(map[lookleap.Code]bool)
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
