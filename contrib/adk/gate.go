package lookleapadk

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/contrib/internal/adapter"
)

// Gate puts a tool behind a gate: a call that a person has to decide about requests a tool confirmation,
// as that of an action does. Name, description and schema are those of the tool. About says what its
// arguments mean and whether it is read-only, and may be the zero Tool. The users of the runner are those
// of the gate: see [gate.Gate.ForUser].
//
//	pay, err := lookleapadk.Gate(g, pay, gate.Tool{Arguments: roles})
func Gate(g *gate.Gate, inner tool.Tool, about gate.Tool) (tool.Tool, error) {
	function, ok := inner.(functionTool)
	if !ok {
		return nil, &lookleap.Error{Code: lookleap.CodeUsage, Subject: inner.Name(), Message: "the tool is not a function",
			Fix: "put function tools behind the gate"}
	}
	declared := function.Declaration()
	about.Name, about.Description = declared.Name, declared.Description
	var err error
	if about.Schema, err = json.Marshal(schemaOf(declared.ParametersJsonSchema, declared.Parameters)); err != nil {
		return nil, err
	}
	about.Run = func(ctx context.Context, c gate.Call) ([]byte, error) {
		var args map[string]any
		if err := json.Unmarshal(c.Arguments, &args); err != nil {
			return nil, lookleap.NothingSent(err)
		}
		runner, ok := ctx.Value(toolContext{}).(tool.Context)
		if !ok {
			return nil, lookleap.NothingSent(fmt.Errorf("the tool is not called by a runner"))
		}
		out, err := function.Run(runner, args)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
	if _, err := g.Tool(about); err != nil {
		return nil, err
	}
	return &gatedTool{function, g}, nil
}

// schemaOf returns the schema that a function declares, in either of its two forms.
func schemaOf(schema, parameters any) any {
	if schema != nil {
		return schema
	}
	return parameters
}

// toolContext is the key of the context of a call in that of its gate.
type toolContext struct{}

type gatedTool struct {
	functionTool
	gate *gate.Gate
}

// Run runs the tool, or goes on with what the person decided.
func (t *gatedTool) Run(ctx tool.Context, args any) (map[string]any, error) {
	own := t.gate.ForUser(ctx.UserID())
	inner := context.WithValue(context.Context(ctx), toolContext{}, ctx)
	var result gate.Result
	var err error
	if confirmation := ctx.ToolConfirmation(); confirmation != nil {
		plan, answer, ok := answered(ctx, t.Name(), confirmation)
		if !ok {
			return adapter.Data(nil, noPlan), nil
		}
		result, err = adapter.Resume(inner, own.Resume, plan, answer)
	} else {
		text, failed := json.Marshal(args)
		if failed != nil {
			return nil, failed
		}
		gated, failed := own.Named(t.Name())
		if failed != nil {
			return nil, failed
		}
		result, err = gated.Call(inner, text)
	}
	if _, failed := ask(ctx, t.Name(), err); failed != nil {
		return nil, failed
	}
	return map[string]any{"result": adapter.GateText(result, err)}, nil
}

// ProcessRequest adds the tool to a request of the model.
func (t *gatedTool) ProcessRequest(ctx tool.Context, req *model.LLMRequest) error {
	if err := t.functionTool.ProcessRequest(ctx, req); err != nil {
		return err
	}
	req.Tools[t.Name()] = t
	return nil
}
