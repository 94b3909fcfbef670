package agentstxt

import (
	"net/http"

	"github.com/lookleap/lookleap/internal/serve"
)

// NewHandler returns a handler that serves a policy. Mount it at /agents.txt; it
// answers 404 at any other path. It returns the error of [Parse] for a file that
// clients would treat as malformed (section 8).
//
// It answers GET and HEAD with the whole file as UTF-8 text/plain, which clients may
// cache for an hour.
func NewHandler(file []byte) (http.Handler, error) {
	if _, err := Parse(file, Options{}); err != nil {
		return nil, err
	}
	return serve.Documents{policyPath: serve.New(file, "text/plain; charset=utf-8")}, nil
}
