package lookleap_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/lookleaptest"
)

// openStore opens a store of files.
func openStore(t *testing.T, dir string) *lookleap.FileStore {
	t.Helper()
	s, err := lookleap.OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// eachStore runs a test with two views of one store, as two processes have them.
func eachStore(t *testing.T, test func(t *testing.T, one, two lookleap.Store)) {
	t.Run("memory", func(t *testing.T) {
		s := lookleap.NewMemoryStore()
		test(t, s, s)
	})
	t.Run("file", func(t *testing.T) {
		dir := t.TempDir()
		test(t, openStore(t, dir), openStore(t, dir))
	})
}

func TestOutcomes(t *testing.T) {
	failure := errors.New("no route")
	for name, c := range map[string]struct {
		effect  lookleap.Effect
		state   lookleap.PlanState
		receipt string
		again   bool // the approval can be committed again
	}{
		"done":         {lookleap.Effect{Send: func(context.Context, *lookleap.Approval) ([]byte, error) { return []byte("order 17"), nil }}, lookleap.PlanDone, "order 17", false},
		"unknown":      {lookleap.Effect{Send: func(context.Context, *lookleap.Approval) ([]byte, error) { return nil, failure }}, lookleap.PlanUnknown, "", false},
		"nothing-sent": {lookleap.Effect{Send: func(context.Context, *lookleap.Approval) ([]byte, error) { return nil, lookleap.NothingSent(failure) }}, lookleap.PlanFailed, "", true},
		"not-prepared": {lookleap.Effect{
			Prepare: func(context.Context, *lookleap.Approval) error { return failure },
			Send:    func(context.Context, *lookleap.Approval) ([]byte, error) { panic("it ran") },
		}, lookleap.PlanFailed, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, one, two lookleap.Store) {
				clock := func() time.Time { return planTime }
				first, second := &lookleap.Host{Plans: one, Now: clock}, &lookleap.Host{Plans: two, Now: clock}
				a := approved(t, newPlan(t, "x"), planTime)
				if _, err := second.PlanRecord(t.Context(), a.Plan().ID()); !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
				receipt, err := first.CommitApproved(t.Context(), a, c.effect)
				if string(receipt) != c.receipt || (err == nil) != (c.state == lookleap.PlanDone) || err != nil && !errors.Is(err, failure) {
					t.Fatalf("%s, %v", receipt, err)
				}
				r, err := second.PlanRecord(t.Context(), a.Plan().ID())
				if err != nil || r.State != c.state || string(r.Receipt) != c.receipt || !r.Expires.Equal(a.Plan().Request().Expires) {
					t.Fatalf("%+v, %v", r, err)
				}
				runs := 0
				receipt, err = second.CommitApproved(t.Context(), a, lookleap.Effect{Send: func(context.Context, *lookleap.Approval) ([]byte, error) {
					runs++
					return []byte("again"), nil
				}})
				if c.again {
					if err != nil || runs != 1 || string(receipt) != "again" {
						t.Errorf("%s, %v after %d runs", receipt, err, runs)
					}
					return
				}
				var done *lookleap.AlreadyDoneError
				if !errors.Is(err, lookleap.ErrAlreadyDone) || !errors.As(err, &done) || done.Record.State != c.state || string(receipt) != c.receipt || runs != 0 {
					t.Errorf("%s, %v after %d runs", receipt, err, runs)
				}
			})
		})
	}
	t.Run("reject-ledger-that-fails-before-the-effect", func(t *testing.T) {
		l := &forgetful{Store: lookleap.NewMemoryStore(), fails: lookleap.PlanSent}
		h := &lookleap.Host{Plans: l, Now: func() time.Time { return planTime }}
		a := approved(t, newPlan(t, "x"), planTime)
		if err := commitTo(h, t.Context(), a, func(context.Context, []byte) error { t.Error("it ran"); return nil }); lookleap.CodeOf(err) != lookleap.CodeLedgerFailed {
			t.Error(err)
		}
		l.fails = ""
		if err := commitTo(h, t.Context(), a, func(context.Context, []byte) error { return nil }); err != nil {
			t.Errorf("the ledger works again: %v", err)
		}
	})
	t.Run("accept-ledger-that-fails-after-the-effect", func(t *testing.T) {
		l := &forgetful{Store: lookleap.NewMemoryStore(), fails: lookleap.PlanDone}
		h := &lookleap.Host{Plans: l, Now: func() time.Time { return planTime }}
		a := approved(t, newPlan(t, "x"), planTime)
		if err := commitTo(h, t.Context(), a, func(context.Context, []byte) error { return nil }); err != nil {
			t.Error(err)
		}
		if r, err := h.PlanRecord(t.Context(), a.Plan().ID()); err != nil || r.State != lookleap.PlanSent {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("accept-longest-receipt", func(t *testing.T) {
		var reported lookleaptest.Events
		h := &lookleap.Host{Plans: lookleap.NewMemoryStore(), Now: func() time.Time { return planTime }, Observe: reported.Observe}
		a := approved(t, newPlan(t, "x"), planTime)
		if _, err := h.Commit(t.Context(), a, func(context.Context, []byte) ([]byte, error) { return make([]byte, lookleap.MaxReceipt), nil }); err != nil {
			t.Error(err)
		}
		r, err := h.PlanRecord(t.Context(), a.Plan().ID())
		if events := reported.All(); err != nil || len(r.Receipt) != lookleap.MaxReceipt || len(events) != 1 || events[0].Kind != lookleap.EventPlan {
			t.Errorf("%d bytes, %v, %v", len(r.Receipt), err, events)
		}
		r.Receipt[0] = 1
		if r, err := h.PlanRecord(t.Context(), a.Plan().ID()); err != nil || r.Receipt[0] != 0 {
			t.Errorf("a caller changed the receipt in the ledger: %v", err)
		}
	})
	t.Run("reject-receipt-that-is-too-long", func(t *testing.T) {
		var reported lookleaptest.Events
		h := &lookleap.Host{Plans: lookleap.NewMemoryStore(), Now: func() time.Time { return planTime }, Observe: reported.Observe}
		a := approved(t, newPlan(t, "x"), planTime)
		long := make([]byte, lookleap.MaxReceipt+1)
		receipt, err := h.Commit(t.Context(), a, func(context.Context, []byte) ([]byte, error) { return long, nil })
		r, _ := h.PlanRecord(t.Context(), a.Plan().ID())
		events := reported.All()
		if err != nil || len(receipt) != len(long) || r.State != lookleap.PlanDone || r.Receipt != nil || len(events) != 2 || events[0].Code != lookleap.CodeTooLarge {
			t.Errorf("%v, %+v, %v", err, r, events)
		}
	})
}

// forgetful is a store that cannot record one state.
type forgetful struct {
	lookleap.Store
	fails lookleap.PlanState
}

func (f *forgetful) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	if f.fails != "" && strings.Contains(string(value), `"state":"`+string(f.fails)+`"`) {
		return errors.New("disk full")
	}
	return f.Store.Put(ctx, key, old, value, until)
}

// TestTakeOver is a worker that died after its claim, and one that only was slow.
func TestTakeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := lookleap.NewMemoryStore()
		slow, other := &lookleap.Host{Plans: l}, &lookleap.Host{Plans: l}
		a := approved(t, planFrom(t, "https://a.example", "x"), time.Now())
		effects := 0
		send := func(context.Context, *lookleap.Approval) ([]byte, error) { effects++; return nil, nil }
		var wait sync.WaitGroup
		var slowErr error
		wait.Go(func() {
			_, slowErr = slow.CommitApproved(t.Context(), a, lookleap.Effect{Send: send, Prepare: func(context.Context, *lookleap.Approval) error {
				time.Sleep(2 * lookleap.PlanLease)
				return nil
			}})
		})
		time.Sleep(lookleap.PlanLease - 1)
		var busy *lookleap.AlreadyDoneError
		if _, err := other.CommitApproved(t.Context(), a, lookleap.Effect{Send: send}); !errors.As(err, &busy) || busy.Record.State != lookleap.PlanClaimed {
			t.Errorf("during the lease: %v", err)
		}
		time.Sleep(time.Nanosecond)
		if _, err := other.CommitApproved(t.Context(), a, lookleap.Effect{Send: send}); err != nil {
			t.Errorf("after the lease: %v", err)
		}
		wait.Wait()
		if !errors.Is(slowErr, lookleap.ErrClaimLost) || lookleap.CodeOf(slowErr) != lookleap.CodeClaimLost || effects != 1 {
			t.Errorf("the slow worker: %v; %d effects", slowErr, effects)
		}
	})
}

