package anml

import (
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MarshalJSON returns the JSON serialization: the version first, arrays for elements that may
// repeat, and "$order" if the order of mixed content is not the default order.
func MarshalJSON(d *Document, o WriteOptions) ([]byte, error) {
	role, err := d.writable(o)
	if err != nil {
		return nil, err
	}
	w := &jsonWriter{o: o, out: make([]byte, 0, max(1024, len(d.tree.src)))}
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

// plainKey is key for a name of the draft, which needs no escapes. It is faster.
func (w *jsonWriter) plainKey(name string) {
	if w.o.Indent != "" {
		w.key(name)
		return
	}
	out := w.out
	if !w.first {
		out = append(out, ',')
	}
	w.first = false
	out = append(out, '"')
	w.out = append(append(out, name...), '"', ':')
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
	if plainJSON(s) {
		out := append(w.out, '"')
		w.out = append(append(out, s...), '"')
		return
	}
	out, err := jsontext.AppendQuote(w.out, s)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.out = out
}

// plainJSON reports whether a text is ASCII that needs no escapes in JSON, eight bytes at a time.
func plainJSON(s string) bool {
	const (
		ones = 0x0101010101010101
		high = 0x8080808080808080
	)
	for ; len(s) >= 8; s = s[8:] { // a borrow between bytes comes only from a byte that needs an escape
		w := littleEndian(s)
		quote, backslash := w^ones*'"', w^ones*'\\'
		if (w|(w-ones*' ')|(quote-ones)&^quote|(backslash-ones)&^backslash)&high != 0 {
			return false
		}
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// element writes an object, or a string for an element that has only text.
func (w *jsonWriter) element(n node) {
	if r := n.row(); schema[r.kind].compact && r.count == 0 && r.first == 0 && r.rare == 0 {
		w.string(n.text())
		return
	}
	w.open('{')
	w.members(n)
	w.close('}')
}

func (w *jsonWriter) members(n node) {
	if w.o.Canonical {
		for _, at := range n.sortedAttrs() {
			w.attribute(n, at)
		}
	} else {
		for _, c := range n.cells() {
			if c.spec >= 0 && words().quoted[c.spec] {
				w.plainKey(words().specs[c.spec].name)
				w.string(n.t.string(c.value))
			} else {
				w.attribute(n, n.t.attr(c))
			}
		}
	}
	if text := n.content(); text != "" {
		w.plainKey("content")
		w.string(text)
	}
	if n.first().ok() {
		w.children(n)
	}
	if r := n.rare(); r != nil {
		for _, k := range r.keys {
			w.key(k.key)
			w.out = append(w.out, k.value...)
		}
	}
}

func (w *jsonWriter) attribute(n node, at attr) {
	if !at.known() {
		name := at.name()
		if name.Space == xmlNamespace {
			w.key("xml:" + name.Local)
		} else {
			w.key("@" + name.expanded())
		}
		w.string(at.value)
		return
	}
	if n.kind() == kAnml && at.spec.name == "version" {
		return // written as the key anml
	}
	w.plainKey(at.spec.name)
	switch {
	case at.spec.typ == tBool && (at.value == "true" || at.value == "false"),
		at.spec.json && canonicalNumber(at.value):
		w.out = append(w.out, at.value...)
	default:
		w.string(at.value)
	}
}

// canonicalNumber reports whether reading the text as a JSON number returns the same text.
func canonicalNumber(s string) bool {
	n, err := ParseNumber(s)
	return err == nil && n.Exact && strconv.FormatFloat(n.Float, 'f', -1, 64) == s
}

// foreignRank is the rank of the first foreign element; the ranks of the others follow.
const foreignRank = 100

// children writes the elements, key by key in the order of the draft, and $order if they have
// another order.
func (w *jsonWriter) children(n node) {
	inside := &schema[n.kind()]
	inOrder, last := true, -1
	var count [kindCount]int
	var foreign [][]node // by name, in the order of first appearance
	var places map[Name]int
	for c := n.first(); c.ok(); c = c.next() {
		k, rank := c.kind(), 0
		count[k]++
		switch k {
		case kText:
			inOrder = inOrder && c == n.first()
			continue
		case kUnknown:
			i, seen := places[c.name()]
			if !seen {
				if places == nil {
					places = make(map[Name]int)
				}
				i = len(foreign)
				places[c.name()] = i
				foreign = append(foreign, nil)
			}
			foreign[i] = append(foreign[i], c)
			rank = foreignRank + i
		default:
			_, rank = inside.place(k)
		}
		inOrder = inOrder && rank >= last
		last = rank
	}
	for _, c := range inside.children {
		if many := count[c.kind]; many > 0 {
			w.plainKey(schema[c.kind].name)
			w.group(n, c.kind, c.many && !(c.bare && many == 1) || many > 1)
		}
	}
	for _, group := range foreign {
		w.key(group[0].name().expanded())
		w.open('[')
		for _, c := range group {
			w.next()
			w.element(c)
		}
		w.close(']')
	}
	if !inOrder {
		w.order(n)
	}
}

// group writes the children of a kind.
func (w *jsonWriter) group(n node, k kind, array bool) {
	if array {
		w.open('[')
	}
	for c := n.first(); c.ok(); c = c.next() {
		if c.kind() != k {
			continue
		}
		if array {
			w.next()
		}
		w.element(c)
	}
	if array {
		w.close(']')
	}
}

func (w *jsonWriter) order(n node) {
	w.key(orderKey)
	w.open('[')
	for c := n.first(); c.ok(); c = c.next() {
		w.next()
		switch c.kind() {
		case kText:
			w.out = strconv.AppendInt(w.out, int64(utf8.RuneCountInString(c.text())), 10)
		case kUnknown:
			w.string(c.name().expanded())
		default:
			w.string(schema[c.kind()].name)
		}
	}
	w.close(']')
}
