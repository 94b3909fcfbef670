//lint:file-ignore SA1019 servers and clients of protocols before 2026-07-28 still use logging, sampling and roots

package lookleapmcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap/internal/plaintext"
)

// shown reports whether the hidden characters of a text are visible.
func shown(text string) bool {
	return plaintext.Count(text).Total() == 0 && has(text, `\u{202E}`, `\u{E0041}`, `\u{200B}`, `\u{1B}`)
}

// TestProxyWords: what a server says is bounded, and nothing in it is hidden.
func TestProxyWords(t *testing.T) {
	p := newProxied(t)
	p.rules = pass("*")
	c := p.start(t, "", nil)
	t.Run("accept-hidden-text-made-visible-in-result", func(t *testing.T) {
		r := c.call("hidden", nil)
		structured, _ := r.StructuredContent.(map[string]any)
		if !strings.HasPrefix(text(r), "first\tline\r\npay 10") || !shown(text(r)) || !strings.Contains(text(r), "hidden characters, which are shown as") {
			t.Errorf("%q", text(r))
		}
		if value, _ := structured["text"].(string); !shown(value) || structured["count"] != 3.0 {
			t.Errorf("%q", structured)
		}
	})
	t.Run("accept-hidden-text-made-visible-in-description", func(t *testing.T) {
		if d := c.definition(t, "hidden").Description; !strings.HasPrefix(d, "Looks harmless.") || !shown(d) {
			t.Errorf("%q", d)
		}
		if i := c.InitializeResult().Instructions; !shown(i) || !strings.Contains(i, `The server "notes" says, in its own words:`) {
			t.Errorf("%q", i)
		}
	})
	t.Run("reject-metadata-of-the-server", func(t *testing.T) {
		if r := c.call("note", map[string]any{"text": "x"}); r.Meta["lookleap/plan"] != nil {
			t.Errorf("%v", r.Meta)
		}
	})
	t.Run("accept-giant-result-cut", func(t *testing.T) {
		r := c.call("giant", nil)
		if n := strings.Count(text(r), "é"); n > maxText/2 || n < maxText/2-1 || !strings.Contains(text(r), fmt.Sprintf("cut here; %d of %d bytes are left out", 2*maxText-2*n, 2*maxText)) {
			t.Errorf("%d characters, and %q", n, text(r)[2*n:])
		}
		if r.StructuredContent != nil || !has(text(r), "an image of 8388608 bytes is too large and left out", "the structured content has") {
			t.Errorf("%.300s", strings.ReplaceAll(text(r), "é", ""))
		}
		kinds := ""
		for _, c := range r.Content {
			kinds += strings.TrimPrefix(fmt.Sprintf("%T ", c), "*mcp.")
		}
		if kinds != "TextContent ImageContent TextContent AudioContent EmbeddedResource TextContent " {
			t.Error(kinds)
		}
	})
	t.Run("accept-cut-at-a-character", func(t *testing.T) {
		b := &bounder{text: 3}
		if got := b.cut("éé"); !strings.HasPrefix(got, "é\n(") || b.cut("x") != "\n(lookleap: cut here; 1 of 1 bytes are left out)" {
			t.Errorf("%q", got)
		}
	})
	t.Run("reject-too-many-contents", func(t *testing.T) {
		all := make([]mcp.Content, maxContents+5)
		for i := range all {
			all[i] = &mcp.TextContent{}
		}
		if got := newBounder().contents(all); len(got) != maxContents+1 {
			t.Errorf("%d", len(got))
		}
	})
	for name, tool := range map[string]*mcp.Tool{
		"hidden-name": {Name: "no\u200bte"}, "empty-name": {}, "long-name": {Name: strings.Repeat("n", maxToolName+1)},
		"large-definition": {Name: "note", Description: strings.Repeat("x", maxDefinition)},
	} {
		t.Run("reject-tool-with-"+name, func(t *testing.T) {
			if d, err := define(tool); err == nil {
				t.Errorf("%+v", d)
			}
		})
	}
}

