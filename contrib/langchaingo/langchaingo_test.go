package lookleaplangchain

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/adaptertest"
	"github.com/lookleap/lookleap/lookleaptest"
)

// scripted calls reserve once and then repeats what it was told.
type scripted struct{}

func (scripted) Call(context.Context, string, ...llms.CallOption) (string, error) { return "", nil }

func (scripted) GenerateContent(_ context.Context, in []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, option := range options {
		option(&o)
	}
	choice := &llms.ContentChoice{Content: "no tool"}
	for _, f := range o.Functions {
		if strings.HasSuffix(f.Name, "reserve") {
			args, _ := json.Marshal(map[string]string{"__arg1": `{"trip":"t2","seats":2}`})
			call := llms.ToolCall{ID: "1", Type: "function", FunctionCall: &llms.FunctionCall{Name: f.Name, Arguments: string(args)}}
			choice = &llms.ContentChoice{ToolCalls: []llms.ToolCall{call}, FuncCall: call.FunctionCall}
		}
	}
	if r, ok := in[len(in)-1].Parts[0].(llms.ToolCallResponse); ok {
		choice = &llms.ContentChoice{Content: "told: " + r.Content}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

func TestPending(t *testing.T) {
	for name, agrees := range map[string]bool{"agrees": true, "refuses": false} {
		t.Run(name, func(t *testing.T) {
			service, page := adaptertest.Ferries(t, Prompter{})
			tools := New(page.Session())
			executor := agents.NewExecutor(agents.NewOpenAIFunctionsAgent(scripted{}, tools.Of(page)))
			_, err := chains.Run(t.Context(), executor, "book two seats")
			var pending *lookleap.PendingError
			if !errors.As(err, &pending) || len(service.Bookings()) != 0 {
				t.Fatalf("%v, %d bookings", err, len(service.Bookings()))
			}
			decision := lookleap.ConsentDecision{Digest: pending.Request.Digest}
			if agrees {
				decision = lookleaptest.Decide(pending.Request)
			}
			tools.Decide(pending, decision)
			out, err := chains.Run(t.Context(), executor, "book two seats")
			if err != nil || len(service.Bookings()) != map[bool]int{true: 1}[agrees] {
				t.Fatalf("%v, %d bookings", err, len(service.Bookings()))
			}
			if agrees != strings.Contains(out, "Outcome of the action: success") {
				t.Errorf("the model is told %q", out)
			}
			if _, err := chains.Run(t.Context(), executor, "book two seats"); agrees && !errors.As(err, &pending) {
				t.Errorf("a decision is used twice: %v", err)
			}
		})
	}
	_, page := adaptertest.Ferries(t, Prompter{})
	for _, tool := range LLMTools(page) {
		if tool.Function.Parameters == nil || !tool.Function.Strict {
			t.Errorf("%+v", tool.Function)
		}
	}
}

// TestOpen: a name of the local network is refused before it is looked up.
func TestOpen(t *testing.T) {
	page, err := Open(t.Context(), "https://localhost", map[string]string{"email": "kim@example.com"})
	if code := lookleap.CodeOf(err); page != nil || code != lookleap.CodeSpecialHost {
		t.Errorf("%v, %s: %v", page, code, err)
	}
}
