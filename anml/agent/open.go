package agent

import (
	"context"
	"errors"

	"github.com/lookleap/lookleap/internal/fetch"
)

func (s *Session) open(ctx context.Context, url string) (*Page, error) {
	return nil, errors.New("anml/agent: not built yet") // owner: open
}

// arrival is what newPage has to know about an answer beside the answer itself.
type arrival struct {
	requested string // the URL asked for first
	wellKnown bool   // it was /.well-known/anml
	action    bool   // it answers an action: no generic media types, never stored
	siteRef   bool   // it was read through a site-ref: its own site-refs are not followed
}

// newPage reads an answer as a document, finds out who speaks in it, and lets
// the session's context receive what it tells.
func (s *Session) newPage(ctx context.Context, r *fetch.Response, a arrival) (*Page, error) {
	return nil, errors.New("anml/agent: not built yet") // owner: open
}
