package anml

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/beevik/etree"
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
		if f.Code == codeRoleContent {
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
		for c := range d.root().all() {
			switch c.kind() {
			case kInteract, kPersona, kAesthetic, kConstraints, kState, kSite:
				return 0, ErrRoleContent
			}
		}
	}
	return role, nil
}

// Equal reports whether two documents have the same elements in the same order with the same
// texts and attributes. It ignores the serialization, and an absent version equals "1.0".
func Equal(a, b *Document) bool {
	if x, y := a.root(), b.root(); x.ok() && y.ok() {
		return x.equal(y)
	}
	return a.root().ok() == b.root().ok()
}

// writtenAttrs returns the attributes as they are written. The canonical order is that of the
// draft, then foreign ones by name.
func (o WriteOptions) writtenAttrs(n node) []attr {
	attrs := slices.Collect(n.attrs())
	if o.Canonical {
		slices.SortStableFunc(attrs, func(a, b attr) int {
			return cmp.Or(cmp.Compare(n.rank(a), n.rank(b)), strings.Compare(a.name.String(), b.name.String()))
		})
	}
	return attrs
}

// rank returns the place of an attribute in the order of the draft.
func (n node) rank(a attr) int {
	if a.spec == nil {
		return math.MaxInt
	}
	if i := slices.IndexFunc(schema[n.kind()].attrs, func(s attrSpec) bool { return s.name == a.name.Local }); i >= 0 {
		return i
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
	e := o.element(d.root(), 0)
	if !d.root().lookup("role").ok() && role != RoleUnspecified {
		setAttr(e, Name{"", "role"}, role.String())
	}
	return writeXML(e)
}

// element returns a copy of an element for writing.
func (o WriteOptions) element(n node, depth int) *etree.Element {
	e := &etree.Element{Space: n.e.Space, Tag: n.e.Tag}
	if space, ok := declaredSpace(n.e); ok {
		setAttr(e, Name{"", "xmlns"}, space)
	}
	for _, a := range o.writtenAttrs(n) {
		setAttr(e, a.name, a.value)
	}
	if n.kind() == kConstraints && len(n.t.rare[n.e].keys) > 0 {
		e.CreateElement(unreadable) // keys that may restrict
	}
	spread := o.Indent != "" && schema[n.kind()].content == elements && len(n.e.Child)+len(e.Child) > 0
	for c := range n.all() {
		if spread {
			e.CreateText("\n" + strings.Repeat(o.Indent, depth+1))
		}
		if c.data != nil {
			e.CreateText(c.data.Data)
		} else {
			e.AddChild(o.element(c, depth+1))
		}
	}
	if spread {
		e.CreateText("\n" + strings.Repeat(o.Indent, depth))
	}
	return e
}

// writeXML returns a document with a root element.
func writeXML(root *etree.Element) ([]byte, error) {
	doc := etree.NewDocument()
	doc.WriteSettings = etree.WriteSettings{CanonicalText: true, CanonicalAttrVal: true}
	doc.CreateProcInst("xml", `version="1.0" encoding="UTF-8"`)
	doc.CreateText("\n")
	doc.AddChild(root)
	doc.CreateText("\n")
	return doc.WriteToBytes()
}
