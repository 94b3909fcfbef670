package lookleap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestPlanRules: each claim and each outcome, from each state, by the owner and by others.
func TestPlanRules(t *testing.T) {
	states := []PlanState{"", PlanClaimed, PlanSent, PlanDone, PlanFailed, PlanUnknown, PlanRefused}
	follows := map[PlanState][]PlanState{
		PlanClaimed: {PlanSent, PlanFailed, PlanRefused},
		PlanSent:    {PlanDone, PlanFailed, PlanUnknown},
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, from := range states {
		r := PlanRecord{ID: "p"}
		if from != "" {
			r = PlanRecord{ID: "p", Owner: "a", State: from, Expires: now, At: now}
		}
		for _, age := range []time.Duration{0, PlanLease - 1, PlanLease, -PlanLease + 1, -PlanLease} {
			for _, owner := range []string{"a", "b"} {
				for _, to := range []PlanState{PlanClaimed, PlanSent} {
					free := from == "" || from == PlanFailed && owner == "b" || from == PlanClaimed && age.Abs() >= PlanLease || from == to && owner == "a"
					got, err := r.claimed(owner, to, now.Add(time.Hour), now.Add(age))
					if free != (err == nil) || err != nil && (!errors.Is(err, ErrAlreadyDone) || got.State != from) || err == nil && (got.State != to || got.Owner != owner) {
						t.Errorf("claim of %q as %q by %s after %v: %+v, %v", from, to, owner, age, got, err)
					}
				}
			}
		}
		for _, to := range append(states, "other") {
			for _, owner := range []string{"a", "b", "", "A", "a\x00"} {
				want := owner == "a" && (to == from && from != "")
				for _, next := range follows[from] {
					want = want || owner == "a" && to == next
				}
				if from == "" && owner == "" && to == "" {
					continue // it changes nothing
				}
				got, err := r.ended(owner, to, nil, now)
				if want != (err == nil) || err != nil && (!errors.Is(err, ErrClaimLost) || got.State != from) || err == nil && got.State != to {
					t.Errorf("%q by %q in %q: %+v, %v", to, owner, from, got, err)
				}
			}
		}
		if from == PlanDone {
			if _, err := r.ended("a", PlanDone, []byte("another receipt"), now); !errors.Is(err, ErrClaimLost) {
				t.Error("a receipt was replaced:", err)
			}
		}
	}
}

// TestPlanSteps follows one plan, each step by one of two processes with a store of files.
func TestPlanSteps(t *testing.T) {
	dir := t.TempDir()
	host := func() *Host {
		store, err := OpenStore(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return &Host{Plans: store}
	}
	one, two := host(), host()
	p := &Plan{request: ConsentRequest{ID: "not UTF-8: \xff", Expires: time.Now().Add(time.Hour)}}
	is := func(owner string, state PlanState, receipt string) {
		t.Helper()
		for _, h := range []*Host{one, two} {
			r, err := h.PlanRecord(t.Context(), p.ID())
			if err != nil || r.ID != p.ID() || r.Owner != owner || r.State != state || string(r.Receipt) != receipt || !r.Expires.Equal(p.request.Expires) {
				t.Errorf("%+v, %v", r, err)
			}
		}
	}
	claim := func(h *Host, owner string) error {
		_, err := h.claim(t.Context(), p, owner, PlanClaimed)
		return err
	}
	record := func(h *Host, state PlanState, receipt []byte) error {
		_, err := h.record(t.Context(), p, PlanRecord{Owner: "a"}, state, receipt)
		return err
	}
	if err := record(one, PlanSent, nil); !errors.Is(err, ErrClaimLost) {
		t.Error("an outcome without a claim:", err)
	}
	if err := errors.Join(claim(one, "a"), claim(two, "a")); err != nil {
		t.Error("the claim is repeated:", err)
	}
	if err := claim(two, "b"); !errors.Is(err, ErrAlreadyDone) {
		t.Error("another one claims:", err)
	}
	is("a", PlanClaimed, "")
	if err := errors.Join(record(two, PlanSent, nil), record(one, PlanSent, nil)); err != nil {
		t.Error("the outcome is repeated:", err)
	}
	is("a", PlanSent, "")
	receipt := strings.Repeat("r", MaxReceipt)
	if err := record(two, PlanDone, []byte(receipt)); err != nil {
		t.Error(err)
	}
	is("a", PlanDone, receipt)
}

// TestMemoryStoreSweeps: records are dropped at their time by the monotonic clock, and not before.
func TestMemoryStoreSweeps(t *testing.T) {
	put := func(t *testing.T, s Store, key string, until time.Time) {
		t.Helper()
		if err := s.Put(t.Context(), key, nil, []byte("x"), until); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("accept-room-of-old-records", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, start := NewMemoryStore(), time.Now()
			put(t, s, "kept", time.Time{})
			put(t, s, "old", start.Add(time.Hour))
			put(t, s, "late", start.Add(3*time.Hour))
			has := func(want string) {
				t.Helper()
				for i := range 300 { // so that old records are looked for
					put(t, s, fmt.Sprint("many/", time.Now().Unix(), "/", i), time.Now())
				}
				var got []string
				for _, key := range []string{"kept", "old", "late"} {
					if _, err := s.Get(t.Context(), key); err == nil {
						got = append(got, key)
					}
				}
				if strings.Join(got, " ") != want {
					t.Errorf("%v are left, want %s", got, want)
				}
			}
			time.Sleep(time.Hour)
			has("kept old late")
			time.Sleep(time.Hour)
			has("kept late")
		})
	})
	t.Run("O51", func(t *testing.T) {
		t.Run("accept-40000-at-a-flat-cost", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, i := NewMemoryStore(), 0
				next := func() {
					i++
					put(t, s, strconv.Itoa(i), time.Now().Add(time.Hour))
				}
				early := testing.AllocsPerRun(100, next)
				for range 40_000 {
					next()
				}
				if late := testing.AllocsPerRun(100, next); late > early+1 {
					t.Errorf("%v allocations at first, %v at last", early, late)
				}
				time.Sleep(2 * time.Hour)
				for range 60_000 {
					next()
				}
				if keys, _ := s.Keys(t.Context(), ""); len(keys) > 60_000+101 {
					t.Errorf("%d records are kept", len(keys))
				}
			})
		})
		t.Run("reject-again-after-a-fast-clock", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &Host{Plans: NewMemoryStore()}
				claim := func(id string, expires time.Time) error {
					_, err := h.claim(t.Context(), &Plan{request: ConsentRequest{ID: id, Expires: expires}}, id, PlanClaimed)
					return err
				}
				far := time.Now().AddDate(73, 0, 0)
				if err := claim("fast", far); err != nil {
					t.Fatal(err)
				}
				for day := range 20 {
					time.Sleep(PlanLifetime)
					for i := range 30 { // so that old records are looked for
						if err := claim(fmt.Sprint(day, "-", i), time.Now().Add(PlanLifetime)); err != nil {
							t.Fatal(err)
						}
					}
				}
				if _, err := h.PlanRecord(t.Context(), "fast"); err != nil {
					t.Error(err)
				}
			})
		})
	})
}

