package lookleap

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"

	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/plugin"
)

// Effect is what an approved plan does, in two steps. Prepare may be nil.
//
// Prepare runs while this process holds the claim of the plan, and must not let anything
// leave the process. If it returns an error, the same approval can be committed again.
//
// Send has the effect, and returns the receipt that the [PlanLedger] keeps. If it returns
// an error, the plan stays used, because the effect may have happened in part. The
// exception is an error of [NothingSent].
type Effect struct {
	Prepare func(ctx context.Context, a *Approval) error
	Send    func(ctx context.Context, a *Approval) (receipt []byte, err error)
}

// Commit runs the effect of an approved plan once. It claims the plan in the [PlanLedger]
// before it calls effect, and records the outcome after it. It returns the receipt that
// effect returned.
//
// If the plan was committed before, by any process that shares the ledger, Commit returns
// an [ErrAlreadyDone] and the receipt of the commit that is done. [errors.As] with an
// [*AlreadyDoneError] finds the whole record, which says whether the effect happened, may
// have happened, or may still be tried.
//
// Commit is for an effect that is done as a whole. If the user refused an optional item,
// Commit does nothing and returns an [*Error] with [CodeConsentPartial]. Use
// [Host.CommitApproved] for such a plan.
func (h *Host) Commit(ctx context.Context, a *Approval, effect func(ctx context.Context, bytes []byte) (receipt []byte, err error)) (receipt []byte, err error) {
	c := commit{approval: a, whole: true}
	if effect != nil {
		c.effect.Send = func(ctx context.Context, a *Approval) ([]byte, error) { return effect(ctx, a.Plan().Effect()) }
	}
	return h.commit(ctx, c)
}

// CommitApproved is [Host.Commit] for an effect with a preparation, or one that can be
// done without its optional items. The effect must leave out every item for which
// [Approval.Has] reports false.
func (h *Host) CommitApproved(ctx context.Context, a *Approval, effect Effect) (receipt []byte, err error) {
	return h.commit(ctx, commit{approval: a, effect: effect})
}

// NothingSent returns an error for an effect that failed before anything left the process.
// [errors.Is] and [CodeOf] see the cause. The plan can then be committed again without
// another question to the user.
func NothingSent(cause error) error {
	if cause == nil {
		return nil
	}
	return coded.Attach(errNothingSent, cause)
}

var errNothingSent = errors.New("nothing was sent")

type commit struct {
	approval *Approval
	whole    bool // the effect has only one form
	effect   Effect
}

func (h *Host) commit(ctx context.Context, c commit) (receipt []byte, err error) {
	p := c.approval.Plan()
	if p == nil {
		return nil, consentError(CodeConsentRefused, "there is no approval to commit", nil)
	}
	ctx = h.enter(ctx)
	defer func() {
		h.Report(ctx, Event{Kind: EventPlan, Code: CodeOf(err), Subject: p.ID(), Err: err})
	}()
	now, clock := h.clock()
	unusable := h.usable()
	switch {
	case c.effect.Send == nil:
		return nil, consentError(CodeUsage, "there is no effect to commit", nil)
	case cmp.Or(unusable, ctx.Err()) != nil:
		return nil, notCommitted(p, cmp.Or(unusable, ctx.Err()))
	case clock != nil:
		return nil, clockFailed(clock)
	case !now.Before(p.request.Expires):
		return nil, consentError(CodePlanExpired, "the plan expired before it was committed", nil)
	case c.whole && len(c.approval.items) < len(p.request.Items):
		return nil, consentError(CodeConsentPartial, "the user refused an optional item, and the effect can only be done as a whole", nil)
	}
	owner := rand.Text()
	if record, err := h.claim(ctx, p, owner); err != nil {
		return record.Receipt, notCommitted(p, err)
	}
	if c.effect.Prepare != nil {
		if err := c.effect.Prepare(ctx, c.approval); err != nil {
			h.settle(ctx, p, owner, PlanOutcome{State: PlanFailed})
			return nil, err
		}
	}
	if err := h.record(ctx, p, owner, PlanOutcome{State: PlanSent}); err != nil {
		h.settle(ctx, p, owner, PlanOutcome{State: PlanFailed})
		return nil, notCommitted(p, err)
	}
	receipt, err = c.effect.Send(ctx, c.approval)
	switch {
	case err == nil:
		h.settle(ctx, p, owner, PlanOutcome{State: PlanDone, Receipt: receipt})
	case errors.Is(err, errNothingSent):
		h.settle(ctx, p, owner, PlanOutcome{State: PlanFailed})
	default:
		h.settle(ctx, p, owner, PlanOutcome{State: PlanUnknown})
	}
	return receipt, err
}

