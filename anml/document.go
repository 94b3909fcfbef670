package anml

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/beevik/etree"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/zero"
)

// Document is one ANML document, read or built. It never changes, so several goroutines may use
// it at the same time.
//
// The sections of a single-site document are in the document: d.Head(), d.Knowledge(). Those of
// a multi-site document are in its sites, which d.Sites() yields.
type Document struct {
	Site   // the sections of a single-site document
	tree   tree
	format Format
	built  bool // by a builder, so positions in its text mean nothing to the caller
	role   Role // ReadOptions.Role
	found  findings

	// Indexes, built on first use.
	idsIndexed     sync.Once
	ids            map[scope][]node // usable elements with an id
	actionsIndexed sync.Once
	actions        map[scope]node // usable actions, by their interact
	usagesComputed sync.Once
	usages         map[*etree.Element]Usage
	positions      positions
}

// Node is one element of a document, with what all elements have. The zero Node is an absent
// element: its methods return what the draft says about an absent element, so chains of calls
// need no checks.
type Node struct {
	n node
	d *Document
}

// root returns the root element. A nil or zero Document has no root element.
func (d *Document) root() node {
	if d == nil || d.tree.root == nil {
		return node{}
	}
	return node{t: &d.tree, e: d.tree.root}
}

// Format returns the serialization that the document was read from.
func (d *Document) Format() Format { return zero.Or(d).format }

// Version returns the version attribute, "1.0" if it is absent (section 8.1). The namespace
// decides about the version. A document with another version attribute is read as far as this
// package understands it, with a finding.
func (d *Document) Version() string {
	if v := d.root().value("version"); v != "" {
		return v
	}
	return "1.0"
}

// Role returns the role that the document names, or else [ReadOptions.Role].
func (d *Document) Role() Role {
	if r := parse[Role](roleWords[:], d.root().value("role")); r != RoleUnspecified {
		return r
	}
	return zero.Or(d).role
}

// SupportedVersions returns the versions that the document offers, and whether the attribute is
// present. If it is present without "1.0", no action of the document may be executed
// (section 8.1).
func (d *Document) SupportedVersions() (versions []string, present bool) {
	at := d.root().lookup("supported-versions")
	if !at.ok() {
		return nil, false
	}
	for v := range strings.SplitSeq(at.value, ",") {
		v = strings.Trim(v, " \t\r\n")
		if v != "" {
			versions = append(versions, v)
		}
	}
	return versions, true
}

// Executable reports whether actions of this document may be executed: it offers version 1.0 or
// does not list versions.
func (d *Document) Executable() bool {
	versions, present := d.SupportedVersions()
	for _, v := range versions {
		if v == "1.0" {
			return true
		}
	}
	return !present
}

// TTL returns how long the document may be used, and whether the attribute is present. An
// invalid value is 0, since the attribute is an upper bound.
func (d *Document) TTL() (time.Duration, bool) { return Node{d.root(), d}.duration("ttl") }

// Multi reports whether the document is a multi-site document (section 8.1).
func (d *Document) Multi() bool { return d.root().has(kSite) }

// Sites yields the usable sites of a multi-site document. It leaves out malformed sites and
// sites with the same domain (sections 8.2 and 12.7).
func (d *Document) Sites() iter.Seq[Site] {
	return each[Site](Node{d.root(), d}, kSite)
}

// Containers yields what contains sections: the document itself, or its sites.
func (d *Document) Containers() iter.Seq[Site] {
	if d.Multi() {
		return d.Sites()
	}
	return func(yield func(Site) bool) { yield(zero.Or(d).Site) }
}

// Findings returns the findings in document order, up to [Limits.Findings].
func (d *Document) Findings() []lookleap.Finding {
	list := slices.Clone(zero.Or(d).found.list)
	slices.SortStableFunc(list, func(a, b pendingFinding) int { return cmp.Compare(a.offset, b.offset) })
	out := make([]lookleap.Finding, len(list))
	for i, f := range list {
		out[i] = lookleap.Finding{
			Severity: f.severity, Code: f.code, Requirement: f.requirement, Message: f.message, Fix: f.fix,
			Position: d.position(f.at, int(f.offset)),
		}
	}
	return out
}

// Unlisted returns the number of findings above [Limits.Findings].
func (d *Document) Unlisted() int { return zero.Or(d).found.unlisted }

