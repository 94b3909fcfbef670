package anml

import (
	"strings"
)

// Namespace is the one identifier of ANML 1.0 (section 5.3). It is compared
// character by character and never dereferenced; the draft calls it provisional.
const Namespace = "urn:ietf:params:xml:ns:anml:1.0"

const (
	xmlNamespace   = "http://www.w3.org/XML/1998/namespace"
	xmlnsNamespace = "http://www.w3.org/2000/xmlns/"
)

// Name is an expanded name: namespace and local part.
type Name struct {
	Space, Local string
}

// String gives {namespace}local, or the local part of a name without one.
func (n Name) String() string {
	if n.Space == "" {
		return n.Local
	}
	return "{" + n.Space + "}" + n.Local
}

// expanded gives {namespace}local, also for a name without a namespace.
func (n Name) expanded() string { return "{" + n.Space + "}" + n.Local }

// tree is a document as both codecs build it: flat tables that refer to one
// another and to the text by number. There is nothing in the large ones for the
// garbage collector to follow, and a document takes few allocations, whatever
// its size. It holds everything that was read, faults included; what may be
// acted upon is what the flags leave.
type tree struct {
	src   string          // the document, as UTF-8
	side  strings.Builder // texts that are not in src as they mean
	rows  []row           // elements and texts; the root is the first, behind a blank one
	cells []cell          // attributes, those of an element together
	names []Name          // of attributes that the draft does not know
	extra []more          // what few elements have
}

// root is the number of the root element.
const root = 1

// row is one element, or a piece of text between elements. The other elements
// in it are numbers of rows, 0 for none.
type row struct {
	parent, first, next int32
	offset              int32 // octets of the source before it
	cells               int32 // its first attribute
	text                span  // of kText, and all text of an element that has no children
	extra               int32 // number in extra, from 1
	count               uint16
	kind                kind
	flags               flags
}

// cell is one attribute. Its text is kept whatever its type says.
type cell struct {
	spec  int32 // number in specs, or ^number in names
	value span
}

// span is a text: src[from:to], or side[^from:to].
type span struct {
	from, to int32
}

func (s span) empty() bool { return s.from == s.to || ^s.from == s.to }

type flags uint8

const (
	ignored   flags = 1 << iota // not processed: unknown, misplaced, malformed or surplus
	malformed                   // a required attribute is absent (section 11.4)
	ambiguous                   // an action whose id is not its own
	dangling                    // names something that is not there
	unchecked                   // a parameter whose pattern is not applied to values
)

// more is what few elements have.
type more struct {
	name Name        // of an element that the draft does not know here
	keys []rawMember // JSON keys that the draft does not know here
}

// rawMember is an unknown JSON member, kept as it was written.
type rawMember struct {
	key, value string
}

// string gives a text.
func (t *tree) string(s span) string {
	if s.from < 0 {
		return t.side.String()[^s.from:s.to]
	}
	return t.src[s.from:s.to]
}

// keep stores a text that the source does not hold as it means.
func (t *tree) keep(text string) span {
	from := t.side.Len()
	t.side.WriteString(text)
	return span{^int32(from), int32(t.side.Len())}
}

// add makes a row behind the last child of its parent, whose number is last, 0
// for none.
func (t *tree) add(k kind, parent, last, offset int32) int32 {
	i := int32(len(t.rows))
	if len(t.rows) < cap(t.rows) {
		t.rows = t.rows[:i+1] // nothing was ever there
	} else {
		t.rows = append(t.rows, row{})
	}
	r := &t.rows[i]
	r.kind, r.parent, r.offset = k, parent, offset
	t.link(parent, last, i)
	return i
}

// link puts a child, with those linked to it, behind the last one.
func (t *tree) link(parent, last, child int32) {
	if last != 0 {
		t.rows[last].next = child
	} else {
		t.rows[parent].first = child
	}
}

// node is an element, or a piece of text between elements. The zero node, and
// number 0 of any tree, is none.
type node struct {
	t *tree
	i int32
}

func (n node) ok() bool     { return n.i != 0 }
func (n node) row() *row    { return &n.t.rows[n.i] }
func (n node) kind() kind   { return n.row().kind }
func (n node) flags() flags { return n.row().flags }
func (n node) parent() node { return node{n.t, n.row().parent} }
func (n node) next() node   { return node{n.t, n.row().next} }
func (n node) text() string { return n.t.string(n.row().text) }
func (n node) mark(f flags) { n.row().flags |= f }

// first gives the first child of an element, also of none.
func (n node) first() node {
	if !n.ok() {
		return node{}
	}
	return node{n.t, n.row().first}
}

// usable reports whether an element takes part in behaviour.
func (n node) usable() bool { return n.ok() && n.row().flags&ignored == 0 }

