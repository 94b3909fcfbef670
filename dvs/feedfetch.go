package dvs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/flight"
)

// How often feeds are read.
const (
	feedInterval      = 15 * time.Minute // between two fetches of one feed
	feedRetry         = time.Minute      // between two attempts while there is no copy and everything is refused
	feedStoreInterval = 30 * time.Second // between two reads of what other processes stored
)

// trustFeed is the word of the keys of feeds in a store.
const trustFeed = "feed/"

// feedState is what is known about one feed. Processes share it through a store.
type feedState struct {
	Type      string          `json:"type"` // TrustMediaType
	Sequence  int64           `json:"sequence"`
	Entries   []Withdrawal    `json:"entries"` // all that were ever seen
	Fetched   time.Time       `json:"fetched,omitzero"`
	Tried     time.Time       `json:"tried,omitzero"`
	Validator fetch.Validator `json:"validator"`
	Full      bool            `json:"full,omitempty"` // there were more entries than can be kept, so the feed cannot be used
}

type feed struct {
	options FeedOptions
	url     domain.URL
	state   feedState
	raw     []byte // the state as it is stored; nil: it is not stored
	bytes   int    // of the entries in JSON
	known   map[withdrawalKey]bool
}

// withdrawalKey is what makes two entries one.
type withdrawalKey struct {
	kind  WithdrawalKind
	value string
}

func (w *Withdrawal) key() withdrawalKey { return withdrawalKey{w.Kind, w.Value} }

// feedReader keeps the feeds of a loader current.
type feedReader struct {
	turns  flight.Turns[struct{}] // to read feeds; who has the turn uses the next two fields
	feeds  []*feed
	stored time.Time // when the store was read last

	current atomic.Pointer[feedStatus] // for those who have no turn; nil: no feed was read
	reading atomic.Bool                // a caller reads the feeds
	broken  error                      // a feed cannot be used, so nothing is allowed
}

// feedStatus is what loads need to know of the feeds.
type feedStatus struct {
	stored time.Time
	feeds  []feed // without entries
}

// due reports whether there is something to read.
func (s *feedStatus) due(now time.Time) bool {
	return s == nil || now.Sub(s.stored).Abs() >= feedStoreInterval || slices.ContainsFunc(s.feeds, func(f feed) bool { return f.due(now) })
}

// refusal returns an error if a feed cannot be used.
func (s *feedStatus) refusal(now time.Time) error {
	for _, f := range s.feeds {
		switch {
		case f.state.Full:
			return &lookleap.Error{Code: CodeFeedStale, Subject: f.url.String(),
				Message: "the revocation feed withdrew more than a loader can keep, so nothing is allowed",
				Fix:     "publish a new feed at another URL that withdraws whole roots"}
		case f.stale(now):
			return &lookleap.Error{Code: CodeFeedStale, Subject: f.url.String(),
				Message: "the revocation feed could not be read for too long, so nothing is allowed",
				Fix:     "make the feed available, or let the policy accept an older copy"}
		}
	}
	return nil
}

func newFeedReader(options []FeedOptions) *feedReader {
	r := &feedReader{}
	for _, o := range options {
		u, err := (domain.Rules{RefuseFragment: true}).Parse(o.URL)
		if err != nil {
			r.broken = &lookleap.Error{Code: CodeFeedStale, Subject: domain.Redact(o.URL),
				Message: "the URL of the revocation feed is invalid, so nothing is allowed", Err: badURL(o.URL, err)}
		}
		r.feeds = append(r.feeds, &feed{options: o, url: u})
	}
	return r
}

// checkFeeds makes the feeds current, and returns an error if one of them is too old.
func (l *Loader) checkFeeds(ctx context.Context) error {
	r := l.feeds
	if r.broken != nil {
		return r.broken
	}
	now := l.host.Time()
	s := r.current.Load()
	switch {
	case s.due(now) && s != nil && s.refusal(now) == nil:
		// What was read is fresh enough, so only one caller reads more and no one waits for it.
		if !r.reading.CompareAndSwap(false, true) {
			return nil
		}
		defer r.reading.Store(false)
	case !s.due(now):
		return s.refusal(now)
	}
	leave, err := r.turns.Wait(ctx, struct{}{})
	if err != nil {
		return err
	}
	defer leave()
	if err := l.readFeeds(ctx, now); err != nil {
		return err
	}
	return r.current.Load().refusal(now)
}