// notCommitted returns an error for a plan whose effect was not called.
func notCommitted(p *Plan, cause error) error {
	message := "nothing was committed"
	if coded.Cause(cause) == nil {
		message = cause.Error()
	}
	return &Error{Code: CodeOf(cause), Subject: "plan " + p.ID(), Message: message, Err: cause}
}

// claim claims a plan. If another call has it, claim returns its record with an
// [*AlreadyDoneError].
func (h *Host) claim(ctx context.Context, p *Plan, owner string) (PlanRecord, error) {
	record, err := ledgerCall(ctx, h, func(ctx context.Context, l PlanLedger) (PlanRecord, error) {
		return l.Claim(ctx, PlanClaim{ID: p.ID(), Owner: owner, Expires: p.request.Expires})
	})
	if errors.Is(err, ErrAlreadyDone) {
		return record, &AlreadyDoneError{record}
	}
	return PlanRecord{}, err
}

// record writes an outcome before the effect. The effect must not run if that fails.
func (h *Host) record(ctx context.Context, p *Plan, owner string, o PlanOutcome) error {
	_, err := ledgerCall(ctx, h, func(ctx context.Context, l PlanLedger) (_ struct{}, err error) {
		return struct{}{}, l.Record(ctx, p.ID(), owner, o)
	})
	return err
}

// settle writes an outcome that cannot change any more, also if the caller has left. A
// failure is only reported: the record then says less than it could, and never permits more.
func (h *Host) settle(ctx context.Context, p *Plan, owner string, o PlanOutcome) {
	var tooLong error
	if len(o.Receipt) > MaxReceipt {
		tooLong = &Error{Code: CodeTooLarge, Subject: "plan " + p.ID(), Message: "the receipt is too long to be recorded", Fix: "return a shorter receipt, such as a digest"}
		o.Receipt = nil
	}
	if err := cmp.Or(h.record(context.WithoutCancel(ctx), p, owner, o), tooLong); err != nil {
		h.Report(ctx, Event{Kind: EventFinding, Code: CodeOf(err), Subject: p.ID(), Err: err})
	}
}

// PlanRecord returns what the ledger knows about a plan: whether it was committed, by any
// process that shares the ledger, and with which outcome. The error is [fs.ErrNotExist]
// if it was not. A workflow engine that runs a step again asks it before the user.
func (h *Host) PlanRecord(ctx context.Context, id string) (PlanRecord, error) {
	if err := h.usable(); err != nil {
		return PlanRecord{}, err
	}
	return ledgerCall(h.enter(ctx), h, func(ctx context.Context, l PlanLedger) (PlanRecord, error) { return l.Plan(ctx, id) })
}

// ledgerCall calls the ledger of a Host. The record next to an error is kept.
func ledgerCall[T any](ctx context.Context, h *Host, call func(context.Context, PlanLedger) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	parts := h.parts()
	o, err := plugin.Await(ctx, parts.planCalls, func(ctx context.Context) (o outcome, err error) {
		defer partLedger.guard(&err)
		o.value, o.err = call(ctx, parts.plans)
		o.err = partLedger.sound(o.err)
		return o, nil
	})
	return o.value, partLedger.coded(cmp.Or(err, o.err))
}
