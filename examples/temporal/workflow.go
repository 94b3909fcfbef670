package main

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// What a client of the workflow uses.
const (
	taskQueue      = "orders"
	signalDecision = "decision" // a sealed lookleap.ConsentDecision
	queryPlan      = "plan"     // returns the Prepared
)

// Order is what the user wants: a text that is sent to a shop.
type Order struct {
	Shop string `json:"shop"` // an https origin
	Text string `json:"text"`
}

// Prepared is a plan that waits for its user. The history of the workflow holds only its sealed
// form.
type Prepared struct {
	ID      string    `json:"id"`
	Sealed  string    `json:"sealed"`
	Key     string    `json:"key"` // under which the shop knows the order, if it has it
	Expires time.Time `json:"expires"`
}

// State is how an order ended.
type State string

// The states of an order.
const (
	StateDone    State = "done"     // the shop responded, and the receipt is its response
	StateNotDone State = "not-done" // the ledger proves that nothing was sent
	StateInDoubt State = "in-doubt" // the shop may have the order: ask it, and never send again
)

// Outcome is the result of the workflow.
type Outcome struct {
	Plan    string `json:"plan"`
	State   State  `json:"state"`
	Receipt string `json:"receipt,omitempty"`
	Reason  string `json:"reason,omitempty"` // for the user
	Key     string `json:"key,omitempty"`    // of an order in doubt: ask the shop about it
}

// Buy is the workflow. It prepares a plan, waits for the decision of the user, and commits the
// plan.
// It never ends without an Outcome once the user has agreed.
func Buy(ctx workflow.Context, o Order) (Outcome, error) {
	var a *Activities
	quick := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: attemptTime,
		RetryPolicy:         &temporal.RetryPolicy{MaximumInterval: time.Minute},
	})
	var plan Prepared
	if err := workflow.ExecuteActivity(quick, a.Prepare, o).Get(ctx, &plan); err != nil {
		return Outcome{}, err // nothing was asked and nothing was sent
	}
	if err := workflow.SetQueryHandler(ctx, queryPlan, func() (Prepared, error) { return plan, nil }); err != nil {
		return Outcome{}, err
	}
	decision, err := decided(quick, plan)
	if err != nil {
		return Outcome{}, err
	}
	if decision == "" {
		return Outcome{Plan: plan.ID, State: StateNotDone, Reason: "you did not decide in time"}, nil
	}
	// A cancellation comes too late now: the order may have been sent, and the user is told which.
	ctx, stop := workflow.NewDisconnectedContext(ctx)
	defer stop()
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    attemptTime,
		ScheduleToCloseTimeout: plan.Expires.Sub(workflow.Now(ctx)) + time.Hour, // an expired plan is settled too
		RetryPolicy:            &temporal.RetryPolicy{MaximumInterval: time.Minute},
	})
	var outcome Outcome
	if err := workflow.ExecuteActivity(ctx, a.Commit, plan, decision).Get(ctx, &outcome); err != nil {
		// No attempt could settle the plan. One of them may have sent the order.
		return Outcome{Plan: plan.ID, State: StateInDoubt, Key: plan.Key, Reason: err.Error()}, nil
	}
	return outcome, nil
}

// decided waits for a decision of the user about the plan. It returns "" when the plan expires.
// Everyone who may signal the workflow can send a signal, so the activity Judge looks at each one.
func decided(ctx workflow.Context, plan Prepared) (decision string, err error) {
	var a *Activities
	timer, stop := workflow.WithCancel(ctx)
	defer stop()
	expired := workflow.NewTimer(timer, plan.Expires.Sub(workflow.Now(ctx)))
	signals := workflow.GetSignalChannel(ctx, signalDecision)
	for {
		over, sealed := false, ""
		selector := workflow.NewSelector(ctx)
		selector.AddFuture(expired, func(f workflow.Future) { over, err = true, f.Get(ctx, nil) })
		selector.AddReceive(signals, func(c workflow.ReceiveChannel, _ bool) { c.Receive(ctx, &sealed) })
		selector.Select(ctx)
		if over {
			return "", err // an error means that the workflow was cancelled
		}
		genuine := false
		if err := workflow.ExecuteActivity(ctx, a.Judge, plan, sealed).Get(ctx, &genuine); err != nil {
			return "", err
		}
		if genuine {
			return sealed, nil
		}
		workflow.GetLogger(ctx).Warn("a signal is no decision about this plan", "plan", plan.ID)
	}
}
