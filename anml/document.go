package anml

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/zero"
)

// Document is one ANML document, as read or as built. It never changes and may
// be used by many goroutines.
//
// A single-site document holds its sections itself: d.Head(), d.Knowledge().
// A multi-site document has none of its own; each of d.Sites() has.
type Document struct {
	Site   // the sections of a single-site document
	tree   tree
	format Format
	built  bool // and not read: nobody has seen its text
	role   Role // what the exchange implied
	found  findings

	indexed sync.Once
	ids     map[scope][]int32 // rows of the elements that have an id
	acting  sync.Once
	actions map[scope]int32 // rows of the actions, by the interact that holds them
	covered sync.Once
	usages  []Usage // in force, by row
	located sync.Once
	places  places
}

// Node is one element of a document, for what all elements share. The zero Node
// is an absent element: its accessors give what the draft gives for an absent
// one, so that chains of them need no checks in between.
type Node struct {
	n node
	d *Document
}

// It is absent in a zero Document.
func (d *Document) root() node {
	if d == nil || len(d.tree.rows) <= root {
		return node{}
	}
	return node{&d.tree, root}
}

// Format tells which serialization the document was read from.
func (d *Document) Format() Format { return zero.Or(d).format }

// Version is the version attribute, "1.0" when absent (section 8.1). The
// namespace is the authority; a document of another version is read as far as
// it is understood, with a finding.
func (d *Document) Version() string {
	if v := d.root().value("version"); v != "" {
		return v
	}
	return "1.0"
}

// HasVersion reports whether the document says its version.
func (d *Document) HasVersion() bool { return d.root().value("version") != "" }

// Role is the role that the document names, or else the one that the exchange
// implied when it was read.
func (d *Document) Role() Role {
	if r := parse[Role](roleWords[:], d.root().value("role")); r != RoleUnspecified {
		return r
	}
	return zero.Or(d).role
}

// SupportedVersions lists the versions that the document offers, and whether it
// says so at all. A list without "1.0", even an empty one, means that no action
// of the document may be executed (section 8.1).
func (d *Document) SupportedVersions() (versions []string, present bool) {
	at := d.root().lookup("supported-versions")
	if !at.ok() {
		return nil, false
	}
	for v := range strings.SplitSeq(at.value, ",") {
		if v = strings.Trim(v, " \t\r\n"); v != "" {
			versions = append(versions, v)
		}
	}
	return versions, true
}

// Executable reports whether actions of this document may be executed at all:
// it offers version 1.0 or no list of versions.
func (d *Document) Executable() bool {
	versions, present := d.SupportedVersions()
	for _, v := range versions {
		if v == "1.0" {
			return true
		}
	}
	return !present
}

// TTL is the lifetime that the document gives itself, and whether it gives one.
// An invalid one is 0: it was meant as an upper bound.
func (d *Document) TTL() (time.Duration, bool) { return Node{d.root(), d}.duration("ttl") }

// Multi reports whether the document is a multi-site one.
func (d *Document) Multi() bool { return d.root().has(kSite) }

// Sites yields the usable sites of a multi-site document. Malformed ones, and
// all that share one domain, are left out (sections 8.2 and 12.7).
func (d *Document) Sites() iter.Seq[Site] {
	return each[Site](Node{d.root(), d}, kSite)
}

// Containers yields what holds sections: the document itself, or its sites.
func (d *Document) Containers() iter.Seq[Site] {
	if d.Multi() {
		return d.Sites()
	}
	return func(yield func(Site) bool) { yield(zero.Or(d).Site) }
}

// Findings lists what was noticed, in the order of the document, as far as the
// limit on findings goes; Unlisted counts the rest.
func (d *Document) Findings() []lookleap.Finding {
	list := slices.Clone(zero.Or(d).found.list)
	slices.SortStableFunc(list, func(a, b found) int { return cmp.Compare(a.offset, b.offset) })
	out := make([]lookleap.Finding, len(list))
	for i, f := range list {
		out[i] = lookleap.Finding{
			Severity: f.severity, Code: f.code, Requirement: f.requirement, Message: f.message, Fix: f.fix, Position: d.position(f.at, int(f.offset)),
		}
	}
	return out
}

// Unlisted counts findings beyond the limit.
func (d *Document) Unlisted() int { return zero.Or(d).found.lost }

// Exists reports whether the element is there and may be processed.
func (v Node) Exists() bool { return v.n.usable() }

// Position is where the element stands in its source.
func (v Node) Position() lookleap.Position {
	if !v.n.ok() {
		return lookleap.Position{}
	}
	return v.d.position(v.n, -1)
}

