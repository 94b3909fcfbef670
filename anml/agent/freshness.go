package agent

import (
	"net/http"
	"strings"
	"time"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
)

// openedBy works out how a document came.
func (a *Agent) openedBy(r *fetch.Response, from arrival, doc *anml.Document) opened {
	o := opened{
		requested: from.requested,
		wellKnown: from.wellKnown && strings.HasPrefix(from.requested, "https:") && stayed(r.Hops),
		insecure:  r.URL.Scheme() != "https" || !r.Conn.Reported(),
		received:  r.Received,
		base:      r.Received.Add(-r.Freshness.Age),
		hops:      r.Hops,
	}
	for _, name := range []string{"Accept-Patch", "Alternates"} {
		o.offersJSON = o.offersJSON || strings.Contains(strings.ToLower(strings.Join(r.Header.Values(name), ",")), anml.MediaTypeJSON)
	}
	o.noStore = r.Freshness.NoStore || o.insecure
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

// keepable reports whether a page may be used again at all: a complete answer of a
// known server, for which nobody forbids it, at the place where it was asked for
// or was moved to for good, by redirects that may be kept themselves. A document
// with content of usage none is shown now and not kept (section 14.4).
func (p *Page) keepable(r *fetch.Response) bool {
	for _, h := range r.Hops {
		if !h.Permanent() {
			return false
		}
	}
	return r.Status == http.StatusOK && !p.opened.noStore && p.doc.LowestUsage() > anml.UsageNone
}

// usable is until when a page may be used without asking, and until when it may
// be used while it is asked for once more (section 8.1.1). Where the answer
// depends on something that a Fetcher may add to our requests, and where it says
// no-cache, it is always asked for first.
func (p *Page) usable(r *fetch.Response) (fresh, stale time.Time) {
	f, o := &r.Freshness, p.session.agent.options
	if f.NoCache || varies(r.Header) {
		return time.Time{}, time.Time{}
	}
	latest := p.opened.received.Add(o.Limits.Lifetime)
	fresh = earlier(p.opened.base.Add(p.opened.lifetime), latest)
	stale = fresh
	shared := o.SharedCache && f.SMaxAge.Given // which forbids stale use (RFC 9111 section 5.2.2.10)
	if f.StaleWhileRevalidate.Given && f.Stated && !f.MustRevalidate && !shared {
		stale = earlier(p.opened.base.Add(f.Lifetime+f.StaleWhileRevalidate.Value), latest)
		if ttl, ok := p.doc.TTL(); ok {
			stale = earlier(stale, p.opened.base.Add(ttl))
		}
	}
	return fresh, stale
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// varies reports whether an answer depends on more than what is the same in all
// our requests for documents.
func varies(h http.Header) bool {
	for _, line := range h.Values("Vary") {
		for name := range strings.SplitSeq(line, ",") {
			switch strings.ToLower(strings.Trim(name, " \t")) {
			case "", "accept", "accept-encoding", "accept-language", "user-agent", "origin":
			default:
				return true
			}
		}
	}
	return false
}
