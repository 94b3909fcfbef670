package agent

import (
	"context"
	"time"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
)

// Party is somebody who speaks in a document: the serving domain, or a site that
// the document claims to speak for.
type Party struct {
	Domain        string                   // normalised
	Serving       bool                     // it delivered the document
	Tier          anmltrust.Tier           // of the serving party for this domain
	Authorization *anmltrust.Authorization // nil: Tier 0
	Err           error                    // why it is Tier 0, or nil
	form          anmltrust.Form
	site          anml.Site // whose sections these are
}

// identify finds out who speaks in the document and verifies every claim
// (sections 12.1 to 12.8), within the document's budget of requests.
func (p *Page) identify(ctx context.Context) error {
	// owner: identity. Stub: nobody is verified.
	return nil
}

// owner tells whose a section of a site in this document is at a time: the
// domain that speaks, and how far it counts. Dropped sections are not used.
func (p *Page) owner(site anml.Site, section anmltrust.Section, now time.Time) (Party, anmltrust.Attribution) {
	return Party{}, anmltrust.Dropped // owner: identity
}
