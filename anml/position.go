package anml

import (
	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictxml"
)

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