// Element is the element's name.
func (v Node) Element() string {
	if !v.n.ok() {
		return ""
	}
	return v.n.element()
}

// Attr gives the text of an attribute of the draft, as it was written.
func (v Node) Attr(name string) (string, bool) {
	at := v.n.lookup(name)
	return at.value, at.ok()
}

// Foreign gives the text of an attribute that ANML does not define. It means
// nothing to this package.
func (v Node) Foreign(name Name) (string, bool) {
	at := v.n.foreign(name)
	return at.value, at.ok()
}

// Lang is the language in force: of the element or of the nearest one around
// it (section 10.3); "" when nobody says.
func (v Node) Lang() string {
	for n := v.n; n.ok(); n = n.parent() {
		if at := n.lookup("lang"); at.ok() {
			return at.value
		}
		if at := n.foreign(Name{xmlNamespace, "lang"}); at.ok() {
			return at.value
		}
	}
	return ""
}

// Same reports whether two views are of the same element.
func (v Node) Same(other Node) bool { return v.n == other.n }

// view is any of the typed views, each of which is a Node with names.
type view interface{ ~struct{ Node } }

// each yields the usable children of a kind as typed views.
func each[V view](v Node, k kind) iter.Seq[V] {
	return func(yield func(V) bool) {
		if !v.n.ok() {
			return
		}
		for c := v.n.first(); c.ok(); c = c.next() {
			if c.kind() == k && c.usable() && !yield(V{Node{c, v.d}}) {
				return
			}
		}
	}
}

// child gives the usable child of a kind, or an absent one.
func child[V view](v Node, k kind) V { return V{Node{v.n.child(k), v.d}} }

// sub gives the usable child of a kind without a type.
func (v Node) sub(k kind) Node { return Node{v.n.child(k), v.d} }

func (v Node) text() string { return v.n.content() }

// boolean reads a boolean attribute: absent gives one value, invalid another.
func (v Node) boolean(name string, absent, invalid bool) bool {
	at := v.n.lookup(name)
	switch {
	case !at.ok():
		return absent
	case at.spec.lossy:
		return invalid
	case at.value == "true":
		return true
	case at.value == "false":
		return false
	}
	return invalid
}

// integer reads a non-negative integer attribute.
func (v Node) integer(name string) (n int64, present, ok bool) {
	at := v.n.lookup(name)
	if !at.ok() {
		return 0, false, false
	}
	n, ok = seconds(at.value)
	if at.spec.lossy || !ok {
		return 0, true, false
	}
	return n, true, true
}

// duration reads seconds; an invalid value is 0.
func (v Node) duration(name string) (time.Duration, bool) {
	n, present, _ := v.integer(name)
	return time.Duration(n) * time.Second, present
}

// moment reads a point in time; absent, malformed or without a zone is false.
func (v Node) moment(name string) (time.Time, bool) {
	t, _, ok := parseMoment(v.n.value(name))
	return t, ok
}

// Texts yields every text that the document holds, as it means, and the element that
// it is of: texts and attributes, also those that the draft does not know or that are
// not processed.
// It leaves out the words of the draft itself, such as "true" and "POST". It is for
// finding out whether a document told a value, and not for showing.
func (d *Document) Texts() iter.Seq2[Node, string] {
	d = zero.Or(d)
	return func(yield func(Node, string) bool) {
		for i := root; i < len(d.tree.rows); i++ {
			n := node{&d.tree, int32(i)}
			of := Node{n, d}
			if n.kind() == kText {
				of.n = n.parent()
			}
			for text := range n.texts() {
				if text != "" && !yield(of, text) {
					return
				}
			}
		}
	}
}

// texts yields the texts of one element. Pieces of text between elements are joined
// too, since elements may divide a word.
func (n node) texts() iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(n.text()) || n.row().first != 0 && !yield(n.content()) {
			return
		}
		for _, c := range n.cells() {
			if at := n.t.attr(c); !at.isKeyword() && !yield(at.value) {
				return
			}
		}
		if m := n.more(); m != nil {
			for _, member := range m.keys {
				if !yield(member.key) || !yield(member.value) {
					return
				}
			}
		}
	}
}

// isKeyword reports whether an attribute holds one of the words that the draft has
// for it.
func (a attr) isKeyword() bool {
	switch {
	case !a.known():
		return false
	case a.spec.typ == tBool:
		return a.value == "true" || a.value == "false"
	}
	return slices.Contains(a.spec.enum, a.value)
}
