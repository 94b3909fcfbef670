package roundtrip

import (
	"context"
	"net/http"
)

// noteKey is the context key of a note.
type noteKey struct{}

// Annotate adds what a transport says about a response to the context of its request. [Do] keeps
// it, although it puts the caller's request in the place of the transport's.
func Annotate(resp *http.Response, note any) {
	if resp.Request != nil {
		resp.Request = resp.Request.WithContext(context.WithValue(resp.Request.Context(), noteKey{}, note))
	}
}

// Note returns what was added with [Annotate], nil if nothing was. The context is that of the
// response's request.
func Note(ctx context.Context) any { return ctx.Value(noteKey{}) }
