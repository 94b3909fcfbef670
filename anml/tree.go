package anml

import (
	"iter"
	"slices"
	"strings"

	"github.com/beevik/etree"
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

// tree is a document as both readers build it: etree elements, and what the readers and the
// examination found out about them. It has everything that was read, including faults. The flags
// say what may be processed.
//
// Elements have no prefixes, except those in the namespace of XML. An element whose namespace is
// not that of its parent declares it as the default namespace, in its first attribute. Each
// attribute from another vocabulary has a prefix that the attribute right before it declares. So
// etree writes the tree as it is, and no namespace has to be searched for.
type tree struct {
	root  *etree.Element
	src   string // the document, in UTF-8
	notes map[*etree.Element]note
	rare  map[*etree.Element]rareParts
}

// note is what is known about an element.
type note struct {
	kind   kind
	flags  flags
	offset int32 // bytes of the source before it
}

type flags uint8

const (
	ignored   flags = 1 << iota // not processed: unknown, misplaced, malformed or surplus
	malformed                   // lacks a required attribute (section 11.4)
	ambiguous                   // an action that shares its id with another one
	dangling                    // refers to something that does not exist
	unchecked                   // a parameter whose pattern is not applied to values
)

// rareParts is what only few elements of JSON documents have.
type rareParts struct {
	unusable []string    // attributes with a number beyond any double, or a value that cannot be an attribute
	keys     []rawMember // unknown keys
}

// rawMember is an unknown JSON member as it is written.
type rawMember struct {
	key, value string
}

// add appends an element to its parent, which is nil for the root.
func (t *tree) add(parent *etree.Element, k kind, name Name, offset int) node {
	e := &etree.Element{Tag: name.Local}
	inherited := ""
	if parent != nil {
		e = parent.CreateElement(name.Local)
		inherited = defaultSpace(parent)
	} else {
		t.root = e
	}
	switch name.Space {
	case inherited:
	case xmlNamespace:
		e.Space = "xml"
	default:
		e.Attr = append(e.Attr, etree.Attr{Key: "xmlns", Value: name.Space})
	}
	t.notes[e] = note{kind: k, offset: int32(offset)}
	return node{t: t, e: e}
}

// defaultSpace returns the default namespace inside an element.
func defaultSpace(e *etree.Element) string {
	for ; e != nil; e = e.Parent() {
		if space, ok := declaredSpace(e); ok {
			return space
		}
	}
	return ""
}

// declaredSpace returns the default namespace that an element itself declares.
func declaredSpace(e *etree.Element) (space string, ok bool) {
	if len(e.Attr) == 0 || e.Attr[0].Space != "" || e.Attr[0].Key != "xmlns" {
		return "", false
	}
	return e.Attr[0].Value, true
}

// setAttr appends an attribute, with the declaration of its namespace if it has one.
func setAttr(e *etree.Element, name Name, value string) {
	prefix := ""
	switch name.Space {
	case "":
	case xmlNamespace:
		prefix = "xml"
	default:
		prefix = "n" + itoa(len(e.Attr))
		e.Attr = append(e.Attr, etree.Attr{Space: "xmlns", Key: prefix, Value: name.Space})
	}
	e.Attr = append(e.Attr, etree.Attr{Space: prefix, Key: name.Local, Value: value})
}

// node is an element, or a piece of text in it. The zero node is absent.
type node struct {
	t    *tree
	e    *etree.Element
	data *etree.CharData // of a piece of text
}

func (n node) ok() bool     { return n.e != nil }
func (n node) offset() int  { return int(n.t.notes[n.e].offset) }
func (n node) flags() flags { return n.t.notes[n.e].flags }

func (n node) kind() kind {
	if n.data != nil {
		return kText
	}
	return n.t.notes[n.e].kind
}

func (n node) parent() node {
	if n.data != nil {
		return node{t: n.t, e: n.e}
	}
	return node{t: n.t, e: n.e.Parent()}
}

func (n node) mark(f flags) {
	x := n.t.notes[n.e]
	x.flags |= f
	n.t.notes[n.e] = x
}

// usable reports whether the element exists and is processed.
func (n node) usable() bool { return n.ok() && (n.data != nil || n.flags()&ignored == 0) }

// all yields the children: elements and pieces of text. An absent element has no children.
func (n node) all() iter.Seq[node] {
	return func(yield func(node) bool) {
		if !n.ok() || n.data != nil {
			return
		}
		for _, token := range n.e.Child {
			child := node{t: n.t, e: n.e}
			switch x := token.(type) {
			case *etree.Element:
				child.e = x
			case *etree.CharData:
				child.data = x
			}
			if !yield(child) {
				return
			}
		}
	}
}

// children yields the usable children of a kind.
func (n node) children(k kind) iter.Seq[node] {
	return func(yield func(node) bool) {
		for c := range n.all() {
			if c.kind() == k && c.usable() && !yield(c) {
				return
			}
		}
	}
}

// child returns the first usable child of a kind.
func (n node) child(k kind) node {
	for c := range n.children(k) {
		return c
	}
	return node{}
}

// has reports whether there is a child of a kind, usable or not.
func (n node) has(k kind) bool {
	for c := range n.all() {
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
	for c := range n.all() {
		if c.data == nil {
			c.walk(visit)
		}
	}
}

// name returns the expanded name.
func (n node) name() Name {
	switch {
	case n.kind() != kUnknown:
		return Name{Namespace, schema[n.kind()].name}
	case n.e.Space == "xml":
		return Name{xmlNamespace, n.e.Tag}
	}
	return Name{defaultSpace(n.e), n.e.Tag}
}

// content returns the piece of text, or the element's own text without that of elements inside.
func (n node) content() string {
	if n.data != nil {
		return n.data.Data
	}
	var pieces []string
	for c := range n.all() {
		if c.data != nil {
			pieces = append(pieces, c.data.Data)
		}
	}
	return strings.Join(pieces, "")
}

// attr is one attribute of an element. The zero attr is absent.
type attr struct {
	name     Name
	value    string    // also if it is invalid
	spec     *attrSpec // nil if the draft does not define the attribute
	present  bool
	unusable bool // see rareParts
}

func (a attr) ok() bool { return a.present }

// attr returns the attribute at an index of the tree. It returns false for a namespace declaration.
func (n node) attr(i int) (attr, bool) {
	a := n.e.Attr[i]
	x := attr{Name{a.Space, a.Key}, a.Value, nil, true, false}
	switch {
	case a.Space == "xmlns", a.Space == "" && a.Key == "xmlns":
		return attr{}, false
	case a.Space == "":
		x.spec = schema[n.kind()].attr(a.Key)
		x.unusable = slices.Contains(n.t.rare[n.e].unusable, a.Key)
	case a.Space == "xml":
		x.name.Space = xmlNamespace
	default:
		x.name.Space = n.e.Attr[i-1].Value
	}
	return x, true
}

// plainAttr returns the index of the attribute that has a name and no namespace, or -1. It is not
// etree's SelectAttr, which finds attributes of every namespace.
func plainAttr(e *etree.Element, name string) int {
	return slices.IndexFunc(e.Attr, func(a etree.Attr) bool { return a.Space == "" && a.Key == name })
}

// attrs yields the attributes in document order.
func (n node) attrs() iter.Seq[attr] {
	return func(yield func(attr) bool) {
		if !n.ok() || n.data != nil {
			return
		}
		for i := range n.e.Attr {
			if x, ok := n.attr(i); ok && !yield(x) {
				return
			}
		}
	}
}

// lookup returns the attribute that the draft defines under a name.
func (n node) lookup(name string) attr {
	if n.ok() && n.data == nil {
		if i := plainAttr(n.e, name); i >= 0 {
			if x, ok := n.attr(i); ok && x.spec != nil {
				return x
			}
		}
	}
	return attr{}
}

// value returns the text of an attribute, "" if it is absent.
func (n node) value(name string) string { return n.lookup(name).value }

// foreign returns an attribute that the draft does not define.
func (n node) foreign(name Name) attr {
	for a := range n.attrs() {
		if a.spec == nil && a.name == name {
			return a
		}
	}
	return attr{}
}

// equal reports whether two elements have the same content and the same attributes in any order.
func (n node) equal(other node) bool {
	if n.kind() != other.kind() || n.data != nil {
		return n.kind() == other.kind() && n.content() == other.content()
	}
	if n.name() != other.name() || !slices.Equal(n.t.rare[n.e].keys, other.t.rare[other.e].keys) ||
		!n.attrsIn(other) || !other.attrsIn(n) || len(n.e.Child) != len(other.e.Child) {
		return false
	}
	next, stop := iter.Pull(other.all())
	defer stop()
	for c := range n.all() {
		if d, ok := next(); !ok || !c.equal(d) {
			return false
		}
	}
	return true
}

// attrsIn reports whether another element has all attributes of this one. An absent version
// equals "1.0".
func (n node) attrsIn(other node) bool {
	for a := range n.attrs() {
		b := other.foreign(a.name)
		if a.spec != nil {
			b = other.lookup(a.name.Local)
		}
		if !b.ok() && (n.kind() != kAnml || a.name.Local != "version" || a.value != Version) || b.ok() && b.value != a.value {
			return false
		}
	}
	return true
}
