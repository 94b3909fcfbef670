package lookleap

import (
	"context"
	"fmt"

	"github.com/lookleap/lookleap/internal/plugin"
)

// Commit runs the effect of an approved plan, once: the plan's id is in the
// ledger before effect is called. It stays there whatever effect returns, since
// no one can know how much of it happened. A second commit is an
// [ErrAlreadyDone].
//
// Commit is for an effect that is done as a whole. If the user refused an
// optional item, Commit returns a [*Error] with [CodeConsentPartial] and
// does nothing: such a plan needs [Host.CommitApproved].
func (h *Host) Commit(ctx context.Context, a *Approval, effect func(ctx context.Context, bytes []byte) error) error {
	c := commit{approval: a, whole: true}
	if effect != nil {
		c.effect = func(ctx context.Context) error { return effect(ctx, a.Plan().Effect()) }
	}
	return h.commit(ctx, c)
}

// CommitApproved is [Host.Commit] for an effect that can be done without its
// optional items: the effect is given the approval, and leaves out every item
// for which [Approval.Has] reports false.
func (h *Host) CommitApproved(ctx context.Context, a *Approval, effect func(ctx context.Context, a *Approval) error) error {
	c := commit{approval: a}
	if effect != nil {
		c.effect = func(ctx context.Context) error { return effect(ctx, a) }
	}
	return h.commit(ctx, c)
}

type commit struct {
	approval *Approval
	whole    bool // the effect has only one form
	effect   func(context.Context) error
}

func (h *Host) commit(ctx context.Context, c commit) (err error) {
	p := c.approval.Plan()
	if p == nil {
		return consentError(CodeConsentRefused, "there is no approval to commit", nil)
	}
	ctx = h.enter(ctx)
	defer func() {
		h.Report(ctx, Event{Kind: EventPlan, Code: CodeOf(err), Subject: p.ID(), Err: err})
	}()
	now, clock := h.clock()
	unusable := h.usable()
	switch {
	case c.effect == nil:
		return consentError(CodeUsage, "there is no effect to commit", nil)
	case unusable != nil:
		return fmt.Errorf("lookleap: committing plan %s: %w", p.ID(), unusable)
	case ctx.Err() != nil:
		return fmt.Errorf("lookleap: committing plan %s: %w", p.ID(), ctx.Err())
	case clock != nil:
		return clockFailed(clock)
	case !now.Before(p.request.Expires):
		return consentError(CodePlanExpired, "the plan expired before it was committed", nil)
	case c.whole && len(c.approval.items) < len(p.request.Items):
		return consentError(CodeConsentPartial, "the user refused an optional item, and the effect can only be done as a whole", nil)
	}
	if err := h.claim(ctx, p); err != nil {
		return fmt.Errorf("lookleap: plan %s: %w", p.ID(), err)
	}
	return c.effect(ctx)
}

func (h *Host) claim(ctx context.Context, p *Plan) (err error) {
	defer func() { err = partLedger.coded(err) }()
	parts := h.parts()
	_, err = plugin.Await(ctx, parts.planCalls, func(ctx context.Context) (_ struct{}, err error) {
		defer partLedger.guard(&err)
		return struct{}{}, parts.plans.Claim(ctx, p.ID(), p.request.Expires)
	})
	return err
}
