package anml

import (
	"iter"
	"strings"
)

// Namespace identifies ANML 1.0 (section 5.3). It is compared character by character and never
// dereferenced. The draft calls it provisional.
const Namespace = "urn:ietf:params:xml:ns:anml:1.0"

const (
	xmlNamespace   = "http://www.w3.org/XML/1998/namespace"
	xmlnsNamespace = "http://www.w3.org/2000/xmlns/"
)

// Name is an expanded name: namespace and local part.
type Name struct {
	Space, Local string
}

// String returns {namespace}local, and only the local part for a name without a namespace.
func (n Name) String() string {
	if n.Space == "" {
		return n.Local
	}
	return n.expanded()
}

// expanded returns {namespace}local, also for a name without a namespace.
func (n Name) expanded() string { return "{" + n.Space + "}" + n.Local }

// tree is a document as both parsers build it: flat tables that refer to one another and to the
// text by index. The large tables have no pointers, which the garbage collector would have to
// follow, and a document takes few allocations, whatever its size. The tree has everything that
// was read, including faults. The flags say what may be processed.
type tree struct {
	src     string          // the document, in UTF-8
	decoded strings.Builder // texts that are not in src in their decoded form
	rows    []row           // elements and texts; row 0 is empty, row 1 is the root
	cells   []cell          // attributes; those of one element are adjacent
	names   []Name          // of attributes that the draft does not define
	rare    []rareParts     // of few elements
}

// root is the index of the root element.
const root = 1

// row is one element, or a piece of text between elements. Parent, first and next are indexes
// of rows, 0 for none.
type row struct {
	parent, first, next int32
	offset              int32 // bytes of the source before it
	cells               int32 // its first attribute
	text                span  // of kText, and the whole text of an element without children
	rare                int32 // index in rare plus 1, or 0
	count               uint16
	kind                kind
	flags               flags
}

// cell is one attribute. It keeps its text even if that is invalid.
type cell struct {
	spec  int32 // index in specs, or ^index in names for an attribute that the draft does not define
	value span
}

// span is a text: src[from:to], or decoded[^from:to] if from is negative.
type span struct {
	from, to int32
}

func (s span) empty() bool { return s.from == s.to || ^s.from == s.to }

// part returns the bytes from:to of the text.
func (s span) part(from, to int) span {
	if s.from < 0 {
		return span{^(^s.from + int32(from)), ^s.from + int32(to)}
	}
	return span{s.from + int32(from), s.from + int32(to)}
}

type flags uint8

const (
	ignored   flags = 1 << iota // not processed: unknown, misplaced, malformed or surplus
	malformed                   // lacks a required attribute (section 11.4)
	ambiguous                   // an action that shares its id with another one
	dangling                    // refers to something that does not exist
	unchecked                   // a parameter whose pattern is not applied to values
)

// rareParts is what only few elements have.
type rareParts struct {
	name Name        // of an unknown element
	keys []rawMember // unknown JSON keys
}

// rawMember is an unknown JSON member as it is written.
type rawMember struct {
	key, value string
}

// string returns the text of a span.
func (t *tree) string(s span) string {
	if s.from < 0 {
		return t.decoded.String()[^s.from:s.to]
	}
	return t.src[s.from:s.to]
}

// store returns the span of a text that the source does not contain in its decoded form.
func (t *tree) store(text string) span {
	from := t.decoded.Len()
	t.decoded.WriteString(text)
	return span{^int32(from), int32(t.decoded.Len())}
}

// add appends a child to an element, after its last child (0 for none), and returns its row.
func (t *tree) add(k kind, parent, last, offset int32) int32 {
	i := int32(len(t.rows))
	if len(t.rows) < cap(t.rows) {
		t.rows = t.rows[:i+1] // the capacity is zeroed: rows never shrinks
	} else {
		t.rows = append(t.rows, row{})
	}
	r := &t.rows[i]
	r.kind, r.parent, r.offset = k, parent, offset
	t.link(parent, last, i)
	return i
}

// link makes a row, with the siblings linked to it, follow the last child of its parent.
func (t *tree) link(parent, last, child int32) {
	if last != 0 {
		t.rows[last].next = child
	} else {
		t.rows[parent].first = child
	}
}

