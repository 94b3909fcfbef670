package agent

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/flight"
)

// pages keeps the opened pages of one session as HTTP and the documents allow
// (section 8.1.1). It is memory and ends with the session; documents are never
// kept anywhere else, so that content which may not be stored is not.
type pages struct {
	session *Session

	mu      sync.Mutex
	flights *flight.Group[string, *Page]  // another one whenever pages are forgotten
	kept    *simplelru.LRU[string, *kept] // by the URL asked for
	octets  int                           // of their documents
}

// kept is a page that may be used again, as long as its times allow.
type kept struct {
	page   *Page
	header http.Header     // of its answer, for the next one that says it is unchanged
	known  fetch.Validator // to ask whether it changed
	fresh  time.Time       // until when it is used without asking
	stale  time.Time       // until when it is used while it is asked for once more
	asked  bool            // it is being asked for, or was: guarded by pages.mu
	steps  uint64          // of the clock: after a further step it is not used without asking
}

func newPages(s *Session) *pages {
	p := &pages{session: s}
	p.leaveBehind()
	// An error would be about a size below 1.
	p.kept, _ = simplelru.NewLRU(s.agent.options.Limits.CachedPages, func(_ string, k *kept) { p.octets -= k.page.opened.octets })
	return p
}

// close forgets all pages; none is kept once the session's life has ended.
func (p *pages) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept.Purge()
}

// get gives the document at a URL: from memory where that is allowed, or by one
// exchange however many callers ask.
func (p *pages) get(ctx context.Context, u domain.URL) (*Page, error) {
	if err := p.over(ctx, u); err != nil {
		return nil, err
	}
	page, again := p.use(u.String(), p.session.now())
	if again {
		go p.load(context.WithoutCancel(ctx), u)
	}
	if page != nil {
		return page, nil
	}
	return p.load(ctx, u)
}

// use finds a page that may be used now, and whether it should be asked for again
// beside that.
func (p *pages) use(url string, now time.Time) (page *Page, again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, ok := p.kept.Get(url)
	switch {
	case !ok || k.steps != p.session.clock.Steps():
		return nil, false
	case now.Before(k.fresh):
		return k.page, false
	case now.Before(k.stale):
		again, k.asked = !k.asked, true
		return k.page, again
	}
	return nil, false
}

// freshAt is a page in memory that may be used without asking anybody.
func (p *pages) freshAt(u domain.URL, now time.Time) *Page {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k, ok := p.kept.Get(u.String()); ok && now.Before(k.fresh) && k.steps == p.session.clock.Steps() {
		return k.page
	}
	return nil
}

// load asks for a document, once for all who wait for it. It ends with the session.
func (p *pages) load(ctx context.Context, u domain.URL) (*Page, error) {
	page, err := p.underWay().Do(ctx, u.String(), func(ctx context.Context) (*Page, error) {
		ctx, done, err := p.session.life.during(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		return p.session.retrieve(ctx, u)
	})
	if err == nil {
		return page, nil
	}
	if over := p.over(ctx, u); over != nil {
		return nil, over
	}
	if _, ours := err.(*lookleap.Error); ours {
		return nil, err
	}
	return nil, fail(u.String(), err, "the document could not be retrieved")
}

// over is why nothing more is asked for: the session is closed, or the caller left.
func (p *pages) over(ctx context.Context, u domain.URL) error {
	if p.session.life.ended() {
		return closedError(shown(u))
	}
	return ended(ctx, shown(u))
}

// old is the page kept for a URL, whatever its age.
func (p *pages) old(u domain.URL) *kept {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, _ := p.kept.Peek(u.String())
	return k
}

// validator is what the page is known by; the zero value for no page.
func (k *kept) validator() fetch.Validator {
	if k == nil {
		return fetch.Validator{}
	}
	return k.known
}

// confirmed makes the answer that a page would have come with if it had been sent
// once more: its own, with what "304 Not Modified" says newly (RFC 9111 section
// 4.3.4). Nil when the 304 is about something else.
func (k *kept) confirmed(r *fetch.Response, sent time.Time) *fetch.Response {
	if !k.validator().Confirms(r) {
		return nil
	}
	header := k.header.Clone()
	header.Del("Age")
	header.Del("Date")
	for name, values := range r.Header {
		if !strings.HasPrefix(name, "Content-") {
			header[name] = values
		}
	}
	again := *r
	again.Status, again.Header = http.StatusOK, header
	again.Freshness = fetch.ParseFreshness(header, sent, r.Received)
	for _, hop := range r.Hops {
		again.Freshness = again.Freshness.Strictest(hop.Freshness)
	}
	return &again
}

// underWay is what callers may still join.
func (p *pages) underWay() *flight.Group[string, *Page] {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.flights
}

// begun is what was so when a page began to be loaded. If it changes before the
// page arrives, the page is not kept.
type begun struct {
	flights *flight.Group[string, *Page]
	steps   uint64 // of the clock
}

func (p *pages) begin() begun {
	p.session.now() // sees a step that came before
	return begun{p.underWay(), p.session.clock.Steps()}
}

// keep keeps a page, or drops the one that it replaces.
func (p *pages) keep(u domain.URL, page *Page, r *fetch.Response, from begun) {
	k := &kept{page: page, header: r.Header, known: r.Validator(), steps: from.steps}
	k.fresh, k.stale = page.usable(r)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flights != from.flights {
		return // a load that began before the page was forgotten replaces nothing
	}
	p.kept.Remove(u.String())
	if p.session.life.ended() || !page.keepable(r) || !page.opened.received.Before(k.stale) && !k.validated() {
		return
	}
	p.octets += page.opened.octets
	p.kept.Add(u.String(), k)
	for p.octets > p.session.agent.options.Limits.CachedOctets {
		p.kept.RemoveOldest()
	}
}

// validated reports whether it can be asked whether the page changed.
func (k *kept) validated() bool { return k.known != (fetch.Validator{}) }

// drop forgets a page.
func (p *pages) drop(u domain.URL) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept.Remove(u.String())
}

// leaveBehind lets pages that are being loaded go to those who already wait for
// them, and to no one else. The caller holds the lock.
func (p *pages) leaveBehind() { p.flights = new(flight.Group[string, *Page]) }

// forget forgets the pages of an origin.
func (p *pages) forget(origin string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaveBehind()
	for _, url := range p.kept.Keys() {
		if strings.HasPrefix(url, origin+"/") {
			p.kept.Remove(url)
		}
	}
}

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