// TestPlanRecords: a retry needs no more room, however many there were, and what is no record of a
// plan is an error.
func TestPlanRecords(t *testing.T) {
	p := &Plan{request: ConsentRequest{ID: "p", Expires: time.Now().Add(time.Hour)}}
	open := func(t *testing.T, dir string) (*Host, *FileStore) {
		t.Helper()
		store, err := OpenStore(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return &Host{Plans: store}, store
	}
	t.Run("P17/accept-retries", func(t *testing.T) {
		dir := t.TempDir()
		h, _ := open(t, dir)
		for i := range 40 {
			owner := strconv.Itoa(i)
			held, err := h.claim(t.Context(), p, owner, PlanClaimed)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.record(t.Context(), p, held, PlanFailed, nil); err != nil {
				t.Fatal(err)
			}
		}
		if r, err := h.PlanRecord(t.Context(), "p"); err != nil || r.Owner != "39" || r.State != PlanFailed {
			t.Errorf("%+v, %v", r, err)
		}
		if names, _ := filepath.Glob(filepath.Join(dir, "plan-*")); len(names) != 1 {
			t.Errorf("files: %v", names)
		}
	})
	for name, spoil := range map[string]func(path string) error{
		"P17/reject-dangling-link":  func(path string) error { return os.Symlink(path+"-nowhere", path) },
		"P08/reject-damaged-record": func(path string) error { return os.WriteFile(path, []byte("{}"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			h, store := open(t, t.TempDir())
			if err := spoil(store.dir.File(planPrefix + "p")); err != nil {
				t.Skip("the system has no symbolic links")
			}
			if _, err := h.claim(t.Context(), p, "b", PlanClaimed); CodeOf(err) != CodeLedgerFailed {
				t.Errorf("claim: %v", err)
			}
			if r, err := h.PlanRecord(t.Context(), "p"); CodeOf(err) != CodeLedgerFailed {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	good := `{"id":"p","owner":"a","state":"failed","expires":"2026-05-01T09:00:00Z","at":"2026-05-01T09:00:00Z"}`
	for name, text := range map[string]string{
		"accept-record":                       good,
		"reject-record-with-state-in-capital": strings.Replace(good, `"state":"failed"`, `"state":"done","State":"failed"`, 1),
		"reject-record-with-duplicate-state":  strings.Replace(good, `"state":"failed"`, `"state":"done","state":"failed"`, 1),
		"reject-record-with-unknown-member":   strings.Replace(good, `"state"`, `"more":1,"state"`, 1),
		"reject-record-without-JSON":          "{",
		"reject-empty-record":                 "",
		"reject-record-without-a-state":       strings.Replace(good, `"state":"failed",`, "", 1),
		"reject-record-of-a-later-state":      strings.Replace(good, "failed", "later", 1),
	} {
		t.Run("P08/"+name, func(t *testing.T) {
			h := &Host{Plans: NewMemoryStore()}
			if err := h.Plans.Put(t.Context(), planPrefix+"p", nil, []byte(text), time.Time{}); err != nil {
				t.Fatal(err)
			}
			if _, err := h.claim(t.Context(), p, "b", PlanClaimed); (err == nil) != (name == "accept-record") {
				t.Error(err)
			}
		})
	}
}

// TestUpdateRecord: a change is made of what is there when it is written.
func TestUpdateRecord(t *testing.T) {
	add := func(old []byte) ([]byte, error) { return append(bytes.Clone(old), 'x'), nil }
	t.Run("accept-another-process-was-faster", func(t *testing.T) {
		s, n := NewMemoryStore(), 0
		err := UpdateRecord(t.Context(), s, "a/b", time.Time{}, func(old []byte) ([]byte, error) {
			if n++; n < 5 {
				if err := UpdateRecord(t.Context(), s, "a/b", time.Time{}, add); err != nil {
					t.Fatal(err)
				}
			}
			return add(old)
		})
		if value, _ := s.Get(t.Context(), "a/b"); err != nil || string(value) != "xxxxx" {
			t.Errorf("%s, %v", value, err)
		}
	})
	t.Run("reject-always-another-process", func(t *testing.T) {
		s := NewMemoryStore()
		err := UpdateRecord(t.Context(), s, "a/b", time.Time{}, func(old []byte) ([]byte, error) {
			if err := UpdateRecord(t.Context(), s, "a/b", time.Time{}, add); err != nil {
				t.Fatal(err)
			}
			return add(old)
		})
		if !errors.Is(err, ErrConflict) {
			t.Error(err)
		}
	})
	t.Run("accept-nothing-to-write", func(t *testing.T) {
		s := NewMemoryStore()
		if err := UpdateRecord(t.Context(), s, "a/b", time.Time{}, func([]byte) ([]byte, error) { return nil, nil }); err != nil {
			t.Error(err)
		}
		if keys, _ := s.Keys(t.Context(), ""); len(keys) != 0 {
			t.Error(keys)
		}
	})
	t.Run("reject-error-of-the-change-and-of-the-store", func(t *testing.T) {
		own := errors.New("own")
		if err := UpdateRecord(t.Context(), NewMemoryStore(), "a/b", time.Time{}, func([]byte) ([]byte, error) { return []byte("x"), own }); !errors.Is(err, own) {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s, err := OpenStore(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := UpdateRecord(ctx, s, "a/b", time.Time{}, add); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if _, err := os.Stat(s.dir.File("a/b")); err == nil {
			t.Error("a record was written")
		}
	})
}
