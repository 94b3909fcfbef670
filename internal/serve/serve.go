// Package serve answers requests for the fixed documents that the handlers of
// this module publish: policies, skills, manifests, key sets. All of them give
// the same answers, so it is one implementation.
//
// A document is served whole, to GET and HEAD alone, with a strong ETag. A Range
// is ignored, because part of a signed or hashed document is not a document.
package serve

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"time"
)

// Document is one file and its header. It must not change once it is served.
type Document struct {
	// Header is sent with every answer that holds or confirms the document. New
	// fills it in; the caller may add fields and change them.
	Header http.Header

	content []byte
}

// New returns a document with its media type, an ETag, and a header that keeps
// browsers from guessing at the type and from running anything. The content is
// copied. Clients may keep it for an hour; [Document.Keep] changes that.
func New(content []byte, mediaType string) *Document {
	sum := sha256.Sum256(content)
	d := &Document{content: bytes.Clone(content), Header: http.Header{}}
	d.Header.Set("Content-Type", mediaType)
	d.Header.Set("ETag", `"`+base64.RawURLEncoding.EncodeToString(sum[:12])+`"`)
	d.Header.Set("X-Content-Type-Options", "nosniff")
	d.Header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	d.Header.Set("Referrer-Policy", "no-referrer")
	d.Keep(time.Hour)
	return d
}

// Keep sets how long clients may keep the document.
func (d *Document) Keep(age time.Duration) {
	d.Header.Set("Cache-Control", MaxAge(age))
}

// MaxAge returns the Cache-Control directive for a lifetime.
func MaxAge(age time.Duration) string { return fmt.Sprintf("max-age=%d", int(age/time.Second)) }

// ServeHTTP answers one request. It does not change the request: what comes after
// a handler, such as a log, sees it as it came.
func (d *Document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !Reads(w, r) {
		return
	}
	for name, values := range d.Header {
		w.Header()[name] = values
	}
	whole := *r
	whole.Header = r.Header.Clone()
	whole.Header.Del("Range")
	http.ServeContent(w, &whole, "", time.Time{}, bytes.NewReader(d.content))
}

// Reads reports whether a request only reads. If it does not, Reads answers it.
func Reads(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	return false
}
