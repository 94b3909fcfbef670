package sdks

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/lookleaptest"
	"github.com/lookleap/lookleap/lookleaptest/booking"
)

// openAITools are the tools of a page for openai-go.
func openAITools(page *agent.Page) (out []openai.ChatCompletionToolUnionParam) {
	for _, tool := range page.Tools() {
		d := tool.Definition(agent.OpenAI)
		out = append(out, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: d.Name, Description: openai.String(d.Description), Parameters: d.Parameters, Strict: openai.Bool(d.Strict),
		}))
	}
	return out
}

// anthropicTools are the tools of a page for anthropic-sdk-go.
func anthropicTools(page *agent.Page) (out []anthropic.ToolUnionParam) {
	for _, tool := range page.Tools() {
		d := tool.Definition(agent.Anthropic)
		var required []string
		for _, name := range d.Parameters["required"].([]any) {
			required = append(required, name.(string))
		}
		out = append(out, anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
			Name: d.Name, Description: anthropic.String(d.Description), Strict: anthropic.Bool(d.Strict),
			InputSchema: anthropic.ToolInputSchemaParam{
				Properties: d.Parameters["properties"], Required: required,
				ExtraFields: map[string]any{"additionalProperties": d.Parameters["additionalProperties"]},
			},
		}})
	}
	return out
}

// answer runs the call that a model of any vendor made, and returns what to tell it.
func answer(ctx context.Context, tools []agent.Tool, v agent.Vendor, name, args string) (text string, failed bool) {
	for _, tool := range tools {
		if tool.NameFor(v) != name {
			continue
		}
		result, err := tool.Call(ctx, json.RawMessage(args))
		if err != nil {
			return agent.Advise(err).Text, true
		}
		return result.Text(anml.TextOptions{}), false
	}
	return "there is no such tool", true
}

// addMCPTools adds the tools of a page to a server of mcp-go.
func addMCPTools(s *server.MCPServer, page *agent.Page) {
	for _, tool := range page.Tools() {
		s.AddTool(mcp.NewToolWithRawSchema(tool.Name, tool.Description, tool.InputSchema),
			func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				args, err := json.Marshal(r.GetArguments())
				if err != nil {
					return nil, err
				}
				text, failed := answer(ctx, []agent.Tool{tool}, agent.OpenAI, tool.Name, string(args))
				if failed {
					return mcp.NewToolResultError(text), nil
				}
				return mcp.NewToolResultText(text), nil
			})
	}
}

// pages returns pages with parameters of every type, with asks, and without parameters.
func pages(t *testing.T) (out []*agent.Page) {
	net := lookleaptest.NewInternet()
	t.Cleanup(func() { net.Close() })
	net.Site("ferries.example").Handle("*", booking.New(net.Clock().Now))
	net.Site("types.example").File("/.well-known/anml", anml.MediaTypeXML, `<?xml version="1.0" encoding="UTF-8"?>
<anml xmlns="urn:ietf:params:xml:ns:anml:1.0" version="1.0" role="service"><head><title>Types</title></head><interact>
<action id="2all" method="GET" endpoint="/all"><param name="s" required="true" pattern="[a-z]+" min="2" max="9"/><param name="n" type="number" min="1" max="2" default="1"/>
<param name="b" type="boolean"/><param name="d" type="date" min="2026-01-01"/><param name="t" type="datetime"/><param name="u" type="uri"/>
<param name="e" type="enum"><option value="x"/><option value="y"/></param></action>
<action id="none" method="GET" endpoint="/none"/></interact></anml>`)
	session, err := agent.New(net.Host(), agent.Options{}).NewSession(agent.User{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	for _, site := range []string{"https://ferries.example", "https://types.example"} {
		page, err := session.Discover(t.Context(), site)
		if err != nil || len(page.Tools()) == 0 {
			t.Fatalf("%s: %v", site, err)
		}
		out = append(out, page)
	}
	r, err := out[0].Do(t.Context(), agent.Call{Action: "search", Args: map[string]string{"from": "harbour", "to": "island"}})
	if err != nil {
		t.Fatal(err)
	}
	return append(out, r.Page)
}

// forbidden are the keywords that the strict mode of a vendor refuses.
var forbidden = map[agent.Vendor][]string{
	agent.OpenAI:    {"$schema", "default", "minLength", "maxLength", "minimum", "maximum", "pattern", "format"},
	agent.Anthropic: {"$schema", "default", "minLength", "maxLength", "minimum", "maximum", "pattern"},
	agent.Gemini:    {"$schema", "additionalProperties", "default", "minLength", "maxLength", "minimum", "maximum", "pattern"},
}

// TestSchemas compiles every schema with a validator of others, and checks what each vendor
// refuses beyond it.
func TestSchemas(t *testing.T) {
	for _, page := range pages(t) {
		for _, tool := range page.Tools() {
			for _, v := range []agent.Vendor{agent.AnyVendor, agent.OpenAI, agent.Anthropic, agent.Gemini} {
				t.Run(tool.Action+"/"+v.String(), func(t *testing.T) {
					d := tool.Definition(v)
					if !regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`).MatchString(d.Name) || len(d.Description) > 1024 {
						t.Errorf("name %q, description of %d bytes", d.Name, len(d.Description))
					}
					if d.Parameters == nil && v == agent.Gemini {
						return
					}
					c := jsonschema.NewCompiler()
					c.DefaultDraft(jsonschema.Draft2020)
					c.AssertFormat()
					if err := c.AddResource("https://tools.example/schema", any(d.Parameters)); err != nil {
						t.Fatal(err)
					}
					if _, err := c.Compile("https://tools.example/schema"); err != nil {
						t.Errorf("%v\n%v", err, d.Parameters)
					}
					text, _ := json.Marshal(d.Parameters)
					for _, keyword := range forbidden[v] {
						if strings.Contains(string(text), `"`+keyword+`":`) {
							t.Errorf("%s does not accept %s: %s", v, keyword, text)
						}
					}
					properties := d.Parameters["properties"].(map[string]any)
					required := d.Parameters["required"].([]any)
					if v == agent.OpenAI && len(required) != len(properties) {
						t.Errorf("strict mode requires every property: %s", text)
					}
					for _, name := range required {
						if properties[name.(string)] == nil {
							t.Errorf("%v is required and no property", name)
						}
					}
				})
			}
		}
	}
}

func TestSDKs(t *testing.T) {
	page := pages(t)[0]
	for vendor, tools := range map[string]any{"openai": openAITools(page), "anthropic": anthropicTools(page)} {
		text, err := json.Marshal(tools)
		if err != nil || !strings.Contains(string(text), `"additionalProperties":false`) || !strings.Contains(string(text), `"strict":true`) {
			t.Errorf("%s: %s %v", vendor, text, err)
		}
	}
	s := server.NewMCPServer("test", "1")
	addMCPTools(s, page)
	i := slices.IndexFunc(page.Tools(), func(tool agent.Tool) bool { return tool.Action == "search" })
	name := page.Tools()[i].Name
	call := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"from":"harbour","to":"island"}}}`, name)
	reply, err := json.Marshal(s.HandleMessage(t.Context(), json.RawMessage(call)))
	if err != nil || !strings.Contains(string(reply), "Outcome of the action: success") {
		t.Errorf("%s %v", reply, err)
	}
	if text, failed := answer(t.Context(), page.Tools(), agent.Anthropic, name, `{"from":"harbour"}`); !failed || !strings.Contains(text, "not done") {
		t.Errorf("%s", text)
	}
}
