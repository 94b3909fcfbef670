package lookleaptest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// TestMoreBrokenPlanLedgers has ledgers whose first claims are right, and whose outcomes are not.
func TestMoreBrokenPlanLedgers(t *testing.T) {
	for name, c := range map[string]struct {
		promise string
		open    func(*backEnd) lookleap.PlanLedger
	}{
		"outcomes-of-folded-ids":     {"ids-with-each-byte", func(b *backEnd) lookleap.PlanLedger { return foldsOutcomes{goodPlans{b}} }},
		"owners-of-any-case":         {"outcome-of-the-owner", func(b *backEnd) lookleap.PlanLedger { return foldsOwners{goodPlans{b}} }},
		"owners-by-prefix":           {"outcome-of-the-owner", func(b *backEnd) lookleap.PlanLedger { return prefixOwners{goodPlans{b}} }},
		"unknown-becomes-failed":     {"final-outcomes", func(b *backEnd) lookleap.PlanLedger { return reopens{goodPlans{b}, lookleap.PlanUnknown} }},
		"failed-becomes-sent":        {"final-outcomes", func(b *backEnd) lookleap.PlanLedger { return reopens{goodPlans{b}, lookleap.PlanFailed} }},
		"done-becomes-failed":        {"final-outcomes", func(b *backEnd) lookleap.PlanLedger { return sameReceipt{goodPlans{b}} }},
		"any-state":                  {"final-outcomes", func(b *backEnd) lookleap.PlanLedger { return anyState{goodPlans{b}} }},
		"cut-receipt":                {"final-outcomes", func(b *backEnd) lookleap.PlanLedger { return cutsReceipts{goodPlans{b}} }},
		"no-repeated-receipt":        {"repeated-by-its-owner", func(b *backEnd) lookleap.PlanLedger { return refusesReceipts{goodPlans{b}} }},
		"refuses-without-record":     {"failed-can-be-claimed", func(b *backEnd) lookleap.PlanLedger { return hidesRecords{goodPlans{b}} }},
		"receipt-of-the-caller":      {"caller-owns-its-bytes", func(b *backEnd) lookleap.PlanLedger { return &sharesReceipts{goodPlans: goodPlans{b}} }},
		"failed-in-two-steps":        {"one-of-many-processes", func(b *backEnd) lookleap.PlanLedger { return &reclaimsAlone{goodPlans{b}, make(chan struct{}, 1)} }},
		"outcomes-in-memory":         {"restart", func(b *backEnd) lookleap.PlanLedger { return &sentInMemory{goodPlans{b}, map[string]bool{}} }},
		"cancelled-outcome-is-nil":   {"cancellation", func(b *backEnd) lookleap.PlanLedger { return losesOutcomes{goodPlans{b}, context.Canceled} }},
		"outcome-is-nil-when-down":   {"back-end-hangs", func(b *backEnd) lookleap.PlanLedger { return losesOutcomes{goodPlans{b}, context.DeadlineExceeded} }},
		"plan-is-missing-when-down":  {"back-end-hangs", func(b *backEnd) lookleap.PlanLedger { return unknownWhenDown{goodPlans{b}} }},
		"outcome-without-a-deadline": {"back-end-hangs", func(b *backEnd) lookleap.PlanLedger { return waitsForOutcomes{goodPlans{b}} }},
		"takes-over-at-once": {"taken-over", func(b *backEnd) lookleap.PlanLedger {
			return leases{goodPlans{b}, lookleap.PlanClaimed, lookleap.PlanLease / 3}
		}},
		"takes-over-what-was-sent": {"taken-over", func(b *backEnd) lookleap.PlanLedger {
			return leases{goodPlans{b}, lookleap.PlanSent, lookleap.PlanLease}
		}},
		"one-lease-for-all":       {"taken-over", func(b *backEnd) lookleap.PlanLedger { return &oneLease{goodPlans: goodPlans{b}} }},
		"damaged-plan-is-missing": {"damaged-data", func(b *backEnd) lookleap.PlanLedger { return damagedIsUnknown{goodPlans{b}} }},
	} {
		t.Run(name, func(t *testing.T) { rejects(t, sharedPlans(c.open), planPromises, c.promise) })
	}
}

