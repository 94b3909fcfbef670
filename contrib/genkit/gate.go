package lookleapgenkit

import (
	"context"
	"encoding/json"

	"github.com/firebase/genkit/go/ai"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/contrib/internal/adapter"
)

// Gated puts tools behind a gate. Its zero value is not usable.
type Gated struct {
	Questions
	gate *gate.Gate
}

// Gate returns the tools of a gate, with a random key.
func Gate(g *gate.Gate) *Gated { return &Gated{newQuestions(), g} }

// Tool puts a tool behind the gate: a call that a person has to decide about is interrupted, and
// restarted with Restart. Name, description and schema are those of the tool. About says what its
// arguments mean and whether it is read-only, and may be the zero Tool.
//
//	pay, err := gated.Tool(pay, gate.Tool{Arguments: roles})
func (t *Gated) Tool(inner ai.Tool, about gate.Tool) (ai.ToolRef, error) {
	d := inner.Definition()
	about.Name, about.Description = d.Name, d.Description
	var err error
	if about.Schema, err = json.Marshal(d.InputSchema); err != nil {
		return nil, err
	}
	about.Run = func(ctx context.Context, c gate.Call) ([]byte, error) {
		var in any
		if err := json.Unmarshal(c.Arguments, &in); err != nil {
			return nil, lookleap.NothingSent(err)
		}
		out, err := inner.RunRaw(ctx, in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
	gated, err := t.gate.Tool(about)
	if err != nil {
		return nil, err
	}
	return ai.NewTool(d.Name, d.Description, func(ctx *ai.ToolContext, in any) (string, error) {
		args, err := json.Marshal(in)
		if err != nil {
			return "", err
		}
		result, waits, err := run(ctx, &t.Questions, func() (gate.Result, error) { return gated.Call(ctx, args) }, t.gate.Resume)
		if waits != nil {
			return "", waits
		}
		return adapter.GateText(result, err), nil
	}, ai.WithInputSchema(d.InputSchema)), nil
}
