package agentstxt

import (
	"net/http"

	"github.com/lookleap/lookleap/internal/serve"
)

// NewHandler returns a handler that serves a policy at /agents.txt to GET and HEAD
// requests, and nothing at any other path. It returns the error of [Parse] for a
// file that clients would have to treat as malformed (section 8).
//
// The file is served whole, as UTF-8 text/plain, with an ETag and a lifetime of
// one hour. The handler may be called from several goroutines at once.
func NewHandler(file []byte) (http.Handler, error) {
	if _, err := Parse(file, Options{}); err != nil {
		return nil, err
	}
	policy := serve.New(file, "text/plain; charset=utf-8")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.EscapedPath() != policyPath {
			http.NotFound(w, r)
			return
		}
		policy.ServeHTTP(w, r)
	}), nil
}
