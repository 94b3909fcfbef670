package strictjson

import (
	"encoding"
	"encoding/json"
	"math"
	"reflect"
	"strings"
)

// Decode parses a text strictly and stores it in the value that into points to, as
// [json.Unmarshal] does. Unlike Unmarshal it refuses duplicate and unknown members, members
// whose names differ in case, and null where the Go type has no nil, with [CodeType]. So two
// readers of one text never see different values. A type with a method UnmarshalJSON reads its own members. The text
// has no size limit: it is a state or a record of this module, or the caller has bounded it.
func Decode(data []byte, into any) error {
	v, err := Parse(data, Limits{Size: math.MaxInt32})
	if err != nil {
		return err
	}
	if err := fits(v, reflect.TypeOf(into).Elem()); err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

var (
	jsonReader = reflect.TypeFor[json.Unmarshaler]()
	textReader = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// fits returns an error for the first value that encoding/json would drop, or match with a
// member of another name.
func fits(v Value, t reflect.Type) error {
	nilable := t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Interface
	if v.Kind() == Null {
		if nilable {
			return nil
		}
		return v.Refuse(CodeType, "null is not a value of this member", "leave the member out")
	}
	if t.Kind() == reflect.Pointer {
		return fits(v, t.Elem())
	}
	if p := reflect.PointerTo(t); p.Implements(jsonReader) || p.Implements(textReader) {
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return fitsStruct(v, t)
	case reflect.Map:
		for _, member := range v.Members() {
			if err := fits(member, t.Elem()); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		for element := range v.Elements() {
			if err := fits(element, t.Elem()); err != nil {
				return err
			}
		}
	}
	return nil
}

func fitsStruct(v Value, t reflect.Type) error {
	fields := fieldsOf(t, make(map[string]reflect.Type))
	for name, member := range v.Members() {
		field, known := fields[name]
		if !known {
			return member.Refuse(CodeType, "the member "+quote(name)+" is unknown", "remove it, or write its name in the right case")
		}
		if err := fits(member, field); err != nil {
			return err
		}
	}
	return nil
}

// fieldsOf adds the members of a struct, with those of embedded structs, by their names.
func fieldsOf(t reflect.Type, fields map[string]reflect.Type) map[string]reflect.Type {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct:
			fieldsOf(f.Type, fields)
		case name == "":
			fields[f.Name] = f.Type
		default:
			fields[name] = f.Type
		}
	}
	return fields
}