// readFeeds reads what is due, and publishes the result.
func (l *Loader) readFeeds(ctx context.Context, now time.Time) error {
	r := l.feeds
	publish := func(changed bool) {
		if changed || l.withdrawn.Load() == nil {
			l.withdrawn.Store(newWithdrawals(r.feeds, l.roots.Rules()))
		}
		s := &feedStatus{stored: r.stored}
		for _, f := range r.feeds {
			status := *f
			status.state.Entries, status.raw, status.known = nil, nil, nil
			s.feeds = append(s.feeds, status)
		}
		r.current.Store(s)
	}
	if now.Sub(r.stored).Abs() >= feedStoreInterval {
		changed, err := l.readStoredFeeds(ctx, now)
		if err != nil {
			return err
		}
		r.stored = now
		publish(changed) // before a fetch, since a withdrawn key must not verify a feed
	}
	for _, f := range r.feeds {
		if f.due(now) {
			n := len(f.state.Entries)
			l.fetchFeed(ctx, f, now)
			publish(len(f.state.Entries) != n)
		}
	}
	return nil
}

// due reports whether a feed has to be fetched.
func (f *feed) due(now time.Time) bool {
	wait := feedInterval
	if f.stale(now) {
		wait = feedRetry
	}
	return now.Sub(f.state.Tried).Abs() >= wait
}

// stale reports whether the last copy is too old. A copy from the future, which a clock that
// was set back leaves, has an unknown age.
func (f *feed) stale(now time.Time) bool {
	age := now.Sub(f.state.Fetched)
	return f.state.Fetched.IsZero() || age < -time.Minute || age > max(f.options.Stale, 2*feedInterval)
}

// readStoredFeeds adds what other processes stored, and reports whether there was something new.
func (l *Loader) readStoredFeeds(ctx context.Context, now time.Time) (changed bool, err error) {
	if l.feedStore == nil {
		return false, nil
	}
	for _, f := range l.feeds.feeds {
		data, err := l.feedStore.get(ctx, trustFeed+f.url.String())
		if err != nil {
			return changed, err
		}
		if data == nil || bytes.Equal(data, f.raw) {
			continue
		}
		var stored feedState
		if err := decodeTrust(data, &stored); err != nil {
			return changed, err
		}
		l.mergeFeed(ctx, f, stored, now)
		f.raw, changed = data, true
	}
	return changed, nil
}

// What is kept of a feed: entries, and their bytes in JSON, which fit into a record of a store.
const (
	maxFeedEntries = 4 * maxWithdrawals
	maxFeedBytes   = maxTrustRecord - 64<<10
)

// mergeFeed adds what a newer state has. It never removes entries: a feed with more of them than can
// be kept cannot be used any longer.
func (l *Loader) mergeFeed(ctx context.Context, f *feed, newer feedState, now time.Time) {
	if f.known == nil {
		f.known = make(map[withdrawalKey]bool, len(f.state.Entries))
		for i := range f.state.Entries {
			f.known[f.state.Entries[i].key()] = true
		}
	}
	entries := f.state.Entries
	newer.Full = newer.Full || f.state.Full
	for _, e := range newer.Entries {
		if f.known[e.key()] || e.check() != nil {
			continue
		}
		data, err := json.Marshal(e)
		if err != nil || len(entries) >= maxFeedEntries || f.bytes+len(data) >= maxFeedBytes {
			newer.Full = true
			continue
		}
		f.bytes += len(data) + 1
		f.known[e.key()] = true
		entries = append(entries, e)
		l.reportFeed(ctx, f, CodeWithdrawn, "withdrawn: "+string(e.Kind)+" "+domain.Redact(e.Value), nil)
	}
	newer.Entries = entries
	newer.Sequence = max(newer.Sequence, f.state.Sequence)
	if later(f.state.Fetched, newer.Fetched, now) {
		newer.Fetched, newer.Validator = f.state.Fetched, f.state.Validator
	}
	if later(f.state.Tried, newer.Tried, now) {
		newer.Tried = f.state.Tried
	}
	f.state = newer
}

// later reports whether a is the later one of two times. A time in the future does not count: it is
// from before the clock was set back.
func later(a, b, now time.Time) bool {
	future := now.Add(time.Minute)
	if a.IsZero() || a.After(future) {
		return false
	}
	return a.After(b) || b.After(future)
}

