package strictjson

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
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

// TestLineIndex compares the index with reading everything before the offset.
func TestLineIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.IntRange(0, 3*lineBlock), 0, 8).Draw(t, "lengths")
		var b strings.Builder
		for _, n := range lines {
			b.WriteString(strings.Repeat("a", n) + "\n")
		}
		text := b.String()
		index := newLineIndex(text)
		for _, offset := range []int{0, len(text), rapid.IntRange(0, len(text)).Draw(t, "offset"), min(lineBlock, len(text)), min(lineBlock-1, len(text))} {
			line, column := position([]byte(text), offset)
			if gotLine, gotColumn := index.position(text, offset); gotLine != line || gotColumn != column {
				t.Fatalf("offset %d: %d:%d, want %d:%d", offset, gotLine, gotColumn, line, column)
			}
		}
	})
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
