package lookleapgenkit

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/internal/test/adaptertest"
	"github.com/lookleap/lookleap/lookleaptest"
)

// framework is Genkit with a model that makes one call of the tool that ends with an action, and
// repeats what it is told.
type framework struct {
	g            *genkit.Genkit
	model        ai.Model
	tools        *Questions
	offer        func() ([]ai.ToolRef, error)
	action, args string
}

func newFramework(t testing.TB, page *agent.Page) *framework {
	tools := New(page.Session())
	return frameworkOf(t, &tools.Questions, func() ([]ai.ToolRef, error) { return tools.Of(page) })
}

func frameworkOf(t testing.TB, q *Questions, offer func() ([]ai.ToolRef, error)) *framework {
	f := &framework{g: genkit.Init(t.Context()), tools: q, offer: offer}
	f.model = genkit.DefineModel(f.g, "test/scripted", &ai.ModelOptions{Supports: &ai.ModelSupports{Tools: true, Multiturn: true}}, f.generate)
	return f
}

func (f *framework) generate(_ context.Context, req *ai.ModelRequest, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
	for _, part := range req.Messages[len(req.Messages)-1].Content {
		if part.IsToolResponse() {
			told, err := json.Marshal(part.ToolResponse.Output)
			return &ai.ModelResponse{Request: req, Message: ai.NewModelTextMessage("told: " + string(told))}, err
		}
	}
	for _, tool := range req.Tools {
		if strings.HasSuffix(tool.Name, f.action) {
			var in any
			err := json.Unmarshal([]byte(f.args), &in)
			call := ai.NewToolRequestPart(&ai.ToolRequest{Name: tool.Name, Ref: "1", Input: in})
			return &ai.ModelResponse{Request: req, Message: ai.NewMessage(ai.RoleModel, nil, call)}, err
		}
	}
	return &ai.ModelResponse{Request: req, Message: ai.NewModelTextMessage("no tool")}, nil
}

// run generates with the tools of the page.
func (f *framework) run(t testing.TB, options ...ai.GenerateOption) *ai.ModelResponse {
	t.Helper()
	offered, err := f.offer()
	if err != nil {
		t.Fatal(err)
	}
	resp, err := genkit.Generate(t.Context(), f.g, append(options, ai.WithModel(f.model), ai.WithTools(offered...))...)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func (f *framework) Call(t testing.TB, action, args string) (string, *adaptertest.Question) {
	t.Helper()
	f.action, f.args = action, args
	resp := f.run(t, ai.WithPrompt("do it"))
	if len(resp.Interrupts()) == 0 {
		return resp.Text(), nil
	}
	part := resp.Interrupts()[0]
	request, err := f.tools.Request(part)
	if err != nil {
		t.Fatal(err)
	}
	restart := func(t testing.TB, d lookleap.ConsentDecision) *ai.Part {
		t.Helper()
		restart, err := f.tools.Restart(part, d)
		if err != nil {
			t.Fatal(err)
		}
		return restart
	}
	return "", &adaptertest.Question{
		Request: request,
		Answer: func(t testing.TB, answer any) (string, bool) {
			d, _ := answer.(lookleap.ConsentDecision)
			restart := restart(t, d)
			if text, err := json.Marshal(answer); err == nil { // what a client puts there
				restart.Metadata["resumed"].(map[string]any)[keyDecision] = string(text)
			}
			return f.run(t, ai.WithMessages(resp.History()...), ai.WithToolRestarts(restart)).Text(), true
		},
		Decline: func(t testing.TB, reason string) (string, bool) {
			no := restart(t, lookleap.ConsentDecision{Digest: request.Digest, Reason: reason})
			return f.run(t, ai.WithMessages(resp.History()...), ai.WithToolRestarts(no)).Text(), true
		},
		Forge: func(t testing.TB) *lookleap.ConsentRequest {
			other := *request
			other.Summary = "do nothing"
			text, _ := json.Marshal(other)
			meta, _ := interrupt(part)
			meta["lookleapRequest"] = string(text)
			shown, err := f.tools.Request(part)
			if err != nil {
				t.Error(err)
			}
			return shown
		},
	}
}

func TestCases(t *testing.T) {
	adaptertest.Cases(t, func(t testing.TB, page *agent.Page) adaptertest.Adapter { return newFramework(t, page) })

	t.Run("P22", func(t *testing.T) {
		t.Run("reject-forged-state", func(t *testing.T) {
			s := adaptertest.NewScene(t)
			f := newFramework(t, s.Page)
			_, q := f.Call(t, "reserve", `{"trip":"t2","seats":2}`)
			f.tools.Keys = lookleap.Keys{make([]byte, lookleap.MinKeyLen)}
			if told, _ := q.Answer(t, lookleaptest.Decide(q.Request)); len(s.Service.Bookings()) != 0 || !strings.Contains(told, "seal") {
				t.Errorf("the model is told %q", told)
			}
		})
		t.Run("reject-part-that-does-not-wait", func(t *testing.T) {
			f := newFramework(t, adaptertest.NewScene(t).Page)
			if r, err := f.tools.Request(ai.NewTextPart("no call")); r != nil || lookleap.CodeOf(err) != lookleap.CodeUsage {
				t.Errorf("%+v, %v", r, err)
			}
		})
	})
}

func TestGate(t *testing.T) {
	adaptertest.GateCases(t, func(t testing.TB, l *adaptertest.Till) adaptertest.Adapter {
		var schema map[string]any
		if err := json.Unmarshal([]byte(adaptertest.TillSchema), &schema); err != nil {
			t.Fatal(err)
		}
		till := ai.NewTool(adaptertest.TillName, "Pays.", func(_ *ai.ToolContext, in any) (string, error) {
			args, err := json.Marshal(in)
			return l.Run(string(args)), err
		}, ai.WithInputSchema(schema))
		gated := Gate(l.Gate)
		tool, err := gated.Tool(till, l.About())
		if err != nil {
			t.Fatal(err)
		}
		return frameworkOf(t, &gated.Questions, func() ([]ai.ToolRef, error) { return []ai.ToolRef{tool}, nil })
	})
}

// TestOpen: a name of the local network is refused before it is looked up.
func TestOpen(t *testing.T) {
	page, err := Open(t.Context(), "https://localhost", map[string]string{"email": "kim@example.com"})
	if code := lookleap.CodeOf(err); page != nil || code != lookleap.CodeSpecialHost {
		t.Errorf("%v, %s: %v", page, code, err)
	}
}
