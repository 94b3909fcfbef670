package fetch

import (
	"errors"
	"mime"
	"net/http"
	"slices"
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
			return "", nil, err // also for ErrInvalidMediaParameter, which gives a type
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
