package agentstxt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"
)

// NewHandler serves a policy at /agents.txt to GET and HEAD requests, and
// nothing anywhere else. It refuses to come into being with a file that clients
// would have to treat as malformed (section 8): the error is that of [Parse].
//
// The file is served whole, as UTF-8 text/plain, with a validator and a lifetime
// of one hour. The handler may be called from several goroutines at once.
func NewHandler(file []byte) (http.Handler, error) {
	if _, err := Parse(file); err != nil {
		return nil, err
	}
	digest := sha256.Sum256(file)
	return &handler{file: bytes.Clone(file), etag: `"` + hex.EncodeToString(digest[:16]) + `"`}, nil
}

type handler struct {
	file []byte
	etag string
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	switch {
	case r.URL.EscapedPath() != policyPath:
		http.NotFound(w, r)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "max-age=3600")
	w.Header().Set("ETag", h.etag)
	whole := r.Clone(r.Context())
	whole.Header.Del("Range") // a part of a policy is no policy
	http.ServeContent(w, whole, "", time.Time{}, bytes.NewReader(h.file))
}