// TestLostResponse: the store writes a claim and returns an error, so nothing is sent, and the plan can be
// committed again.
func TestLostResponse(t *testing.T) {
	send := func(context.Context, *lookleap.Approval) ([]byte, error) { return []byte("r"), nil }
	h := &lookleap.Host{Plans: &mute{Store: lookleap.NewMemoryStore(), next: true}}
	a := approved(t, planFrom(t, "https://a.example", "x"), time.Now())
	if _, err := h.CommitApproved(t.Context(), a, lookleap.Effect{Send: send}); lookleap.CodeOf(err) != lookleap.CodeLedgerFailed {
		t.Error("the response is lost:", err)
	}
	if r, err := h.PlanRecord(t.Context(), a.Plan().ID()); err != nil || r.State != lookleap.PlanFailed {
		t.Errorf("%+v, %v", r, err)
	}
	if receipt, err := h.CommitApproved(t.Context(), a, lookleap.Effect{Send: send}); err != nil || string(receipt) != "r" {
		t.Errorf("%s, %v", receipt, err)
	}
}

// mute is a store whose next response to a Put is lost.
type mute struct {
	lookleap.Store
	next bool
}

func (m *mute) Put(ctx context.Context, key string, old, value []byte, until time.Time) error {
	err := m.Store.Put(ctx, key, old, value, until)
	if m.next {
		m.next, err = false, errors.New("connection reset")
	}
	return err
}

