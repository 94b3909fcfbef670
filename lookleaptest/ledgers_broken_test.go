package lookleaptest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
)

// TestMoreBrokenLedgers has ledgers that are right for one process and for distinct entries.
func TestMoreBrokenLedgers(t *testing.T) {
	for name, c := range map[string]struct {
		promise string
		open    func(*logBack) agent.DisclosureLedger
	}{
		"order-by-time":           {"order", func(b *logBack) agent.DisclosureLedger { return sortsByTime{goodLedger{b}} }},
		"equal-entries-once":      {"order", func(b *logBack) agent.DisclosureLedger { return dropsEqual{goodLedger{b}} }},
		"one-page":                {"sizes", func(b *logBack) agent.DisclosureLedger { return first1000{goodLedger{b}} }},
		"places-of-the-caller":    {"chain", func(b *logBack) agent.DisclosureLedger { return callersPlaces{goodLedger{b}} }},
		"head-of-the-process":     {"restart", func(b *logBack) agent.DisclosureLedger { return &ownHead{goodLedger: goodLedger{b}} }},
		"last-lost-on-restart":    {"restart", func(b *logBack) agent.DisclosureLedger { return losesLast(b) }},
		"locked-in-one-process":   {"shared-data", func(b *logBack) agent.DisclosureLedger { return &locksLedger{goodLedger{b}, make(chan struct{}, 1)} }},
		"cancelled-read-is-empty": {"cancellation", func(b *logBack) agent.DisclosureLedger { return emptyWhenCancelled{goodLedger{b}} }},
	} {
		t.Run(name, func(t *testing.T) { rejects(t, sharedLedgers(c.open), ledgerPromises, c.promise) })
	}
}

// sortsByTime yields the entries in the order of their times.
type sortsByTime struct{ goodLedger }

func (l sortsByTime) Entries(ctx context.Context) iter.Seq2[agent.Entry, error] {
	l.mu.Lock()
	all := slices.Clone(l.entries)
	l.mu.Unlock()
	slices.SortStableFunc(all, func(a, b agent.Entry) int { return a.Time.Compare(b.Time) })
	return yieldAll(all)
}

// dropsEqual stores an entry once, as a unique index of a database would.
type dropsEqual struct{ goodLedger }

func (l dropsEqual) Append(ctx context.Context, entries ...agent.Entry) error {
	l.mu.Lock()
	entries = slices.DeleteFunc(slices.Clone(entries), func(e agent.Entry) bool {
		return slices.ContainsFunc(l.entries, func(have agent.Entry) bool { return sameEntry(e, have) })
	})
	l.mu.Unlock()
	return l.goodLedger.Append(ctx, entries...)
}

// first1000 yields the first thousand entries.
type first1000 struct{ goodLedger }

func (l first1000) Entries(ctx context.Context) iter.Seq2[agent.Entry, error] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return yieldAll(slices.Clone(l.entries[:min(1000, len(l.entries))]))
}

// callersPlaces keeps the place that the caller set.
type callersPlaces struct{ goodLedger }

func (l callersPlaces) Append(ctx context.Context, entries ...agent.Entry) error {
	err := l.goodLedger.Append(ctx, entries...)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, e := range entries {
		if stored := &l.entries[len(l.entries)-len(entries)+i]; e.Number != 0 {
			stored.Number, stored.Previous = e.Number, e.Previous
		}
	}
	return err
}

// ownHead chains the entries of each process for itself.
type ownHead struct {
	goodLedger
	head agent.Head
}

