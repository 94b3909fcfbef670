package lookleapeino

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/contrib/internal/adapter"
)

// Gate puts a tool behind a gate: a call that a person has to decide about interrupts the run, and
// is resumed as that of an action is. Name, description and schema are those of the tool. About says
// what its arguments mean and whether it is read-only, and may be the zero Tool.
//
//	pay, err := lookleapeino.Gate(ctx, g, pay, gate.Tool{Arguments: roles})
func Gate(ctx context.Context, g *gate.Gate, inner tool.InvokableTool, about gate.Tool) (tool.InvokableTool, error) {
	info, err := inner.Info(ctx)
	if err != nil {
		return nil, err
	}
	about.Name, about.Description = info.Name, info.Desc
	if info.ParamsOneOf != nil {
		params, err := info.ParamsOneOf.ToJSONSchema()
		if err != nil {
			return nil, err
		}
		if about.Schema, err = json.Marshal(params); err != nil {
			return nil, err
		}
	}
	about.Run = func(ctx context.Context, c gate.Call) ([]byte, error) {
		out, err := inner.InvokableRun(ctx, string(c.Arguments))
		return []byte(out), err
	}
	gated, err := g.Tool(about)
	if err != nil {
		return nil, err
	}
	return &gatedTool{info, g, gated}, nil
}

type gatedTool struct {
	info  *schema.ToolInfo
	gate  *gate.Gate
	gated *gate.Gated
}

// Info describes the tool.
func (t *gatedTool) Info(context.Context) (*schema.ToolInfo, error) { return t.info, nil }

// InvokableRun runs the tool, or goes on with what the person decided.
func (t *gatedTool) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	return invoke(ctx, func() (gate.Result, error) { return t.gated.Call(ctx, []byte(args)) }, t.gate.Resume, adapter.GateText)
}

// invoke makes a call, or resumes the one that the checkpoint holds. An error is text for the model:
// what failed, and what it can do.
func invoke[R any](ctx context.Context, call func() (R, error), resume adapter.Resumer[R], text func(R, error) string) (string, error) {
	var result R
	var err error
	if interrupted, known, state := tool.GetInterruptState[suspended](ctx); interrupted && known {
		target, decided, answer := tool.GetResumeContext[any](ctx)
		if !target || !decided {
			return "", interrupt(ctx, state.State)
		}
		result, err = adapter.Resume(ctx, resume, state.State, answer)
	} else {
		result, err = call()
	}
	var pending *lookleap.PendingError
	if errors.As(err, &pending) {
		return "", interrupt(ctx, pending.State)
	}
	return text(result, err), nil
}
