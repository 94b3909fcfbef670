package anml

import (
	"strings"
)

// MarshalXML writes the XML serialization, in UTF-8 with an XML declaration and
// the ANML namespace as the default one.
func MarshalXML(d *Document, o WriteOptions) ([]byte, error) {
	role, err := d.writable(o)
	if err != nil {
		return nil, err
	}
	w := &xmlWriter{o: o, out: make([]byte, 0, max(1024, len(d.src)))}
	w.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<anml")
	w.attribute("xmlns", Namespace)
	if d.root.lookup("role") == nil && role != RoleUnspecified {
		w.attribute("role", role.String())
	}
	w.rest(d.root, "anml", Namespace, 0)
	w.raw("\n")
	return w.out, nil
}

type xmlWriter struct {
	o   WriteOptions
	out []byte
}

func (w *xmlWriter) raw(s string) { w.out = append(w.out, s...) }

// element writes a node inside an element whose default namespace is space.
func (w *xmlWriter) element(n *node, space string, depth int) {
	name := schema[n.kind].name
	own := Namespace
	if n.kind == kUnknown {
		name, own = n.more.name.Local, n.more.name.Space
	}
	if own == xmlNamespace {
		name, own = "xml:"+name, space
	}
	w.raw("<")
	w.raw(name)
	if own != space {
		w.attribute("xmlns", own)
	}
	w.rest(n, name, own, depth)
}

// rest writes attributes, content and end tag.
func (w *xmlWriter) rest(n *node, name, space string, depth int) {
	attrs := n.attrs
	if w.o.Canonical {
		attrs = sortedAttrs(n)
	}
	prefixes := 0
	for i := range attrs {
		at := &attrs[i]
		switch {
		case at.known():
			w.attribute(at.spec.name, at.value)
		case at.spec.space == "":
			w.attribute(at.spec.name, at.value)
		case at.spec.space == xmlNamespace:
			w.attribute("xml:"+at.spec.name, at.value)
		default:
			prefix := "n" + itoa(prefixes)
			prefixes++
			w.attribute("xmlns:"+prefix, at.spec.space)
			w.attribute(prefix+":"+at.spec.name, at.value)
		}
	}
	lost := n.kind == kConstraints && n.more != nil // keys that may restrict and have no XML image
	if n.first == nil && n.text == "" && !lost {
		w.raw("/>")
		return
	}
	w.raw(">")
	if lost {
		w.raw("<" + unreadable + "/>")
	}
	w.out = appendText(w.out, n.text)
	spread := w.o.Indent != "" && schema[n.kind].content == elements
	for c := n.first; c != nil; c = c.next {
		if spread {
			w.line(depth + 1)
		}
		if c.kind == kText {
			w.out = appendText(w.out, c.text)
		} else {
			w.element(c, space, depth+1)
		}
	}
	if spread {
		w.line(depth)
	}
	w.raw("</")
	w.raw(name)
	w.raw(">")
}

func (w *xmlWriter) line(depth int) {
	w.raw("\n")
	for range depth {
		w.raw(w.o.Indent)
	}
}

func (w *xmlWriter) attribute(name, value string) {
	w.raw(" ")
	w.raw(name)
	w.raw(`="`)
	w.out = appendValue(w.out, value)
	w.raw(`"`)
}

// appendText escapes character data. A carriage return is written as a
// reference, because a literal one would become a line feed.
func appendText(dst []byte, s string) []byte { return escape(dst, s, "&<>\r") }

// appendValue escapes an attribute value in double quotes.
func appendValue(dst []byte, s string) []byte { return escape(dst, s, "&<>\"\t\n\r") }

func escape(dst []byte, s, special string) []byte {
	for {
		i := strings.IndexAny(s, special)
		if i < 0 {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		switch s[i] {
		case '&':
			dst = append(dst, "&amp;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		case '"':
			dst = append(dst, "&quot;"...)
		case '\t':
			dst = append(dst, "&#9;"...)
		case '\n':
			dst = append(dst, "&#10;"...)
		case '\r':
			dst = append(dst, "&#13;"...)
		}
		s = s[i+1:]
	}
}
