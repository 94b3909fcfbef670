package anml

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Why arguments are not sent, for errors.Is.
var (
	ErrParamMissing       = coded.New("param-missing", "anml: a required parameter has no value")
	ErrParamInvalid       = coded.New("param-invalid", "anml: a value does not fit its parameter")
	ErrParamUnknown       = coded.New("param-unknown", "anml: the action has no such parameter")
	ErrUnsupportedEncType = coded.New("usage", "anml: the action's enctype is not one that is sent")
)

// Arg is one argument of an action: the text that is sent.
type Arg struct {
	Name, Value string
	Default     bool // the document's own value, used because nobody gave one
}

// Args checks values against the parameters of the action and gives them in the
// order of the document (section 8.6.2). Values that nobody gave are the
// document's defaults. Nothing is sent that was not checked: a value of another
// type, outside its bounds or for no parameter is an error.
func (a Action) Args(values map[string]string) ([]Arg, error) {
	var args []Arg
	known := map[string]bool{}
	for p := range a.Params() {
		known[p.Name()] = true
		value, given := values[p.Name()]
		def, hasDefault := p.Default()
		if !given {
			if !hasDefault {
				if p.Required() {
					return nil, fmt.Errorf("%w: %s", ErrParamMissing, quoted(p.Name()))
				}
				continue
			}
			value = def
		}
		if err := p.Check(value); err != nil {
			return nil, err
		}
		args = append(args, Arg{p.Name(), value, !given})
	}
	for name := range values {
		if !known[name] {
			return nil, fmt.Errorf("%w: %s", ErrParamUnknown, quoted(name))
		}
	}
	return args, nil
}

// ArgsJSON checks the arguments of a tool call: a JSON object made for one of
// the schemas of InputSchema. Null counts as absent.
func (a Action) ArgsJSON(data []byte) ([]Arg, error) {
	v, err := strictjson.Parse(data, strictjson.Limits{Depth: 4})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParamInvalid, err)
	}
	if err := v.Expect(strictjson.Object); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParamInvalid, err)
	}
	values := map[string]string{}
	for name, value := range v.Members() {
		switch value.Kind() {
		case strictjson.Null:
		case strictjson.String:
			if values[name], err = value.Text(); err != nil {
				return nil, err
			}
		case strictjson.Number:
			f, err := value.Float()
			if err != nil {
				return nil, fmt.Errorf("%w: %s: %w", ErrParamInvalid, quoted(name), err)
			}
			values[name] = strconv.FormatFloat(f, 'f', -1, 64)
		case strictjson.Bool:
			values[name] = value.Source()
		default:
			return nil, fmt.Errorf("%w: %s is %s", ErrParamInvalid, quoted(name), value.Kind())
		}
	}
	return a.Args(values)
}

// maxValue bounds a value that is sent (section 8.11), in octets.
const maxValue = 64 << 10

// Check reports whether a value may be sent for the parameter: its type, its
// options, its pattern as RE2 on the whole value, its bounds.
func (p Param) Check(value string) error {
	refuse := func(why string) error {
		return fmt.Errorf("%w: %s %s", ErrParamInvalid, quoted(p.Name()), why)
	}
	if len(value) > maxValue {
		return refuse("is longer than " + itoa(maxValue) + " octets")
	}
	t := p.Type()
	if t == TypeEnum {
		for o := range p.Options() {
			if o.Value() == value {
				return nil
			}
		}
		return refuse("is none of the options")
	}
	if err := CheckValue(t, value); err != nil {
		return refuse("is no " + t.String())
	}
	if !p.matches(value) {
		return refuse("does not match the pattern")
	}
	if lo, ok := p.Min(); ok && boundFits(t, lo) && compare(t, value, lo) < 0 {
		return refuse("is below the least value")
	}
	if hi, ok := p.Max(); ok && boundFits(t, hi) && compare(t, value, hi) > 0 {
		return refuse("is above the greatest value")
	}
	return nil
}

// compare orders a value against a bound: numbers by size, dates by time,
// strings by their length in code points.
func compare(t Type, value, bound string) int {
	switch t {
	case TypeNumber:
		v, _ := ParseNumber(value)
		b, _ := ParseNumber(bound)
		switch {
		case v.Float < b.Float:
			return -1
		case v.Float > b.Float:
			return 1
		}
	case TypeDate, TypeDateTime:
		return strings.Compare(value, bound) // of one length and form, so chronological
	case TypeString:
		n, _ := seconds(bound)
		return utf8.RuneCountInString(value) - int(n)
	}
	return 0
}

// appendQuote writes a JSON string; what is no UTF-8 becomes the replacement
// character, and never reaches here from a document.
func appendQuote(dst []byte, s string) []byte {
	out, err := jsontext.AppendQuote(dst, strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		return append(dst, `""`...)
	}
	return out
}

// FormatValue writes a Go value as a value of a type: time.Time as date or
// datetime in UTC, numbers and booleans in their one form, strings as they are.
func FormatValue(t Type, v any) (string, error) {
	text := ""
	switch v := v.(type) {
	case string:
		text = v
	case bool:
		text = strconv.FormatBool(v)
	case int:
		text = strconv.Itoa(v)
	case int64:
		text = strconv.FormatInt(v, 10)
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	case time.Time:
		text = FormatDateTime(v)
		if t == TypeDate {
			text = FormatDate(v)
		}
	default:
		return "", fmt.Errorf("%w: a %T has no text", ErrType, v)
	}
	if len(text) > maxValue {
		return "", fmt.Errorf("%w: the value is longer than %d octets", ErrLimit, maxValue)
	}
	return text, CheckValue(t, text)
}
