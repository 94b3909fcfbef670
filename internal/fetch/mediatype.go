package fetch

import (
	"errors"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
)

var (
	errNoMediaType      = errors.New("the answer has no Content-Type")
	errSeveralTypes     = errors.New("the answer has several Content-Type headers")
	errNotTheMediaTypes = errors.New("the answer's media type is not among those asked for")
)

// ParseMediaType reads the Content-Type of an answer: exactly one header line
// that [mime.ParseMediaType] takes without complaint. Nothing is guessed from
// the bytes. The type is in lower case.
func ParseMediaType(h http.Header) (mediaType string, params map[string]string, err error) {
	switch lines := h.Values("Content-Type"); len(lines) {
	case 0:
		return "", nil, errNoMediaType
	case 1:
		mediaType, params, err = mime.ParseMediaType(lines[0])
		if err != nil {
			return "", nil, err // also for ErrInvalidMediaParameter, which comes with a type
		}
		return mediaType, params, nil
	default:
		return "", nil, errSeveralTypes
	}
}

// acceptable judges a 2xx answer's media type; an empty list takes everything.
func acceptable(h http.Header, accept []string) error {
	if len(accept) == 0 {
		return nil
	}
	mediaType, _, err := ParseMediaType(h)
	if err == nil && !slices.Contains(accept, mediaType) {
		err = errNotTheMediaTypes
	}
	return err
}

// Text returns the body of an answer that must be UTF-8: no other charset may be
// declared, and the bytes have to be what was declared (US-ASCII is UTF-8 too).
// Nothing is converted. Documents that allow more look at Params themselves.
func (r *Response) Text() (string, error) {
	charset, declared := r.Params["charset"]
	switch {
	case declared && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii"):
		return "", coded(lookleap.CodeCharset, "the declared charset is not utf-8")
	case strings.EqualFold(charset, "us-ascii") && !isASCII(r.Body):
		return "", coded(lookleap.CodeCharset, "the body is not the us-ascii that it is declared to be")
	case !utf8.Valid(r.Body):
		return "", coded(lookleap.CodeNotUTF8, "the body is not valid UTF-8")
	}
	return string(r.Body), nil
}

func isASCII(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c >= utf8.RuneSelf })
}
