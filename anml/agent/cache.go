package agent

import (
	"context"
	"net/http"
	"slices"
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

// pageCache caches the opened pages of one session as HTTP and the documents allow (section
// 8.1.1). It ends with the session. Documents are cached only here, in memory, because
// some of their content must not be stored.
type pageCache struct {
	session *Session

	mu      sync.Mutex
	flights *flight.Group[string, *Page]        // replaced when pages are forgotten
	kept    *simplelru.LRU[string, *cachedPage] // by requested URL
	size    int                                 // bytes of their documents
}

type cachedPage struct {
	page   *Page
	header http.Header     // of its response, for a later 304
	known  fetch.Validator // for the conditional request
	fresh  time.Time       // until when it is used without a request
	stale  time.Time       // until when it is used while it is requested again
	asked  bool            // it is or was requested again: guarded by pages.mu
	steps  uint64          // of the clock: after another step it is not used without a request
}

func newPageCache(s *Session) *pageCache {
	p := &pageCache{session: s, flights: new(flight.Group[string, *Page])}
	// An error would be about a size below 1.
	p.kept, _ = simplelru.NewLRU(maxCachedPages, func(_ string, k *cachedPage) { p.size -= k.page.opened.size })
	return p
}

// close deletes all pages. Nothing is cached after the session has ended.
func (p *pageCache) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept.Purge()
}

