package anml

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"io"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
	"github.com/lookleap/lookleap/internal/strictxml"
)

// Arg is one argument of an action, as text.
type Arg struct {
	Name, Value string
	Default     bool // Value is the document's default
}

// Args checks values against the parameters of the action and returns the arguments in
// document order (section 8.6.2). The document's defaults replace missing values. It returns an
// [ErrParamMissing], [ErrParamInvalid] or [ErrParamUnknown] if the values do not fit.
func (a Action) Args(values map[string]string) ([]Arg, error) {
	var args []Arg
	known := map[string]bool{}
	for p := range a.Params() {
		known[p.Name()] = true
		value, given := values[p.Name()]
		if !given {
			def, hasDefault := p.usableDefault()
			if !hasDefault {
				if p.Required() {
					return nil, newError(ErrParamMissing,
						"the required parameter "+plaintext.Quote(p.Name(), maxQuoted)+" has no value", "")
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
			return nil, newError(ErrParamUnknown, "the action has no parameter "+plaintext.Quote(name, maxQuoted), "")
		}
	}
	return args, nil
}

// ArgsJSON is Args for the arguments of a tool call: a JSON object that fits a schema of
// [Action.InputSchema]. A null counts as absent. A parameter may be given by its name, too.
func (a Action) ArgsJSON(data []byte) ([]Arg, error) {
	v, err := strictjson.Parse(data, strictjson.Limits{Depth: 4})
	if err != nil {
		return nil, argumentError(err)
	}
	if err := v.Expect(strictjson.Object); err != nil {
		return nil, argumentError(err)
	}
	values, names := map[string]string{}, map[string]string{}
	for _, p := range a.properties() {
		names[p.key] = p.Name()
	}
	for key, value := range v.Members() {
		name := cmp.Or(names[key], key)
		if _, twice := values[name]; twice {
			return nil, newError(ErrParamInvalid, "the argument "+plaintext.Quote(name, maxQuoted)+" is given twice", "")
		}
		switch value.Kind() {
		case strictjson.Null:
		case strictjson.String:
			if values[name], err = value.Text(); err != nil {
				return nil, argumentError(err)
			}
		case strictjson.Number:
			f, err := value.Float()
			if err != nil {
				return nil, argumentError(err)
			}
			values[name] = strconv.FormatFloat(f, 'f', -1, 64)
		case strictjson.Bool:
			values[name] = value.Source()
		default:
			return nil, newError(ErrParamInvalid, "the argument "+plaintext.Quote(name, maxQuoted)+" is "+value.Kind().String(),
				"write a string, number or boolean")
		}
	}
	return a.Args(values)
}

// usableDefault returns the document's default value if it fits the parameter. Otherwise there is
// none, so that a fault of the author does not end the call.
func (p Param) usableDefault() (string, bool) {
	def, ok := p.Default()
	if !ok || p.Check(def) != nil {
		return "", false
	}
	return def, true
}

// argumentError returns an [ErrParamInvalid] with the position in the JSON arguments.
func argumentError(err error) error {
	e := jsonError(err, ErrParamInvalid)
	e.Code = lookleap.CodeOf(ErrParamInvalid)
	return e
}

// maxValue is the size limit of a value in bytes (section 8.11).
const maxValue = 64 << 10

// Check returns an [ErrParamInvalid] if a value may not be sent for the parameter: it does not
// have its type, is not among its options, does not match its pattern, or is out of bounds.
func (p Param) Check(value string) error {
	refuse := func(why string) error {
		return newError(ErrParamInvalid, "the value of the parameter "+plaintext.Quote(p.Name(), maxQuoted)+" "+why, "")
	}
	if len(value) > maxValue {
		return refuse("is longer than " + itoa(maxValue) + " bytes")
	}
	t := p.Type()
	if t == TypeEnum {
		for o := range p.Options() {
			if o.Value() == value {
				return nil
			}
		}
		return refuse("is not one of its options")
	}
	if !hasType(t, value) {
		return refuse("is not a " + t.String())
	}
	if !p.matches(value) {
		return refuse("does not match its pattern")
	}
	if lo, ok := p.Min(); ok && isBound(t, lo) && compare(t, value, lo) < 0 {
		return refuse("is less than its minimum")
	}
	if hi, ok := p.Max(); ok && isBound(t, hi) && compare(t, value, hi) > 0 {
		return refuse("is greater than its maximum")
	}
	return nil
}

// compare compares a value with a bound: numbers by size, dates by time, strings by their
// length in code points.
func compare(t Type, value, bound string) int {
	switch t {
	case TypeNumber:
		v, _ := ParseNumber(value)
		b, _ := ParseNumber(bound)
		return cmp.Compare(v.Float, b.Float)
	case TypeDate, TypeDateTime:
		return strings.Compare(value, bound) // of one length and form, so chronological
	case TypeString:
		n, _ := seconds(bound)
		return utf8.RuneCountInString(value) - int(n)
	}
	return 0
}

// appendQuote appends a JSON string. Invalid UTF-8, which no document contains, becomes the
// replacement character.
func appendQuote(dst []byte, s string) []byte {
	out, err := jsontext.AppendQuote(dst, strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		return append(dst, `""`...)
	}
	return out
}

// Request is what direct execution of an action sends besides its method.
type Request struct {
	Query       string // to append to the endpoint's own query, without "?"
	ContentType string // of the body; "" without a body
	Body        []byte
}

// Encode returns the request of an action that answers no ask (section 9.3). The arguments are
// in the query for methods without a body, and otherwise in the body as the enctype says. To
// answer asks, send a document of a [ResponseBuilder] instead.
func (a Action) Encode(args []Arg) (Request, error) { return a.encodeRandom(args, rand.Reader) }

// encodeRandom is Encode with the caller's source of randomness, which only the boundary of
// multipart/form-data needs. It returns an error of the source.
func (a Action) encodeRandom(args []Arg, random io.Reader) (Request, error) {
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
		return Request{}, newError(ErrUnsupportedEncType, "the enctype "+plaintext.Quote(t, maxQuoted)+" is not supported",
			"use application/json, multipart/form-data or application/x-www-form-urlencoded")
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

// jsonEncode encodes numbers and booleans as such, and everything else as strings.
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

// boundarySize is the randomness of a boundary in bytes. A service that chose a value must not
// be able to guess the boundary.
const boundarySize = 24

// multipartEncode encodes the arguments as form data (RFC 7578), one part for each, in order
// and with unchanged values. ANML has no type for files, so the parts have neither filenames
// nor media types.
func multipartEncode(args []Arg, random io.Reader) (Request, error) {
	bytes := make([]byte, boundarySize)
	if _, err := io.ReadFull(random, bytes); err != nil {
		return Request{}, &lookleap.Error{Code: lookleap.CodeInternal,
			Message: "the random bytes of the multipart boundary could not be read", Err: err}
	}
	boundary := "form-" + hex.EncodeToString(bytes)
	var b strings.Builder
	for _, arg := range args {
		if !plainFormName(arg.Name) {
			return Request{}, newError(ErrParamInvalid,
				"the parameter name "+plaintext.Quote(arg.Name, maxQuoted)+" is not allowed in form data", "use another enctype")
		}
		if strings.Contains(arg.Name, boundary) || strings.Contains(arg.Value, boundary) {
			return Request{}, newError(ErrParamInvalid,
				"the value of "+plaintext.Quote(arg.Name, maxQuoted)+" contains the multipart boundary", "try again")
		}
		b.WriteString("--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + arg.Name + "\"\r\n\r\n" + arg.Value + "\r\n")
	}
	b.WriteString("--" + boundary + "--\r\n")
	return Request{ContentType: "multipart/form-data; boundary=" + boundary, Body: []byte(b.String())}, nil
}

// plainFormName reports whether all servers read a name in the same way. They disagree about
// quotation marks and backslashes, and a control character could begin another header field.
func plainFormName(name string) bool {
	return strictxml.IsText(name) && !strings.ContainsAny(name, "\"\\\t\r\n\x7f")
}
