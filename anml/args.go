package anml

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
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

// Request is what direct execution of an action sends, beside its method.
type Request struct {
	Query       string // to append to the endpoint's own query, without "?"
	ContentType string // of the body; empty when there is none
	Body        []byte
}

// Encode makes the request of an action that answers no ask (section 9.3): in the
// query for methods without a body, else in the body as the enctype says.
// Documents in ANML answer asks and are made by a ResponseBuilder instead.
func (a Action) Encode(args []Arg) (Request, error) { return a.EncodeRandom(args, rand.Reader) }

// EncodeRandom is Encode with the caller's source of randomness, which the
// boundary of multipart/form-data needs and nothing else. An error of the source
// is given back.
func (a Action) EncodeRandom(args []Arg, random io.Reader) (Request, error) {
	switch a.Method() {
	case "GET", "HEAD", "DELETE", "OPTIONS":
		return Request{Query: formEncode(args)}, nil
	}
	switch t := a.EncType(); t {
	case "application/x-www-form-urlencoded":
		return Request{ContentType: t, Body: []byte(formEncode(args))}, nil
	case "application/json":
		return Request{ContentType: t, Body: a.jsonEncode(args)}, nil
	case "multipart/form-data":
		return multipartEncode(args, random)
	default:
		return Request{}, fmt.Errorf("%w: %s", ErrUnsupportedEncType, quoted(t))
	}
}

func formEncode(args []Arg) string {
	var b strings.Builder
	for i, arg := range args {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(arg.Name) + "=" + url.QueryEscape(arg.Value))
	}
	return b.String()
}

// jsonEncode writes numbers and booleans as such, everything else as strings.
func (a Action) jsonEncode(args []Arg) []byte {
	types := map[string]Type{}
	for p := range a.Params() {
		types[p.Name()] = p.Type()
	}
	out := []byte{'{'}
	for i, arg := range args {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendQuote(out, arg.Name), ':')
		switch types[arg.Name] {
		case TypeNumber, TypeBoolean:
			out = append(out, arg.Value...)
		default:
			out = appendQuote(out, arg.Value)
		}
	}
	return append(out, '}')
}

// boundaryOctets is the randomness of a boundary: more than a service, which
// may know the values, can guess or find by trying.
const boundaryOctets = 24

// multipartEncode writes the arguments as form data (RFC 7578), one part for
// each in their order. Values go out octet by octet. ANML has no type for files,
// so no part has a filename, and none has a type of its own: all are text in UTF-8.
func multipartEncode(args []Arg, random io.Reader) (Request, error) {
	drawn := make([]byte, boundaryOctets)
	if _, err := io.ReadFull(random, drawn); err != nil {
		return Request{}, fmt.Errorf("anml: no boundary can be drawn: %w", err)
	}
	boundary := "form-" + hex.EncodeToString(drawn)
	var b strings.Builder
	for _, arg := range args {
		if !plainFormName(arg.Name) {
			return Request{}, fmt.Errorf("%w: the name %s cannot stand in form data", ErrParamInvalid, quoted(arg.Name))
		}
		if strings.Contains(arg.Name, boundary) || strings.Contains(arg.Value, boundary) {
			return Request{}, fmt.Errorf("%w: %s holds the boundary", ErrParamInvalid, quoted(arg.Name))
		}
		b.WriteString("--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + arg.Name + "\"\r\n\r\n" + arg.Value + "\r\n")
	}
	b.WriteString("--" + boundary + "--\r\n")
	return Request{ContentType: "multipart/form-data; boundary=" + boundary, Body: []byte(b.String())}, nil
}

// plainFormName refuses names that servers read in several ways: quotation marks
// and backslashes, which each escapes by its own rule, and line ends and other
// control characters, which could begin a field of the header.
func plainFormName(name string) bool {
	return isXMLText(name) && !strings.ContainsAny(name, "\"\\\t\r\n\x7f")
}
