package lookleap

import (
	"context"
	"slices"
	"time"

	"github.com/lookleap/lookleap/internal/plugin"
)

// PlanOutcome is what became of a plan that a user decided about, for [Host].Record.
type PlanOutcome struct {
	Plan     *Plan
	User     string    // that [WithUser] named
	Approved []string  // ids of the items that the user approved, in their order; nil for a PlanRefused
	State    PlanState // PlanSent right before the effect, then PlanDone, PlanFailed or PlanUnknown; or PlanRefused
	Receipt  []byte    // of a PlanDone
	At       time.Time // by the Host's clock
}

// recorded passes an outcome to Record. An error that comes after the effect is only reported.
func (h *Host) recorded(ctx context.Context, p *Plan, a *Approval, state PlanState, receipt []byte) error {
	if h.Record == nil {
		return nil
	}
	o := PlanOutcome{Plan: p, User: userOf(ctx), State: state, Receipt: slices.Clone(receipt), At: h.Time().UTC()}
	for _, item := range p.request.Items {
		if a.Has(item.ID) {
			o.Approved = append(o.Approved, item.ID)
		}
	}
	err := partRecord.coded(plugin.Do(ctx, h.parts().recordCalls, func(ctx context.Context) error { return h.Record(ctx, o) }))
	if err != nil && state != PlanSent {
		h.Report(ctx, Event{Kind: EventFinding, Code: CodeOf(err), Subject: p.ID(), Shown: p.request.Digest, Err: err})
	}
	return err
}
