package lookleaptest

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

func TestOurPlanLedgers(t *testing.T) {
	t.Run("files", func(t *testing.T) {
		open, at := inDirectory(func(_ testing.TB, dir string) lookleap.PlanLedger { return lookleap.FilePlanLedger(dir) })
		TestPlanLedger(t, Engine[lookleap.PlanLedger]{Open: open, Damage: cutFiles(at)})
	})
	t.Run("memory", func(t *testing.T) {
		TestPlanLedger(t, Engine[lookleap.PlanLedger]{
			Open: func(testing.TB, string) lookleap.PlanLedger { return lookleap.NewMemoryPlanLedger() }, Private: true,
		})
	})
	t.Run("in-a-bubble", func(t *testing.T) {
		open, _ := inDirectory(func(_ testing.TB, dir string) lookleap.PlanLedger { return lookleap.FilePlanLedger(dir) })
		for _, open := range []func(testing.TB, string) lookleap.PlanLedger{
			open, func(testing.TB, string) lookleap.PlanLedger { return lookleap.NewMemoryPlanLedger() },
		} {
			accepts(t, func() Engine[lookleap.PlanLedger] {
				return Engine[lookleap.PlanLedger]{Open: open, Private: true, Advance: advance}
			}, planPromises)
		}
	})
	t.Run("back-end", func(t *testing.T) {
		accepts(t, sharedPlans(func(c *backEnd) lookleap.PlanLedger { return goodPlans{c} }), planPromises)
	})
}

func TestBrokenPlanLedgers(t *testing.T) {
	all := map[string]func(c *backEnd) lookleap.PlanLedger{
		"claim-once":            func(*backEnd) lookleap.PlanLedger { return claimsOnly{claimsAlways{}} },
		"repeated-by-its-owner": func(c *backEnd) lookleap.PlanLedger { return claimsOnly{looksThenPuts{c}} },
		"outcomes":              func(c *backEnd) lookleap.PlanLedger { return dropsReceipts{goodPlans{c}} },
		"outcome-of-the-owner":  func(c *backEnd) lookleap.PlanLedger { return unfenced{goodPlans{c}} },
		"final-outcomes":        func(c *backEnd) lookleap.PlanLedger { return reopens{goodPlans{c}, lookleap.PlanDone} },
		"caller-owns-its-bytes": func(c *backEnd) lookleap.PlanLedger { return &sharesReceipts{goodPlans: goodPlans{c}} },
		"failed-can-be-claimed": func(c *backEnd) lookleap.PlanLedger { return neverAgain{goodPlans{c}} },
		"ids-with-each-byte":    func(c *backEnd) lookleap.PlanLedger { return foldsIDs{goodPlans{c}} },
		"many-claims":           func(*backEnd) lookleap.PlanLedger { return claimsOnly{&forgetsOldest{}} },
		"one-of-many-callers":   func(c *backEnd) lookleap.PlanLedger { return claimsOnly{looksThenPuts{c}} },
		"one-of-many-processes": func(c *backEnd) lookleap.PlanLedger {
			return claimsOnly{&locksAlone{make(chan struct{}, 1), looksThenPuts{c}}}
		},
		"expired-by-one-clock": func(c *backEnd) lookleap.PlanLedger { return dropsExpired{goodPlans{c}} },
		"taken-over":           func(c *backEnd) lookleap.PlanLedger { return leases{goodPlans{c}, lookleap.PlanClaimed, 1 << 40} },
		"cancellation":         func(c *backEnd) lookleap.PlanLedger { return swallowsErrors{goodPlans{c}} },
		"restart":              func(*backEnd) lookleap.PlanLedger { return claimsOnly{&forgetsOldest{most: 1 << 20}} },
		"back-end-hangs":       func(c *backEnd) lookleap.PlanLedger { return yesWhenDown{goodPlans{c}} },
		"damaged-data":         func(c *backEnd) lookleap.PlanLedger { return damageIsMissing{goodPlans{c}} },
	}
	covers(t, planPromises, all)
	for promise, broken := range all {
		t.Run(promise, func(t *testing.T) { rejects(t, sharedPlans(broken), planPromises, promise) })
	}
	t.Run("file-that-must-be-whole", func(t *testing.T) {
		open, at := inDirectory(func(_ testing.TB, dir string) lookleap.PlanLedger { return claimsOnly{wholeFiles{dir}} })
		rejects(t, func() Engine[lookleap.PlanLedger] {
			return Engine[lookleap.PlanLedger]{Open: open, Damage: cutFiles(at)}
		}, planPromises, "damaged-data")
	})
}

