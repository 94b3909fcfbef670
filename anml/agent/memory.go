package agent

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// How long a 404 at a place of discovery counts. Its own lifetime is clamped to these
// bounds; without one it counts for the session, but at most for the longest time
// (section 6.5.1).
const (
	leastAbsent = time.Minute
	mostAbsent  = 24 * time.Hour
)

// maxRemembered bounds the URLs that a session remembers; those least recently used
// are forgotten first.
const maxRemembered = 1024

// The prefixes of keys in the store. A URL or an origin follows.
const (
	keyGone  = "gone/"
	keyMoved = "moved/"
)

// documentMemory remembers where ANML documents are and are not (section 6.5.1). A 404 counts
// for this session. A 410 and a permanent redirect are kept in the user's store, and
// count for 30 days.
type documentMemory struct {
	session *Session

	mu     sync.Mutex
	closed *simplelru.LRU[string, blockedURL]    // by URL
	moved  *simplelru.LRU[string, rememberedURL] // by origin: where its well-known URI leads
}

// blockedURL is why a URL is not requested for a while.
type blockedURL struct {
	why   lookleap.Error
	until time.Time // zero: as long as the session lasts
}

// rememberedURL is the URL of a document, and when it was last seen there.
type rememberedURL struct {
	URL string    `json:"url,omitempty"`
	At  time.Time `json:"at"`
}

func newDocumentMemory(s *Session) (*documentMemory, error) {
	m := &documentMemory{session: s}
	m.closed, _ = simplelru.NewLRU[string, blockedURL](maxRemembered, nil) // fails for sizes below 1 only
	m.moved, _ = simplelru.NewLRU[string, rememberedURL](maxRemembered, nil)
	return m, nil
}

// refuses returns an error if a URL must not be requested now, also if the store cannot
// say whether it is gone for good.
func (m *documentMemory) refuses(ctx context.Context, u domain.URL) error {
	now := m.session.now()
	m.mu.Lock()
	c, known := m.closed.Get(u.String())
	over := known && !c.until.IsZero() && !now.Before(c.until)
	if over {
		m.closed.Remove(u.String())
	}
	m.mu.Unlock()
	if over && c.why.Code == CodeGone { // the record in the store may not know that the clock was set back
		m.session.report(ctx, u.WithoutQuery(), lookleap.CodeIO, m.session.store().Delete(ctx, keyGone+u.String()))
		return nil
	}
	if known && !over {
		return c.err(now)
	}
	// Another session may have been asked to come back later. If the Limiter fails, the
	// document is requested: reading is not limited otherwise.
	switch wait, err := m.session.agent.host.Wait(ctx, digestKey(limitDocument, u.String()), lookleap.Rate{}); {
	case err != nil:
		m.session.report(ctx, u.WithoutQuery(), lookleap.CodeOf(err), err)
	case wait > 0:
		return tooSoon(u.WithoutQuery(), wait, nil)
	}
	tomb, ok, err := m.stored(ctx, keyGone+u.String())
	switch {
	case err != nil:
		return &lookleap.Error{Code: lookleap.CodeIO, Subject: u.WithoutQuery(),
			Message: "whether the document is gone for good could not be looked up", Err: err}
	case ok && m.holds(tomb):
		return goneError(u)
	case ok:
		m.session.report(ctx, u.WithoutQuery(), lookleap.CodeIO, m.session.store().Delete(ctx, keyGone+u.String()))
	}
	return nil
}

// err returns the error of a request that is not made. It says how long to wait if the response
// said so.
func (c blockedURL) err(now time.Time) error {
	e, response := c.why, responseBehind(&c.why)
	if response.RetryAfter > 0 {
		response.RetryAfter = c.until.Sub(now)
	}
	e.Err = &lookleap.ResponseError{Status: response.Status, RetryAfter: response.RetryAfter}
	return &e
}

// holds reports whether a place from the store still counts.
func (m *documentMemory) holds(p rememberedURL) bool {
	return m.session.now().Before(p.At.Add(tombstone))
}

// mostMoved is how long a permanent redirect of a well-known URI is followed without
// asking the origin again. An origin that removes its redirect takes effect within a
// day.
const mostMoved = 24 * time.Hour

// recent reports whether an origin was asked within mostMoved. A time in the future
// does not count, since the clock was set back.
func (m *documentMemory) recent(p rememberedURL) bool {
	now := m.session.now()
	return now.Before(p.At.Add(mostMoved)) && !p.At.After(now)
}

func goneError(u domain.URL) *lookleap.Error {
	return &lookleap.Error{Code: CodeGone, Subject: u.WithoutQuery(), Err: &lookleap.ResponseError{Status: http.StatusGone}}
}

// close remembers not to request a URL until a time; zero means in this session.
func (m *documentMemory) close(u domain.URL, why error, until time.Time) {
	c := blockedURL{lookleap.Error{Code: lookleap.CodeOf(why), Err: why}, until}
	var e *lookleap.Error
	if errors.As(why, &e) {
		c.why.Subject, c.why.Message = e.Subject, e.Message
	}
	response := responseBehind(why)
	c.why.Err = &lookleap.ResponseError{Status: response.Status, RetryAfter: response.RetryAfter}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed.Add(u.String(), c)
}

