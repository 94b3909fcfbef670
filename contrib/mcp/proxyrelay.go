//lint:file-ignore SA1019 servers and clients of protocols before 2026-07-28 still use logging, sampling and roots

package lookleapmcp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// newClient returns the client of the upstream server. It offers no roots and no model.
func (p *proxy) newClient() *mcp.Client {
	client := mcp.NewClient(&mcp.Implementation{Name: "lookleap-proxy", Version: "0.1.0"}, &mcp.ClientOptions{
		Capabilities:               &mcp.ClientCapabilities{},
		ElicitationHandler:         p.elicit,
		ToolListChangedHandler:     func(context.Context, *mcp.ToolListChangedRequest) { p.toolsChanged() },
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) { p.promptsChanged() },
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { p.resourcesChanged() },
		ResourceUpdatedHandler: func(ctx context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			if server := p.server.Load(); server != nil {
				_ = server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: r.Params.URI})
			}
		},
		LoggingMessageHandler: func(ctx context.Context, r *mcp.LoggingMessageRequest) {
			data := revealValue(r.Params.Data)
			if text, err := json.Marshal(data); err != nil || len(text) > maxNotice {
				data = plaintext.Clip(string(text), maxNotice)
			}
			p.each(func(client *mcp.ServerSession) {
				_ = client.Log(ctx, &mcp.LoggingMessageParams{Level: r.Params.Level, Logger: visible(plaintext.Clip(r.Params.Logger, 200)), Data: data})
			})
		},
		ProgressNotificationHandler: func(ctx context.Context, r *mcp.ProgressNotificationClientRequest) {
			p.each(func(client *mcp.ServerSession) {
				_ = client.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.ProgressToken,
					Message: visible(plaintext.Clip(r.Params.Message, maxNotice)), Progress: r.Params.Progress, Total: r.Params.Total})
			})
		},
	})
	client.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, request mcp.Request) (_ mcp.Result, err error) {
			defer p.malformed(&err)
			switch method {
			case "sampling/createMessage":
				return nil, refused("lookleap does not let a server use the model of its client")
			case "roots/list":
				return nil, refused("lookleap does not tell a server the directories of its client: name them in the configuration of the server")
			}
			return next(ctx, method, request)
		}
	})
	return client
}

// malformed makes a panic an error, in a deferred call. The SDK does not check that a message of the server
// has the members that it must have, and code of the SDK and of this package takes them for there.
func (p *proxy) malformed(err *error) {
	if recover() != nil {
		*err = &lookleap.Error{Code: strictjson.CodeMissing, Subject: "MCP server " + p.options.Server,
			Message: "the server sent a malformed message", Fix: "report it to the author of the server"}
	}
}

const maxNotice = 4 << 10 // bytes of a log message, a progress message, or a question

func refused(message string) error {
	return &jsonrpc.Error{Code: -1, Message: message} // the code of MCP for a user who refuses
}

// each calls a function for the client, if it is connected.
func (p *proxy) each(do func(*mcp.ServerSession)) {
	if server := p.server.Load(); server != nil {
		for session := range server.Sessions() {
			do(session)
		}
	}
}

// The SDK tells clients that a list has changed if something is added to it. What is added here is never
// listed: proxy.pass answers with the lists of the upstream server.
func (p *proxy) toolsChanged() {
	if server := p.server.Load(); server != nil {
		server.AddTool(&mcp.Tool{Name: "changed", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
	}
}

func (p *proxy) promptsChanged() {
	if server := p.server.Load(); server != nil {
		server.AddPrompt(&mcp.Prompt{Name: "changed"}, nil)
	}
}

func (p *proxy) resourcesChanged() {
	if server := p.server.Load(); server != nil {
		server.AddResource(&mcp.Resource{Name: "changed", URI: "lookleap:changed"}, nil)
	}
}

// elicit passes a question of the server on to the client, with the server named, while a call is under
// way. What the person
// answers is for the server, and never consent to a call. Without a client that can be asked during a
// call, and for a URL to open, the answer is no.
func (p *proxy) elicit(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	no := &mcp.ElicitResult{Action: "decline"}
	var client *mcp.ServerSession
	p.each(func(s *mcp.ServerSession) { client = s })
	if client == nil || r.Params.Mode == "url" || r.Params.URL != "" || p.calls.Load() == 0 {
		return no, nil
	}
	select { // one at a time: a server cannot bury the questions of this program under its own
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	case <-ctx.Done():
		return no, nil
	}
	if p.calls.Load() == 0 { // the call ended while another question was open
		return no, nil
	}
	form := revealValue(r.Params.RequestedSchema)
	if text, err := json.Marshal(form); err != nil || len(text) > maxNotice || len(r.Params.Message) > maxNotice {
		return no, nil
	}
	answer, err := client.Elicit(ctx, &mcp.ElicitParams{RequestedSchema: form,
		Message: fmt.Sprintf("The MCP server %s asks you this itself, and gets your answer. It says:\n%s", p.options.Server, plaintext.Block(r.Params.Message, maxNotice))})
	if err != nil {
		return no, nil // such as of the SDK, for a client that cannot be asked now
	}
	return &mcp.ElicitResult{Action: answer.Action, Content: answer.Content}, nil
}