// more gives what few elements have; nobody may write to it.
func (n node) more() *more {
	if i := n.row().extra; i != 0 {
		return &n.t.extra[i-1]
	}
	return nil
}

// needMore gives it to write to.
func (n node) needMore() *more {
	if n.row().extra == 0 {
		n.t.extra = append(n.t.extra, more{})
		n.row().extra = int32(len(n.t.extra))
	}
	return n.more()
}

// element gives the name to print.
func (n node) element() string {
	if m := n.more(); n.kind() == kUnknown && m != nil {
		return m.name.Local
	}
	return schema[n.kind()].name
}

// name gives the expanded name.
func (n node) name() Name {
	if m := n.more(); n.kind() == kUnknown && m != nil {
		return m.name
	}
	return Name{Namespace, schema[n.kind()].name}
}

// content gives the text of an element, without that of elements inside.
func (n node) content() string {
	if !n.ok() {
		return ""
	}
	if n.row().first == 0 {
		return n.text()
	}
	piece, pieces := "", 0
	for c := n.first(); c.ok(); c = c.next() {
		if c.kind() == kText {
			piece = c.text()
			pieces++
		}
	}
	if pieces < 2 {
		return piece
	}
	var b strings.Builder
	for c := n.first(); c.ok(); c = c.next() {
		if c.kind() == kText {
			b.WriteString(c.text())
		}
	}
	return b.String()
}

// child gives the first usable child of a kind, or none.
func (n node) child(k kind) node {
	for c := n.first(); c.ok(); c = c.next() {
		if c.kind() == k && c.usable() {
			return c
		}
	}
	return node{}
}

// has reports whether there is a child of a kind, usable or not.
func (n node) has(k kind) bool {
	for c := n.first(); c.ok(); c = c.next() {
		if c.kind() == k {
			return true
		}
	}
	return false
}

// walk visits the element and what is below it in document order, as long as the
// visitor wants to look below.
func (n node) walk(visit func(node) (below bool)) {
	if !visit(n) {
		return
	}
	for c := n.first(); c.ok(); c = c.next() {
		if c.kind() != kText {
			c.walk(visit)
		}
	}
}

// attr is one attribute of an element, or none.
type attr struct {
	spec    *attrSpec // nil: there is none
	value   string
	unknown Name // of an attribute that the draft does not know
}

// foreignSpec describes every attribute that the draft does not know.
var foreignSpec = attrSpec{foreign: true}

func (a attr) ok() bool { return a.spec != nil }

// known reports whether the draft knows the attribute on its element.
func (a attr) known() bool { return !a.spec.foreign }

// name is the expanded name.
func (a attr) name() Name {
	if a.known() {
		return Name{"", a.spec.name}
	}
	return a.unknown
}

// attr gives the text and meaning of a cell.
func (t *tree) attr(c cell) attr {
	if c.spec < 0 {
		return attr{&foreignSpec, t.string(c.value), t.names[^c.spec]}
	}
	return attr{spec: &specs[c.spec], value: t.string(c.value)}
}

// cells gives the attributes as they are stored.
func (n node) cells() []cell {
	if !n.ok() {
		return nil
	}
	r := n.row()
	return n.t.cells[r.cells : r.cells+int32(r.count)]
}

// attrs gives the attributes in document order.
func (n node) attrs() []attr {
	cells := n.cells()
	out := make([]attr, len(cells))
	for i, c := range cells {
		out[i] = n.t.attr(c)
	}
	return out
}

// lookup finds an attribute of the draft by name.
func (n node) lookup(name string) attr {
	for _, c := range n.cells() {
		if c.spec >= 0 && specs[c.spec].name == name {
			return n.t.attr(c)
		}
	}
	return attr{}
}

// value gives an attribute's text, "" when it is absent.
func (n node) value(name string) string { return n.lookup(name).value }

// foreign finds an attribute that the draft does not know.
func (n node) foreign(name Name) attr {
	for _, c := range n.cells() {
		if c.spec < 0 && n.t.names[^c.spec] == name {
			return n.t.attr(c)
		}
	}
	return attr{}
}

// drop removes an attribute that the draft does not know.
func (n node) drop(name Name) {
	cells := n.cells()
	for i, c := range cells {
		if c.spec < 0 && n.t.names[^c.spec] == name {
			copy(cells[i:], cells[i+1:])
			n.row().count--
			return
		}
	}
}

// adopt gives an attribute that the draft does not know one of its meanings.
func (n node) adopt(name Name, spec int32) {
	cells := n.cells()
	for i, c := range cells {
		if c.spec < 0 && n.t.names[^c.spec] == name {
			cells[i].spec = spec
		}
	}
}
