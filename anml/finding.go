package anml

import (
	"fmt"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictxml"
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

// places finds lines and paths of many elements of a document. It is made when the
// first one is asked for.
type places struct {
	lines   strictxml.Lines
	numbers []int32 // by row: place among the siblings of the same name, 0 for the only one
}

// locate makes them on the first call.
func (d *Document) locate() *places {
	d.located.Do(func() { d.places = places{strictxml.NewLines(d.tree.src), d.tree.siblings()} })
	return &d.places
}

// position works out a place in the source.
func (d *Document) position(n node, offset int) lookleap.Position {
	p := lookleap.Position{Path: d.locate().path(n)}
	if offset < 0 && n.ok() {
		offset = int(n.row().offset)
	}
	if !d.built && offset >= 0 {
		p.Offset = offset
		p.Line, p.Column = d.places.lines.At(offset)
	}
	return p
}

// path names the elements from the root, with a number where the name alone
// does not tell which of its siblings is meant.
func (p *places) path(n node) string {
	if !n.ok() {
		return ""
	}
	name := n.element()
	if number := p.numbers[n.i]; number > 0 {
		name += "[" + itoa(int(number)) + "]"
	}
	return p.path(n.parent()) + "/" + name
}

// siblings numbers the elements that share their name with a sibling.
func (t *tree) siblings() []int32 {
	type name struct {
		kind  kind
		local string // of what the draft does not know
	}
	numbers := make([]int32, len(t.rows))
	count := make(map[name]int32)
	for i := range t.rows {
		clear(count)
		each := func(visit func(c node, same name)) {
			for c := (node{t, t.rows[i].first}); c.ok(); c = c.next() {
				if c.kind() > kText {
					visit(c, name{kind: c.kind()})
				} else if c.kind() == kUnknown {
					visit(c, name{local: c.element()})
				}
			}
		}
		each(func(c node, same name) {
			count[same]++
			numbers[c.i] = count[same]
		})
		each(func(c node, same name) {
			if count[same] == 1 {
				numbers[c.i] = 0
			}
		})
	}
	return numbers
}
