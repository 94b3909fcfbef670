package lookleap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
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
	t.Run("accept-claims-again-in-the-room-of-one", func(t *testing.T) {
		l := ledger()
		for _, owner := range []string{"a", "b", "c"} {
			if _, err := l.Claim(t.Context(), PlanClaim{ID: "x", Owner: owner, Expires: now.Add(PlanLifetime)}); err != nil {
				t.Error(err)
			}
			now = now.Add(PlanLease)
		}
		if len(l.claims) != 1 {
			t.Errorf("%d claims of one plan", len(l.claims))
		}
	})
	t.Run("accept-room-of-old-claims", func(t *testing.T) {
		l := ledger()
		kept := func(id string, want bool) {
			t.Helper()
			if _, err := l.Plan(t.Context(), id); (err == nil) != want {
				t.Errorf("%s after %v: %v", id, now.Sub(start), err)
			}
		}
		claim(t, l, "fast", start.Add(2*keepClaims))
		claim(t, l, "old", start)
		now = start.Add(keepClaims - 1)
		claim(t, l, "1", now)
		kept("old", true)
		now = start.Add(keepClaims)
		claim(t, l, "2", now)
		kept("old", false)
		kept("fast", true)
		now = start.Add(2 * keepClaims)
		claim(t, l, "3", now)
		kept("fast", false)
	})
	t.Run("accept-four-old-claims-at-a-time", func(t *testing.T) {
		l := ledger()
		old := []string{"1", "2", "3", "4", "5"}
		for _, id := range old {
			claim(t, l, id, start)
		}
		now = start.Add(keepClaims)
		claim(t, l, "new", now)
		for i, id := range old {
			if _, err := l.Plan(t.Context(), id); (err == nil) != (i == 4) {
				t.Errorf("%s: %v", id, err)
			}
		}
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
			for range 20_000 {
				next()
			}
			if n := len(l.plans); n > 20_000+101 || n != len(l.claims) {
				t.Errorf("%d ids are kept in %d claims", n, len(l.claims))
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

// TestFileLedgerRace: a caller who left does not start again when another process was faster, and
// one who waits does.
func TestFileLedgerRace(t *testing.T) {
	for name, leaves := range map[string]bool{"reject-caller-who-left": true, "accept-caller-who-waits": false} {
		t.Run(name, func(t *testing.T) {
			l := FilePlanLedger(t.TempDir()).(fileLedger)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			rounds := 0
			err := l.change(ctx, "x", func(before PlanRecord) (PlanRecord, error) {
				if rounds++; rounds == 1 {
					if _, err := l.Claim(t.Context(), PlanClaim{ID: "x", Owner: "faster", Expires: time.Now()}); err != nil {
						t.Error(err)
					}
					if leaves {
						leave()
					}
				}
				return PlanRecord{ID: "x", Owner: "slow", State: PlanUnknown}, nil
			})
			r, _ := l.Plan(t.Context(), "x")
			if leaves && (!errors.Is(err, context.Canceled) || rounds != 1 || r.Owner != "faster") || !leaves && (err != nil || rounds != 2 || r.Owner != "slow") {
				t.Errorf("%v after %d rounds: %+v", err, rounds, r)
			}
		})
	}
}

// TestFileLedgerRetries: a retry costs the same, however many there were, and what is no record of the
// ledger is an error at once.
func TestFileLedgerRetries(t *testing.T) {
	t.Run("P17", func(t *testing.T) {
		t.Run("accept-many-versions", func(t *testing.T) {
			for n := range 5000 {
				asked := 0
				got, err := countVersions(func(version int) (bool, error) {
					asked++
					return version < n, nil
				})
				if got != n || err != nil || asked > 30 {
					t.Fatalf("%d versions: %d after %d questions, %v", n, got, asked, err)
				}
			}
		})
		t.Run("reject-version-that-cannot-be-seen", func(t *testing.T) {
			for bad := range 9 {
				_, err := countVersions(func(version int) (bool, error) {
					if version == bad {
						return false, errNoPlan
					}
					return version < 8, nil
				})
				if seen := bad == 0 || bad == 1 || bad == 3 || bad == 7; seen && err == nil {
					t.Errorf("version %d", bad)
				}
			}
		})
		t.Run("accept-retries", func(t *testing.T) {
			l := FilePlanLedger(t.TempDir())
			for i := range 40 {
				owner := strconv.Itoa(i)
				if _, err := l.Claim(t.Context(), PlanClaim{ID: "p", Owner: owner, Expires: time.Now().Add(time.Hour)}); err != nil {
					t.Fatal(err)
				}
				if err := l.Record(t.Context(), "p", owner, PlanOutcome{State: PlanFailed}); err != nil {
					t.Fatal(err)
				}
			}
			if r, err := l.Plan(t.Context(), "p"); err != nil || r.Owner != "39" || r.State != PlanFailed {
				t.Errorf("%+v, %v", r, err)
			}
		})
		for name, version := range map[string]int{"first": 0, "next": 1} {
			t.Run("reject-dangling-link-as-"+name, func(t *testing.T) {
				dir := t.TempDir()
				l := FilePlanLedger(dir).(fileLedger)
				if version > 0 {
					if _, err := l.Claim(t.Context(), PlanClaim{ID: "p", Owner: "a", Expires: time.Now().Add(time.Hour)}); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.Symlink(filepath.Join(dir, "nowhere"), l.path("p", version)); err != nil {
					t.Skip("the system has no symbolic links")
				}
				if _, err := l.Claim(t.Context(), PlanClaim{ID: "p", Owner: "b", Expires: time.Now().Add(time.Hour)}); CodeOf(err) != CodeLedgerFailed {
					t.Errorf("claim: %v", err)
				}
				if r, err := l.Plan(t.Context(), "p"); CodeOf(err) != CodeLedgerFailed {
					t.Errorf("%+v, %v", r, err)
				}
			})
		}
	})
	t.Run("P08", func(t *testing.T) {
		good := `{"id":"p","owner":"a","state":"failed","expires":"2026-05-01T09:00:00Z","at":"2026-05-01T09:00:00Z"}`
		for name, text := range map[string]string{
			"state-in-capital": strings.Replace(good, `"state":"failed"`, `"state":"done","State":"failed"`, 1),
			"duplicate-state":  strings.Replace(good, `"state":"failed"`, `"state":"done","state":"failed"`, 1),
			"unknown-member":   strings.Replace(good, `"state"`, `"more":1,"state"`, 1),
		} {
			t.Run("reject-record-with-"+name, func(t *testing.T) {
				if r := parseRecord("p", []byte(text)); r.State != PlanUnknown {
					t.Errorf("%+v", r)
				}
			})
		}
		t.Run("accept-record", func(t *testing.T) {
			if r := parseRecord("p", []byte(good)); r.State != PlanFailed {
				t.Errorf("%+v", r)
			}
		})
	})
}
