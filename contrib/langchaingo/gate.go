package lookleaplangchain

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/tmc/langchaingo/tools"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/contrib/internal/adapter"
)

// Gated is a tool behind a gate.
type Gated struct {
	inner tools.Tool
	gate  *gate.Gate
	gated *gate.Gated
	waiting
}

// Gate puts a tool behind a gate: a call that a person has to decide about ends the run with a
// *lookleap.PendingError, for Decide. About says what its arguments mean and whether it is read-only, and
// may be the zero Tool. The tools of LangChainGo take a text: one that is no JSON object is shown as the
// argument "/input".
//
//	pay, err := lookleaplangchain.Gate(g, pay, gate.Tool{})
func Gate(g *gate.Gate, inner tools.Tool, about gate.Tool) (*Gated, error) {
	about.Name, about.Description = inner.Name(), inner.Description()
	about.Run = func(ctx context.Context, c gate.Call) ([]byte, error) {
		input := string(c.Arguments)
		var members map[string]any
		if err := json.Unmarshal(c.Arguments, &members); err != nil {
			return nil, lookleap.NothingSent(err)
		}
		if text, is := members["input"].(string); is && len(members) == 1 {
			input = text
		}
		out, err := inner.Call(ctx, input)
		return []byte(out), err
	}
	gated, err := g.Tool(about)
	if err != nil {
		return nil, err
	}
	return &Gated{inner: inner, gate: g, gated: gated}, nil
}

// Name returns the name of the tool.
func (t *Gated) Name() string { return t.inner.Name() }

// Description describes the tool and its input.
func (t *Gated) Description() string { return t.inner.Description() }

// Call runs the tool, or goes on with what the person decided about the same call.
func (t *Gated) Call(ctx context.Context, input string) (string, error) {
	arguments := []byte(input)
	if !strings.HasPrefix(strings.TrimSpace(input), "{") {
		arguments, _ = json.Marshal(map[string]string{"input": input}) // texts can always be written
	}
	return run(ctx, &t.waiting, input, func() (gate.Result, error) { return t.gated.Call(ctx, arguments) }, t.gate.Resume, adapter.GateText)
}