// foldsOutcomes ignores the letter case of ids, but not in claims.
type foldsOutcomes struct{ goodPlans }

func (l foldsOutcomes) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	return l.goodPlans.Record(ctx, strings.ToLower(id), owner, o)
}

// foldsOwners ignores the letter case of owners, as a collation of a database may.
type foldsOwners struct{ goodPlans }

func (l foldsOwners) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	if r, err := l.Plan(ctx, id); err == nil && strings.EqualFold(r.Owner, owner) {
		owner = r.Owner
	}
	return l.goodPlans.Record(ctx, id, owner, o)
}

// prefixOwners compares the beginning of owners.
type prefixOwners struct{ goodPlans }

func (l prefixOwners) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	if r, err := l.Plan(ctx, id); err == nil && strings.HasPrefix(owner, r.Owner) {
		owner = r.Owner
	}
	return l.goodPlans.Record(ctx, id, owner, o)
}

// overwrite stores an outcome without a look at the one before.
func (l goodPlans) overwrite(ctx context.Context, id string, o lookleap.PlanOutcome) error {
	_, err := l.change(ctx, id, func(r lookleap.PlanRecord) (lookleap.PlanRecord, error) {
		r.State, r.Receipt = o.State, bytes.Clone(o.Receipt)
		return r, nil
	})
	return err
}

// reopens lets the owner of a plan replace one of the final outcomes.
type reopens struct {
	goodPlans
	final lookleap.PlanState
}

func (l reopens) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	if r, err := l.Plan(ctx, id); err == nil && r.Owner == owner && r.State == l.final {
		return l.overwrite(ctx, id, o)
	}
	return l.goodPlans.Record(ctx, id, owner, o)
}

// sameReceipt takes each outcome with the stored receipt for a repetition.
type sameReceipt struct{ goodPlans }

func (l sameReceipt) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	if r, err := l.Plan(ctx, id); err == nil && r.Owner == owner && r.State == lookleap.PlanDone && bytes.Equal(r.Receipt, o.Receipt) {
		return l.overwrite(ctx, id, o)
	}
	return l.goodPlans.Record(ctx, id, owner, o)
}

// anyState records states that do not exist.
type anyState struct{ goodPlans }

func (l anyState) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	switch o.State {
	case lookleap.PlanSent, lookleap.PlanDone, lookleap.PlanFailed, lookleap.PlanUnknown:
		return l.goodPlans.Record(ctx, id, owner, o)
	}
	return l.overwrite(ctx, id, o)
}

// cutsReceipts stores the beginning of a receipt that is too long.
type cutsReceipts struct{ goodPlans }

func (l cutsReceipts) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	o.Receipt = o.Receipt[:min(len(o.Receipt), lookleap.MaxReceipt)]
	return l.goodPlans.Record(ctx, id, owner, o)
}

// refusesReceipts refuses a second Record of a plan that has a receipt.
type refusesReceipts struct{ goodPlans }

func (l refusesReceipts) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	if r, err := l.Plan(ctx, id); err == nil && len(r.Receipt) > 0 {
		return lookleap.ErrClaimLost
	}
	return l.goodPlans.Record(ctx, id, owner, o)
}

// hidesRecords returns the record of a refused plan only if it is done.
type hidesRecords struct{ goodPlans }

func (l hidesRecords) Claim(ctx context.Context, c lookleap.PlanClaim) (lookleap.PlanRecord, error) {
	r, err := l.goodPlans.Claim(ctx, c)
	if err != nil && r.State != lookleap.PlanDone {
		r = lookleap.PlanRecord{}
	}
	return r, err
}

// sharesReceipts keeps the slice of a receipt.
type sharesReceipts struct {
	goodPlans
	receipt []byte
}

func (l *sharesReceipts) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	l.receipt = o.Receipt
	return l.goodPlans.Record(ctx, id, owner, o)
}

func (l *sharesReceipts) Plan(ctx context.Context, id string) (lookleap.PlanRecord, error) {
	r, err := l.goodPlans.Plan(ctx, id)
	r.Receipt = l.receipt
	return r, err
}

// reclaimsAlone claims a failed plan in two steps, which are atomic within its process only.
type reclaimsAlone struct {
	goodPlans
	own chan struct{}
}

