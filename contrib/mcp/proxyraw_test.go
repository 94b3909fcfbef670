package lookleapmcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
)

// rawServer is an upstream server that answers with JSON as it is. Notes are messages of its own, which it
// sends before it answers the method at.
func rawServer(answers map[string]string, at string, notes ...string) mcp.Transport {
	requests, toServer := io.Pipe()
	fromServer, replies := io.Pipe()
	go func() {
		in := bufio.NewReader(requests)
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			var m struct {
				ID     json.RawMessage
				Method string
			}
			if json.Unmarshal(line, &m) != nil || len(m.ID) == 0 || m.Method == "" {
				continue
			}
			if m.Method == at {
				for _, note := range notes {
					fmt.Fprintln(replies, note)
				}
				if len(notes) > 1 { // the call lasts while they are handled
					time.Sleep(200 * time.Millisecond)
				}
			}
			answer, known := answers[m.Method]
			if !known && m.Method == "initialize" {
				answer, known = `{"protocolVersion":"2025-06-18","serverInfo":{"name":"x","version":"1"},
					"capabilities":{"tools":{},"prompts":{},"resources":{"subscribe":true},"logging":{},"completions":{}}}`, true
				answer = strings.ReplaceAll(answer, "\n", " ")
			}
			if !known {
				fmt.Fprintf(replies, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`+"\n", m.ID)
				continue
			}
			fmt.Fprintf(replies, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, answer)
		}
	}()
	return &mcp.IOTransport{Reader: fromServer, Writer: toServer}
}

const (
	rawTools = `{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}`
	rawHi    = `{"content":[{"type":"text","text":"hi"}]}`
)

// TestProxyMalformed: a server that leaves out what a message must have does not end the proxy.
func TestProxyMalformed(t *testing.T) {
	for _, method := range []string{
		"notifications/message", "notifications/progress", "notifications/resources/updated", "notifications/tools/list_changed",
		"notifications/prompts/list_changed", "notifications/resources/list_changed", "notifications/elicitation/complete",
		"notifications/cancelled", "elicitation/create", "sampling/createMessage", "roots/list", "ping",
	} {
		for name, params := range map[string]string{"without": "", "with-null": `,"params":null`, "with-empty": `,"params":{}`} {
			t.Run("accept-call-after-"+strings.ReplaceAll(method, "/", "-")+"-"+name+"-params", func(t *testing.T) {
				id := `,"id":"a"`
				if strings.HasPrefix(method, "notifications/") {
					id = ""
				}
				note := `{"jsonrpc":"2.0"` + id + `,"method":"` + method + `"` + params + `}`
				upstream := rawServer(map[string]string{"tools/list": rawTools, "tools/call": rawHi}, "tools/call", note)
				c := connect(t, proxyOver(t, upstream, pass("*"), ProxyOptions{}), "", &person{accept: true}, false)
				for range 2 { // the first answer may come before the message is handled
					if r := c.call("x", nil); text(r) != "hi" {
						t.Errorf("%s", text(r))
					}
				}
			})
		}
	}
	for method, answer := range map[string]string{
		"tools/list": `{"tools":[null]}`, "tools/call": `{"content":[null]}`, "prompts/list": `{"prompts":[null]}`,
		"prompts/get": `{"messages":[null]}`, "resources/list": `{"resources":[null]}`,
		"resources/templates/list": `{"resourceTemplates":[null]}`, "resources/read": `{"contents":[null]}`,
	} {
		for name, answer := range map[string]string{"null-in": answer, "null-as": "null", "null-input-request-in": `{"resultType":"input_required","inputRequests":{"q":null}}`} {
			t.Run("reject-"+name+"-answer-of-"+strings.ReplaceAll(method, "/", "-"), func(t *testing.T) {
				answers := map[string]string{"tools/list": rawTools, "tools/call": rawHi}
				answers[method] = answer
				c := connect(t, proxyOver(t, rawServer(answers, ""), pass("*"), ProxyOptions{}), "", nil, false)
				ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
				defer stop()
				var err error
				switch method {
				case "tools/list":
					_, err = c.ListTools(ctx, nil)
					_, _ = c.CallTool(ctx, &mcp.CallToolParams{Name: "x"})
				case "tools/call":
					var r *mcp.CallToolResult
					if r, err = c.CallTool(ctx, &mcp.CallToolParams{Name: "x"}); err == nil && r.IsError && !strings.Contains(text(r), "it is not known") {
						t.Errorf("%s", text(r))
					}
				case "prompts/list":
					_, err = c.ListPrompts(ctx, nil)
				case "prompts/get":
					_, err = c.GetPrompt(ctx, &mcp.GetPromptParams{Name: "x"})
				case "resources/list":
					_, err = c.ListResources(ctx, nil)
				case "resources/templates/list":
					_, err = c.ListResourceTemplates(ctx, nil)
				case "resources/read":
					_, err = c.ReadResource(ctx, &mcp.ReadResourceParams{URI: "x:"})
				}
				if name == "null-in" && strings.HasPrefix(method, "prompts/list") && (err == nil || !strings.Contains(err.Error(), "the server sent a malformed message")) {
					t.Error(err)
				}
				if ctx.Err() != nil {
					t.Error("no answer came")
				}
			})
		}
	}
	t.Run("reject-null-as-answer-of-initialize", func(t *testing.T) {
		upstream := rawServer(map[string]string{"initialize": "null"}, "")
		if _, err := NewProxy(t.Context(), upstream, gate.New(&lookleap.Host{}, gate.Options{}), ProxyOptions{Server: "x"}); err == nil {
			t.Error("it is connected")
		}
	})
}

// TestProxyQuestionsOfServer: the server asks the person during a call only, and one thing at a time.
func TestProxyQuestionsOfServer(t *testing.T) {
	var questions []string
	for i := range 20 {
		questions = append(questions, fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":"elicitation/create","params":{"message":"buy %d",`+
			`"requestedSchema":{"type":"object","properties":{"call":{"type":"boolean"}}}}}`, i, i))
	}
	start := func(t *testing.T, at string, questions []string) (session *mcp.ClientSession, shown, most *atomic.Int64) {
		t.Helper()
		shown, most = new(atomic.Int64), new(atomic.Int64)
		var open atomic.Int64
		upstream := rawServer(map[string]string{"tools/list": rawTools, "prompts/list": `{"prompts":[]}`, "tools/call": rawHi}, at, questions...)
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				shown.Add(1)
				now := open.Add(1)
				defer open.Add(-1)
				for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
				}
				time.Sleep(5 * time.Millisecond)
				return &mcp.ElicitResult{Action: "decline"}, nil
			}}).Connect(t.Context(), proxyOver(t, upstream, pass("*"), ProxyOptions{}), &mcp.ClientSessionOptions{ProtocolVersion: protocols["old"]})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = session.Close() })
		return session, shown, most
	}
	for _, at := range []string{"tools/list", "prompts/list"} {
		t.Run("reject-outside-of-a-call-at-"+strings.ReplaceAll(at, "/", "-"), func(t *testing.T) {
			session, shown, _ := start(t, at, questions)
			_, _ = session.ListTools(t.Context(), nil)
			_, _ = session.ListPrompts(t.Context(), nil)
			time.Sleep(50 * time.Millisecond)
			if n := shown.Load(); n > 0 {
				t.Errorf("%d questions", n)
			}
		})
	}
	t.Run("accept-one-at-a-time-during-a-call", func(t *testing.T) {
		session, shown, most := start(t, "tools/call", questions)
		if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "x"}); err != nil {
			t.Fatal(err)
		}
		if shown.Load() == 0 || shown.Load() > 20 || most.Load() > 1 {
			t.Errorf("%d questions, %d at once", shown.Load(), most.Load())
		}
	})
}