// get returns the document at a URL: from the cache if that is allowed, otherwise by
// one request that concurrent callers share.
func (p *pageCache) get(ctx context.Context, u domain.URL) (*Page, error) {
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

// use returns a page that may be used now, and whether it should be requested again in
// the background.
func (p *pageCache) use(url string, now time.Time) (page *Page, again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, _ := p.kept.Get(url)
	if !p.current(k) || !now.Before(k.stale) && !now.Before(k.fresh) {
		return nil, false
	}
	if !now.Before(k.fresh) {
		again, k.asked = !k.asked, true
	}
	return k.page, again
}

// current reports whether a page was cached, and the clock was not set back since.
func (p *pageCache) current(k *cachedPage) bool {
	return k != nil && k.steps == p.session.clock.Steps()
}

// freshAt returns a cached page that may be used without a request, or nil.
func (p *pageCache) freshAt(u domain.URL, now time.Time) *Page {
	if k := p.old(u); p.current(k) && now.Before(k.fresh) {
		return k.page
	}
	return nil
}

// load requests a document, once for all concurrent callers. It ends with the session.
func (p *pageCache) load(ctx context.Context, u domain.URL) (*Page, error) {
	page, err := p.begin().flights.Do(ctx, u.String(), func(ctx context.Context) (*Page, error) {
		ctx, done, err := p.session.during(ctx)
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

// over returns an error if the session is closed or the caller left.
func (p *pageCache) over(ctx context.Context, u domain.URL) error {
	if p.session.life.ended() {
		return closedError(u.WithoutQuery())
	}
	return ended(ctx, u.WithoutQuery())
}

// old returns the page cached for a URL, of any age, or nil.
func (p *pageCache) old(u domain.URL) *cachedPage {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, _ := p.kept.Peek(u.String())
	return k
}

// confirmed returns the page's response with the header fields that "304 Not Modified"
// updates (RFC 9111 section 4.3.4). It returns nil if the 304 is about another
// representation.
func (k *cachedPage) confirmed(r *fetch.Response, sent time.Time) *fetch.Response {
	if k == nil || !k.known.Confirms(r) {
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

// loadState is the state when a request began. If it changes before the page arrives, the
// page is not cached.
type loadState struct {
	flights *flight.Group[string, *Page]
	steps   uint64 // of the clock
}

func (p *pageCache) begin() loadState {
	p.session.now() // notices earlier steps of the clock
	p.mu.Lock()
	defer p.mu.Unlock()
	return loadState{p.flights, p.session.clock.Steps()}
}

// keep caches a page if that is allowed, and drops the one that it replaces.
func (p *pageCache) keep(u domain.URL, page *Page, r *fetch.Response, from loadState) {
	k := &cachedPage{page: page, header: r.Header, known: r.Validator(), steps: from.steps}
	k.fresh, k.stale = page.usable(r)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flights != from.flights {
		return // the pages were forgotten after this request began
	}
	p.kept.Remove(u.String())
	if p.session.life.ended() || !page.keepable(r) || !page.opened.received.Before(k.stale) && k.known == (fetch.Validator{}) {
		return
	}
	p.size += page.opened.size
	p.kept.Add(u.String(), k)
	for p.size > maxCachedBytes {
		p.kept.RemoveOldest()
	}
}

func (p *pageCache) drop(u domain.URL) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept.Remove(u.String())
}

// forget deletes the pages at some URLs, and returns how many these were. The pages of running requests
// go only to their present callers.
func (p *pageCache) forget(which func(url string, page *Page) bool) (pages int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flights = new(flight.Group[string, *Page])
	for _, url := range p.kept.Keys() {
		if k, ok := p.kept.Peek(url); ok && which(url, k.page) {
			p.kept.Remove(url)
			pages++
		}
	}
	return pages
}

// openedBy returns how a document was received.
func (a *Agent) openedBy(r *fetch.Response, from requestOrigin, doc *anml.Document) opened {
	o := opened{
		requested: from.requested,
		wellKnown: from.wellKnown && stayed(r.Hops),
		insecure:  !r.Conn.Reported(),
		received:  r.Received,
		base:      r.Received.Add(-r.Freshness.Age),
		hops:      r.Hops,
	}
	o.noStore = r.Freshness.NoStore || o.insecure
	o.lifetime, o.limited = lifetime(&r.Freshness, doc)
	if f, ok := wants(r.Header); ok && len(r.Header.Values("Accept")) == 1 {
		o.accept = &f
	}
	return o
}

// stayed reports whether redirects never left the registrable domain.
func stayed(hops []fetch.Hop) bool {
	return !slices.ContainsFunc(hops, func(h fetch.Hop) bool { return registrable(h.From.Host()) != registrable(h.To.Host()) })
}

// lifetime returns the smaller one of the lifetimes that HTTP and the document state,
// counted from opened.base, and whether either states one (section 8.1.1).
func lifetime(f *fetch.Freshness, doc *anml.Document) (time.Duration, bool) {
	life, limited := f.Lifetime, f.Stated
	if ttl, ok := doc.TTL(); ok && (!limited || ttl < life) {
		life, limited = ttl, true
	}
	if f.NoCache {
		return 0, true
	}
	return life, limited
}

// keepable reports whether a page may be cached at all: it is a complete response of a
// verified server without no-store, reached without temporary redirects. A document
// with content of usage "none" is not cached (section 14.4).
func (p *Page) keepable(r *fetch.Response) bool {
	temporary := slices.ContainsFunc(r.Hops, func(h fetch.Hop) bool { return !h.Permanent() })
	return !temporary && r.Status == http.StatusOK && !p.opened.noStore && p.doc.LowestUsage() > anml.UsageNone
}

// usable returns until when a page may be used without a request, and until when it may
// be used while it is requested again (section 8.1.1). Both are zero if the response
// says no-cache, or varies by a header field that a Fetcher may add.
func (p *Page) usable(r *fetch.Response) (fresh, stale time.Time) {
	f := &r.Freshness
	if f.NoCache || varies(r.Header) {
		return time.Time{}, time.Time{}
	}
	latest := p.opened.received.Add(maxCachedFor)
	fresh = fetch.Earlier(p.opened.base.Add(p.opened.lifetime), latest)
	stale = fresh
	if f.StaleWhileRevalidate.Given && f.Stated && !f.MustRevalidate {
		stale = fetch.Earlier(p.opened.base.Add(f.Lifetime+f.StaleWhileRevalidate.Value), latest)
		if ttl, ok := p.doc.TTL(); ok {
			stale = fetch.Earlier(stale, p.opened.base.Add(ttl))
		}
	}
	return fresh, stale
}

// varies reports whether a response depends on header fields that may differ between
// two requests for documents.
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
