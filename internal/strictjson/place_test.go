package strictjson

import (
	"strings"
	"testing"
)

func TestPlaces(t *testing.T) {
	root := accept(t, "{\"a~/\":\r\n [ 1,\n{\"\":\"é\", \"b\":[[ 2 ]]}]}", Limits{})
	want := []string{`1:1`, `2:2 "/a~0~1"`, `2:4 "/a~0~1/0"`, `3:1 "/a~0~1/1"`, `3:5 "/a~0~1/1/"`, `3:15 "/a~0~1/1/b"`, `3:16 "/a~0~1/1/b/0"`, `3:18 "/a~0~1/1/b/0/0"`}
	for i, v := range all(root) {
		if got := v.Place().String(); i >= len(want) || got != want[i] {
			t.Errorf("value %d is at %s", i, got)
		}
	}
}

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

func TestLongPointersAreCut(t *testing.T) {
	name := strings.Repeat("é/", 300)
	e := refusal(t, `{"`+name+`":{"`+name+`":x}}`, Limits{})
	pointer := e.Place().Pointer
	if !strings.HasPrefix(pointer, "/é~1é~1") || !strings.HasSuffix(pointer, "…") || len(pointer) > maxPointer+len("…") {
		t.Errorf("the pointer has %d octets: %s", len(pointer), pointer)
	}
	if !strings.Contains(refusal(t, `{"`+name+`":1,"`+name+`":1}`, Limits{}).Error(), "…") {
		t.Error("the name in the message is not cut")
	}
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
