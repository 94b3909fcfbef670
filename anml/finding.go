package anml

import (
	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictxml"
)

// pendingFinding is a finding whose position is not computed yet. Positions take time, and most
// findings are never shown.
type pendingFinding struct {
	severity     lookleap.Severity
	code         lookleap.Code
	requirement  string
	message, fix string
	at           node
	offset       int32
}

// findings collects findings up to a limit and counts the others.
type findings struct {
	list     []pendingFinding
	limit    int
	unlisted int
	reported map[lookleap.Code]bool // codes of addOnce
}

func (f *findings) add(at node, s lookleap.Severity, code lookleap.Code, requirement, message, fix string) {
	if len(f.list) == f.limit {
		f.unlisted++
		return
	}
	offset := int32(-1)
	if at.ok() {
		offset = at.row().offset
	}
	f.list = append(f.list, pendingFinding{s, code, requirement, message, fix, at, offset})
}

// addOnce adds a finding unless one with the same code was added by addOnce before.
func (f *findings) addOnce(offset int, s lookleap.Severity, code lookleap.Code, requirement, message, fix string) {
	if f.reported[code] {
		return
	}
	if f.reported == nil {
		f.reported = make(map[lookleap.Code]bool)
	}
	f.reported[code] = true
	f.add(node{}, s, code, requirement, message, fix)
	if n := len(f.list); n > 0 && f.list[n-1].code == code {
		f.list[n-1].offset = int32(offset)
	}
}

// full reports whether there is no room for another finding, and counts that finding. Callers
// use it to avoid making a message in vain.
func (f *findings) full() bool {
	if len(f.list) < f.limit {
		return false
	}
	f.unlisted++
	return true
}

// positions is an index for finding lines and paths of elements.
type positions struct {
	lines   strictxml.Lines
	numbers []int32 // by row: number among the siblings of the same name, 0 without such siblings
}

// positionIndex returns the index. It builds the index on the first call.
func (d *Document) positionIndex() *positions {
	d.positionsIndexed.Do(func() {
		d.positions = positions{strictxml.NewLines(d.tree.src), d.tree.numberSiblings()}
	})
	return &d.positions
}

// position returns the position of a node, or of an offset that is not negative.
func (d *Document) position(n node, offset int) lookleap.Position {
	index := d.positionIndex()
	p := lookleap.Position{Path: index.path(n)}
	if offset < 0 && n.ok() {
		offset = int(n.row().offset)
	}
	if !d.built && offset >= 0 {
		p.Offset = offset
		p.Line, p.Column = index.lines.At(offset)
	}
	return p
}

// path returns the names of the elements from the root on, such as /anml/knowledge/ask[2].
func (p *positions) path(n node) string {
	if !n.ok() {
		return ""
	}
	name := n.name().Local
	if number := p.numbers[n.i]; number > 0 {
		name += "[" + itoa(int(number)) + "]"
	}
	return p.path(n.parent()) + "/" + name
}

// numberSiblings numbers the elements that share their name with a sibling, by row.
func (t *tree) numberSiblings() []int32 {
	type name struct {
		kind  kind
		local string // of an unknown element
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
					visit(c, name{local: c.name().Local})
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
