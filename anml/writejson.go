package anml

import (
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MarshalJSON writes the JSON serialization: the version first, arrays for what
// may repeat, and the order of mixed content where it is not the default one.
func MarshalJSON(d *Document, o WriteOptions) ([]byte, error) {
	role, err := d.writable(o)
	if err != nil {
		return nil, err
	}
	w := &jsonWriter{o: o, out: make([]byte, 0, max(1024, len(d.src)))}
	w.open('{')
	w.key("anml")
	if at := d.root.lookup("version"); at != nil {
		w.string(at.value)
	} else {
		w.string("1.0")
	}
	if d.root.lookup("role") == nil && role != RoleUnspecified {
		w.key("role")
		w.string(role.String())
	}
	w.members(d.root)
	w.close('}')
	w.out = append(w.out, '\n')
	return w.out, w.err
}

type jsonWriter struct {
	o     WriteOptions
	out   []byte
	depth int
	first bool // nothing stands in the innermost array or object yet
	err   error

	strict bool // a schema in the strict dialect
}

func (w *jsonWriter) open(c byte) {
	w.out = append(w.out, c)
	w.depth++
	w.first = true
}

func (w *jsonWriter) close(c byte) {
	w.depth--
	if !w.first {
		w.line()
	}
	w.out = append(w.out, c)
	w.first = false
}

// next separates members and elements.
func (w *jsonWriter) next() {
	if !w.first {
		w.out = append(w.out, ',')
	}
	w.first = false
	w.line()
}

func (w *jsonWriter) line() {
	if w.o.Indent == "" {
		return
	}
	w.out = append(w.out, '\n')
	for range w.depth {
		w.out = append(w.out, w.o.Indent...)
	}
}

func (w *jsonWriter) key(name string) {
	w.next()
	w.string(name)
	w.out = append(w.out, ':')
	if w.o.Indent != "" {
		w.out = append(w.out, ' ')
	}
}

func (w *jsonWriter) string(s string) {
	out, err := jsontext.AppendQuote(w.out, s)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.out = out
}

// element writes an object, or the bare string of an element of text alone.
func (w *jsonWriter) element(n *node) {
	if schema[n.kind].compact && len(n.attrs) == 0 && n.first == nil && n.more == nil {
		w.string(n.text)
		return
	}
	w.open('{')
	w.members(n)
	w.close('}')
}

func (w *jsonWriter) members(n *node) {
	attrs := n.attrs
	if w.o.Canonical {
		attrs = sortedAttrs(n)
	}
	for i := range attrs {
		w.attribute(n, &attrs[i])
	}
	if text := n.content(); text != "" {
		w.key("content")
		w.string(text)
	}
	if n.first != nil {
		w.children(n)
	}
	if n.more != nil {
		for _, k := range n.more.keys {
			w.key(k.key)
			w.out = append(w.out, k.value...)
		}
	}
}

func (w *jsonWriter) attribute(n *node, at *attr) {
	if !at.known() {
		switch at.spec.space {
		case xmlNamespace:
			w.key("xml:" + at.spec.name)
		default:
			w.key("@" + at.name().expanded())
		}
		w.string(at.value)
		return
	}
	if n.kind == kAnml && at.spec.name == "version" {
		return // the key anml
	}
	w.key(at.spec.name)
	switch {
	case at.spec.typ == tBool && (at.value == "true" || at.value == "false"),
		at.spec.json && canonicalNumber(at.value):
		w.out = append(w.out, at.value...)
	default:
		w.string(at.value)
	}
}

// canonicalNumber reports whether a text is what a JSON number reads back as.
func canonicalNumber(s string) bool {
	n, err := ParseNumber(s)
	return err == nil && n.Exact && strconv.FormatFloat(n.Float, 'f', -1, 64) == s
}

// foreignRank is the rank of the first foreign element; the others follow.
const foreignRank = 100

// children writes the elements, key by key in the order of the draft, and
// $order when that is not the order that they have.
func (w *jsonWriter) children(n *node) {
	s := &schema[n.kind]
	inOrder := true
	last := -1
	var foreign [][]*node
	place := map[Name]int(nil)
	for c := n.first; c != nil; c = c.next {
		rank := -1
		switch c.kind {
		case kText:
			inOrder = inOrder && c == n.first
			continue
		case kUnknown:
			i, seen := place[c.more.name]
			if !seen {
				if place == nil {
					place = make(map[Name]int)
				}
				i = len(foreign)
				place[c.more.name] = i
				foreign = append(foreign, nil)
			}
			foreign[i] = append(foreign[i], c)
			rank = foreignRank + i
		default:
			for i := range s.children {
				if s.children[i].kind == c.kind {
					rank = i
				}
			}
		}
		inOrder = inOrder && rank >= last
		last = rank
	}
	var group []*node
	for i := range s.children {
		spec := &s.children[i]
		group = group[:0]
		for c := n.first; c != nil; c = c.next {
			if c.kind == spec.kind {
				group = append(group, c)
			}
		}
		if len(group) > 0 {
			w.key(schema[spec.kind].name)
			w.group(group, spec.many && !(spec.bare && len(group) == 1) || len(group) > 1)
		}
	}
	for _, group := range foreign {
		w.key(foreignKey(group[0]))
		w.group(group, true)
	}
	if !inOrder {
		w.order(n)
	}
}

func foreignKey(n *node) string {
	return n.more.name.expanded()
}

func (w *jsonWriter) group(nodes []*node, array bool) {
	if !array {
		w.element(nodes[0])
		return
	}
	w.open('[')
	for _, n := range nodes {
		w.next()
		w.element(n)
	}
	w.close(']')
}

func (w *jsonWriter) order(n *node) {
	w.key(orderKey)
	w.open('[')
	for c := n.first; c != nil; c = c.next {
		w.next()
		switch c.kind {
		case kText:
			w.out = strconv.AppendInt(w.out, int64(utf8.RuneCountInString(c.text)), 10)
		case kUnknown:
			w.string(foreignKey(c))
		default:
			w.string(schema[c.kind].name)
		}
	}
	w.close(']')
}
