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
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/internal/test/adaptertest"
	"github.com/lookleap/lookleap/lookleaptest"
)

// scripted makes one call of the tool that ends with its action, and repeats what it is told.
type scripted struct{ action, args string }

func (*scripted) Call(context.Context, string, ...llms.CallOption) (string, error) { return "", nil }

func (m *scripted) GenerateContent(_ context.Context, in []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, option := range options {
		option(&o)
	}
	choice := &llms.ContentChoice{Content: "no tool"}
	for _, f := range o.Functions {
		if strings.HasSuffix(f.Name, m.action) {
			args, _ := json.Marshal(map[string]string{"__arg1": m.args})
			call := llms.ToolCall{ID: "1", Type: "function", FunctionCall: &llms.FunctionCall{Name: f.Name, Arguments: string(args)}}
			choice = &llms.ContentChoice{ToolCalls: []llms.ToolCall{call}, FuncCall: call.FunctionCall}
		}
	}
	if r, ok := in[len(in)-1].Parts[0].(llms.ToolCallResponse); ok {
		choice = &llms.ContentChoice{Content: "told: " + r.Content}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

// framework is an executor with the tools of one page.
type framework struct {
	page  *agent.Page
	tools *Tools
}

func (f *framework) run(t testing.TB, action, args string) (string, *lookleap.PendingError) {
	t.Helper()
	offered, err := f.tools.Of(f.page)
	if err != nil {
		t.Fatal(err)
	}
	executor := agents.NewExecutor(agents.NewOpenAIFunctionsAgent(&scripted{action, args}, offered))
	out, err := chains.Run(t.Context(), executor, "do it")
	var pending *lookleap.PendingError
	if err != nil && !errors.As(err, &pending) {
		t.Fatal(err)
	}
	return out, pending
}

func (f *framework) Call(t testing.TB, action, args string) (string, *adaptertest.Question) {
	t.Helper()
	told, pending := f.run(t, action, args)
	if pending == nil {
		return told, nil
	}
	answer := func(t testing.TB, d lookleap.ConsentDecision) (string, bool) {
		f.tools.Decide(pending, d)
		told, again := f.run(t, action, args)
		if again != nil {
			t.Error("the decided call waits again")
		}
		return told, true
	}
	return "", &adaptertest.Question{
		Request: pending.Request,
		Answer: func(t testing.TB, a any) (string, bool) {
			d, typed := a.(lookleap.ConsentDecision)
			if !typed { // Decide takes nothing else
				return "", false
			}
			return answer(t, d)
		},
		Decline: func(t testing.TB, reason string) (string, bool) {
			return answer(t, lookleap.ConsentDecision{Digest: pending.Request.Digest, Reason: reason})
		},
	}
}

func TestCases(t *testing.T) {
	adaptertest.Cases(t, func(_ testing.TB, page *agent.Page) adaptertest.Adapter { return &framework{page, New(page.Session())} })

	t.Run("P20", func(t *testing.T) {
		t.Run("reject-decision-used-twice", func(t *testing.T) {
			s := adaptertest.NewScene(t)
			f := &framework{s.Page, New(s.Page.Session())}
			_, q := f.Call(t, "reserve", `{"trip":"t2","seats":2}`)
			q.Answer(t, lookleaptest.Decide(q.Request))
			if told, again := f.Call(t, "reserve", `{"trip":"t2","seats":2}`); again == nil || len(s.Service.Bookings()) != 1 {
				t.Errorf("the second call does not wait, the model is told %q", told)
			}
		})
		t.Run("reject-decision-about-no-plan", func(t *testing.T) {
			f := &framework{nil, New(nil)}
			f.tools.Decide(&lookleap.PendingError{State: json.RawMessage(`{}`)}, lookleap.ConsentDecision{})
			if len(f.tools.decided) != 0 {
				t.Error("a decision is kept")
			}
		})
	})
	offered, err := LLMTools(adaptertest.NewScene(t).Page)
	if err != nil || len(offered) == 0 {
		t.Fatal(err)
	}
	for _, tool := range offered {
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
