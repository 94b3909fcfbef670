package lookleapmcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/contrib/internal/adapter"
	"github.com/lookleap/lookleap/contrib/webconsent"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// A call that waits on the page is a record with its plan, sealed, under a key from the server, the
// definition of the tool and the arguments. The client repeats the call when the person has decided: the
// same call of the same definition finds the plan, also after a restart, and runs it once. The record is
// stored before the plan is on the page, and has all that the page needs, so a call has one question there.
// It is removed before the plan leaves the page, so a plan that is spent is not forgotten and asked again.

// callKey returns the key of the record of a call that waits on the page.
func (p *proxy) callKey(c *gatedCall) string {
	c.identify()
	return "mcp-call/" + lookleap.Digest([]byte(p.options.Server+"\x00"+c.definition.digest+"\x00"+c.entry.Arguments))
}

// stored returns the record of a key, and the state of its plan. Without a record, or with one that was
// sealed with other keys, there is no state.
func (p *proxy) stored(ctx context.Context, key string) (record []byte, state json.RawMessage, err error) {
	record, err = p.options.Store.Get(ctx, key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	if state, err := p.keys.Unseal(string(record)); err == nil {
		return record, state, nil
	}
	return record, nil, nil
}

// store seals the state of a plan and stores it in place of a record.
func (p *proxy) store(ctx context.Context, key string, old []byte, pending *lookleap.PendingError) error {
	sealed, err := p.keys.Seal(pending.State)
	if err != nil {
		return err
	}
	return p.options.Store.Put(ctx, key, old, []byte(sealed), pending.Request.Expires)
}

// askOnPage asks about a call on the page.
func (p *proxy) askOnPage(ctx context.Context, c *gatedCall, pending *lookleap.PendingError) (gate.Result, error) {
	if p.options.Page == nil {
		return gate.Result{}, cannotAsk()
	}
	key := p.callKey(c)
	old, state, err := p.stored(ctx, key)
	if err == nil && state == nil {
		if err = p.store(ctx, key, old, pending); err == nil {
			err = p.options.Page.Suspend(ctx, pending)
		}
	}
	// A conflict: the same call was faster, and both wait for its plan.
	if err != nil && !errors.Is(err, lookleap.ErrConflict) {
		return gate.Result{}, err
	}
	return gate.Result{}, p.waits(ctx, "this client cannot ask its user")
}

// onPage continues a call that waits on the page, if it does. The gate then asks nothing, so repeated calls
// do not count as questions to the person.
func (p *proxy) onPage(ctx context.Context, c *gatedCall) (_ gate.Result, waits bool, err error) {
	if p.options.Page == nil {
		return gate.Result{}, false, nil
	}
	key := p.callKey(c)
	record, state, err := p.stored(ctx, key)
	if err != nil || state == nil {
		return gate.Result{}, err != nil, err
	}
	request, err := adapter.Request(state)
	if err == nil {
		// The page may have it or have lost it.
		err = p.options.Page.Suspend(ctx, &lookleap.PendingError{Request: request, State: state})
	}
	var decided webconsent.Decided
	if err == nil {
		decided, err = p.decision(ctx, request.ID)
	}
	if err != nil {
		return gate.Result{}, true, err
	}
	result, err := c.resume(ctx, state, decided.Decision)
	ctx = context.WithoutCancel(ctx)
	if c.result == nil && errors.Is(err, lookleap.ErrInDoubt) {
		return result, true, p.askAgain(ctx, c, key, record, request.ID, state, err)
	}
	// The plan is spent, or can no longer be resumed: another call is another question.
	now, failed := p.options.Store.Get(ctx, key)
	if failed == nil && bytes.Equal(now, record) && p.options.Store.Delete(ctx, key) == nil {
		_ = p.options.Page.Forget(ctx, request.ID) // what stays there is decided, and no call finds it
	}
	return result, true, err
}

// askAgain asks on the page whether a call runs once more that may have been done. A call that still runs
// is not asked about: its record stays, and the same call gets its result later.
func (p *proxy) askAgain(ctx context.Context, c *gatedCall, key string, record []byte, id string, state json.RawMessage,
	doubt error,
) error {
	var before *lookleap.AlreadyDoneError
	again, err := c.gate.Again(ctx, state)
	switch {
	case err != nil && errors.As(doubt, &before) && before.Record.State == lookleap.PlanSent:
		return coded.Attach(lookleap.ErrInDoubt, &lookleap.Error{Code: lookleap.CodeConsentPending,
			Message: "the same call still runs", Fix: "make the same call with the same arguments again later, for its result", Err: doubt})
	case err != nil:
		return doubt
	}
	if err = p.options.Page.Suspend(ctx, again); err == nil {
		err = p.store(ctx, key, record, again)
	}
	switch {
	case errors.Is(err, lookleap.ErrConflict): // the same call has asked already
		_ = p.options.Page.Forget(ctx, again.Request.ID)
	case err != nil:
		return doubt
	default:
		_ = p.options.Page.Forget(ctx, id)
	}
	reason := plaintext.Clip(plaintext.Line(doubt.Error()), 500)
	return coded.Attach(lookleap.ErrInDoubt,
		p.waits(ctx, "the call may have been done ("+reason+"), so it does not run once more without the user"))
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
	return webconsent.Decided{}, p.waits(ctx, "this client cannot ask its user")
}

// waits is the error of a call whose person decides on the page.
func (p *proxy) waits(ctx context.Context, reason string) error {
	where, err := p.options.Where(ctx)
	if err != nil {
		return err
	}
	return &lookleap.Error{Code: lookleap.CodeConsentPending, Message: reason + ": the user decides on a page: " + where,
		Fix: "tell the user, and make the same call with the same arguments again when the user has decided"}
}
