package strictjson

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzParse holds the scanner to jsontext's verdict in both directions, and to
// encoding/json's where it accepts; whatever comes out has to be in order.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		sample, `{"a":1,"\u0061":2}`, `["\ud83d\ude00\ud800"]`, "[1e400,-0.5E-7]", `{"":{"~/":[[],{}]}}`, "\xEF\xBB\xBF{}",
		"[\"\xff\"]", `{"a":tru}`, `"0123456789\"abcdef"`, "[1,]", "{} {}", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,"a":1}`,
	} {
		f.Add([]byte(seed))
	}
	limits := Limits{Depth: 1000, Values: 1 << 20}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		root, err := Parse(data, limits)
		if !bytes.Equal(before, data) {
			t.Fatal("the data were changed")
		}
		if err != nil {
			checkRefusal(t, data, err)
			return
		}
		if !json.Valid(data) || !jsontext.Value(data).IsValid() {
			t.Fatalf("%q is accepted", data)
		}
		checkTree(t, root, jsontext.NewDecoder(bytes.NewReader(data)))
		for _, v := range all(root) {
			place := v.Place()
			lines := bytes.Split(data[:place.Offset], []byte{'\n'})
			if place.Line != len(lines) || place.Column != len(lines[len(lines)-1])+1 || place.Offset >= len(data) {
				t.Fatalf("%q: a value is at %+v", data, place)
			}
			v.Float()
			v.Int()
		}
	})
}

func checkRefusal(t *testing.T, data []byte, err error) {
	e := err.(*Error)
	place := e.Place()
	if e.Message == "" || e.Offset != place.Offset || e.Offset > len(data) || place.Line < 1 || place.Column < 1 {
		t.Fatalf("%q: the error is %+v", data, e)
	}
	switch e.Code {
	case CodeTooDeep, CodeTooMany, CodeTooLarge:
	default:
		if jsontext.Value(data).IsValid() {
			t.Fatalf("%q is refused: %v", data, err)
		}
	}
}

// checkTree compares a value with what jsontext reads.
func checkTree(t *testing.T, v Value, d *jsontext.Decoder) {
	token, err := d.ReadToken()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[jsontext.Kind]Kind{'n': Null, 't': Bool, 'f': Bool, '0': Number, '"': String, '[': Array, '{': Object}
	if kinds[token.Kind()] != v.Kind() {
		t.Fatalf("%s is read for %s", v.Kind(), token.Kind())
	}
	switch v.Kind() {
	case String:
		if s, err := v.Text(); s != token.String() || err != nil {
			t.Fatalf("%q is read for %q, %v", s, token.String(), err)
		}
	case Number:
		if v.Source() != token.String() {
			t.Fatalf("%s is read for %s", v.Source(), token)
		}
	case Array:
		for inner := range v.Elements() {
			checkTree(t, inner, d)
		}
		d.ReadToken()
	case Object:
		for name, inner := range v.Members() {
			if token, _ := d.ReadToken(); token.String() != name {
				t.Fatalf("the name %q is read for %q", name, token)
			}
			if string(jsontext.Pointer(v.Place().Path).AppendToken(name)) != inner.Place().Path && len(inner.Place().Path) < maxPointer {
				t.Fatalf("the member %q of %q is at %q", name, v.Place().Path, inner.Place().Path)
			}
			checkTree(t, inner, d)
		}
		d.ReadToken()
	}
}
