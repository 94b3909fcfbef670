// Package serve answers requests for the documents that the handlers of this module
// publish: policies, skills, manifests, key sets. All handlers use it, so that they
// answer HEAD, Range, If-None-Match and other methods in the same way.
//
// A document is served whole, to GET and HEAD only, with a strong ETag. Range is
// ignored, because a part of a signed or hashed document is not a document. The
// request of the caller is never changed.
package serve

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Documents serves documents by the escaped path of the request, and 404 for all
// other paths.
type Documents map[string]*Document

// ServeHTTP answers a request.
func (all Documents) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if d := all[r.URL.EscapedPath()]; d != nil {
		d.ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
}

// Document is one file and its header. It serves every path at which it is mounted.
// It must not change once it is served.
type Document struct {
	// Header is sent with each response that holds or confirms the document. New
	// fills it in; the caller may add and change fields.
	Header http.Header

	// MaxAge, if it is not nil, returns how long clients may cache the document from
	// now on.
	MaxAge func() time.Duration

	content []byte
}

// New returns a document with its media type, an ETag and the security header. The
// content is copied. Clients may cache it for an hour; [Document.Keep] changes that.
func New(content []byte, mediaType string) *Document {
	sum := sha256.Sum256(content)
	d := &Document{content: bytes.Clone(content), Header: http.Header{}}
	d.Header.Set("Content-Type", mediaType)
	d.Header.Set("ETag", `"`+base64.RawURLEncoding.EncodeToString(sum[:12])+`"`)
	Secure(d.Header)
	d.Keep(time.Hour)
	return d
}

// Secure adds the header fields that keep browsers from guessing the media type, from
// running anything, and from disclosing the URL.
func Secure(header http.Header) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	header.Set("Referrer-Policy", "no-referrer")
}

// Keep sets how long clients may cache the document.
func (d *Document) Keep(age time.Duration) { d.Header.Set("Cache-Control", maxAge(age)) }

func maxAge(age time.Duration) string { return fmt.Sprintf("max-age=%d", int(age/time.Second)) }

// ServeHTTP answers a request.
func (d *Document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !Reads(w, r) {
		return
	}
	for name, values := range d.Header {
		w.Header()[name] = slices.Clone(values) // middleware may change what it finds there
	}
	if d.MaxAge != nil {
		w.Header().Set("Cache-Control", maxAge(d.MaxAge()))
	}
	whole := *r
	whole.Header = r.Header.Clone()
	whole.Header.Del("Range")
	http.ServeContent(withoutRanges{w}, &whole, "", time.Time{}, bytes.NewReader(d.content))
}

// withoutRanges replaces the header field by which ServeContent offers ranges.
type withoutRanges struct{ http.ResponseWriter }

func (w withoutRanges) WriteHeader(status int) {
	w.Header().Set("Accept-Ranges", "none")
	w.ResponseWriter.WriteHeader(status)
}

// Reads reports whether the method of a request is GET or HEAD. It answers other
// requests with 405.
func Reads(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	return false
}
