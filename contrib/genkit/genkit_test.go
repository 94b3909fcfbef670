package lookleapgenkit

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/adaptertest"
	"github.com/lookleap/lookleap/lookleaptest"
)

// scripted calls reserve once and then repeats what it was told.
func scripted(_ context.Context, req *ai.ModelRequest, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
	for _, part := range req.Messages[len(req.Messages)-1].Content {
		if part.IsToolResponse() {
			told, err := json.Marshal(part.ToolResponse.Output)
			return &ai.ModelResponse{Request: req, Message: ai.NewModelTextMessage("told: " + string(told))}, err
		}
	}
	for _, tool := range req.Tools {
		if strings.HasSuffix(tool.Name, "reserve") {
			call := ai.NewToolRequestPart(&ai.ToolRequest{Name: tool.Name, Ref: "1", Input: map[string]any{"trip": "t2", "seats": 2}})
			return &ai.ModelResponse{Request: req, Message: ai.NewMessage(ai.RoleModel, nil, call)}, nil
		}
	}
	return &ai.ModelResponse{Request: req, Message: ai.NewModelTextMessage("no tool")}, nil
}

func TestInterrupt(t *testing.T) {
	for _, name := range []string{"agrees", "refuses", "forged"} {
		t.Run(name, func(t *testing.T) {
			service, page := adaptertest.Ferries(t, Prompter{})
			g := genkit.Init(t.Context())
			model := genkit.DefineModel(g, "test/scripted", &ai.ModelOptions{Supports: &ai.ModelSupports{Tools: true, Multiturn: true}}, scripted)
			tools := New(page.Session())
			resp, err := genkit.Generate(t.Context(), g, ai.WithModel(model), ai.WithTools(tools.Of(page)...), ai.WithPrompt("book two seats"))
			if err != nil || len(resp.Interrupts()) != 1 || len(service.Bookings()) != 0 {
				t.Fatalf("%+v, %v, %d bookings", resp, err, len(service.Bookings()))
			}
			part := resp.Interrupts()[0]
			request, err := tools.Request(part)
			if err != nil {
				t.Fatal(err)
			}
			decision := lookleap.ConsentDecision{Digest: request.Digest}
			if name != "refuses" {
				decision = lookleaptest.Decide(request)
			}
			restart, err := tools.Restart(part, decision)
			if err != nil {
				t.Fatal(err)
			}
			if name == "forged" {
				tools.Key = make([]byte, lookleap.MinKeyLen)
			}
			resp, err = genkit.Generate(t.Context(), g, ai.WithModel(model), ai.WithMessages(resp.History()...), ai.WithTools(tools.Of(page)...), ai.WithToolRestarts(restart))
			if err != nil || len(service.Bookings()) != map[string]int{"agrees": 1}[name] {
				t.Fatalf("%v, %d bookings", err, len(service.Bookings()))
			}
			if want := map[string]string{"agrees": `"outcome":"success"`, "refuses": `"do":"stop"`, "forged": "seal"}[name]; !strings.Contains(resp.Text(), want) {
				t.Errorf("the model is told %q", resp.Text())
			}
		})
	}
}

// TestOpen: a name of the local network is refused before it is looked up.
func TestOpen(t *testing.T) {
	page, err := Open(t.Context(), "https://localhost", map[string]string{"email": "kim@example.com"})
	if code := lookleap.CodeOf(err); page != nil || code != lookleap.CodeSpecialHost {
		t.Errorf("%v, %s: %v", page, code, err)
	}
}
