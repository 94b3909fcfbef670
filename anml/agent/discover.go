package agent

import (
	"context"
	"time"

	"github.com/lookleap/lookleap"
)

// wellKnownPath is where discovery begins (section 16.2).
const wellKnownPath = "/.well-known/anml"

// Attempt is one place where a document was looked for (section 6.5).
type Attempt struct {
	Time   time.Time     `json:"time"`
	Source Source        `json:"source"`
	URL    string        `json:"url"`
	Code   lookleap.Code `json:"code"`             // how it ended; ok: a document was found
	Status int           `json:"status,omitempty"` // HTTP status, 0 where nothing was asked or answered
}

// Source is what pointed to a place where a document may be.
type Source string

// The sources, in the order in which they are tried.
const (
	SourceMoved      Source = "moved"      // a permanent redirect of the well-known URI, seen before
	SourceWellKnown  Source = "well-known" // 6.5.1
	SourceLinkHeader Source = "link"       // 6.5.2
	SourceHTML       Source = "html"       // 6.5.3
	SourceDNS        Source = "dns"        // 6.5.4
)

func (s *Session) discover(ctx context.Context, origin string) (*Page, error) {
	base, err := s.parseURL(origin)
	if err != nil {
		return nil, err
	}
	u, err := base.Resolve(wellKnownPath)
	if err != nil {
		return nil, fail(origin, err, "the origin has no well-known URI")
	}
	return s.retrieve(ctx, u, arrival{requested: u.String(), wellKnown: true})
}
