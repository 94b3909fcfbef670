package lookleapeino

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/internal/test/adaptertest"
)

// scripted makes one call of the tool that ends with its action, and repeats what it is told.
type scripted struct{ action, id, args, tool string }

func (m *scripted) Generate(_ context.Context, in []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	if last := in[len(in)-1]; last.Role == schema.Tool {
		return schema.AssistantMessage("told: "+last.Content, nil), nil
	}
	return schema.AssistantMessage("", []schema.ToolCall{{ID: m.id, Function: schema.FunctionCall{Name: m.tool, Arguments: m.args}}}), nil
}

func (m *scripted) Stream(ctx context.Context, in []*schema.Message, o ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	out, err := m.Generate(ctx, in, o...)
	return schema.StreamReaderFromArray([]*schema.Message{out}), err
}

func (m *scripted) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	for _, t := range tools {
		if strings.HasSuffix(t.Name, m.action) {
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

// graph builds the graph of a tool-calling agent: model, tools, model.
func graph(t testing.TB, m *scripted, tools []tool.BaseTool, kept store) compose.Runnable[[]*schema.Message, *schema.Message] {
	t.Helper()
	ctx := t.Context()
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
	g, err := chain.Compile(ctx, compose.WithCheckPointStore(kept))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// framework is the graph of a page with its checkpoints. Each run builds the graph again, as another
// process would.
type framework struct {
	tools func(t testing.TB) []tool.BaseTool // made again for each run
	kept  store
	calls int
}

func (f *framework) Call(t testing.TB, action, args string) (string, *adaptertest.Question) {
	t.Helper()
	f.calls++
	run := fmt.Sprint("run-", f.calls)
	m := func() *scripted { return &scripted{action: action, id: run, args: args} }
	in := []*schema.Message{schema.UserMessage("do it")}
	out, err := graph(t, m(), f.tools(t), f.kept).Invoke(t.Context(), in, compose.WithCheckPointID(run))
	if err == nil {
		return out.Content, nil
	}
	requests := Requests(err)
	if len(requests) != 1 {
		t.Fatalf("%v, %d requests", err, len(requests))
	}
	q := new(adaptertest.Question)
	for id, request := range requests {
		q.Request = request
		q.Answer = func(t testing.TB, answer any) (string, bool) {
			ctx := compose.ResumeWithData(t.Context(), id, answer)
			out, err := graph(t, m(), f.tools(t), f.kept).Invoke(ctx, in, compose.WithCheckPointID(run))
			if err != nil {
				return err.Error(), true
			}
			return out.Content, true
		}
		q.Decline = func(t testing.TB, reason string) (string, bool) {
			return q.Answer(t, &lookleap.ConsentDecision{Digest: request.Digest, Reason: reason})
		}
	}
	return "", q
}

func TestCases(t *testing.T) {
	adaptertest.Cases(t, func(_ testing.TB, page *agent.Page) adaptertest.Adapter {
		return &framework{kept: store{}, tools: func(t testing.TB) []tool.BaseTool {
			tools, err := Tools(nil, page)
			if err != nil {
				t.Fatal(err)
			}
			return tools
		}}
	})
}

// till is the tool of the cases as one of Eino.
type till struct{ *adaptertest.Till }

func (till) Info(context.Context) (*schema.ToolInfo, error) {
	params := new(jsonschema.Schema)
	if err := json.Unmarshal([]byte(adaptertest.TillSchema), params); err != nil {
		return nil, err
	}
	return &schema.ToolInfo{Name: adaptertest.TillName, Desc: "Pays.", ParamsOneOf: schema.NewParamsOneOfByJSONSchema(params)}, nil
}

func (l till) InvokableRun(_ context.Context, args string, _ ...tool.Option) (string, error) {
	return l.Run(args), nil
}

func TestGate(t *testing.T) {
	adaptertest.GateCases(t, func(t testing.TB, l *adaptertest.Till) adaptertest.Adapter {
		gated, err := Gate(t.Context(), l.Gate, till{l}, l.About())
		if err != nil {
			t.Fatal(err)
		}
		return &framework{kept: store{}, tools: func(testing.TB) []tool.BaseTool { return []tool.BaseTool{gated} }}
	})
}

// TestOpen: a name of the local network is refused before it is looked up.
func TestOpen(t *testing.T) {
	page, err := Open(t.Context(), "https://localhost", map[string]string{"email": "kim@example.com"})
	if code := lookleap.CodeOf(err); page != nil || code != lookleap.CodeSpecialHost {
		t.Errorf("%v, %s: %v", page, code, err)
	}
}
