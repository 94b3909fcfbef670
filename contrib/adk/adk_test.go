package lookleapadk

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"

	adkagent "google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/toolconfirmation"
	"google.golang.org/genai"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/adaptertest"
)

// scripted calls reserve once and then repeats what it was told.
type scripted struct{}

func (scripted) Name() string { return "scripted" }

func (scripted) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		content := genai.NewContentFromText("no tool", genai.RoleModel)
		for name := range req.Tools {
			if strings.HasSuffix(name, "reserve") {
				content = &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{ID: "1", Name: name, Args: map[string]any{"trip": "t2", "seats": 2}}}}}
			}
		}
		last := req.Contents[len(req.Contents)-1]
		if r := last.Parts[0].FunctionResponse; r != nil {
			told, _ := json.Marshal(r.Response)
			content = genai.NewContentFromText("told: "+string(told), genai.RoleModel)
		}
		yield(&model.LLMResponse{Content: content, TurnComplete: true}, nil)
	}
}

func TestConfirmation(t *testing.T) {
	for name, response := range map[string]map[string]any{
		"agrees":  {"confirmed": true},
		"refuses": {"confirmed": false},
		"none":    {"confirmed": true, "payload": map[string]any{"approved": []any{}}},
	} {
		t.Run(name, func(t *testing.T) {
			service, page := adaptertest.Ferries(t, Prompter{})
			tools := New(page)
			assistant, err := llmagent.New(llmagent.Config{Name: "assistant", Model: scripted{}, Toolsets: []tool.Toolset{tools}})
			if err != nil {
				t.Fatal(err)
			}
			r, err := runner.New(runner.Config{AppName: "test", Agent: assistant, SessionService: session.InMemoryService(), AutoCreateSession: true})
			if err != nil {
				t.Fatal(err)
			}
			var asked *genai.FunctionCall
			said := ""
			send := func(content *genai.Content) {
				for event, err := range r.Run(t.Context(), "kim", "s1", content, adkagent.RunConfig{}) {
					if err != nil {
						t.Fatal(err)
					}
					if event.Content == nil {
						continue
					}
					for _, part := range event.Content.Parts {
						if call := part.FunctionCall; call != nil && call.Name == toolconfirmation.FunctionCallName {
							asked = call
						}
						said += part.Text
					}
				}
			}
			send(genai.NewContentFromText("book two seats", genai.RoleUser))
			if asked == nil || len(service.Bookings()) != 0 {
				t.Fatalf("asked %v, said %q, %d bookings", asked, said, len(service.Bookings()))
			}
			if shown, _ := json.Marshal(asked.Args); !strings.Contains(string(shown), "ferries.example") {
				t.Errorf("the user is shown %s", shown)
			}
			send(&genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: asked.ID, Name: asked.Name, Response: response}}}})
			if len(service.Bookings()) != map[string]int{"agrees": 1}[name] {
				t.Fatalf("%d bookings, said %q", len(service.Bookings()), said)
			}
			if (name == "agrees") != strings.Contains(said, `"outcome":"success"`) || (name == "agrees") != (tools.Page() != page) {
				t.Errorf("the model is told %q", said)
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
