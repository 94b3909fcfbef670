package anml

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/beevik/etree"
	"github.com/go-json-experiment/json/jsontext"
)

// MarshalJSON returns the JSON serialization: the version first, arrays for elements that may
// repeat, and "$order" if the order of mixed content is not the default order.
func MarshalJSON(d *Document, o WriteOptions) ([]byte, error) {
	role, err := d.writable(o)
	if err != nil {
		return nil, err
	}
	w := &jsonWriter{o: o, out: make([]byte, 0, len(d.tree.src))}
	w.open('{')
	w.key("anml")
	if at := d.root().lookup("version"); at.ok() {
		w.string(at.value)
	} else {
		w.string("1.0")
	}
	if !d.root().lookup("role").ok() && role != RoleUnspecified {
		w.key("role")
		w.string(role.String())
	}
	w.members(d.root())
	w.close('}')
	w.out = append(w.out, '\n')
	return w.out, w.err
}

type jsonWriter struct {
	o     WriteOptions
	out   []byte
	depth int
	first bool // the innermost array or object is still empty
	err   error

	strict bool // for a StrictSchema
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

// next begins a member or element.
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

func (w *jsonWriter) raw(s string) { w.out = append(w.out, s...) }

// element writes an object, or a string for an element that has only text.
func (w *jsonWriter) element(n node) {
	hasElements := slices.ContainsFunc(n.e.Child, func(t etree.Token) bool { _, is := t.(*etree.Element); return is })
	if schema[n.kind()].compact && countAttrs(n) == 0 && !hasElements && len(n.t.rare[n.e].keys) == 0 {
		w.string(n.content())
		return
	}
	w.open('{')
	w.members(n)
	w.close('}')
}

func (w *jsonWriter) members(n node) {
	for _, a := range w.o.writtenAttrs(n) {
		w.attribute(n, a)
	}
	if text := n.content(); text != "" {
		w.key("content")
		w.string(text)
	}
	w.children(n)
	for _, k := range n.t.rare[n.e].keys {
		w.key(k.key)
		w.raw(k.value)
	}
}

func (w *jsonWriter) attribute(n node, a attr) {
	switch name := a.name.Local; {
	case n.kind() == kAnml && a.spec != nil && name == "version":
		return // written as the key anml
	case a.spec != nil:
		w.key(name)
	case a.name.Space == xmlNamespace:
		w.key("xml:" + name)
	default:
		w.key("@" + a.name.expanded())
	}
	if a.spec != nil && (a.spec.typ == tBool && (a.value == "true" || a.value == "false") || a.spec.json && canonicalNumber(a.value)) {
		w.raw(a.value)
	} else {
		w.string(a.value)
	}
}

// canonicalNumber reports whether reading the text as a JSON number returns the same text.
func canonicalNumber(s string) bool {
	n, err := ParseNumber(s)
	return err == nil && n.Exact && strconv.FormatFloat(n.Float, 'f', -1, 64) == s
}

// foreignRank is the rank of the first foreign element; the ranks of the others follow.
const foreignRank = 100

// written is the children of one key.
type written struct {
	key   string
	rank  int
	array bool
	nodes []node
}

// children writes the elements, key by key in the order of the draft, and $order if they have
// another order.
func (w *jsonWriter) children(n node) {
	var groups []written
	var order []string // of $order: keys, and numbers of code points
	index := make(map[Name]int)
	inOrder, last, foreign := true, -1, 0
	for c := range n.all() {
		if c.data != nil {
			inOrder = inOrder && len(order) == 0
			order = append(order, itoa(utf8.RuneCountInString(c.content())))
			continue
		}
		name := c.name()
		i, seen := index[name]
		if !seen {
			g := written{key: name.expanded(), rank: foreignRank + foreign, array: true}
			if c.kind() != kUnknown {
				var rule childSpec
				rule, g.rank = schema[n.kind()].place(c.kind())
				g.key, g.array = name.Local, rule.many && !rule.bare
			} else {
				foreign++
			}
			i = len(groups)
			index[name] = i
			groups = append(groups, g)
		}
		g := &groups[i]
		g.nodes = append(g.nodes, c)
		quoted, _ := jsontext.AppendQuote(nil, g.key)
		order = append(order, string(quoted))
		inOrder = inOrder && g.rank >= last
		last = g.rank
	}
	slices.SortStableFunc(groups, func(a, b written) int { return a.rank - b.rank })
	for _, g := range groups {
		w.key(g.key)
		if !g.array && len(g.nodes) == 1 {
			w.element(g.nodes[0])
			continue
		}
		w.open('[')
		for _, c := range g.nodes {
			w.next()
			w.element(c)
		}
		w.close(']')
	}
	if !inOrder {
		w.key(orderKey)
		w.open('[')
		for _, item := range order {
			w.next()
			w.raw(item)
		}
		w.close(']')
	}
}