// moveBack moves all times back, as the clock was.
func (m *documentMemory) moveBack(by time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, url := range m.closed.Keys() {
		if c, _ := m.closed.Peek(url); !c.until.IsZero() {
			c.until = c.until.Add(-by)
			m.closed.Add(url, c)
		}
	}
	for _, origin := range m.moved.Keys() {
		p, _ := m.moved.Peek(origin)
		p.At = p.At.Add(-by)
		m.moved.Add(origin, p)
	}
}

// absent remembers a 404 at a place of discovery.
func (m *documentMemory) absent(u domain.URL, f *fetch.Freshness, why error) {
	m.close(u, why, f.Until(leastAbsent, mostAbsent, mostAbsent))
}

// unavailable remembers a page whose server is busy and did not say until when. The
// session does not request it again by itself (section 11.3).
func (m *documentMemory) unavailable(u domain.URL, err error) {
	said := responseBehind(err)
	busy := said.Status == http.StatusTooManyRequests || said.Status == http.StatusServiceUnavailable
	if busy && said.RetryAfter == 0 && unusedBehind(err).response != nil && !isWellKnown(u) {
		m.close(u, err, time.Time{})
	}
}

// gone stores a 410 that an https server returned for its own URL.
func (m *documentMemory) gone(ctx context.Context, u domain.URL) error {
	now := m.session.now()
	m.close(u, goneError(u), now.Add(tombstone))
	return m.put(ctx, keyGone+u.String(), rememberedURL{At: now})
}

// movedTo returns the target of the permanent redirect of an origin's well-known URI.
func (m *documentMemory) movedTo(ctx context.Context, origin string) (domain.URL, bool, error) {
	m.mu.Lock()
	p, ok := m.moved.Get(origin)
	m.mu.Unlock()
	if !ok {
		var err error
		if p, ok, err = m.stored(ctx, keyMoved+origin); err != nil {
			return domain.URL{}, false, &lookleap.Error{Code: lookleap.CodeIO, Subject: origin,
				Message: "where the document moved could not be looked up", Err: err}
		}
	}
	u, err := domain.Parse(p.URL)
	if ok && (err != nil || !m.holds(p) || !m.recent(p)) {
		m.unmove(ctx, origin)
		ok = false
	}
	return u, ok, nil
}

// move remembers where an origin's document moved: the end of the leading permanent
// redirects (section 6.5.1). Without them nothing changes. Redirects over plain http do
// not count.
func (m *documentMemory) move(ctx context.Context, origin string, hops []fetch.Hop, at time.Time) {
	var to domain.URL
	for _, h := range hops {
		if !h.Permanent() || h.From.Scheme() != "https" {
			break
		}
		to = h.To
	}
	if to.IsZero() {
		return
	}
	p := rememberedURL{URL: to.String(), At: at}
	m.mu.Lock()
	before, _ := m.moved.Get(origin)
	m.moved.Add(origin, p)
	m.mu.Unlock()
	if before != p { // a page in memory says nothing new
		m.session.report(ctx, origin, lookleap.CodeIO, m.put(ctx, keyMoved+origin, p))
	}
}

// unmove forgets where an origin's document moved.
func (m *documentMemory) unmove(ctx context.Context, origin string) {
	m.mu.Lock()
	m.moved.Remove(origin)
	m.mu.Unlock()
	m.session.report(ctx, origin, lookleap.CodeIO, m.session.store().Delete(ctx, keyMoved+origin))
}

// forget forgets everything about an origin, in the store too.
func (m *documentMemory) forget(ctx context.Context, origin string) error {
	m.mu.Lock()
	m.moved.Remove(origin)
	for _, url := range m.closed.Keys() {
		if strings.HasPrefix(url, origin+"/") {
			m.closed.Remove(url)
		}
	}
	m.mu.Unlock()
	store := m.session.store()
	keys, err := store.Keys(ctx, keyGone+origin+"/")
	for _, key := range append(keys, keyMoved+origin) {
		if strings.HasPrefix(key, keyGone+origin+"/") || key == keyMoved+origin {
			err = errors.Join(err, store.Delete(ctx, key))
		}
	}
	return err
}

// stored reads a place from the store. A damaged record counts as one that was written
// now.
func (m *documentMemory) stored(ctx context.Context, key string) (p rememberedURL, ok bool, err error) {
	data, err := m.session.store().Get(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return rememberedURL{}, false, nil
	}
	if err != nil {
		return rememberedURL{}, false, err
	}
	now := m.session.now()
	if err := strictjson.Decode(data, &p); err != nil || p.At.IsZero() || p.At.After(now) {
		p.At = now
		m.session.report(ctx, key, lookleap.CodeIO, m.put(ctx, key, p)) // otherwise it would never expire
	}
	return p, true, nil
}

func (m *documentMemory) put(ctx context.Context, key string, p rememberedURL) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return put(ctx, m.session.store(), key, data)
}