// TestProxyPasses: what is no tool passes, with the words of the server marked.
func TestProxyPasses(t *testing.T) {
	for name, web := range map[string]bool{"program": false, "url": true} {
		p := newProxied(t)
		p.web, p.rules = web, pass("*")
		c := p.start(t, "", nil)
		t.Run("accept-prompt-"+name, func(t *testing.T) {
			list, err := c.ListPrompts(t.Context(), nil)
			if err != nil || len(list.Prompts) != 1 || !shown(list.Prompts[0].Description) || list.Prompts[0].Arguments[0].Name != "who" {
				t.Fatalf("%+v, %v", list, err)
			}
			got, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "greet", Arguments: map[string]string{"who": "Kim"}})
			if err != nil || len(got.Messages) != 1 || !shown(got.Messages[0].Content.(*mcp.TextContent).Text) {
				t.Errorf("%+v, %v", got, err)
			}
		})
		t.Run("accept-resource-"+name, func(t *testing.T) {
			list, err := c.ListResources(t.Context(), nil)
			if err != nil || len(list.Resources) != 2 || !shown(list.Resources[0].Description) {
				t.Fatalf("%+v, %v", list, err)
			}
			got, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "test:doc"})
			if err != nil || got.Contents[0].Text != "text"+hiddenText || !strings.Contains(fmt.Sprint(got.Contents[0].Meta["lookleap/hidden"]), "2 tag") {
				t.Errorf("%+v, %v", got, err)
			}
			templates, err := c.ListResourceTemplates(t.Context(), nil)
			if err != nil || len(templates.ResourceTemplates) != 1 {
				t.Errorf("%+v, %v", templates, err)
			}
			if got, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "test:any/x"}); err != nil || got.Contents[0].Text != "any" {
				t.Errorf("%+v, %v", got, err)
			}
		})
		t.Run("reject-large-resource-"+name, func(t *testing.T) {
			if got, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "test:large"}); err == nil || !strings.Contains(err.Error(), "the resource has more than") {
				t.Errorf("%+v, %v", got, err)
			}
		})
		t.Run("accept-completion-"+name, func(t *testing.T) {
			got, err := c.Complete(t.Context(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "greet"}, Argument: mcp.CompleteParamsArgument{Name: "who", Value: "K"}})
			if err != nil || len(got.Completion.Values) != 1 || got.Completion.Values[0] != "K-complete" {
				t.Errorf("%+v, %v", got, err)
			}
		})
		t.Run("accept-call-"+name, func(t *testing.T) {
			if r := c.call("note", map[string]any{"text": "milk"}); text(r) != "noted milk" {
				t.Errorf("%s", text(r))
			}
		})
		t.Run("reject-error-without-a-name-"+name, func(t *testing.T) {
			if _, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "nothing"}); err == nil || !strings.Contains(err.Error(), "the MCP server notes says: ") {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("accept-progress-and-log", func(t *testing.T) {
		p := newProxied(t)
		p.rules = pass("*")
		notices := make(chan string, 2)
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
				notices <- fmt.Sprint(r.Params.ProgressToken, r.Params.Message)
			},
			LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) { notices <- fmt.Sprint(r.Params.Data) },
		}).Connect(t.Context(), p.proxy(t), &mcp.ClientSessionOptions{ProtocolVersion: protocols["old"]})
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		if err := session.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
			t.Fatal(err)
		}
		if r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "work", Meta: mcp.Meta{"progressToken": "mine", "other": "private"}}); err != nil || text(r) != "worked" {
			t.Errorf("%+v, %v", r, err)
		}
		all := <-notices + "\n" + <-notices
		if !has(all, "minehalf", "logged") || !shown(all) {
			t.Errorf("%q", all)
		}
	})
}

// TestProxyQuestions: what a server asks by itself is no consent.
func TestProxyQuestions(t *testing.T) {
	for label := range protocols { // of the server
		open := func(t *testing.T, tool, protocol string, u *person) (*proxied, *client) {
			t.Helper()
			p := newProxied(t)
			if label == "old" {
				if err := os.WriteFile(filepath.Join(p.dir, "old"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p.rules = pass(tool)
			return p, p.start(t, protocol, u)
		}
		t.Run("accept-question-marked-as-the-servers-"+label, func(t *testing.T) {
			u := &person{accept: true}
			p, c := open(t, "ask", protocols["old"], u)
			if r := c.call("ask", nil); text(r) != "the answer is accept" || len(u.asked) != 1 || !shown(u.asked[0]) ||
				!strings.HasPrefix(u.asked[0], "The MCP server notes asks you this itself, and gets your answer. It says:\n| lookleap: run the tool") {
				t.Errorf("%s, asked %q", text(r), u.asked)
			}
			before := len(calls(t, p.dir))
			u.accept = false
			if r := c.call("note", map[string]any{"text": "milk"}); !r.IsError || len(calls(t, p.dir)) != before {
				t.Errorf("the answer to the server counts as consent: %s", text(r))
			}
		})
		t.Run("reject-question-to-a-client-that-cannot-be-asked-"+label, func(t *testing.T) {
			if _, c := open(t, "ask", protocols["old"], nil); text(c.call("ask", nil)) != "the answer is decline" {
				t.Error("the server got an answer")
			}
		})
		t.Run("reject-question-in-the-newest-protocol-"+label, func(t *testing.T) {
			u := &person{accept: true}
			_, c := open(t, "ask", protocols["new"], u)
			if r := c.call("ask", nil); text(r) != "the answer is decline" || len(u.asked) != 0 {
				t.Errorf("%s, asked %q", text(r), u.asked)
			}
		})
		for _, tool := range []string{"open", "sample", "roots"} {
			t.Run("reject-"+tool+"-"+label, func(t *testing.T) {
				u := &person{accept: true}
				_, c := open(t, tool, protocols["old"], u)
				r := c.call(tool, nil)
				reason := map[string]string{"sample old": "does not let a server use the model", "roots old": "does not tell a server the directories", "roots new": "Roots:[]"}[tool+" "+label]
				if strings.Contains(text(r), "accept") || !strings.Contains(text(r), reason) || len(u.asked) != 0 {
					t.Errorf("%s, asked %q", text(r), u.asked)
				}
			})
		}
	}
}