// fetchFeed fetches a feed and shares the result. After a failure, the last copy stays in force.
func (l *Loader) fetchFeed(ctx context.Context, f *feed, now time.Time) {
	f.state.Tried = now
	resp, err := l.requestFeed(ctx, f)
	if ctx.Err() != nil { // it says nothing about the feed: the next caller tries again
		f.state.Tried = time.Time{}
		return
	}
	newer := f.state
	switch {
	case err == nil && f.state.Validator.Confirms(resp):
		newer.Fetched = now
	case err == nil && resp.Status == http.StatusOK:
		var list *Withdrawals
		if list, err = l.readFeed(f, resp.Body); err == nil {
			err = l.followFeed(ctx, f, list)
		}
		if err == nil {
			newer.Sequence = list.Sequence
			newer.Entries = list.Entries
			newer.Fetched = now
			newer.Validator = resp.Validator()
		}
	case err == nil:
		err = refuse(lookleap.CodeBadStatus, f.url.String(), fmt.Sprintf("the status is %d", resp.Status), "")
	}
	if err != nil {
		l.reportFeed(ctx, f, codeFeedUnusable, "the revocation feed could not be used: "+sentence(err), err)
	}
	l.mergeFeed(ctx, f, newer, now)
	l.shareFeed(ctx, f, now)
}

func (l *Loader) requestFeed(ctx context.Context, f *feed) (*fetch.Response, error) {
	header := http.Header{"Accept": {"application/json, application/jose"}}
	f.state.Validator.Ask(header)
	return fetch.Do(ctx, l.host, &fetch.Request{URL: f.url, Header: header, TrustEvidence: true,
		Limits:   fetch.Limits{Body: maxFeed, Time: l.limits.Time},
		ReadBody: func(status int) bool { return status == http.StatusOK }})
}

func (l *Loader) readFeed(f *feed, body []byte) (*Withdrawals, error) {
	if f.options.Verify != nil {
		var err error
		withdrawn := l.withdrawn.Load()
		if body, err = f.options.Verify(body, func(kid string) bool { return withdrawn.keys[kid] }); err != nil {
			return nil, err
		}
	}
	return ParseWithdrawals(body)
}

// followFeed refuses a feed that is older than the last one, and reports one that lost entries.
func (l *Loader) followFeed(ctx context.Context, f *feed, list *Withdrawals) error {
	if list.Sequence < f.state.Sequence {
		return refuse(codeFeedBackwards, f.url.String(), fmt.Sprintf("the feed has the sequence %d, and %d was seen before",
			list.Sequence, f.state.Sequence), "publish the current feed")
	}
	listed := make(map[withdrawalKey]bool, len(list.Entries))
	for i := range list.Entries {
		listed[list.Entries[i].key()] = true
	}
	lost := 0
	for i := range f.state.Entries {
		if !listed[f.state.Entries[i].key()] {
			lost++
		}
	}
	if lost > 0 {
		l.reportFeed(ctx, f, codeFeedBackwards, fmt.Sprintf("the feed lost %d entries, which stay withdrawn", lost), nil)
	}
	return nil
}

// shareFeed stores the state for other processes, merged with theirs.
func (l *Loader) shareFeed(ctx context.Context, f *feed, now time.Time) {
	if l.feedStore == nil {
		return
	}
	err := l.feedStore.change(ctx, trustFeed+f.url.String(), func(old []byte) ([]byte, error) {
		if old != nil && !bytes.Equal(old, f.raw) {
			var stored feedState
			if err := decodeTrust(old, &stored); err != nil {
				return nil, err
			}
			l.mergeFeed(ctx, f, stored, now)
		}
		f.state.Type = TrustMediaType
		data, err := json.Marshal(f.state)
		f.raw = data
		return data, err
	})
	if err != nil {
		l.reportFeed(ctx, f, CodeTrustNotKept, CodeTrustNotKept.Title()+": "+sentence(err), err)
	}
}

func (l *Loader) reportFeed(ctx context.Context, f *feed, code lookleap.Code, message string, err error) {
	l.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: code, Subject: f.url.String(), Err: err,
		Finding: &lookleap.Finding{Severity: lookleap.SeverityWarning, Code: code, Message: message}})
}
