package lookleaptest

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap/anml/agent"
)

func TestOurLedgers(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		TestLedger(t, Engine[agent.DisclosureLedger]{
			Open:    func(testing.TB, string) agent.DisclosureLedger { return agent.NewMemoryDisclosureLedger() },
			Private: true,
		})
	})
	t.Run("file", func(t *testing.T) {
		file := func(dir string) string { return filepath.Join(dir, "ledger") }
		open, at := inDirectory(func(t testing.TB, dir string) agent.DisclosureLedger {
			l, err := agent.OpenDisclosureLedger(file(dir), agent.LedgerOptions{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			return l
		})
		TestLedger(t, Engine[agent.DisclosureLedger]{Open: open, Damage: func(t testing.TB, name string) {
			data, err := os.ReadFile(file(at(t, name)))
			if err != nil {
				t.Fatal(err)
			}
			data[len(data)/2] ^= 1
			if err := os.WriteFile(file(at(t, name)), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}})
	})
	t.Run("back-end", func(t *testing.T) {
		accepts(t, sharedLedgers(func(b *logBack) agent.DisclosureLedger { return goodLedger{b} }), ledgerPromises)
	})
}

func TestBrokenLedgers(t *testing.T) {
	all := map[string]func(*logBack) agent.DisclosureLedger{
		"empty":                   func(b *logBack) agent.DisclosureLedger { return appendsBlank{goodLedger{b}} },
		"order":                   func(b *logBack) agent.DisclosureLedger { return newestFirst{goodLedger{b}} },
		"whole-entries":           func(b *logBack) agent.DisclosureLedger { return wholeSeconds{goodLedger{b}} },
		"sizes":                   func(b *logBack) agent.DisclosureLedger { return first100{goodLedger{b}} },
		"append-is-atomic":        func(b *logBack) agent.DisclosureLedger { return oneByOne{goodLedger{b}} },
		"chain":                   func(b *logBack) agent.DisclosureLedger { return unchained{goodLedger{b}} },
		"caller-owns-its-entries": func(*logBack) agent.DisclosureLedger { return &keepsSlices{} },
		"reading-can-stop":        func(*logBack) agent.DisclosureLedger { return &locksWhileReading{lock: make(chan struct{}, 1)} },
		"cancellation":            func(b *logBack) agent.DisclosureLedger { return firstThenAsks{goodLedger{b}} },
		"restart":                 func(b *logBack) agent.DisclosureLedger { return agent.NewMemoryDisclosureLedger() },
		"shared-data":             func(b *logBack) agent.DisclosureLedger { return &locksLedger{goodLedger{b}, make(chan struct{}, 1)} },
		"back-end-hangs":          func(b *logBack) agent.DisclosureLedger { return emptyWhenDown{goodLedger{b}} },
		"damaged-data":            func(b *logBack) agent.DisclosureLedger { return skipsDamage{goodLedger{b}} },
	}
	covers(t, ledgerPromises, all)
	for promise, broken := range all {
		t.Run(promise, func(t *testing.T) { rejects(t, sharedLedgers(broken), ledgerPromises, promise) })
	}
}

// logBack is a correct log on a server that can be stopped.
type logBack struct {
	mu      sync.Mutex
	entries []agent.Entry
	damaged bool
	server  *backEnd
}

func sharedLedgers(open func(*logBack) agent.DisclosureLedger) func() Engine[agent.DisclosureLedger] {
	return func() Engine[agent.DisclosureLedger] {
		backs, logs := newBackEnds(), map[string]*logBack{}
		return Engine[agent.DisclosureLedger]{
			Open: func(_ testing.TB, name string) agent.DisclosureLedger {
				if logs[name] == nil {
					logs[name] = &logBack{server: backs.get(name)}
				}
				return open(logs[name])
			},
			Damage: func(_ testing.TB, name string) { logs[name].damaged = true },
			Hang:   backs.stop,
		}
	}
}

// goodLedger is a correct ledger.
type goodLedger struct{ *logBack }

func (l goodLedger) Append(ctx context.Context, entries ...agent.Entry) error {
	if err := l.server.wait(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var head agent.Head
	if n := len(l.entries); n > 0 {
		head = l.entries[n-1].Head()
	}
	chained, _, err := head.Extend(entries...)
	l.entries = append(l.entries, chained...)
	return err
}

// unchained stores entries without their places.
type unchained struct{ goodLedger }

func (l unchained) Append(ctx context.Context, entries ...agent.Entry) error {
	if err := l.server.wait(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, entries...)
	return nil
}

func (l goodLedger) Entries(ctx context.Context) iter.Seq2[agent.Entry, error] {
	return func(yield func(agent.Entry, error) bool) {
		if err := l.server.wait(ctx); err != nil {
			yield(agent.Entry{}, err)
			return
		}
		l.mu.Lock()
		all, damaged := slices.Clone(l.entries), l.damaged
		l.mu.Unlock()
		if damaged {
			yield(agent.Entry{}, errDamaged)
			return
		}
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// appendsBlank stores an entry for an empty Append.
type appendsBlank struct{ goodLedger }

func (l appendsBlank) Append(ctx context.Context, entries ...agent.Entry) error {
	if len(entries) == 0 {
		entries = []agent.Entry{{}}
	}
	return l.goodLedger.Append(ctx, entries...)
}

// newestFirst yields the entries in reverse.
type newestFirst struct{ goodLedger }

func (l newestFirst) Entries(context.Context) iter.Seq2[agent.Entry, error] {
	l.mu.Lock()
	all := slices.Clone(l.entries)
	l.mu.Unlock()
	slices.Reverse(all)
	return yieldAll(all)
}

func yieldAll(all []agent.Entry) iter.Seq2[agent.Entry, error] {
	return func(yield func(agent.Entry, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// wholeSeconds rounds times.
type wholeSeconds struct{ goodLedger }

func (l wholeSeconds) Append(ctx context.Context, entries ...agent.Entry) error {
	entries = slices.Clone(entries)
	for i := range entries {
		entries[i].Time = entries[i].Time.Truncate(time.Second)
	}
	return l.goodLedger.Append(ctx, entries...)
}

// first100 stores the first 100 entries of a call.
type first100 struct{ goodLedger }

func (l first100) Append(ctx context.Context, entries ...agent.Entry) error {
	return l.goodLedger.Append(ctx, entries[:min(100, len(entries))]...)
}

// oneByOne stores each entry with a call of its own.
type oneByOne struct{ goodLedger }

func (l oneByOne) Append(ctx context.Context, entries ...agent.Entry) error {
	for _, e := range entries {
		if err := l.goodLedger.Append(ctx, e); err != nil {
			return err
		}
		time.Sleep(time.Microsecond)
	}
	return nil
}

// keepsSlices stores the slices of its callers.
type keepsSlices struct{ calls [][]agent.Entry }

func (l *keepsSlices) Append(_ context.Context, entries ...agent.Entry) error {
	l.calls = append(l.calls, entries)
	return nil
}

func (l *keepsSlices) Entries(context.Context) iter.Seq2[agent.Entry, error] {
	return yieldAll(slices.Concat(l.calls...))
}

// locksWhileReading lets no one append while a caller reads.
type locksWhileReading struct {
	lock    chan struct{}
	entries []agent.Entry
}

func (l *locksWhileReading) Append(ctx context.Context, entries ...agent.Entry) error {
	select {
	case l.lock <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-l.lock }()
	l.entries = append(l.entries, entries...)
	return nil
}

func (l *locksWhileReading) Entries(context.Context) iter.Seq2[agent.Entry, error] {
	return func(yield func(agent.Entry, error) bool) {
		l.lock <- struct{}{}
		defer func() { <-l.lock }()
		yieldAll(l.entries)(yield)
	}
}

// firstThenAsks looks at the context between its entries.
type firstThenAsks struct{ goodLedger }

func (l firstThenAsks) Append(ctx context.Context, entries ...agent.Entry) error {
	for _, e := range entries {
		if err := l.goodLedger.Append(context.WithoutCancel(ctx), e); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// emptyWhenDown shows an empty ledger when the back end does not answer.
type emptyWhenDown struct{ goodLedger }

func (l emptyWhenDown) Entries(ctx context.Context) iter.Seq2[agent.Entry, error] {
	return func(yield func(agent.Entry, error) bool) {
		for e, err := range l.goodLedger.Entries(ctx) {
			if errors.Is(err, context.DeadlineExceeded) || !yield(e, err) {
				return
			}
		}
	}
}

// skipsDamage leaves out what it cannot read.
type skipsDamage struct{ goodLedger }

func (l skipsDamage) Entries(ctx context.Context) iter.Seq2[agent.Entry, error] {
	return func(yield func(agent.Entry, error) bool) {
		for e, err := range l.goodLedger.Entries(ctx) {
			if !errors.Is(err, errDamaged) && !yield(e, err) {
				return
			}
		}
	}
}
