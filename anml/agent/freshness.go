package agent

import (
	"time"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
)

// openedBy works out how a document came.
func (a *Agent) openedBy(r *fetch.Response, from arrival, doc *anml.Document) opened {
	o := opened{
		requested: from.requested,
		wellKnown: from.wellKnown && r.URL.Scheme() == "https" && stayed(r.Hops),
		insecure:  r.URL.Scheme() != "https",
		received:  r.Received,
		base:      r.Received.Add(-r.Freshness.Age),
		noStore:   r.Freshness.NoStore,
	}
	o.lifetime, o.limited = lifetime(&r.Freshness, doc, a.options.SharedCache)
	if values := r.Header.Values("Accept"); len(values) == 1 {
		if f, ok := anml.Negotiate(values[0]); ok && values[0] != "" {
			o.accept = &f
		}
	}
	return o
}

// stayed reports whether redirects never left the registrable domain.
func stayed(hops []fetch.Hop) bool {
	for _, h := range hops {
		if registrable(h.From) != registrable(h.To) {
			return false
		}
	}
	return true
}

// registrable is the registrable domain of a URL's host, or the host where it
// has none.
func registrable(u domain.URL) string {
	if d, ok := domain.Registrable(u.Host()); ok {
		return d
	}
	return u.Host()
}

// lifetime is how long HTTP and the document allow a document to be used, counted
// from its base: the smaller one, and whether either said anything (section 8.1.1).
func lifetime(f *fetch.Freshness, doc *anml.Document, shared bool) (time.Duration, bool) {
	life, limited := f.Lifetime, f.Stated
	if shared && f.SMaxAge.Given {
		life, limited = f.SMaxAge.Value, true
	}
	if ttl, ok := doc.TTL(); ok && (!limited || ttl < life) {
		life, limited = ttl, true
	}
	if f.NoCache {
		return 0, true
	}
	return life, limited
}
