package anml

import "strconv"

// MarshalXML writes the XML serialization, in UTF-8 with an XML declaration and
// the ANML namespace as the default one.
func MarshalXML(d *Document, o WriteOptions) ([]byte, error) {
	role, err := d.writable(o)
	if err != nil {
		return nil, err
	}
	w := &xmlWriter{o: o, out: make([]byte, 0, max(1024, len(d.tree.src)))}
	w.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<anml")
	w.attribute("xmlns", Namespace)
	if !d.root().lookup("role").ok() && role != RoleUnspecified {
		w.attribute("role", role.String())
	}
	w.rest(d.root(), "anml", Namespace, 0)
	w.raw("\n")
	return w.out, nil
}

type xmlWriter struct {
	o   WriteOptions
	out []byte
}

func (w *xmlWriter) raw(s string) { w.out = append(w.out, s...) }

// element writes a node inside an element whose default namespace is space.
func (w *xmlWriter) element(n node, space string, depth int) {
	full := n.name()
	name, own := full.Local, full.Space
	if own == xmlNamespace {
		name, own = "xml:"+name, space
	}
	w.out = append(append(w.out, '<'), name...)
	if own != space {
		w.attribute("xmlns", own)
	}
	w.rest(n, name, own, depth)
}

// rest writes attributes, content and end tag.
func (w *xmlWriter) rest(n node, name, space string, depth int) {
	w.attributes(n)
	lost := n.kind() == kConstraints && n.more() != nil // keys that may restrict and have no XML image
	if !n.first().ok() && n.row().text.empty() && !lost {
		w.raw("/>")
		return
	}
	w.raw(">")
	if lost {
		w.raw("<" + unreadable + "/>")
	}
	w.out = appendText(w.out, n.text())
	spread := w.o.Indent != "" && schema[n.kind()].content == elements
	for c := n.first(); c.ok(); c = c.next() {
		if spread {
			w.line(depth + 1)
		}
		if c.kind() == kText {
			w.out = appendText(w.out, c.text())
		} else {
			w.element(c, space, depth+1)
		}
	}
	if spread {
		w.line(depth)
	}
	w.out = append(append(append(w.out, '<', '/'), name...), '>')
}

func (w *xmlWriter) attributes(n node) {
	prefixes := 0
	write := func(name Name, value string) {
		switch name.Space {
		case "":
			w.attribute(name.Local, value)
		case xmlNamespace:
			w.attribute("xml:"+name.Local, value)
		default:
			prefix := "n" + itoa(prefixes)
			prefixes++
			w.attribute("xmlns:"+prefix, name.Space)
			w.attribute(prefix+":"+name.Local, value)
		}
	}
	if w.o.Canonical {
		for _, at := range n.sortedAttrs() {
			write(at.name(), at.value)
		}
		return
	}
	for _, c := range n.cells() {
		if value := n.t.string(c.value); c.spec >= 0 {
			w.attribute(specs[c.spec].name, value)
		} else {
			write(n.t.names[^c.spec], value)
		}
	}
}

func (w *xmlWriter) line(depth int) {
	w.raw("\n")
	for range depth {
		w.raw(w.o.Indent)
	}
}

func (w *xmlWriter) attribute(name, value string) {
	out := append(w.out, ' ')
	out = append(append(out, name...), '=', '"')
	w.out = append(appendValue(out, value), '"')
}

// appendText escapes character data. A carriage return is written as a
// reference, because a literal one would become a line feed.
func appendText(dst []byte, s string) []byte { return escape(dst, s, inText) }

// appendValue escapes an attribute value in double quotes.
func appendValue(dst []byte, s string) []byte { return escape(dst, s, inValue) }

const (
	inText  = 1 << iota // escaped in text
	inValue             // escaped in a value
)

// escaped says which characters are, and where.
var escaped = [256]uint8{'&': inText | inValue, '<': inText | inValue, '>': inText | inValue, '\r': inText | inValue,
	'"': inValue, '\t': inValue, '\n': inValue}

func escape(dst []byte, s string, where uint8) []byte {
	done := 0
	for i := range len(s) {
		if escaped[s[i]]&where == 0 {
			continue
		}
		dst = append(dst, s[done:i]...)
		done = i + 1
		switch s[i] {
		case '&':
			dst = append(dst, "&amp;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		case '"':
			dst = append(dst, "&quot;"...)
		default:
			dst = append(strconv.AppendInt(append(dst, "&#"...), int64(s[i]), 10), ';')
		}
	}
	return append(dst, s[done:]...)
}
