package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
	"go.temporal.io/sdk/temporal"
)

// attemptTime is how long one attempt of an activity may take. The engine then starts another one,
// while the first may still run; its context has ended, so it begins no effect any more. It is
// shorter than lookleap.PlanLease.
const attemptTime = 30 * time.Second

// Activities are what the workflow does outside of its history. All workers share the key and the
// plans of the Host.
type Activities struct {
	Host *lookleap.Host // with a [lookleap.SuspendingPrompter]: the workflow waits for the person
	Keys lookleap.Keys  // seal plans and decisions, which pass through the server of the engine
}

// gated returns the gate with the tool that sends an order. Approvals survive a restart of the worker, because
// the tool is the same in each.
func (a *Activities) gated() (*gate.Gate, *gate.Gated, error) {
	g := gate.New(a.Host, gate.Options{})
	order, err := g.Tool(gate.Tool{Name: "order", Description: "Sends an order that you have to pay.",
		Schema:    json.RawMessage(`{"type":"object","properties":{"shop":{"type":"string"},"text":{"type":"string"}},"required":["shop","text"]}`),
		Arguments: map[string]gate.Argument{"/shop": {Role: gate.Recipient}}, Run: a.send})
	return g, order, err
}

// Prepare makes a plan of an order. Nothing is sent. A plan of an attempt that was lost is never
// used.
func (a *Activities) Prepare(ctx context.Context, o Order) (Prepared, error) {
	_, order, err := a.gated()
	if err != nil {
		return Prepared{}, final(err)
	}
	arguments, err := json.Marshal(o)
	if err != nil {
		return Prepared{}, final(err)
	}
	_, err = order.Call(ctx, arguments)
	var waits *lookleap.PendingError
	if !errors.As(err, &waits) {
		return Prepared{}, final(err)
	}
	plan, err := lookleap.ParsePlan(waits.State)
	if err != nil {
		return Prepared{}, final(err)
	}
	sealed, err := a.Keys.Seal(waits.State)
	return Prepared{ID: plan.ID(), Sealed: sealed, Key: plan.IdempotencyKey(), Expires: plan.Request().Expires}, err
}

// Judge reports whether a signal is a decision of the user about the plan, yes or no.
func (a *Activities) Judge(_ context.Context, p Prepared, decision string) (bool, error) {
	plan, err := openPlan(a.Keys, p)
	if err != nil {
		return false, final(err)
	}
	d, err := openDecision(a.Keys, plan, decision)
	return err == nil && d.Digest == plan.Request().Digest, nil
}

// Commit sends the order once, however often the engine runs it. It returns an error only for what
// another attempt can settle; each Outcome is what the ledger proves.
func (a *Activities) Commit(ctx context.Context, p Prepared, decision string) (Outcome, error) {
	plan, err := openPlan(a.Keys, p)
	if err != nil {
		return Outcome{}, err // a worker with the right key can open it
	}
	d, err := openDecision(a.Keys, plan, decision)
	if err != nil {
		return Outcome{}, err
	}
	g, _, err := a.gated()
	if err != nil {
		return Outcome{}, err
	}
	state, err := plan.State()
	if err != nil {
		return Outcome{}, err
	}
	result, err := g.Resume(ctx, state, d)
	if err == nil {
		return Outcome{Plan: plan.ID(), State: StateDone, Receipt: string(result.Output)}, nil
	}
	return a.settle(ctx, plan, err)
}

// settle returns the outcome of a commit that returned an error. An earlier attempt may have sent
// the order, so only the ledger can say that nothing was sent, also of a plan that has expired.
func (a *Activities) settle(ctx context.Context, plan *lookleap.Plan, cause error) (Outcome, error) {
	record, err := a.Host.PlanRecord(ctx, plan.ID())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Outcome{}, errors.Join(cause, err)
	}
	age := a.Host.Time().Sub(record.At)
	outcome := Outcome{Plan: plan.ID(), Reason: cause.Error()}
	switch {
	case record.State == lookleap.PlanDone:
		return Outcome{Plan: plan.ID(), State: StateDone, Receipt: string(record.Receipt)}, nil
	case record.State == lookleap.PlanUnknown, record.State == lookleap.PlanSent && age >= lookleap.PlanLease:
		outcome.State, outcome.Key = StateInDoubt, plan.IdempotencyKey()
		return outcome, nil
	case record.State == lookleap.PlanSent, record.State == lookleap.PlanClaimed && age < lookleap.PlanLease:
		// Another attempt may still run. It has ended when its lease is over.
		return Outcome{}, temporal.NewApplicationErrorWithOptions(cause.Error(), "running",
			temporal.ApplicationErrorOptions{NextRetryDelay: lookleap.PlanLease - age})
	case ends(lookleap.CodeOf(cause)): // nothing was sent, and another attempt would not send it either
		outcome.State = StateNotDone
		return outcome, nil
	}
	return Outcome{}, cause
}

// ends reports whether a commit that failed with this code fails each time.
func ends(code lookleap.Code) bool {
	switch code {
	case lookleap.CodeConsentRefused, lookleap.CodeConsentMismatch, lookleap.CodeConsentPartial, lookleap.CodePlanExpired:
		return true
	}
	return false
}

// send has the effect, and returns the response of the shop as the receipt. The shop can refuse an
// order whose key it has seen.
func (a *Activities) send(ctx context.Context, c gate.Call) ([]byte, error) {
	var o Order
	if err := json.Unmarshal(c.Arguments, &o); err != nil {
		return nil, lookleap.NothingSent(err)
	}
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.Shop+"/orders", strings.NewReader(o.Text))
	if err != nil {
		return nil, lookleap.NothingSent(err)
	}
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	req.Header.Set(lookleap.IdempotencyHeader, c.Key)
	resp, err := a.Host.RoundTrip(req)
	if err != nil {
		if !connected.Load() { // such as a name without an address: try again later
			err = lookleap.NothingSent(err)
		}
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusInternalServerError {
		return nil, fmt.Errorf("the shop failed with status %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	return fmt.Appendf(nil, "%d %q", resp.StatusCode, body), err
}

// final is an error that another attempt would return too.
func final(err error) error {
	return temporal.NewNonRetryableApplicationError(err.Error(), string(lookleap.CodeOf(err)), err)
}

func openPlan(keys lookleap.Keys, p Prepared) (*lookleap.Plan, error) {
	state, err := keys.Unseal(p.Sealed)
	if err != nil {
		return nil, err
	}
	return lookleap.ParsePlan(state)
}

func openDecision(keys lookleap.Keys, plan *lookleap.Plan, sealed string) (d lookleap.ConsentDecision, err error) {
	data, err := keys.Unseal(sealed)
	if err != nil {
		return d, err
	}
	return plan.Request().Decision(data)
}
