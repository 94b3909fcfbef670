package adapter

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/contrib/gate"
)

// Request returns what the user is asked about a suspended plan. An adapter shows nothing else: a
// request next to the state could have been changed.
func Request(state json.RawMessage) (*lookleap.ConsentRequest, error) {
	plan, err := lookleap.ParsePlan(state)
	if err != nil {
		return nil, err
	}
	return plan.Request(), nil
}

// Yes returns the answer that agrees to everything in a request, for frameworks whose dialogue
// sends back what it was given.
func Yes(r *lookleap.ConsentRequest) lookleap.ConsentDecision {
	d := lookleap.ConsentDecision{Digest: r.Digest}
	for _, item := range r.Items {
		d.Approved = append(d.Approved, item.ID)
	}
	return d
}

// Decline is the answer of a user who refuses, with or without a reason for the agent.
type Decline struct{ Reason string }

// Resumer goes on with a suspended plan, as the Resume of an agent's session or of a gate does.
type Resumer[R any] func(ctx context.Context, state json.RawMessage, decision lookleap.ConsentDecision) (R, error)

// Resume goes on with a suspended plan. The answer is what the framework brings back: a [Decline],
// or a [lookleap.ConsentDecision] as a Go value, as the values of its JSON, or as JSON. Everything
// else is a no; see [lookleap.ConsentRequest.Decision].
func Resume[R any](ctx context.Context, resume Resumer[R], state json.RawMessage, answer any) (result R, err error) {
	request, err := Request(state)
	if err != nil {
		return result, err
	}
	if no, declined := answer.(Decline); declined {
		return resume(ctx, state, lookleap.ConsentDecision{Digest: request.Digest, Reason: no.Reason})
	}
	text, err := json.Marshal(answer)
	if err != nil {
		text = nil // such as a channel: it is no decision
	}
	decision, malformed := request.Decision(text)
	result, err = resume(ctx, state, decision)
	if malformed != nil && lookleap.CodeOf(err) == lookleap.CodeConsentRefused {
		err = malformed // the same no, with what is wrong
	}
	return result, err
}

// GateText returns what a model reads about a call of a gated tool.
func GateText(r gate.Result, err error) string {
	var before *lookleap.AlreadyDoneError
	switch {
	case err == nil:
		return r.String()
	case errors.As(err, &before) && before.Record.State == lookleap.PlanDone:
		return r.String() + "\n(the call ran before, and this is what came of it; it did not run again)"
	}
	return agent.Advise(err).Text
}

// Text returns what a model reads about a call: the error, the result, or both.
func Text(r *agent.CallResult, err error) string {
	if err == nil {
		return r.Text(anml.TextOptions{})
	}
	return agent.Advise(err).Text + r.Text(anml.TextOptions{})
}

// Data returns what a model reads about a call as JSON values: the error, the result, or both.
func Data(r *agent.CallResult, err error) map[string]any {
	data := r.Data(anml.TextOptions{})
	if err == nil {
		return data
	}
	out := agent.Advise(err).Data()
	for name, value := range data {
		out[name] = value
	}
	return out
}
