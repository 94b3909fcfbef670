package anml

import (
	"sync"

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

// positions is an index for finding lines and paths of elements. It is built as far as it is asked.
type positions struct {
	mu       sync.Mutex
	lines    *strictxml.Lines
	numbered map[*etree.Element]bool // elements whose children are numbered
	numbers  map[*etree.Element]int  // number among the siblings of the same name, if there are such siblings
}

// line returns the line and the column of an offset in the source.
func (p *positions) line(src string, offset int) (line, column int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines == nil {
		lines := strictxml.NewLines(src)
		p.lines = &lines
	}
	return p.lines.At(offset)
}

// number returns the number of an element among its siblings of the same name, 0 if it has none.
func (p *positions) number(e *etree.Element) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	parent := e.Parent()
	if !p.numbered[parent] && parent != nil {
		if p.numbered == nil {
			p.numbered, p.numbers = map[*etree.Element]bool{}, map[*etree.Element]int{}
		}
		p.numbered[parent] = true
		same := map[string][]*etree.Element{}
		for _, c := range parent.ChildElements() {
			same[c.Tag] = append(same[c.Tag], c)
		}
		for _, list := range same {
			for i := 0; len(list) > 1 && i < len(list); i++ {
				p.numbers[list[i]] = i + 1
			}
		}
	}
	return p.numbers[e]
}

// position returns the position of a node, or of an offset that is not negative.
func (d *Document) position(n node, offset int) lookleap.Position {
	p := lookleap.Position{Path: d.positions.path(n)}
	if offset < 0 && n.ok() {
		offset = n.offset()
	}
	if !d.built && offset >= 0 {
		p.Offset = offset
		p.Line, p.Column = d.positions.line(d.tree.src, offset)
	}
	return p
}

// path returns the names of the elements from the root on, such as /anml/knowledge/ask[2].
func (p *positions) path(n node) string {
	if !n.ok() {
		return ""
	}
	name := n.e.Tag
	if number := p.number(n.e); number > 0 {
		name += "[" + itoa(number) + "]"
	}
	return p.path(node{t: n.t, e: n.e.Parent()}) + "/" + name
}
