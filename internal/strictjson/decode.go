package strictjson

import (
	"errors"
	"math"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Decode parses a text strictly and stores it in the value that into points to, as
// [encoding/json.Unmarshal] does. Unlike Unmarshal it refuses duplicate and unknown members,
// members whose names differ in case, and null where the Go type has no nil, with [CodeType]. So
// two readers of one text never see different values. A type with a method UnmarshalJSON reads its
// own members. The text has no size limit: it is a state or a record of this module, or the caller
// has bounded it.
func Decode(data []byte, into any) error {
	p, err := newParser(data, Limits{Size: math.MaxInt32})
	if err != nil {
		return err
	}
	err = json.UnmarshalDecode(p.decoder, into,
		jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false),
		jsonv1.ParseTimeWithLooseRFC3339(false), jsonv1.ParseBytesWithLooseRFC4648(false),
		json.MatchCaseInsensitiveNames(false), json.RejectUnknownMembers(true),
		jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false),
		json.WithUnmarshalers(json.UnmarshalFromFunc(refuseNull)))
	if err == nil {
		return p.end()
	}
	var inner *Error // of a method UnmarshalJSON that calls Decode
	if errors.As(err, &inner) {
		return inner
	}
	var wrong *json.SemanticError
	if !errors.As(err, &wrong) {
		return p.refuse(err)
	}
	code, message, fix := CodeType, wrong.Error(), ""
	switch wrong.Err {
	case json.ErrUnknownName:
		message = "the member " + quote(wrong.JSONPointer.LastToken()) + " is unknown"
		fix = "remove it, or write its name in the right case"
	case errNull:
		message, fix = errNull.Error(), "leave the member out"
	case errDeep:
		code, message = CodeTooDeep, errDeep.Error()
	}
	e := p.fail(code, int(wrong.ByteOffset), wrong.JSONPointer, message, fix)
	e.cause = wrong.Err
	return e
}

var (
	errNull = errors.New("null is not a value of this member")
	errDeep = errors.New("the text is nested deeper than its limit")
)

// refuseNull returns an error for null where the Go type has no nil, and for deep nesting. It
// leaves all other values to the json package.
func refuseNull(d *jsontext.Decoder, into any) error {
	switch d.PeekKind() {
	case jsontext.KindBeginObject, jsontext.KindBeginArray:
		if d.StackDepth() >= DefaultDepth {
			return errDeep
		}
	case jsontext.KindNull:
		switch reflect.TypeOf(into).Elem().Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		default:
			return errNull
		}
	}
	return errors.ErrUnsupported
}