// Exists reports whether the element exists and may be processed.
func (v Node) Exists() bool { return v.n.usable() }

// Position returns the position of the element in the source.
func (v Node) Position() lookleap.Position {
	if !v.n.ok() {
		return lookleap.Position{}
	}
	return v.d.position(v.n, -1)
}

// Element returns the local name of the element.
func (v Node) Element() string {
	if !v.n.ok() {
		return ""
	}
	return v.n.name().Local
}

// Attr returns the text of an attribute that the draft defines, and whether it is present.
func (v Node) Attr(name string) (string, bool) {
	at := v.n.lookup(name)
	return at.value, at.ok()
}

// Foreign returns the text of an attribute that the draft does not define, and whether it is
// present.
func (v Node) Foreign(name Name) (string, bool) {
	at := v.n.foreign(name)
	return at.value, at.ok()
}

// Lang returns the language of the element: its own or that of the nearest ancestor with one
// (section 10.3). It returns "" if none of them has one.
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

// Same reports whether two nodes are the same element.
func (v Node) Same(other Node) bool { return v.n == other.n }

// view is any of the typed views: a Node with methods of its own.
type view interface{ ~struct{ Node } }

// each yields the usable children of a kind.
func each[V view](v Node, k kind) iter.Seq[V] {
	return func(yield func(V) bool) {
		for c := range v.n.children(k) {
			if !yield(V{Node{c, v.d}}) {
				return
			}
		}
	}
}

// child returns the first usable child of a kind.
func child[V view](v Node, k kind) V { return V{Node{v.n.child(k), v.d}} }

func (v Node) text() string { return v.n.content() }

// boolean returns the value of a boolean attribute, with values for absent and invalid ones.
func (v Node) boolean(name string, absent, invalid bool) bool {
	at := v.n.lookup(name)
	switch {
	case !at.ok():
		return absent
	case at.unusable:
		return invalid
	case at.value == "true":
		return true
	case at.value == "false":
		return false
	}
	return invalid
}

// integer returns the value of a non-negative integer attribute.
func (v Node) integer(name string) (n int64, present, ok bool) {
	at := v.n.lookup(name)
	if !at.ok() {
		return 0, false, false
	}
	n, ok = seconds(at.value)
	if at.unusable || !ok {
		return 0, true, false
	}
	return n, true, true
}

// duration returns an attribute in seconds, and whether it is present. An invalid value is 0.
func (v Node) duration(name string) (time.Duration, bool) {
	n, present, _ := v.integer(name)
	return time.Duration(n) * time.Second, present
}

// moment returns a point in time, and false if it is absent, malformed or without a zone.
func (v Node) moment(name string) (time.Time, bool) {
	t, _, ok := parseTime(v.n.value(name))
	return t, ok
}

// Texts yields each decoded text and attribute of the document with its element, including those
// that are unknown or not processed. It leaves out the draft's own words, such as "true" and
// "POST". It is meant for searching the document for a value.
func (d *Document) Texts() iter.Seq2[Node, string] {
	return func(yield func(Node, string) bool) {
		more := true
		d.root().walk(func(n node) bool {
			for text := range n.texts() {
				more = more && (text == "" || yield(Node{n, d}, text))
			}
			return more
		})
	}
}

// texts yields the texts of one element. It also yields the pieces of text between elements
// joined, since an element may divide a word.
func (n node) texts() iter.Seq[string] {
	return func(yield func(string) bool) {
		pieces := 0
		for c := range n.all() {
			if c.data != nil {
				pieces++
				if !yield(c.content()) {
					return
				}
			}
		}
		if pieces > 1 && !yield(n.content()) {
			return
		}
		for at := range n.attrs() {
			if !at.isKeyword() && !yield(at.value) {
				return
			}
		}
		for _, member := range n.t.rare[n.e].keys {
			if !yield(member.key) || !yield(member.value) {
				return
			}
		}
	}
}

// isKeyword reports whether the value is one of the draft's words for the attribute.
func (a attr) isKeyword() bool {
	switch {
	case a.spec == nil:
		return false
	case a.spec.typ == tBool:
		return a.value == "true" || a.value == "false"
	case a.spec.typ == tMethod:
		_, exact := knownMethod(a.value)
		return exact
	}
	return slices.Contains(a.spec.enum, a.value)
}
