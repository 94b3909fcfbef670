package fetch

import (
	"net/http"
	"strings"
)

// Validator identifies a stored response, to ask its server whether it has changed. The zero
// value asks nothing.
type Validator struct {
	URL      string `json:"url,omitempty"` // that responded, after redirects
	ETag     string `json:"etag,omitempty"`
	Modified string `json:"modified,omitempty"` // the Last-Modified header
}

// Validator returns the validator of a response. It ignores malformed and repeated header fields:
// an ETag of "*", for example, would match everything if it were sent back.
func (r *Response) Validator() Validator {
	v := Validator{URL: r.URL.String()}
	if tags := r.Header.Values("ETag"); len(tags) == 1 && isEntityTag(tags[0]) {
		v.ETag = tags[0]
	}
	if _, ok := httpDate(r.Header, "Last-Modified", r.Received); ok {
		v.Modified = r.Header.Get("Last-Modified")
	}
	if v.ETag == "" && v.Modified == "" {
		return Validator{}
	}
	return v
}

// isEntityTag reports whether a header is one entity tag (RFC 9110 section 8.8.3).
func isEntityTag(s string) bool {
	s = opaque(s)
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return false
	}
	for _, c := range []byte(s[1 : len(s)-1]) {
		if c <= ' ' || c == '"' || c == 0x7f {
			return false
		}
	}
	return true
}

// opaque returns an entity tag without the prefix of weak tags.
func opaque(tag string) string { return strings.TrimPrefix(tag, "W/") }

// Ask makes a request conditional: its response may be that nothing changed.
func (v Validator) Ask(h http.Header) {
	if v.ETag != "" {
		h.Set("If-None-Match", v.ETag)
	}
	if v.Modified != "" {
		h.Set("If-Modified-Since", v.Modified)
	}
}

// Confirms reports whether the response to a request with the conditions of v says that the stored
// response has not changed (RFC 9111 section 4.3.4). It must be a 304 from the same URL, and must
// not have another entity tag or date. After any other 304, send the request again without
// conditions.
func (v Validator) Confirms(r *Response) bool {
	if r.Status != http.StatusNotModified || v == (Validator{}) || r.URL.String() != v.URL {
		return false
	}
	for _, hop := range r.Hops {
		if !hop.SameOrigin() {
			return false // the conditions were not sent there
		}
	}
	switch tags := r.Header.Values("ETag"); {
	case len(tags) > 1:
		return false
	case len(tags) == 1 && strings.HasPrefix(tags[0], "W/"):
		return opaque(tags[0]) == opaque(v.ETag)
	case len(tags) == 1:
		return tags[0] == v.ETag
	}
	now := r.Received
	before, dated := parseDate(v.Modified, now)
	after, again := httpDate(r.Header, "Last-Modified", now)
	return len(r.Header.Values("Last-Modified")) == 0 || v.Modified == "" || dated && again && before.Equal(after)
}
