package anml

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/zero"
)

// ErrRoleUnset is why a document without a role is not written (section 8.1).
var ErrRoleUnset = coded.New("usage", "anml: the document names no role and none is given")

// ErrRoleContent is why an agent response with sections of a service document
// is not written (section 11.1).
var ErrRoleContent = coded.New("role-conflict", "anml: the document holds sections that its role forbids")

// WriteOptions says how to write a document. What is written obeys every duty
// of documents: double quotes, no CDATA sections, no instructions, strict
// shapes, a role. A document that has error findings is not written, unless
// Verbatim.
type WriteOptions struct {
	// Role is written where the document names none.
	Role Role
	// Indent is repeated for each level. It never stands inside an element that
	// may hold text. Empty: no white space between elements.
	Indent string
	// Canonical orders attributes as the draft lists them and foreign ones by
	// name, so that equal documents become equal octets.
	Canonical bool
	// Verbatim writes what was read, faults included: for converting between the
	// serializations without changing what any rule says.
	Verbatim bool
}

// InvalidError says why a document is not written: its findings of severity
// error.
type InvalidError struct {
	Findings []lookleap.Finding
}

func (e *InvalidError) Error() string {
	e = zero.Or(e)
	if len(e.Findings) == 0 {
		return "anml: the document is not valid"
	}
	first := e.Findings[0].String()
	if more := len(e.Findings) - 1; more > 0 {
		return fmt.Sprintf("anml: the document is not valid: %s (and %d more)", first, more)
	}
	return "anml: the document is not valid: " + first
}

// ReasonCode returns the reason code of the first finding.
func (e *InvalidError) ReasonCode() lookleap.Code {
	e = zero.Or(e)
	if len(e.Findings) == 0 {
		return CodeMalformed
	}
	return e.Findings[0].Code
}

// Unwrap gives ErrRoleContent where that is among the reasons.
func (e *InvalidError) Unwrap() error {
	for _, f := range zero.Or(e).Findings {
		if f.Code == CodeRoleContent {
			return ErrRoleContent
		}
	}
	return nil
}

// Marshal writes a document in either serialization.
func Marshal(d *Document, f Format, o WriteOptions) ([]byte, error) {
	if f == JSON {
		return MarshalJSON(d, o)
	}
	return MarshalXML(d, o)
}

// errNoDocument is why a nil or zero Document is not written.
var errNoDocument = coded.New("usage", "anml: the document is empty: read one with Parse, or build one")

// writable refuses a document that must not be written as it is.
func (d *Document) writable(o WriteOptions) (Role, error) {
	if !d.root().ok() {
		return RoleUnspecified, errNoDocument
	}
	role := parse[Role](roleWords[:], d.root().value("role"))
	if !d.root().lookup("role").ok() {
		role = o.Role
	}
	if o.Verbatim {
		return role, nil
	}
	if role == RoleUnspecified {
		return 0, ErrRoleUnset
	}
	var broken []lookleap.Finding
	for _, f := range d.Findings() {
		if f.Severity == lookleap.SeverityError {
			broken = append(broken, f)
		}
	}
	if len(broken) > 0 || d.found.lost > 0 {
		return 0, &InvalidError{broken}
	}
	if role == RoleAgentResponse && d.Role() != RoleAgentResponse {
		for c := d.root().first(); c.ok(); c = c.next() {
			switch c.kind() {
			case kInteract, kPersona, kAesthetic, kConstraints, kState, kSite:
				return 0, ErrRoleContent
			}
		}
	}
	return role, nil
}

// JSONOnly lists the keys of a JSON document that have no XML image, as paths.
// MarshalXML leaves them out; they mean nothing to ANML.
func (d *Document) JSONOnly() (keys []string) {
	if !d.root().ok() {
		return nil
	}
	d.root().walk(func(n node) bool {
		if m := n.more(); m != nil {
			for _, k := range m.keys {
				keys = append(keys, d.locate().path(n)+"/"+k.key)
			}
		}
		return true
	})
	return keys
}

// Equal reports whether two documents are the same document: the same elements
// in the same order with the same texts and attributes, whatever serialization
// they were read from. An absent version is the default one.
func Equal(a, b *Document) bool {
	if x, y := a.root(), b.root(); x.ok() && y.ok() {
		return equalNodes(x, y)
	}
	return a.root().ok() == b.root().ok()
}

func equalNodes(a, b node) bool {
	if a.kind() != b.kind() || a.text() != b.text() || !equalMore(a, b) || !equalAttrs(a, b) || !equalAttrs(b, a) {
		return false
	}
	x, y := a.first(), b.first()
	for ; x.ok() && y.ok(); x, y = x.next(), y.next() {
		if !equalNodes(x, y) {
			return false
		}
	}
	return !x.ok() && !y.ok()
}

func equalMore(a, b node) bool {
	var x, y []rawMember
	if m := a.more(); m != nil {
		x = m.keys
	}
	if m := b.more(); m != nil {
		y = m.keys
	}
	return a.name() == b.name() && slices.Equal(x, y)
}

// equalAttrs reports whether b has the attributes of a.
func equalAttrs(a, b node) bool {
	for _, at := range a.attrs() {
		other := b.foreign(at.name())
		if at.known() {
			other = b.lookup(at.spec.name)
		}
		if !other.ok() {
			if a.kind() == kAnml && at.known() && at.spec.name == "version" && at.value == "1.0" {
				continue
			}
			return false
		}
		if other.value != at.value {
			return false
		}
	}
	return true
}

// sortedAttrs gives the attributes in the order of the draft, foreign ones behind
// them by name.
func (n node) sortedAttrs() []attr {
	attrs := n.attrs()
	slices.SortStableFunc(attrs, func(a, b attr) int {
		if byRank := cmp.Compare(n.rank(a), n.rank(b)); byRank != 0 || a.known() {
			return byRank
		}
		return strings.Compare(a.name().String(), b.name().String())
	})
	return attrs
}

// rank is the place of an attribute in the order of the draft.
func (n node) rank(a attr) int {
	if !a.known() {
		return math.MaxInt
	}
	for i, spec := range schema[n.kind()].attrs {
		if spec.name == a.spec.name {
			return i
		}
	}
	return math.MaxInt - 1 // lang
}

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
