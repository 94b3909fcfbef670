package anml

import (
	"cmp"
	"fmt"
	"math"
	"slices"
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
