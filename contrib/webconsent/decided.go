package webconsent

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"slices"
	"time"

	"github.com/lookleap/lookleap"
)

// Decided is a suspended plan and the user's decision about it.
type Decided struct {
	ID       string
	State    json.RawMessage // for the Resume function of the package that suspended the plan
	Decision lookleap.ConsentDecision
}

// Decided returns the decisions about suspended plans: those that were made, then each new
// one when it is made. It ends with the context, and returns each plan once. A decision
// without approved items is a refusal; a plan that expired undecided counts as refused.
//
// A decision is returned by each call and in each process until [Prompter.Forget] removes
// the plan. An error concerns one record or one reading of the Store, and more may follow.
func (p *Prompter) Decided(ctx context.Context) iter.Seq2[Decided, error] {
	return func(yield func(Decided, error) bool) {
		var seen []string
		for ctx.Err() == nil {
			next := p.next()
			ids, err := p.vault.ids(ctx, planPrefix)
			if err != nil && !yield(Decided{}, err) {
				return
			}
			seen = slices.DeleteFunc(seen, func(id string) bool { return err == nil && !slices.Contains(ids, id) })
			for _, id := range ids {
				if slices.Contains(seen, id) {
					continue
				}
				d, err := p.decided(ctx, id)
				if errors.Is(err, fs.ErrNotExist) || ctx.Err() != nil {
					continue
				}
				seen = append(seen, id)
				if !yield(d, err) {
					return
				}
			}
			select {
			case <-ctx.Done():
			case <-next:
			case <-time.After(p.options.Poll):
			}
		}
	}
}

// decided returns the decision about one plan. The error is fs.ErrNotExist if there is none yet.
func (p *Prompter) decided(ctx context.Context, id string) (Decided, error) {
	plan, err := p.vault.plan(ctx, id)
	if err != nil {
		return Decided{ID: id}, recordError(id, err)
	}
	d, err := p.vault.decision(ctx, id)
	if errors.Is(err, fs.ErrNotExist) && !p.options.Now().Before(plan.request.Expires) {
		no := lookleap.ConsentDecision{Digest: plan.request.Digest}
		return Decided{id, plan.State, no}, nil
	}
	if err != nil {
		return Decided{ID: id}, recordError(id, err)
	}
	return Decided{id, plan.State, d.Decision}, nil
}

// recordError names the plan of an error of the store.
func recordError(id string, err error) error {
	return &lookleap.Error{Code: lookleap.CodeOf(err), Subject: "plan " + id, Message: "the stored record cannot be used", Err: err,
		Fix: "check that each process has the same Options.Keys; if the record is damaged, remove it with Forget"}
}
