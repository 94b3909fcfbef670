package sdks

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/internal/test/adaptertest"
)

// gatedText returns what a model is told about a call of a gated tool, or the call that waits for its person.
func gatedText(r gate.Result, err error) (text string, waits *lookleap.PendingError) {
	if errors.As(err, &waits) {
		return "", waits
	}
	if err != nil {
		return agent.Advise(err).Text, nil
	}
	return r.String(), nil
}

// openAILoop runs a conversation until the model has said all, or a call waits: then the id of that call and
// the parameters are what the next process needs, with the state of the plan.
func openAILoop(ctx context.Context, client openai.Client, g *gate.Gate, params *openai.ChatCompletionNewParams) (said, id string, waits *lookleap.PendingError, err error) {
	for {
		completion, err := client.Chat.Completions.New(ctx, *params)
		if err != nil {
			return "", "", nil, err
		}
		message := completion.Choices[0].Message
		params.Messages = append(params.Messages, message.ToParam())
		if len(message.ToolCalls) == 0 {
			return message.Content, "", nil, nil
		}
		for _, call := range message.ToolCalls {
			tool, err := g.Named(call.Function.Name)
			if err != nil {
				return "", "", nil, err
			}
			text, waits := gatedText(tool.Call(ctx, []byte(call.Function.Arguments))) // in place of the function itself
			if waits != nil {
				return "", call.ID, waits, nil
			}
			params.Messages = append(params.Messages, openai.ToolMessage(text, call.ID))
		}
	}
}

// anthropicLoop is openAILoop for anthropic-sdk-go.
func anthropicLoop(ctx context.Context, client anthropic.Client, g *gate.Gate, params *anthropic.MessageNewParams) (said, id string, waits *lookleap.PendingError, err error) {
	for {
		message, err := client.Messages.New(ctx, *params)
		if err != nil {
			return "", "", nil, err
		}
		params.Messages = append(params.Messages, message.ToParam())
		var results []anthropic.ContentBlockParamUnion
		for _, block := range message.Content {
			switch block := block.AsAny().(type) {
			case anthropic.TextBlock:
				said += block.Text
			case anthropic.ToolUseBlock:
				tool, err := g.Named(block.Name)
				if err != nil {
					return "", "", nil, err
				}
				text, waits := gatedText(tool.Call(ctx, block.Input)) // in place of the function itself
				if waits != nil {
					return "", block.ID, waits, nil
				}
				results = append(results, anthropic.NewToolResultBlock(block.ID, text, false))
			}
		}
		if len(results) == 0 {
			return said, "", nil, nil
		}
		params.Messages = append(params.Messages, anthropic.NewUserMessage(results...))
	}
}

// model is the server of a vendor whose model calls the tool once and then repeats what it is told.
func model(t testing.TB, call func() (name, args string), reply func(name, args, told string) any) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Messages []json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
			return
		}
		var last struct {
			Role    string
			Content json.RawMessage
		}
		if err := json.Unmarshal(body.Messages[len(body.Messages)-1], &last); err != nil {
			t.Error(err)
		}
		told := ""
		var parts []struct {
			Type    string
			Content []struct{ Text string }
		}
		switch {
		case last.Role == "tool":
			_ = json.Unmarshal(last.Content, &told)
		case json.Unmarshal(last.Content, &parts) == nil && len(parts) > 0 && parts[0].Type == "tool_result":
			told = parts[0].Content[0].Text
		}
		name, args := call()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(reply(name, args, told))
	}))
	t.Cleanup(server.Close)
	return server
}

// conversation is one of the loops with a model that a test scripts.
type conversation struct {
	name, args string
	gate       *gate.Gate
	run        func() (said, id string, waits *lookleap.PendingError, err error)
	tell       func(id, text string)
}

