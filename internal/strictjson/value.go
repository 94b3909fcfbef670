package strictjson

import (
	"errors"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the kind of a JSON value. The zero value, None, is the kind of the zero [Value].
type Kind uint8

// The kinds of RFC 8259, section 3.
const (
	None Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

var kindNames = [...]string{"no value", "null", "a boolean", "a number", "a string", "an array", "an object"}

// String returns the kind with its article, for messages.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[None]
}

// Value is one value of a parsed text. It is a small handle to pass by value, and safe for
// concurrent use. The methods of the zero Value return errors or empty results.
type Value struct {
	doc   *document
	index uint32 // in doc.nodes
}

// document is shared by all values of a text.
type document struct {
	text  string
	nodes []node
}

// unquote returns the decoded text of a string that was parsed before. Without escapes, it is a
// substring of the source.
func unquote(source string) string {
	if strings.IndexByte(source, '\\') < 0 {
		return source[1 : len(source)-1]
	}
	plain, _ := jsontext.AppendUnquote(nil, source) // parsed before: cannot fail
	return string(plain)
}

// name returns the name of a member.
func (d *document) name(index uint32) string {
	return unquote(d.text[d.nodes[index].name:d.nodes[index].nameEnd])
}

func (v Value) node() node { return v.doc.nodes[v.index] }

// Kind returns the kind of the value.
func (v Value) Kind() Kind {
	if v.doc == nil {
		return None
	}
	switch v.doc.text[v.node().start] {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	}
	return Number
}

// Expect returns an error with [CodeType] if the value has another kind.
func (v Value) Expect(k Kind) error {
	if is := v.Kind(); is != k {
		return v.Refuse(CodeType, k.String()+" is expected, found "+is.String(), "")
	}
	return nil
}

// Text returns the decoded text of a string, and an error with [CodeType] for any other kind.
func (v Value) Text() (string, error) {
	if err := v.Expect(String); err != nil {
		return "", err
	}
	return unquote(v.Source()), nil
}

// Bool returns a boolean, and an error with [CodeType] for any other kind.
func (v Value) Bool() (bool, error) {
	if err := v.Expect(Bool); err != nil {
		return false, err
	}
	return v.doc.text[v.node().start] == 't', nil
}

// Elements yields the elements of an array in order. It yields nothing for any other kind; use
// [Value.Expect] first.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.Kind() != Array {
			return
		}
		for at, end := v.index+1, v.node().next; at < end; at = v.doc.nodes[at].next {
			if !yield(Value{v.doc, at}) {
				return
			}
		}
	}
}

// Members yields the members of an object in order. It yields nothing for any other kind; use
// [Value.Expect] first.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.Kind() != Object {
			return
		}
		for at, end := v.index+1, v.node().next; at < end; at = v.doc.nodes[at].next {
			if !yield(v.doc.name(at), Value{v.doc, at}) {
				return
			}
		}
	}
}

// Len returns the number of elements or members. It takes time linear in that number.
func (v Value) Len() int {
	if k := v.Kind(); k != Array && k != Object {
		return 0
	}
	count := 0
	for at, end := v.index+1, v.node().next; at < end; at = v.doc.nodes[at].next {
		count++
	}
	return count
}

// Member returns the member with exactly that name, and false if there is none. It takes time
// linear in the number of members; to read all of them, range over [Value.Members].
func (v Value) Member(name string) (Value, bool) {
	for n, member := range v.Members() {
		if n == name {
			return member, true
		}
	}
	return Value{}, false
}

// Need returns a required member. It returns an error with [CodeType] for other kinds, and with
// [CodeMissing] for an object without the member.
func (v Value) Need(name string) (Value, error) {
	if err := v.Expect(Object); err != nil {
		return Value{}, err
	}
	member, ok := v.Member(name)
	if !ok {
		return Value{}, v.Refuse(CodeMissing, "the object has no member "+quote(name), "add the member")
	}
	return member, nil
}

// Source returns the value as it is written, "" for the zero Value.
func (v Value) Source() string {
	if v.doc == nil {
		return ""
	}
	n := v.node()
	return v.doc.text[n.start:n.end]
}

// Offset returns the number of bytes of the text before the value.
func (v Value) Offset() int {
	if v.doc == nil {
		return 0
	}
	return int(v.node().start)
}

// Place returns line, column and JSON pointer. It takes time in proportion to the text before
// this value, so limit the number of positions that you report for one text.
func (v Value) Place() Place {
	if v.doc == nil {
		return Place{}
	}
	var pointer jsontext.Pointer
	for at := uint32(0); at != v.index && len(pointer) <= maxPointer; {
		child, index := at+1, 0
		for v.doc.nodes[child].next <= v.index {
			child = v.doc.nodes[child].next
			index++
		}
		step := strconv.Itoa(index)
		if v.doc.nodes[child].name != 0 {
			step = v.doc.name(child)
		}
		pointer, at = pointer.AppendToken(step), child
	}
	return placeOf([]byte(v.doc.text), v.Offset(), pointer)
}

// Refuse returns an error of the caller's own rules for this value.
func (v Value) Refuse(code, message, fix string) *Error {
	return &Error{Code: code, Message: message, Fix: fix, Offset: v.Offset(), value: &v}
}

// maxInt is the integer up to which a double represents every integer exactly.
const maxInt = 1 << 53

// Float returns a number as a double. It returns an error with [CodeOverflow] for numbers larger
// than any double, and with [CodePrecisionLoss] for numbers with more digits than the double,
// since other parsers could read another number.
func (v Value) Float() (float64, error) {
	if err := v.Expect(Number); err != nil {
		return 0, err
	}
	source := v.Source()
	f, err := strconv.ParseFloat(source, 64)
	if errors.Is(err, strconv.ErrRange) && math.IsInf(f, 0) {
		return 0, v.Refuse(CodeOverflow, "the number is larger than any double", "write a number below 1.8e308")
	}
	if !keepsDigits(source, f) {
		return 0, v.Refuse(CodePrecisionLoss, "the number has more digits than a double can represent",
			"write at most 15 digits, or a string")
	}
	return f, nil
}

// Int returns an integer in any notation: 1, 1.0 and 1e0 are the same. It returns an error with
// [CodeNotInteger] for fractions, and with [CodePrecisionLoss] for integers above 2^53, which a
// double does not represent exactly.
func (v Value) Int() (int64, error) {
	f, err := v.Float()
	if err != nil {
		return 0, err
	}
	if math.Abs(f) > maxInt {
		return 0, v.Refuse(CodePrecisionLoss, "the integer is larger than a double can represent exactly",
			"write an integer up to 9007199254740992, or a string")
	}
	if f != math.Trunc(f) {
		return 0, v.Refuse(CodeNotInteger, "an integer is expected, found a fraction",
			"write the number without a fraction")
	}
	return int64(f), nil
}

// keepsDigits reports whether the shortest text of the double has the digits of the source. Their
// powers of ten are then the same, because f is the double next to the source.
func keepsDigits(source string, f float64) bool {
	const alwaysKept = 15 // decimal digits
	if len(source) <= alwaysKept && !strings.ContainsAny(source, "eE") {
		return true
	}
	return significant(source) == significant(strconv.FormatFloat(f, 'e', -1, 64))
}

// significant returns the digits of a number without zeros around them.
func significant(number string) string {
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		number = number[:i]
	}
	return strings.Trim(strings.ReplaceAll(strings.TrimPrefix(number, "-"), ".", ""), "0")
}
