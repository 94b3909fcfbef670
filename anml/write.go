package anml

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/zero"
)

// WriteOptions says how to write a document. The output obeys every requirement of the draft for
// documents. A document with findings of severity error is not written, unless Verbatim is set.
type WriteOptions struct {
	// Role is the role to write if the document has none.
	Role Role
	// Indent is repeated for each level. Elements that may contain text are not indented.
	// If it is "", there is no white space between elements.
	Indent string
	// Canonical orders the attributes as the draft does, and foreign ones by name, so that
	// equal documents become equal bytes.
	Canonical bool
	// Verbatim writes everything that was read, including faults. It is for converting between
	// the serializations without changing the meaning of any rule.
	Verbatim bool
}

// InvalidError has the findings of severity error because of which a document is not built or
// written. errors.As finds it in the error of Build and Marshal.
type InvalidError struct {
	Findings []lookleap.Finding
}

// invalid returns the error for a document with findings of severity error: the first finding, and
// an [*InvalidError] with all of them.
func invalid(broken []lookleap.Finding) error {
	detail := &InvalidError{broken}
	if len(broken) == 0 {
		return &lookleap.Error{Code: CodeMalformed, Message: "the document is not valid", Err: detail}
	}
	e := broken[0].AsError("")
	e.Err = detail
	return e
}

// Error returns the message of the only finding, or the number of findings.
func (e *InvalidError) Error() string {
	if f := zero.Or(e).Findings; len(f) == 1 {
		return f[0].Message
	}
	return "the document has " + itoa(len(zero.Or(e).Findings)) + " errors"
}

// ReasonCode returns the reason code of the first finding.
func (e *InvalidError) ReasonCode() lookleap.Code {
	e = zero.Or(e)
	if len(e.Findings) == 0 {
		return CodeMalformed
	}
	return e.Findings[0].Code
}

// Unwrap returns [ErrRoleContent] if that is among the reasons.
func (e *InvalidError) Unwrap() error {
	for _, f := range zero.Or(e).Findings {
		if f.Code == CodeRoleContent {
			return ErrRoleContent
		}
	}
	return nil
}

// Marshal returns a document in either serialization.
func Marshal(d *Document, f Format, o WriteOptions) ([]byte, error) {
	if f == JSON {
		return MarshalJSON(d, o)
	}
	return MarshalXML(d, o)
}

// writable returns the role to write, or an error for a document that must not be written.
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
	if len(broken) > 0 || d.found.unlisted > 0 {
		return 0, invalid(broken)
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

// JSONOnly returns the paths of the keys of a JSON document that cannot be converted to XML. ANML
// does not define them, and MarshalXML omits them.
func (d *Document) JSONOnly() (keys []string) {
	d.root().walk(func(n node) bool {
		if r := n.rare(); r != nil {
			for _, k := range r.keys {
				keys = append(keys, d.positionIndex().path(n)+"/"+k.key)
			}
		}
		return true
	})
	return keys
}

// Equal reports whether two documents have the same elements in the same order with the same
// texts and attributes. It ignores the serialization, and an absent version equals "1.0".
func Equal(a, b *Document) bool {
	if x, y := a.root(), b.root(); x.ok() && y.ok() {
		return equalNodes(x, y)
	}
	return a.root().ok() == b.root().ok()
}

func equalNodes(a, b node) bool {
	if a.kind() != b.kind() || a.text() != b.text() || !equalRare(a, b) || !equalAttrs(a, b) || !equalAttrs(b, a) {
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

// equalRare compares names and unknown JSON keys.
func equalRare(a, b node) bool {
	var x, y []rawMember
	if r := a.rare(); r != nil {
		x = r.keys
	}
	if r := b.rare(); r != nil {
		y = r.keys
	}
	return a.name() == b.name() && slices.Equal(x, y)
}

// equalAttrs reports whether b has all attributes of a.
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

// sortedAttrs returns the attributes in the order of the draft, then foreign ones by name.
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

// rank returns the place of an attribute in the order of the draft.
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

// MarshalXML returns the XML serialization, in UTF-8 with an XML declaration and with the ANML
// namespace as the default namespace.
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

// rest writes attributes, content and end tag after the name in the start tag.
func (w *xmlWriter) rest(n node, name, space string, depth int) {
	w.attributes(n)
	lost := n.kind() == kConstraints && n.rare() != nil // JSON keys that may restrict
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
			w.attribute(words().specs[c.spec].name, value)
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

// appendText appends escaped character data. A carriage return becomes a reference, since parsers
// read a literal one as a line feed.
func appendText(dst []byte, s string) []byte { return escape(dst, s, inText) }

// appendValue appends an escaped attribute value for double quotes.
func appendValue(dst []byte, s string) []byte { return escape(dst, s, inValue) }

const (
	inText  = 1 << iota // escaped in text
	inValue             // escaped in an attribute value
)

// escaped says where each byte is escaped.
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
