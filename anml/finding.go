package anml

import (
	"github.com/beevik/etree"

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
		offset = int32(at.offset())
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
	numbers map[*etree.Element]int // number among the siblings of the same name, if there are such siblings
}

// positionIndex returns the index. It builds the index on the first call.
func (d *Document) positionIndex() *positions {
	d.positionsIndexed.Do(func() {
		d.positions = positions{strictxml.NewLines(d.tree.src), map[*etree.Element]int{}}
		d.root().walk(func(n node) bool {
			same := map[string][]*etree.Element{}
			for _, c := range n.e.ChildElements() {
				same[c.Tag] = append(same[c.Tag], c)
			}
			for _, list := range same {
				for i := 0; len(list) > 1 && i < len(list); i++ {
					d.positions.numbers[list[i]] = i + 1
				}
			}
			return true
		})
	})
	return &d.positions
}

// position returns the position of a node, or of an offset that is not negative.
func (d *Document) position(n node, offset int) lookleap.Position {
	index := d.positionIndex()
	p := lookleap.Position{Path: index.path(n)}
	if offset < 0 && n.ok() {
		offset = n.offset()
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
	name := n.e.Tag
	if number := p.numbers[n.e]; number > 0 {
		name += "[" + itoa(number) + "]"
	}
	return p.path(node{t: n.t, e: n.e.Parent()}) + "/" + name
}