// sharedPlans makes the engine of ledgers over one back end for each name.
func sharedPlans(open func(*backEnd) lookleap.PlanLedger) func() Engine[lookleap.PlanLedger] {
	return func() Engine[lookleap.PlanLedger] {
		backs := newBackEnds()
		return Engine[lookleap.PlanLedger]{
			Open:   func(_ testing.TB, name string) lookleap.PlanLedger { return open(backs.get(name)) },
			Damage: backs.damage, Hang: backs.stop, Advance: advance,
		}
	}
}

// advance moves the clock of a bubble.
func advance(_ testing.TB, d time.Duration) { time.Sleep(d) }

// goodPlans is a correct ledger over a back end.
type goodPlans struct{ *backEnd }

// change applies a rule of PlanRecord to a stored record.
func (l goodPlans) change(ctx context.Context, id string, to func(lookleap.PlanRecord) (lookleap.PlanRecord, error)) (lookleap.PlanRecord, error) {
	if err := l.wait(ctx); err != nil {
		return lookleap.PlanRecord{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r, err := to(l.read(id))
	if err == nil {
		data, _ := json.Marshal(r)
		l.entries[id] = backEntry{data, r.Expires}
	}
	return r, err
}

// read reads a record. A damaged one stands for an effect that may have happened.
func (l goodPlans) read(id string) (r lookleap.PlanRecord) {
	e, ok := l.entries[id]
	if ok && json.Unmarshal(e.value, &r) != nil {
		return lookleap.PlanRecord{ID: id, State: lookleap.PlanUnknown}
	}
	if ok {
		r.ID = id // JSON has only UTF-8
	}
	return r
}

func (l goodPlans) Claim(ctx context.Context, c lookleap.PlanClaim) (lookleap.PlanRecord, error) {
	return l.change(ctx, c.ID, func(r lookleap.PlanRecord) (lookleap.PlanRecord, error) { return r.Claim(c, time.Now()) })
}

func (l goodPlans) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	_, err := l.change(ctx, id, func(r lookleap.PlanRecord) (lookleap.PlanRecord, error) { return r.Record(owner, o, time.Now()) })
	return err
}

func (l goodPlans) Plan(ctx context.Context, id string) (lookleap.PlanRecord, error) {
	if err := l.wait(ctx); err != nil {
		return lookleap.PlanRecord{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.read(id)
	if r.ID == "" {
		return r, fs.ErrNotExist
	}
	return r, nil
}

// claimer is a ledger of claims without outcomes.
type claimer interface {
	claim(ctx context.Context, id string, expires time.Time) error
}

// claimsOnly records no outcomes, and does not look at owners.
type claimsOnly struct{ claimer }

func (l claimsOnly) Claim(ctx context.Context, c lookleap.PlanClaim) (lookleap.PlanRecord, error) {
	return lookleap.PlanRecord{}, l.claim(ctx, c.ID, c.Expires)
}

func (claimsOnly) Record(context.Context, string, string, lookleap.PlanOutcome) error { return nil }

func (claimsOnly) Plan(context.Context, string) (lookleap.PlanRecord, error) {
	return lookleap.PlanRecord{}, fs.ErrNotExist
}

// dropsReceipts records outcomes without their receipts.
type dropsReceipts struct{ goodPlans }

func (l dropsReceipts) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	return l.goodPlans.Record(ctx, id, owner, lookleap.PlanOutcome{State: o.State})
}

// unfenced lets each owner record outcomes.
type unfenced struct{ goodPlans }

func (l unfenced) Record(ctx context.Context, id, _ string, o lookleap.PlanOutcome) error {
	r, _ := l.Plan(ctx, id)
	return l.goodPlans.Record(ctx, id, r.Owner, o)
}

// neverAgain keeps a plan claimed although nothing was sent.
type neverAgain struct{ goodPlans }

func (l neverAgain) Claim(ctx context.Context, c lookleap.PlanClaim) (lookleap.PlanRecord, error) {
	if r, err := l.Plan(ctx, c.ID); err == nil && r.State == lookleap.PlanFailed {
		return r, lookleap.ErrAlreadyDone
	}
	return l.goodPlans.Claim(ctx, c)
}

// claimsAlways records nothing.
type claimsAlways struct{}

func (claimsAlways) claim(context.Context, string, time.Time) error { return nil }

// foldsIDs ignores the letter case, as some file systems do.
type foldsIDs struct{ goodPlans }

func (l foldsIDs) Claim(ctx context.Context, c lookleap.PlanClaim) (lookleap.PlanRecord, error) {
	c.ID = strings.ToLower(c.ID)
	return l.goodPlans.Claim(ctx, c)
}

// forgetsOldest keeps a number of claims in memory.
type forgetsOldest struct {
	most int
	mu   sync.Mutex
	ids  []string
}

func (l *forgetsOldest) claim(_ context.Context, id string, _ time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, have := range l.ids {
		if have == id {
			return lookleap.ErrAlreadyDone
		}
	}
	l.ids = append(l.ids, id)
	if most := max(l.most, 400); len(l.ids) > most {
		l.ids = l.ids[1:]
	}
	return nil
}

// looksThenPuts claims in two steps.
type looksThenPuts struct{ *backEnd }

func (l looksThenPuts) claim(ctx context.Context, id string, expires time.Time) error {
	if _, _, err := l.Get(ctx, id); err == nil {
		return lookleap.ErrAlreadyDone
	}
	time.Sleep(time.Microsecond)
	return l.Put(ctx, id, nil, expires)
}

// locksAlone makes the two steps atomic within its process only.
type locksAlone struct {
	own chan struct{} // unlike a Mutex, a channel lets the time of a bubble go on
	looksThenPuts
}

func (l *locksAlone) claim(ctx context.Context, id string, expires time.Time) error {
	l.own <- struct{}{}
	defer func() { <-l.own }()
	return l.looksThenPuts.claim(ctx, id, expires)
}

// dropsExpired forgets an id when it has expired by its own clock.
type dropsExpired struct{ goodPlans }

func (l dropsExpired) Claim(ctx context.Context, c lookleap.PlanClaim) (lookleap.PlanRecord, error) {
	l.mu.Lock()
	if e, ok := l.entries[c.ID]; ok && !time.Now().Before(e.expires) {
		delete(l.entries, c.ID)
	}
	l.mu.Unlock()
	return l.goodPlans.Claim(ctx, c)
}

// swallowsErrors takes the end of the context for a success.
type swallowsErrors struct{ goodPlans }

func (l swallowsErrors) Claim(ctx context.Context, c lookleap.PlanClaim) (lookleap.PlanRecord, error) {
	r, err := l.goodPlans.Claim(ctx, c)
	if errors.Is(err, context.Canceled) {
		return r, nil
	}
	return r, err
}

// yesWhenDown lets agents go on when the back end does not answer.
type yesWhenDown struct{ goodPlans }

func (l yesWhenDown) Claim(ctx context.Context, c lookleap.PlanClaim) (lookleap.PlanRecord, error) {
	r, err := l.goodPlans.Claim(ctx, c)
	if errors.Is(err, context.DeadlineExceeded) {
		return r, nil
	}
	return r, err
}

// damageIsMissing takes a record that it cannot read for a missing one.
type damageIsMissing struct{ goodPlans }

func (l damageIsMissing) Claim(ctx context.Context, c lookleap.PlanClaim) (lookleap.PlanRecord, error) {
	l.mu.Lock()
	if e, ok := l.entries[c.ID]; ok && !json.Valid(e.value) {
		delete(l.entries, c.ID)
	}
	l.mu.Unlock()
	return l.goodPlans.Claim(ctx, c)
}

// wholeFiles claims an id with a file, and takes an incomplete file for none.
type wholeFiles struct{ dir string }

func (l wholeFiles) claim(_ context.Context, id string, _ time.Time) error {
	file := filepath.Join(l.dir, lookleap.Digest([]byte(id))[7:])
	if data, err := os.ReadFile(file); err == nil && len(data) > 0 && data[len(data)-1] == '\n' {
		return lookleap.ErrAlreadyDone
	}
	return os.WriteFile(file, []byte("claimed\n"), 0o600)
}
