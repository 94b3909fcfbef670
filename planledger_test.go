package lookleap_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/lab"
)

// eachLedger runs a test with two views of one ledger, as two processes have them.
func eachLedger(t *testing.T, test func(t *testing.T, one, two lookleap.PlanLedger)) {
	t.Run("memory", func(t *testing.T) {
		l := lookleap.NewMemoryPlanLedger()
		test(t, l, l)
	})
	t.Run("file", func(t *testing.T) {
		dir := t.TempDir()
		test(t, lookleap.FilePlanLedger(dir), lookleap.FilePlanLedger(dir))
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
			eachLedger(t, func(t *testing.T, one, two lookleap.PlanLedger) {
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
		l := &forgetful{PlanLedger: lookleap.NewMemoryPlanLedger(), fails: lookleap.PlanSent}
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
		l := &forgetful{PlanLedger: lookleap.NewMemoryPlanLedger(), fails: lookleap.PlanDone}
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
		var reported lab.Events
		h := &lookleap.Host{Plans: lookleap.NewMemoryPlanLedger(), Now: func() time.Time { return planTime }, Observe: reported.Observe}
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
		var reported lab.Events
		h := &lookleap.Host{Plans: lookleap.NewMemoryPlanLedger(), Now: func() time.Time { return planTime }, Observe: reported.Observe}
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

// forgetful is a ledger that cannot record one state.
type forgetful struct {
	lookleap.PlanLedger
	fails lookleap.PlanState
}

func (f *forgetful) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	if o.State == f.fails {
		return errors.New("disk full")
	}
	return f.PlanLedger.Record(ctx, id, owner, o)
}

// TestTakeOver is a worker that died after its claim, and one that only was slow.
func TestTakeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := lookleap.NewMemoryPlanLedger()
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

// TestFileLedgerFailures: what cannot be written or read is an error, so that no plan is committed
// without its record.
func TestFileLedgerFailures(t *testing.T) {
	t.Run("reject-missing-directory", func(t *testing.T) {
		l := lookleap.FilePlanLedger(filepath.Join(t.TempDir(), "missing"))
		if err := claim(t, l, "x"); lookleap.CodeOf(err) != lookleap.CodeLedgerFailed {
			t.Error(err)
		}
	})
	t.Run("reject-directory-without-a-name", func(t *testing.T) {
		if r, err := lookleap.FilePlanLedger("").Plan(t.Context(), "x"); lookleap.CodeOf(err) != lookleap.CodeUsage {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("reject-caller-who-left", func(t *testing.T) {
		if r, err := lookleap.FilePlanLedger(t.TempDir()).Plan(cancelled(t), "x"); !errors.Is(err, context.Canceled) {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("reject-claim-that-has-no-JSON", func(t *testing.T) {
		dir := t.TempDir()
		_, err := lookleap.FilePlanLedger(dir).Claim(t.Context(), lookleap.PlanClaim{ID: "x", Owner: "a", Expires: planTime.AddDate(8000, 0, 0)})
		if files, _ := filepath.Glob(filepath.Join(dir, "plan-*")); lookleap.CodeOf(err) != lookleap.CodeLedgerFailed || len(files) != 0 {
			t.Errorf("%v, %v", err, files)
		}
	})
}

// TestLedgerSteps follows one plan through both ledgers, each step by one of two processes.
func TestLedgerSteps(t *testing.T) {
	eachLedger(t, func(t *testing.T, one, two lookleap.PlanLedger) {
		synctest.Test(t, func(t *testing.T) {
			const id = "not UTF-8: \xff"
			claimBy := func(l lookleap.PlanLedger, owner string) error {
				_, err := l.Claim(t.Context(), lookleap.PlanClaim{ID: id, Owner: owner, Expires: planTime})
				return err
			}
			is := func(owner string, state lookleap.PlanState, receipt string) {
				t.Helper()
				for _, l := range []lookleap.PlanLedger{one, two} {
					r, err := l.Plan(t.Context(), id)
					if err != nil || r.ID != id || r.Owner != owner || r.State != state || string(r.Receipt) != receipt || !r.Expires.Equal(planTime) {
						t.Errorf("%+v, %v", r, err)
					}
				}
			}
			if err := one.Record(t.Context(), id, "a", lookleap.PlanOutcome{State: lookleap.PlanSent}); !errors.Is(err, lookleap.ErrClaimLost) {
				t.Error("an outcome without a claim:", err)
			}
			if r, err := two.Plan(t.Context(), id); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%+v, %v", r, err)
			}
			if err := errors.Join(claimBy(one, "a"), claimBy(two, "a")); err != nil {
				t.Error("the claim is repeated:", err)
			}
			if err := claimBy(two, "b"); !errors.Is(err, lookleap.ErrAlreadyDone) {
				t.Error("another one claims:", err)
			}
			is("a", lookleap.PlanClaimed, "")
			time.Sleep(lookleap.PlanLease)
			if err := claimBy(two, "b"); err != nil {
				t.Error("the lease is over:", err)
			}
			is("b", lookleap.PlanClaimed, "")
			sent := lookleap.PlanOutcome{State: lookleap.PlanSent}
			if err := one.Record(t.Context(), id, "a", sent); !errors.Is(err, lookleap.ErrClaimLost) {
				t.Error("the first one sends:", err)
			}
			is("b", lookleap.PlanClaimed, "")
			if err := errors.Join(two.Record(t.Context(), id, "b", sent), one.Record(t.Context(), id, "b", sent)); err != nil {
				t.Error("the outcome is repeated:", err)
			}
			is("b", lookleap.PlanSent, "")
			receipt := strings.Repeat("r", lookleap.MaxReceipt)
			if err := two.Record(t.Context(), id, "b", lookleap.PlanOutcome{State: lookleap.PlanDone, Receipt: []byte(receipt + "r")}); !errors.Is(err, lookleap.ErrClaimLost) {
				t.Error("the receipt is too long:", err)
			}
			if err := two.Record(t.Context(), id, "b", lookleap.PlanOutcome{State: lookleap.PlanDone, Receipt: []byte(receipt)}); err != nil {
				t.Error(err)
			}
			is("b", lookleap.PlanDone, receipt)
			time.Sleep(time.Hour)
			if err := claimBy(one, "c"); !errors.Is(err, lookleap.ErrAlreadyDone) {
				t.Error("the plan is done:", err)
			}
		})
	})
}
