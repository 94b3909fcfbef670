package anml

import "strings"

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

// node is one element of the tree that both codecs build, or a piece of text
// between elements. It holds everything that was read, faults included; what
// may be acted upon is what the flags leave.
type node struct {
	kind   kind
	flags  flags
	offset int32 // octets of the source before it
	parent *node
	first  *node
	next   *node
	attrs  []attr
	text   string // all text, of an element that has no element inside; else in kText nodes
	more   *more
}

type flags uint8

const (
	ignored   flags = 1 << iota // not processed: unknown, misplaced, malformed or surplus
	malformed                   // a required attribute is absent (section 11.4)
	ambiguous                   // an action whose id is not its own
	dangling                    // names something that is not there
)

// more is what few nodes have.
type more struct {
	name Name        // of an element that the draft does not know here
	keys []rawMember // JSON keys that the draft does not know here
}

// rawMember is an unknown JSON member, kept as it was written.
type rawMember struct {
	key, value string
}

// attr is one attribute. Its text is kept whatever its type says. There may be
// as many as a document has octets for, so they are small: what few have is in
// a spec of their own.
type attr struct {
	spec  *attrSpec
	value string
}

// foreignAttr describes an attribute that the draft does not know.
func foreignAttr(name Name) *attrSpec {
	return &attrSpec{name: name.Local, space: name.Space, foreign: true}
}

// known reports whether the draft knows the attribute on its element.
func (a *attr) known() bool { return !a.spec.foreign }

// name is the expanded name of a foreign attribute.
func (a *attr) name() Name { return Name{a.spec.space, a.spec.name} }

// spoil marks the text as one that is never used: a JSON number that a double
// does not hold, or no attribute value at all.
func (a *attr) spoil() {
	spec := *a.spec
	spec.lossy = true
	a.spec = &spec
}

// usable reports whether a node takes part in behaviour.
func (n *node) usable() bool { return n != nil && n.flags&ignored == 0 }

// element gives the name to print.
func (n *node) element() string {
	if n.kind == kUnknown && n.more != nil {
		return n.more.name.Local
	}
	return schema[n.kind].name
}

// lookup finds an attribute of the draft by name.
func (n *node) lookup(name string) *attr {
	if n == nil {
		return nil
	}
	for i := range n.attrs {
		if s := n.attrs[i].spec; s.name == name && !s.foreign {
			return &n.attrs[i]
		}
	}
	return nil
}

// value gives an attribute's text, "" when it is absent.
func (n *node) value(name string) string {
	if at := n.lookup(name); at != nil {
		return at.value
	}
	return ""
}

// tail is where the next child of an element goes. Only whoever builds a tree
// needs it, so nodes do without.
type tail struct {
	of, last *node
}

func (t *tail) add(child *node) {
	child.parent = t.of
	if t.last == nil {
		t.of.first = child
	} else {
		t.last.next = child
	}
	t.last = child
}

// content gives the text of an element, without that of elements inside.
func (n *node) content() string {
	if n == nil {
		return ""
	}
	if n.first == nil {
		return n.text
	}
	piece, pieces := "", 0
	for c := n.first; c != nil; c = c.next {
		if c.kind == kText {
			piece = c.text
			pieces++
		}
	}
	if pieces < 2 {
		return piece
	}
	var b strings.Builder
	for c := n.first; c != nil; c = c.next {
		if c.kind == kText {
			b.WriteString(c.text)
		}
	}
	return b.String()
}

// child gives the first usable child of a kind, or nil.
func (n *node) child(k kind) *node {
	if n == nil {
		return nil
	}
	for c := n.first; c != nil; c = c.next {
		if c.kind == k && c.flags&ignored == 0 {
			return c
		}
	}
	return nil
}

// walk visits the node and what is below it in document order, as long as the
// visitor wants to look below.
func (n *node) walk(visit func(*node) (below bool)) {
	if !visit(n) {
		return
	}
	for c := n.first; c != nil; c = c.next {
		if c.kind != kText {
			c.walk(visit)
		}
	}
}

// tree allocates nodes and attributes many at a time.
type tree struct {
	nodes    []node
	attrs    []attr
	elements int
	weight   int // octets handed out
}

const (
	firstSlab = 32
	slab      = 1024
	nodeSize  = 80
	moreSize  = 64
	attrSize  = 24
)

func (t *tree) node() *node {
	if len(t.nodes) == 0 {
		t.nodes = make([]node, min(max(firstSlab, t.weight/nodeSize), slab))
	}
	n := &t.nodes[0]
	t.nodes = t.nodes[1:]
	t.weight += nodeSize
	return n
}

// room gives n attributes that nobody else appends into.
func (t *tree) room(n int) []attr {
	if len(t.attrs) < n {
		t.attrs = make([]attr, max(n, min(max(firstSlab, t.weight/nodeSize), slab)))
	}
	room := t.attrs[:n:n]
	t.attrs = t.attrs[n:]
	t.weight += n * attrSize
	return room
}
