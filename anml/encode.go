package anml

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"strings"
)

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
