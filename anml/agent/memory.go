package agent

import (
	"bytes"
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

// How long a 404 at a place of discovery counts. Its own lifetime is clamped to these bounds;
// without one it counts for the session, but at most for the longest time (section 6.5.1).
const (
	leastAbsent = time.Minute
	mostAbsent  = 24 * time.Hour
)

// mostMoved is how long a permanent redirect of a well-known URI is followed without asking the
// origin again. An origin that removes its redirect takes effect within a day.
const mostMoved = 24 * time.Hour

// maxRemembered bounds the URLs that a session remembers; those least recently used are forgotten
// first.
const maxRemembered = 1024

// The prefixes of keys in the store. A URL or an origin follows.
const (
	keyGone  = "gone/"
	keyMoved = "moved/"
)

// documentMemory remembers where ANML documents are and are not (section 6.5.1). A 404 counts for
// the session. A 410 and a permanent redirect are kept in the user's store.
type documentMemory struct {
	session *Session

	mu     sync.Mutex
	closed *simplelru.LRU[string, closedURL]
}

// closedURL is why a URL is not requested for a while.
type closedURL struct {
	why      lookleap.Error // without the error below it
	response lookleap.ResponseError
	until    time.Time // zero: as long as the session lasts
}

// place is a record of the store: the URL of a document, and when it was last seen there.
type place struct {
	URL string    `json:"url,omitempty"`
	At  time.Time `json:"at"`
}

func newDocumentMemory(s *Session) *documentMemory {
	closed, _ := simplelru.NewLRU[string, closedURL](maxRemembered, nil) // fails for sizes below 1 only
	return &documentMemory{session: s, closed: closed}
}

// refuses returns an error if a URL must not be requested now, also if the store cannot say whether
// it is gone for good.
func (m *documentMemory) refuses(ctx context.Context, u domain.URL) error {
	if err := m.closure(u); err != nil {
		return err
	}
	// Another session may have been asked to come back later. If the Limiter fails, the document is
	// requested: reading is not limited otherwise.
	s := m.session
	switch wait, err := s.agent.host.Wait(ctx, digestKey(limitDocument, u.String()), lookleap.Rate{}); {
	case err != nil:
		s.report(ctx, u.WithoutQuery(), lookleap.CodeOf(err), err)
	case wait > 0:
		return tooSoon(u.WithoutQuery(), wait, nil)
	}
	switch gone, err := m.isGone(ctx, u); {
	case err != nil:
		return &lookleap.Error{Code: lookleap.CodeIO, Subject: u.WithoutQuery(),
			Message: "whether the document is gone for good could not be looked up", Err: err}
	case gone:
		return goneError(u)
	}
	return nil
}

// closure returns why the session does not request a URL now, and how long to wait if the response
// said so.
func (m *documentMemory) closure(u domain.URL) error {
	now := m.session.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.closed.Get(u.String())
	if !ok {
		return nil
	}
	if !c.until.IsZero() && !now.Before(c.until) {
		m.closed.Remove(u.String())
		return nil
	}
	if c.response.RetryAfter > 0 {
		c.response.RetryAfter = c.until.Sub(now)
	}
	c.why.Err = &c.response
	return &c.why
}

// close remembers not to request a URL until a time; zero means in this session.
func (m *documentMemory) close(u domain.URL, why error, until time.Time) {
	c := closedURL{why: lookleap.Error{Code: lookleap.CodeOf(why)}, until: until}
	if e, ok := errors.AsType[*lookleap.Error](why); ok {
		c.why.Subject, c.why.Message = e.Subject, e.Message
	}
	said := responseBehind(why)
	c.response = lookleap.ResponseError{Status: said.Status, RetryAfter: said.RetryAfter}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed.Add(u.String(), c)
}

// adjustClock moves all times back, as the clock was.
func (m *documentMemory) adjustClock(by time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, url := range m.closed.Keys() {
		if c, _ := m.closed.Peek(url); !c.until.IsZero() {
			c.until = c.until.Add(-by)
			m.closed.Add(url, c)
		}
	}
}

// absent remembers a 404 at a place of discovery.
func (m *documentMemory) absent(u domain.URL, f *fetch.Freshness, why error) {
	m.close(u, why, f.Until(leastAbsent, mostAbsent, mostAbsent))
}

// unavailable remembers a page whose server is busy and did not say until when. The session does
// not request it again by itself (section 11.3).
func (m *documentMemory) unavailable(u domain.URL, err error) {
	said := responseBehind(err)
	busy := said.Status == http.StatusTooManyRequests || said.Status == http.StatusServiceUnavailable
	if busy && said.RetryAfter == 0 && unusedBehind(err).response != nil && !isWellKnown(u) {
		m.close(u, err, time.Time{})
	}
}

func goneError(u domain.URL) *lookleap.Error {
	return &lookleap.Error{Code: CodeGone, Subject: u.WithoutQuery(), Err: &lookleap.ResponseError{Status: http.StatusGone}}
}

// gone stores a 410 that a server returned for its own URL. It also counts in the session if
// the store fails.
func (m *documentMemory) gone(ctx context.Context, u domain.URL) error {
	now := m.session.now()
	m.close(u, goneError(u), now.Add(tombstone))
	return m.put(ctx, keyGone+u.String(), place{At: now})
}

// isGone reports whether the store has a 410 of a URL that still counts. One that is damaged, or
// from a time to come, counts as written now: otherwise it would never expire.
func (m *documentMemory) isGone(ctx context.Context, u domain.URL) (bool, error) {
	key, now := keyGone+u.String(), m.session.now()
	p, ok, err := m.stored(ctx, key)
	switch {
	case !ok:
		return false, err
	case p.At.IsZero() || p.At.After(now):
		err = m.put(ctx, key, place{At: now})
	case !now.Before(p.At.Add(tombstone)):
		ok, err = false, m.session.store.Delete(ctx, key)
	}
	m.session.report(ctx, u.WithoutQuery(), lookleap.CodeIO, err)
	return ok, nil
}

// movedTo returns the target of the permanent redirect of an origin's well-known URI. A record from
// a time to come does not count, since the clock was set back.
func (m *documentMemory) movedTo(ctx context.Context, origin string) (domain.URL, bool, error) {
	p, ok, err := m.stored(ctx, keyMoved+origin)
	if err != nil {
		return domain.URL{}, false, &lookleap.Error{Code: lookleap.CodeIO, Subject: origin,
			Message: "where the document moved could not be looked up", Err: err}
	}
	now := m.session.now()
	u, bad := domain.Parse(p.URL)
	if ok && (bad != nil || p.At.After(now) || !now.Before(p.At.Add(mostMoved))) {
		m.forgetMove(ctx, origin)
		ok = false
	}
	return u, ok, nil
}

// move remembers where an origin's document moved: the end of the leading permanent redirects
// (section 6.5.1). Without them nothing changes.
func (m *documentMemory) move(ctx context.Context, origin string, hops []fetch.Hop, at time.Time) {
	var to domain.URL
	for _, h := range hops {
		if !h.Permanent() {
			break
		}
		to = h.To
	}
	if !to.IsZero() {
		m.session.report(ctx, origin, lookleap.CodeIO, m.put(ctx, keyMoved+origin, place{to.String(), at}))
	}
}

func (m *documentMemory) forgetMove(ctx context.Context, origin string) {
	m.session.report(ctx, origin, lookleap.CodeIO, m.session.store.Delete(ctx, keyMoved+origin))
}

// forget forgets everything about an origin, in the store too.
func (m *documentMemory) forget(ctx context.Context, origin string) error {
	m.mu.Lock()
	for _, url := range m.closed.Keys() {
		if strings.HasPrefix(url, origin+"/") {
			m.closed.Remove(url)
		}
	}
	m.mu.Unlock()
	keys, err := m.session.store.Keys(ctx, keyGone+origin+"/")
	for _, key := range append(keys, keyMoved+origin) {
		err = errors.Join(err, m.session.store.Delete(ctx, key))
	}
	return err
}

// stored reads a place from the store. A damaged one is empty.
func (m *documentMemory) stored(ctx context.Context, key string) (p place, ok bool, err error) {
	data, err := m.session.store.Get(ctx, key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return place{}, false, nil
	case err != nil:
		return place{}, false, err
	case strictjson.Decode(data, &p) != nil:
		p = place{}
	}
	return p, true, nil
}

func (m *documentMemory) put(ctx context.Context, key string, p place) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return lookleap.UpdateRecord(ctx, m.session.store, key, time.Time{}, func(old []byte) ([]byte, error) {
		if bytes.Equal(old, data) {
			return nil, nil // a page in memory says nothing new
		}
		return data, nil
	})
}
