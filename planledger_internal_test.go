package lookleap

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap/internal/filestore"
)

func TestMemoryLedger(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := start
	ledger := func() *memoryLedger {
		now = start
		return newMemoryLedger(func() time.Time { return now })
	}
	claim := func(t *testing.T, l *memoryLedger, id string, expires time.Time) {
		t.Helper()
		if _, err := l.Claim(t.Context(), PlanClaim{ID: id, Owner: "a", Expires: expires}); err != nil {
			t.Fatal(err)
		}
		if err := l.Record(t.Context(), id, "a", PlanOutcome{State: PlanSent}); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("accept-room-of-old-claims", func(t *testing.T) {
		l := ledger()
		kept := func(id string, want bool) {
			t.Helper()
			if _, err := l.Plan(t.Context(), id); (err == nil) != want {
				t.Errorf("%s after %v: %v", id, now.Sub(start), err)
			}
		}
		many := func() { // so that old plans are looked for
			for i := range 300 {
				claim(t, l, fmt.Sprint(now.Unix(), i), now)
			}
		}
		claim(t, l, "fast", start.Add(2*keepRecords))
		claim(t, l, "old", start)
		now = start.Add(keepRecords - 1)
		many()
		kept("old", true)
		now = start.Add(keepRecords)
		many()
		kept("old", false)
		kept("fast", true)
	})
	t.Run("O51", func(t *testing.T) {
		t.Run("accept-40000-at-a-flat-cost", func(t *testing.T) {
			l := ledger()
			i := 0
			next := func() {
				i++
				claim(t, l, fmt.Sprint(i), now.Add(PlanLifetime))
			}
			cost := func() float64 { return testing.AllocsPerRun(100, next) }
			early := cost()
			for range 40_000 {
				next()
			}
			if late := cost(); late > early+1 {
				t.Errorf("%v allocations at first, %v at last", early, late)
			}
			now = now.Add(10 * PlanLifetime)
			for range 60_000 {
				next()
			}
			if n := len(l.plans); n > 60_000+101 {
				t.Errorf("%d records are kept", n)
			}
		})
		t.Run("reject-again-after-a-fast-clock", func(t *testing.T) {
			l := ledger()
			claim(t, l, "fast", start.AddDate(73, 0, 0))
			for day := range 10 {
				now = start.Add(time.Duration(day) * PlanLifetime)
				claim(t, l, fmt.Sprint(day), now.Add(PlanLifetime))
			}
			if _, err := l.Claim(t.Context(), PlanClaim{ID: "fast", Owner: "b", Expires: start.AddDate(73, 0, 0)}); !errors.Is(err, ErrAlreadyDone) {
				t.Error(err)
			}
		})
	})
}

// TestFileLedgerRetries: a retry needs no more room, however many there were, and what is no record of
// the ledger is an error.
func TestFileLedgerRetries(t *testing.T) {
	file := func(dir string) string {
		d, err := filestore.OpenDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		return d.File(planKey("p"))
	}
	claimBy := func(t *testing.T, l PlanLedger, owner string) error {
		_, err := l.Claim(t.Context(), PlanClaim{ID: "p", Owner: owner, Expires: time.Now().Add(time.Hour)})
		return err
	}
	t.Run("P17/accept-retries", func(t *testing.T) {
		dir := t.TempDir()
		l := FilePlanLedger(dir)
		for i := range 40 {
			owner := strconv.Itoa(i)
			if err := errors.Join(claimBy(t, l, owner), l.Record(t.Context(), "p", owner, PlanOutcome{State: PlanFailed})); err != nil {
				t.Fatal(err)
			}
		}
		if r, err := l.Plan(t.Context(), "p"); err != nil || r.Owner != "39" || r.State != PlanFailed {
			t.Errorf("%+v, %v", r, err)
		}
		if names, _ := filepath.Glob(filepath.Join(dir, "plan-*")); len(names) != 1 {
			t.Errorf("files: %v", names)
		}
	})
	t.Run("P17/reject-dangling-link", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Symlink(filepath.Join(dir, "nowhere"), file(dir)); err != nil {
			t.Skip("the system has no symbolic links")
		}
		l := FilePlanLedger(dir)
		if err := claimBy(t, l, "b"); CodeOf(err) != CodeLedgerFailed {
			t.Errorf("claim: %v", err)
		}
		if r, err := l.Plan(t.Context(), "p"); CodeOf(err) != CodeLedgerFailed {
			t.Errorf("%+v, %v", r, err)
		}
	})
	good := `{"id":"p","owner":"a","state":"failed","expires":"2026-05-01T09:00:00Z","at":"2026-05-01T09:00:00Z"}`
	for name, text := range map[string]string{
		"accept-record":                       good,
		"reject-record-with-state-in-capital": strings.Replace(good, `"state":"failed"`, `"state":"done","State":"failed"`, 1),
		"reject-record-with-duplicate-state":  strings.Replace(good, `"state":"failed"`, `"state":"done","state":"failed"`, 1),
		"reject-record-with-unknown-member":   strings.Replace(good, `"state"`, `"more":1,"state"`, 1),
		"reject-record-without-JSON":          "{",
		"reject-record-of-a-later-state":      strings.Replace(good, "failed", "later", 1),
	} {
		t.Run("P08/"+name, func(t *testing.T) {
			dir := t.TempDir()
			d, err := filestore.OpenDir(dir)
			if err == nil {
				err = errors.Join(d.Create(t.Context(), planKey("p"), []byte(text)), d.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := claimBy(t, FilePlanLedger(dir), "b"); (err == nil) != (name == "accept-record") {
				t.Error(err)
			}
		})
	}
	t.Run("P08/reject-damaged-record", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(file(dir), []byte(good), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := claimBy(t, FilePlanLedger(dir), "b"); CodeOf(err) != CodeLedgerFailed {
			t.Error(err)
		}
	})
}
