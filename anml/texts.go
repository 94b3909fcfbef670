package anml

import (
	"iter"
	"slices"

	"github.com/lookleap/lookleap/internal/zero"
)

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
