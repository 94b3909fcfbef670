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
	errNoMediaType      = errors.New("the response has no Content-Type")
	errSeveralTypes     = errors.New("the response has several Content-Type headers")
	errNotTheMediaTypes = errors.New("the media type of the response is not one of those that were requested")
)

// ParseMediaType reads the Content-Type of a response, in lower case. There must be exactly one
// header line, and [mime.ParseMediaType] must accept it. The body is not looked at.
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

// Text returns the body of a response that must be UTF-8. It returns an error if another charset
// is declared (US-ASCII is UTF-8 too), or if the bytes are not in the declared charset. For
// documents that allow other charsets, see Params.
func (r *Response) Text() (string, error) {
	charset, declared := r.Params["charset"]
	switch {
	case declared && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii"):
		return "", coded(lookleap.CodeCharset, "the declared charset is not utf-8")
	case strings.EqualFold(charset, "us-ascii") && !isASCII(r.Body):
		return "", coded(lookleap.CodeCharset, "the body is declared as us-ascii and has other characters")
	case !utf8.Valid(r.Body):
		return "", coded(lookleap.CodeNotUTF8, "the body is not valid UTF-8")
	}
	return string(r.Body), nil
}

func isASCII(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c >= utf8.RuneSelf })
}
