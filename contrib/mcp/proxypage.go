package lookleapmcp

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/contrib/webconsent"
)

// askOnPage asks about a call on the page. The client repeats the call when the person has decided: the
// same call of the same definition finds the plan that waits, also after a restart, and runs it once.
func (p *proxy) askOnPage(ctx context.Context, c *gatedCall, pending *lookleap.PendingError) (gate.Result, error) {
	if p.options.Page == nil {
		return gate.Result{}, cannotAsk()
	}
	key := "mcp-call/" + lookleap.Digest([]byte(p.options.Server+"\x00"+c.definition.digest+"\x00"+pending.Request.Items[0].Digest))
	waits, err := p.options.Store.Get(ctx, key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := p.options.Page.Suspend(ctx, pending); err != nil {
			return gate.Result{}, err
		}
		err := p.options.Store.Put(ctx, key, nil, []byte(pending.Request.ID), time.Time{})
		if err != nil && !errors.Is(err, lookleap.ErrConflict) { // another call was faster: both wait for one of the plans
			return gate.Result{}, err
		}
		return gate.Result{}, p.waits(ctx)
	case err != nil:
		return gate.Result{}, err
	}
	decided, err := p.decision(ctx, string(waits))
	if err != nil {
		return gate.Result{}, err
	}
	result, err := c.resume(ctx, decided.State, decided.Decision)
	// The plan is spent, or can no longer be resumed: another call is another question.
	forget := context.WithoutCancel(ctx)
	if failed := errors.Join(p.options.Store.Delete(forget, key), p.options.Page.Forget(forget, decided.ID)); err == nil && c.result == nil {
		err = failed
	}
	return result, err
}

// decision waits for the decision about a plan, but not for long.
func (p *proxy) decision(ctx context.Context, plan string) (webconsent.Decided, error) {
	limited, stop := context.WithTimeout(ctx, p.options.Wait)
	defer stop()
	for decided, err := range p.options.Page.Decided(limited) {
		if decided.ID == plan {
			return decided, err
		}
	}
	if ctx.Err() != nil {
		return webconsent.Decided{}, ctx.Err()
	}
	return webconsent.Decided{}, p.waits(ctx)
}

// waits is the error of a call whose person decides on the page.
func (p *proxy) waits(ctx context.Context) error {
	where, err := p.options.Where(ctx)
	if err != nil {
		return err
	}
	return &lookleap.Error{Code: lookleap.CodeConsentPending, Message: "this client cannot ask its user, so the user decides on a page: " + where,
		Fix: "tell the user, and make the same call with the same arguments again when the user has decided"}
}
