package dvs

import (
	"strings"

	"github.com/lookleap/lookleap"
)

// ValueKind says what a [Value] is.
type ValueKind uint8

const (
	// Null: nothing, "~" or "null" without quotes.
	Null ValueKind = iota
	// Text: any other scalar. It is kept as it was written: 0777, no and 1e3 are
	// text, since readers disagree about what else they are.
	Text
	// List: a sequence.
	List
	// Map: a mapping from texts, in the order of the file.
	Map
)

var valueKinds = [...]string{"nothing", "a text", "a list", "a mapping"}

// String gives the kind with its article, for messages.
func (k ValueKind) String() string { return valueKinds[min(int(k), len(valueKinds)-1)] }

// Value is one value of a frontmatter.
type Value struct {
	Kind   ValueKind
	Text   string  // of a Text, decoded; of a Null as written
	Items  []Value // of a List
	Fields []Field // of a Map
	lookleap.Position
}

// Field is one key of a mapping and its value. Position is the key's.
type Field struct {
	Key   string
	Value Value
	lookleap.Position
}

// Field gives the value of a key, and whether it is there.
func (v *Value) Field(key string) (*Value, bool) {
	if v == nil {
		return nil, false
	}
	for i := range v.Fields {
		if v.Fields[i].Key == key {
			return &v.Fields[i].Value, true
		}
	}
	return nil, false
}

// isScalar reports whether the value is a text or nothing.
func (v *Value) isScalar() bool { return v.Kind <= Text }

// flat gives all texts below the value, in order and joined by blanks.
func (v *Value) flat() string {
	var parts []string
	var walk func(*Value)
	walk = func(v *Value) {
		if v.Text != "" {
			parts = append(parts, v.Text)
		}
		for i := range v.Items {
			walk(&v.Items[i])
		}
		for i := range v.Fields {
			parts = append(parts, v.Fields[i].Key+":")
			walk(&v.Fields[i].Value)
		}
	}
	walk(v)
	return strings.Join(parts, " ")
}