// TestOpenStore: a directory that is not there is an error, so that no plan is committed on a disk
// that is not mounted.
func TestOpenStore(t *testing.T) {
	t.Run("reject-missing-directory", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "missing")
		if _, err := lookleap.OpenStore(dir); lookleap.CodeOf(err) != lookleap.CodeIO {
			t.Error(err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Error("it was made")
		}
	})
	t.Run("O54", func(t *testing.T) {
		t.Run("reject-store-without-a-directory", func(t *testing.T) {
			t.Chdir(t.TempDir())
			if _, err := lookleap.OpenStore(""); lookleap.CodeOf(err) != lookleap.CodeUsage {
				t.Error(err)
			}
			if names, _ := os.ReadDir("."); len(names) != 0 {
				t.Errorf("it wrote %v", names)
			}
		})
		t.Run("accept-relative-directory-after-chdir", func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			if err := os.Mkdir("store", 0o700); err != nil {
				t.Fatal(err)
			}
			s := openStore(t, "store")
			t.Chdir(t.TempDir())
			if err := s.Put(t.Context(), "a/b", nil, []byte("x"), time.Time{}); err != nil {
				t.Error(err)
			}
			if got, err := openStore(t, filepath.Join(dir, "store")).Get(t.Context(), "a/b"); err != nil || string(got) != "x" {
				t.Errorf("%s, %v", got, err)
			}
		})
	})
	t.Run("reject-plan-that-has-no-JSON", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		far := planTime.AddDate(8000, 0, 0)
		h := &lookleap.Host{Plans: s, Now: func() time.Time { return far }}
		p, err := lookleap.NewPlan(lookleap.ConsentRequest{Kind: lookleap.ConsentSkill, Origin: "https://a.example", Summary: "x", Items: []lookleap.ConsentItem{{ID: "a", Summary: "a"}}}, []byte("x"), far)
		if err == nil {
			err = commitTo(h, t.Context(), approved(t, p, far), func(context.Context, []byte) error { t.Error("it ran"); return nil })
		}
		if keys, _ := s.Keys(t.Context(), ""); err == nil || len(keys) != 0 {
			t.Errorf("%v, %v", err, keys)
		}
	})
}
