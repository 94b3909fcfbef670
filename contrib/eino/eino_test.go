package lookleapeino

import (
	"context"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/internal/adaptertest"
	"github.com/lookleap/lookleap/lookleaptest"
)

// scripted is a model that calls reserve once and then repeats what it was told.
type scripted struct{ tool string }

func (m *scripted) Generate(_ context.Context, in []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	if last := in[len(in)-1]; last.Role == schema.Tool {
		return schema.AssistantMessage("told: "+last.Content, nil), nil
	}
	return schema.AssistantMessage("", []schema.ToolCall{{ID: "1", Function: schema.FunctionCall{Name: m.tool, Arguments: `{"trip":"t2","seats":2}`}}}), nil
}

func (m *scripted) Stream(ctx context.Context, in []*schema.Message, o ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	out, err := m.Generate(ctx, in, o...)
	return schema.StreamReaderFromArray([]*schema.Message{out}), err
}

func (m *scripted) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	for _, t := range tools {
		if strings.HasSuffix(t.Name, "reserve") {
			m.tool = t.Name
		}
	}
	return m, nil
}

// store keeps checkpoints in memory.
type store map[string][]byte

func (s store) Get(_ context.Context, id string) ([]byte, bool, error) {
	b, ok := s[id]
	return b, ok, nil
}
func (s store) Set(_ context.Context, id string, b []byte) error { s[id] = b; return nil }

// run builds the graph of a tool-calling agent: model, tools, model.
func run(t *testing.T, m *scripted, page *agent.Page, kept store) compose.Runnable[[]*schema.Message, *schema.Message] {
	ctx := t.Context()
	tools := Tools(page, nil)
	var infos []*schema.ToolInfo
	for _, tool := range tools {
		info, err := tool.Info(ctx)
		if err != nil {
			t.Fatal(err)
		}
		infos = append(infos, info)
	}
	if _, err := m.WithTools(infos); err != nil {
		t.Fatal(err)
	}
	node, err := compose.NewToolNode(ctx, &compose.ToolsNodeConfig{Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	chain := compose.NewChain[[]*schema.Message, *schema.Message]().AppendChatModel(m).AppendToolsNode(node).AppendChatModel(m)
	graph, err := chain.Compile(ctx, compose.WithCheckPointStore(kept))
	if err != nil {
		t.Fatal(err)
	}
	return graph
}

func TestInterrupt(t *testing.T) {
	for name, agrees := range map[string]bool{"agrees": true, "refuses": false} {
		t.Run(name, func(t *testing.T) {
			service, page := adaptertest.Ferries(t, Prompter{})
			kept := store{}
			graph := run(t, &scripted{}, page, kept)
			in := []*schema.Message{schema.UserMessage("book two seats")}
			_, err := graph.Invoke(t.Context(), in, compose.WithCheckPointID("run"))
			requests := Requests(err)
			if len(requests) != 1 || len(service.Bookings()) != 0 || len(kept) != 1 {
				t.Fatalf("%v, %d requests, %d bookings", err, len(requests), len(service.Bookings()))
			}
			// Another process would build the graph again from the same checkpoint.
			graph = run(t, &scripted{}, page, kept)
			ctx := t.Context()
			for id, request := range requests {
				decision := lookleap.ConsentDecision{Digest: request.Digest}
				if agrees {
					decision = lookleaptest.Decide(request)
				}
				ctx = compose.ResumeWithData(ctx, id, &decision)
			}
			out, err := graph.Invoke(ctx, in, compose.WithCheckPointID("run"))
			if err != nil || len(service.Bookings()) != map[bool]int{true: 1}[agrees] {
				t.Fatalf("%v, %d bookings", err, len(service.Bookings()))
			}
			if agrees != strings.Contains(out.Content, "Outcome of the action: success") || agrees == strings.Contains(out.Content, "not done") {
				t.Errorf("the model is told %q", out.Content)
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