func (l *reclaimsAlone) Claim(ctx context.Context, c lookleap.PlanClaim) (lookleap.PlanRecord, error) {
	l.own <- struct{}{}
	defer func() { <-l.own }()
	r, err := l.Plan(ctx, c.ID)
	if err != nil || r.State != lookleap.PlanFailed {
		return l.goodPlans.Claim(ctx, c)
	}
	time.Sleep(time.Microsecond)
	return l.change(ctx, c.ID, func(lookleap.PlanRecord) (lookleap.PlanRecord, error) {
		return lookleap.PlanRecord{}.Claim(c, time.Now())
	})
}

// sentInMemory does not store that a plan was sent.
type sentInMemory struct {
	goodPlans
	sent map[string]bool
}

func (l *sentInMemory) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	if r, err := l.Plan(ctx, id); err == nil && r.Owner == owner && o.State == lookleap.PlanSent && r.State == lookleap.PlanClaimed {
		l.sent[id] = true
		return nil
	}
	if l.sent[id] {
		if err := l.goodPlans.Record(ctx, id, owner, lookleap.PlanOutcome{State: lookleap.PlanSent}); err != nil {
			return err
		}
		delete(l.sent, id)
	}
	return l.goodPlans.Record(ctx, id, owner, o)
}

func (l *sentInMemory) Plan(ctx context.Context, id string) (lookleap.PlanRecord, error) {
	r, err := l.goodPlans.Plan(ctx, id)
	if l.sent[id] && err == nil && r.State == lookleap.PlanClaimed {
		r.State = lookleap.PlanSent
	}
	return r, err
}

// losesOutcomes reports no error for an outcome that was not stored.
type losesOutcomes struct {
	goodPlans
	cause error
}

func (l losesOutcomes) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	err := l.goodPlans.Record(ctx, id, owner, o)
	if errors.Is(err, l.cause) {
		return nil
	}
	return err
}

// unknownWhenDown reports a plan as unknown when the back end does not answer.
type unknownWhenDown struct{ goodPlans }

func (l unknownWhenDown) Plan(ctx context.Context, id string) (lookleap.PlanRecord, error) {
	r, err := l.goodPlans.Plan(ctx, id)
	if err != nil {
		err = fs.ErrNotExist
	}
	return r, err
}

// waitsForOutcomes writes an outcome as long as it takes.
type waitsForOutcomes struct{ goodPlans }

func (l waitsForOutcomes) Record(ctx context.Context, id, owner string, o lookleap.PlanOutcome) error {
	return l.goodPlans.Record(context.WithoutCancel(ctx), id, owner, o)
}

// damagedIsUnknown reports a damaged plan as unknown, although it does not claim it again.
type damagedIsUnknown struct{ goodPlans }

func (l damagedIsUnknown) Plan(ctx context.Context, id string) (lookleap.PlanRecord, error) {
	r, err := l.goodPlans.Plan(ctx, id)
	if err == nil && r.Owner == "" {
		return lookleap.PlanRecord{}, fs.ErrNotExist
	}
	return r, err
}

// leases lets another owner claim a plan in one state after a time of its own.
type leases struct {
	goodPlans
	state lookleap.PlanState
	after time.Duration
}

func (l leases) Claim(ctx context.Context, c lookleap.PlanClaim) (lookleap.PlanRecord, error) {
	return l.change(ctx, c.ID, func(r lookleap.PlanRecord) (lookleap.PlanRecord, error) {
		now := time.Now()
		if r.State == l.state {
			over := now.Sub(r.At) >= l.after
			if r.At = now; over {
				r.State, r.At = lookleap.PlanClaimed, now.Add(-lookleap.PlanLease)
			}
		}
		return r.Claim(c, now)
	})
}

// oneLease counts the lease of each plan from the first claim of any.
type oneLease struct {
	goodPlans
	first time.Time
}

func (l *oneLease) Claim(ctx context.Context, c lookleap.PlanClaim) (lookleap.PlanRecord, error) {
	return l.change(ctx, c.ID, func(r lookleap.PlanRecord) (lookleap.PlanRecord, error) {
		if l.first.IsZero() {
			l.first = time.Now()
		}
		if r.State == lookleap.PlanClaimed {
			r.At = l.first
		}
		return r.Claim(c, time.Now())
	})
}
