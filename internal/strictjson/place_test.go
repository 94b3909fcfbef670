package strictjson

import (
	"strings"
	"testing"
)

// all returns a value and everything in it, in order.
func all(v Value) []Value {
	values := []Value{v}
	for inner := range v.Elements() {
		values = append(values, all(inner)...)
	}
	for _, inner := range v.Members() {
		values = append(values, all(inner)...)
	}
	return values
}

// TestNamesCannotForgeMessages has control characters and bidirectional overrides in names.
func TestNamesCannotForgeMessages(t *testing.T) {
	for _, text := range []string{
		"{\"\\n1:1: fine \\u001b[2K\u202e\":x}",
		"{\"\\n\\u001b\u202e\":1,\"\\n\\u001b\u202e\":1}",
		"\u202e",
	} {
		if message := refusal(t, text, Limits{}).Error(); strings.ContainsAny(message, "\n\x1b\u202e") {
			t.Errorf("%q", message)
		}
	}
}
