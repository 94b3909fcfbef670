package fetch

import (
	"net/http"
	"strings"
)

// Validator is what a stored answer is known by, so that its server can be asked
// whether it still holds. The zero value asks nothing.
type Validator struct {
	URL      string `json:"url,omitempty"` // that gave the answer, after redirects
	ETag     string `json:"etag,omitempty"`
	Modified string `json:"modified,omitempty"` // the Last-Modified header
}

// Validator returns what an answer is known by. Headers that are malformed or
// doubled are left out: sent back, an ETag of "*" would match everything.
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

// opaque is an entity tag without the mark of a weak one.
func opaque(tag string) string { return strings.TrimPrefix(tag, "W/") }

// Ask sets the headers by which the answer may be that nothing changed.
func (v Validator) Ask(h http.Header) {
	if v.ETag != "" {
		h.Set("If-None-Match", v.ETag)
	}
	if v.Modified != "" {
		h.Set("If-Modified-Since", v.Modified)
	}
}

// Confirms reports whether an answer to a request that asked by v says that the
// stored one still holds (RFC 9111 section 4.3.4): a 304 from the same URL, to
// which the question was passed on, that names no other entity tag or date. After
// any other 304 the request is to be sent again without the question.
func (v Validator) Confirms(r *Response) bool {
	if r.Status != http.StatusNotModified || v == (Validator{}) || r.URL.String() != v.URL {
		return false
	}
	for _, hop := range r.Hops {
		if !hop.SameOrigin() {
			return false // where the question was dropped
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