// node is an element, or a piece of text between elements. The zero node is absent.
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

// usable reports whether the element exists and is processed.
func (n node) usable() bool { return n.ok() && n.row().flags&ignored == 0 }

// first returns the first child. An absent element has no children.
func (n node) first() node {
	if !n.ok() {
		return node{}
	}
	return node{n.t, n.row().first}
}

// child returns the first usable child of a kind.
func (n node) child(k kind) node {
	for c := n.first(); c.ok(); c = c.next() {
		if c.kind() == k && c.usable() {
			return c
		}
	}
	return node{}
}

// children yields the usable children of a kind.
func (n node) children(k kind) iter.Seq[node] {
	return func(yield func(node) bool) {
		for c := n.first(); c.ok(); c = c.next() {
			if c.kind() == k && c.usable() && !yield(c) {
				return
			}
		}
	}
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

// walk visits the element and its descendants in document order, except texts. If visit returns
// false, walk skips the descendants of that element.
func (n node) walk(visit func(node) bool) {
	if !n.ok() || !visit(n) {
		return
	}
	for c := n.first(); c.ok(); c = c.next() {
		if c.kind() != kText {
			c.walk(visit)
		}
	}
}

// name returns the expanded name.
func (n node) name() Name {
	if r := n.rare(); n.kind() == kUnknown && r != nil {
		return r.name
	}
	return Name{Namespace, schema[n.kind()].name}
}

// content returns the element's own text, without the text of elements inside.
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
		return piece // without a copy
	}
	var b strings.Builder
	for c := n.first(); c.ok(); c = c.next() {
		if c.kind() == kText {
			b.WriteString(c.text())
		}
	}
	return b.String()
}

// rare returns the rare parts of an element, or nil. The caller must not change them.
func (n node) rare() *rareParts {
	if i := n.row().rare; i != 0 {
		return &n.t.rare[i-1]
	}
	return nil
}

// makeRare returns the rare parts of an element for changing them.
func (n node) makeRare() *rareParts {
	if n.row().rare == 0 {
		n.t.rare = append(n.t.rare, rareParts{})
		n.row().rare = int32(len(n.t.rare))
	}
	return n.rare()
}

// attr is one attribute of an element. The zero attr is absent.
type attr struct {
	spec    *attrSpec
	value   string
	foreign Name // of an attribute that the draft does not define
}

// foreignSpec is the spec of every attribute that the draft does not define.
var foreignSpec = attrSpec{foreign: true}

func (a attr) ok() bool { return a.spec != nil }

// known reports whether the draft defines the attribute for its element.
func (a attr) known() bool { return !a.spec.foreign }

// name returns the expanded name.
func (a attr) name() Name {
	if a.known() {
		return Name{"", a.spec.name}
	}
	return a.foreign
}

// attr returns the attribute of a cell.
func (t *tree) attr(c cell) attr {
	if c.spec < 0 {
		return attr{&foreignSpec, t.string(c.value), t.names[^c.spec]}
	}
	return attr{spec: &words().specs[c.spec], value: t.string(c.value)}
}

// cells returns the cells of the attributes in document order.
func (n node) cells() []cell {
	if !n.ok() {
		return nil
	}
	r := n.row()
	return n.t.cells[r.cells : r.cells+int32(r.count)]
}

// attrs returns the attributes in document order.
func (n node) attrs() []attr {
	cells := n.cells()
	out := make([]attr, len(cells))
	for i, c := range cells {
		out[i] = n.t.attr(c)
	}
	return out
}

// lookup returns the attribute that the draft defines under a name.
func (n node) lookup(name string) attr {
	specs := words().specs
	for _, c := range n.cells() {
		if c.spec >= 0 && specs[c.spec].name == name {
			return n.t.attr(c)
		}
	}
	return attr{}
}

// value returns the text of an attribute, "" if it is absent.
func (n node) value(name string) string { return n.lookup(name).value }

// foreign returns an attribute that the draft does not define.
func (n node) foreign(name Name) attr {
	for _, c := range n.cells() {
		if c.spec < 0 && n.t.names[^c.spec] == name {
			return n.t.attr(c)
		}
	}
	return attr{}
}