func (c *conversation) Call(t testing.TB, name, args string) (string, *adaptertest.Question) {
	t.Helper()
	c.name, c.args = name, args
	said, id, waits, err := c.run()
	if err != nil {
		t.Fatal(err)
	}
	if waits == nil {
		return said, nil
	}
	answer := func(t testing.TB, a any) (string, bool) {
		d, typed := a.(lookleap.ConsentDecision)
		if !typed { // Resume takes nothing else
			return "", false
		}
		text, again := gatedText(c.gate.Resume(t.Context(), waits.State, d))
		if again != nil {
			t.Fatal("it waits again")
		}
		c.tell(id, text)
		said, _, _, err := c.run()
		if err != nil {
			t.Fatal(err)
		}
		return said, true
	}
	return "", &adaptertest.Question{Request: waits.Request, Answer: answer, Decline: func(t testing.TB, reason string) (string, bool) {
		return answer(t, lookleap.ConsentDecision{Digest: waits.Request.Digest, Reason: reason})
	}}
}

// gatedTill puts the tool of the cases behind the gate.
func gatedTill(t testing.TB, l *adaptertest.Till) *gate.Gated {
	about := l.About()
	about.Name, about.Description, about.Schema = adaptertest.TillName, "Pays.", json.RawMessage(adaptertest.TillSchema)
	about.Run = func(_ context.Context, c gate.Call) ([]byte, error) { return []byte(l.Run(string(c.Arguments))), nil }
	tool, err := l.Gate.Tool(about)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func TestGateOpenAI(t *testing.T) {
	adaptertest.GateCases(t, func(t testing.TB, l *adaptertest.Till) adaptertest.Adapter {
		tool := gatedTill(t, l)
		c := &conversation{gate: l.Gate}
		server := model(t, func() (string, string) { return c.name, c.args }, func(name, args, told string) any {
			message := map[string]any{"role": "assistant", "content": told}
			if told == "" {
				message["tool_calls"] = []any{map[string]any{"id": "1", "type": "function", "function": map[string]any{"name": name, "arguments": args}}}
			}
			return map[string]any{"id": "x", "object": "chat.completion", "choices": []any{map[string]any{"index": 0, "message": message}}}
		})
		client := openai.NewClient(option.WithBaseURL(server.URL), option.WithAPIKey("key"), option.WithMaxRetries(0))
		var schema shared.FunctionParameters
		if err := json.Unmarshal(tool.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		params := &openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("pay")},
			Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
				Name: tool.Name, Description: openai.String(tool.Description), Parameters: schema})}}
		c.run = func() (string, string, *lookleap.PendingError, error) {
			return openAILoop(t.Context(), client, l.Gate, params)
		}
		c.tell = func(id, text string) { params.Messages = append(params.Messages, openai.ToolMessage(text, id)) }
		return c
	})
}

func TestGateAnthropic(t *testing.T) {
	adaptertest.GateCases(t, func(t testing.TB, l *adaptertest.Till) adaptertest.Adapter {
		tool := gatedTill(t, l)
		c := &conversation{gate: l.Gate}
		server := model(t, func() (string, string) { return c.name, c.args }, func(name, args, told string) any {
			content := []any{map[string]any{"type": "text", "text": told}}
			if told == "" {
				content = []any{map[string]any{"type": "tool_use", "id": "1", "name": name, "input": json.RawMessage(args)}}
			}
			return map[string]any{"id": "x", "type": "message", "role": "assistant", "model": "m", "content": content}
		})
		client := anthropic.NewClient(anthropicoption.WithBaseURL(server.URL), anthropicoption.WithAPIKey("key"), anthropicoption.WithMaxRetries(0))
		var schema struct {
			Properties any
			Required   []string
		}
		if err := json.Unmarshal(tool.Schema, &schema); err != nil {
			t.Fatal(err)
		}
		params := &anthropic.MessageNewParams{Model: "m", MaxTokens: 100, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("pay"))},
			Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: tool.Name, Description: anthropic.String(tool.Description),
				InputSchema: anthropic.ToolInputSchemaParam{Properties: schema.Properties, Required: schema.Required}}}}}
		c.run = func() (string, string, *lookleap.PendingError, error) {
			return anthropicLoop(t.Context(), client, l.Gate, params)
		}
		c.tell = func(id, text string) {
			params.Messages = append(params.Messages, anthropic.NewUserMessage(anthropic.NewToolResultBlock(id, text, false)))
		}
		return c
	})
}