func (l *ownHead) Append(ctx context.Context, entries ...agent.Entry) error {
	if err := l.server.wait(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	chained, head, err := l.head.Extend(entries...)
	l.entries, l.head = append(l.entries, chained...), head
	return err
}

// losesLast opens a ledger without the last entry of a process that ended.
func losesLast(b *logBack) agent.DisclosureLedger {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries = b.entries[:max(0, len(b.entries)-1)]
	return goodLedger{b}
}

// locksLedger reads the head and writes in two steps, which are atomic in its process only.
type locksLedger struct {
	goodLedger
	own chan struct{}
}

func (l *locksLedger) Append(ctx context.Context, entries ...agent.Entry) error {
	l.own <- struct{}{}
	defer func() { <-l.own }()
	var head agent.Head
	l.mu.Lock()
	if n := len(l.entries); n > 0 {
		head = l.entries[n-1].Head()
	}
	l.mu.Unlock()
	time.Sleep(time.Microsecond)
	chained, _, err := head.Extend(entries...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, chained...)
	return err
}

// emptyWhenCancelled yields no entries and no error if it was cancelled.
type emptyWhenCancelled struct{ goodLedger }

func (l emptyWhenCancelled) Entries(ctx context.Context) iter.Seq2[agent.Entry, error] {
	return func(yield func(agent.Entry, error) bool) {
		for e, err := range l.goodLedger.Entries(ctx) {
			if errors.Is(err, context.Canceled) || !yield(e, err) {
				return
			}
		}
	}
}

// TestMoreBrokenLimiters has limiters that count right until something else happens.
func TestMoreBrokenLimiters(t *testing.T) {
	for name, c := range map[string]struct {
		promise string
		open    func(*limitBack) lookleap.Limiter
	}{
		"windows-of-an-hour":      {"limit", func(b *limitBack) lookleap.Limiter { return shortWindows{b} }},
		"first-rate-stays":        {"limit", func(b *limitBack) lookleap.Limiter { return &firstRate{b, map[string]lookleap.Rate{}} }},
		"wait-folds-keys":         {"keys-with-each-byte", func(b *limitBack) lookleap.Limiter { return foldsWaits{b} }},
		"hold-folds-keys":         {"keys-with-each-byte", func(b *limitBack) lookleap.Limiter { return foldsHolds{b} }},
		"waits-of-a-whole-window": {"window-rolls", func(b *limitBack) lookleap.Limiter { return wholeWindows{b} }},
		"no-hold-ends-a-hold":     {"hold", func(b *limitBack) lookleap.Limiter { return zeroEnds{b} }},
		"hold-forgets-uses":       {"hold", func(b *limitBack) lookleap.Limiter { return holdForgets{b} }},
		"holds-of-an-hour":        {"hold", func(b *limitBack) lookleap.Limiter { return shortHolds{b} }},
		"cancelled-hold-is-nil":   {"cancellation", func(b *limitBack) lookleap.Limiter { return losesHolds{b} }},
		"empty-when-opened":       {"shared-data", func(b *limitBack) lookleap.Limiter { b.Limiter = lookleap.NewMemoryLimiter(); return b }},
	} {
		t.Run(name, func(t *testing.T) { rejects(t, sharedLimiters(c.open), limiterPromises, c.promise) })
	}
}

// shortWindows counts in windows of at most an hour.
type shortWindows struct{ *limitBack }

func (l shortWindows) Take(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	r.Window = min(r.Window, time.Hour)
	return l.limitBack.Take(ctx, key, r)
}

// firstRate keeps the rate of the first use of a key.
type firstRate struct {
	*limitBack
	rates map[string]lookleap.Rate
}

func (l *firstRate) Take(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	if first, ok := l.rates[key]; ok {
		r = first
	}
	l.rates[key] = r
	return l.limitBack.Take(ctx, key, r)
}

// foldsWaits ignores the letter case of keys in Wait.
type foldsWaits struct{ *limitBack }

func (l foldsWaits) Wait(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	return l.limitBack.Wait(ctx, strings.ToLower(key), r)
}

// foldsHolds ends a key at its first NUL in Hold.
type foldsHolds struct{ *limitBack }

func (l foldsHolds) Hold(ctx context.Context, key string, d time.Duration) error {
	key, _, _ = strings.Cut(key, "\x00")
	return l.limitBack.Hold(ctx, key, d)
}

// wholeWindows lets each caller wait for a whole window.
type wholeWindows struct{ *limitBack }

func (l wholeWindows) Take(ctx context.Context, key string, r lookleap.Rate) (time.Duration, error) {
	wait, err := l.limitBack.Take(ctx, key, r)
	if wait > 0 {
		wait = r.Window
	}
	return wait, err
}

// forget forgets the uses and holds of all keys.
func (b *limitBack) forget() { b.Limiter = lookleap.NewMemoryLimiter() }

// zeroEnds takes a hold of no time for the end of a hold.
type zeroEnds struct{ *limitBack }

func (l zeroEnds) Hold(ctx context.Context, key string, d time.Duration) error {
	if d == 0 {
		l.forget()
	}
	return l.limitBack.Hold(ctx, key, d)
}

// holdForgets keeps either a hold or the uses of a key.
type holdForgets struct{ *limitBack }

func (l holdForgets) Hold(ctx context.Context, key string, d time.Duration) error {
	if key == "used" {
		l.forget()
	}
	return l.limitBack.Hold(ctx, key, d)
}

// shortHolds holds for at most an hour.
type shortHolds struct{ *limitBack }

func (l shortHolds) Hold(ctx context.Context, key string, d time.Duration) error {
	return l.limitBack.Hold(ctx, key, min(d, time.Hour))
}

// losesHolds reports no error for a hold that was not stored.
type losesHolds struct{ *limitBack }

func (l losesHolds) Hold(ctx context.Context, key string, d time.Duration) error {
	return unlessCancelled(l.limitBack.Hold(ctx, key, d))
}
