package lookleaptest

import (
	"context"
	"errors"
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
		open, damage := inDirectory(func(_ testing.TB, dir string) lookleap.PlanLedger { return lookleap.FilePlanLedger(dir) })
		TestPlanLedger(t, Engine[lookleap.PlanLedger]{Open: open, Damage: damage})
	})
	t.Run("back-end", func(t *testing.T) {
		accepts(t, sharedPlans(func(c *backEnd) lookleap.PlanLedger { return goodPlans{c} }), planPromises)
	})
}

func TestBrokenPlanLedgers(t *testing.T) {
	all := map[string]func(c *backEnd) lookleap.PlanLedger{
		"claim-once":            func(*backEnd) lookleap.PlanLedger { return claimsAlways{} },
		"ids-with-each-byte":    func(c *backEnd) lookleap.PlanLedger { return foldsIDs{goodPlans{c}} },
		"many-claims":           func(*backEnd) lookleap.PlanLedger { return &forgetsOldest{} },
		"one-of-many-callers":   func(c *backEnd) lookleap.PlanLedger { return looksThenPuts{c} },
		"one-of-many-processes": func(c *backEnd) lookleap.PlanLedger { return &locksAlone{make(chan struct{}, 1), looksThenPuts{c}} },
		"expired-by-one-clock":  func(c *backEnd) lookleap.PlanLedger { return dropsExpired{c} },
		"cancellation":          func(c *backEnd) lookleap.PlanLedger { return swallowsErrors{c} },
		"restart":               func(*backEnd) lookleap.PlanLedger { return &forgetsOldest{most: 1 << 20} },
		"back-end-hangs":        func(c *backEnd) lookleap.PlanLedger { return yesWhenDown{goodPlans{c}} },
		"damaged-data":          func(c *backEnd) lookleap.PlanLedger { return damageIsMissing{c} },
	}
	covers(t, planPromises, all)
	for promise, broken := range all {
		t.Run(promise, func(t *testing.T) { rejects(t, sharedPlans(broken), planPromises, promise) })
	}
	t.Run("file-that-must-be-whole", func(t *testing.T) {
		open, damage := inDirectory(func(_ testing.TB, dir string) lookleap.PlanLedger { return wholeFiles{dir} })
		rejects(t, func() Engine[lookleap.PlanLedger] {
			return Engine[lookleap.PlanLedger]{Open: open, Damage: damage}
		}, planPromises, "damaged-data")
	})
}

// sharedPlans makes the engine of ledgers over one back end for each name.
func sharedPlans(open func(*backEnd) lookleap.PlanLedger) func() Engine[lookleap.PlanLedger] {
	return func() Engine[lookleap.PlanLedger] {
		backs := newBackEnds()
		return Engine[lookleap.PlanLedger]{
			Open:   func(_ testing.TB, name string) lookleap.PlanLedger { return open(backs.get(name)) },
			Damage: backs.damage, Hang: backs.stop,
		}
	}
}

// goodPlans is a correct ledger over a back end.
type goodPlans struct{ *backEnd }

func (l goodPlans) Claim(ctx context.Context, id string, expires time.Time) error {
	if err := l.wait(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.entries[id]; ok {
		return lookleap.ErrAlreadyDone
	}
	l.entries[id] = backEntry{[]byte("claimed"), expires}
	return nil
}

// claimsAlways records nothing.
type claimsAlways struct{}

func (claimsAlways) Claim(context.Context, string, time.Time) error { return nil }

// foldsIDs ignores the letter case, as some file systems do.
type foldsIDs struct{ goodPlans }

func (l foldsIDs) Claim(ctx context.Context, id string, expires time.Time) error {
	return l.goodPlans.Claim(ctx, strings.ToLower(id), expires)
}

// forgetsOldest keeps a number of claims in memory.
type forgetsOldest struct {
	most int
	mu   sync.Mutex
	ids  []string
}

func (l *forgetsOldest) Claim(_ context.Context, id string, _ time.Time) error {
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

func (l looksThenPuts) Claim(ctx context.Context, id string, expires time.Time) error {
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

func (l *locksAlone) Claim(ctx context.Context, id string, expires time.Time) error {
	l.own <- struct{}{}
	defer func() { <-l.own }()
	return l.looksThenPuts.Claim(ctx, id, expires)
}

// dropsExpired forgets an id when it has expired by its own clock.
type dropsExpired struct{ *backEnd }

func (l dropsExpired) Claim(ctx context.Context, id string, expires time.Time) error {
	l.mu.Lock()
	if e, ok := l.entries[id]; ok && !time.Now().Before(e.expires) {
		delete(l.entries, id)
	}
	l.mu.Unlock()
	return goodPlans{l.backEnd}.Claim(ctx, id, expires)
}

// swallowsErrors takes the end of the context for a success.
type swallowsErrors struct{ *backEnd }

func (l swallowsErrors) Claim(ctx context.Context, id string, expires time.Time) error {
	err := goodPlans{l.backEnd}.Claim(ctx, id, expires)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// yesWhenDown lets agents go on when the back end does not answer.
type yesWhenDown struct{ goodPlans }

func (l yesWhenDown) Claim(ctx context.Context, id string, expires time.Time) error {
	err := l.goodPlans.Claim(ctx, id, expires)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// damageIsMissing takes a record that it cannot read for a missing one.
type damageIsMissing struct{ *backEnd }

func (l damageIsMissing) Claim(ctx context.Context, id string, expires time.Time) error {
	l.mu.Lock()
	if e, ok := l.entries[id]; ok && string(e.value) != "claimed" {
		delete(l.entries, id)
	}
	l.mu.Unlock()
	return goodPlans{l.backEnd}.Claim(ctx, id, expires)
}

// wholeFiles claims an id with a file, and takes an incomplete file for none.
type wholeFiles struct{ dir string }

func (l wholeFiles) Claim(_ context.Context, id string, _ time.Time) error {
	file := filepath.Join(l.dir, lookleap.Digest([]byte(id))[7:])
	if data, err := os.ReadFile(file); err == nil && len(data) > 0 && data[len(data)-1] == '\n' {
		return lookleap.ErrAlreadyDone
	}
	return os.WriteFile(file, []byte("claimed\n"), 0o600)
}
