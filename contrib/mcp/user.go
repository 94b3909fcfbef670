package lookleapmcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/contrib/internal/adapter"
)

// user is one user's session with the site, as an MCP server.
type user struct {
	server  *mcp.Server
	session *agent.Session
	keys    lookleap.Keys // seal what passes through the user's clients

	mu       sync.Mutex
	page     *agent.Page
	tools    map[string]adapter.Tool // what is offered now
	known    []string                // names that the server knows, the oldest first: those of tools, and of calls that wait
	calls    context.Context         // of the requests that run
	end      context.CancelFunc      // ends calls
	sessions sessions
}

// maxKnown is how many names of tools the server knows besides those that are offered.
const maxKnown = 256

// newUser returns a user without a session. Its server ends requests when [user.endCalls] is called:
// the SDK waits for them when a session is closed, and one may wait for a person who never answers.
func newUser(server *mcp.Server, keys lookleap.Keys) *user {
	u := &user{server: server, keys: keys}
	u.calls, u.end = context.WithCancel(context.Background())
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if session, ok := req.GetSession().(*mcp.ServerSession); ok {
				defer u.sessions.enter(server, session)()
			}
			u.mu.Lock()
			calls := u.calls
			u.mu.Unlock()
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			defer context.AfterFunc(calls, stop)()
			if call, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok && call.RequestState != "" {
				u.know(call.Name) // the page may have changed since the call began
			}
			result, err := next(ctx, method, req)
			if list, ok := result.(*mcp.ListToolsResult); ok {
				u.mu.Lock()
				defer u.mu.Unlock()
				list.Tools = slices.DeleteFunc(slices.Clone(list.Tools), func(t *mcp.Tool) bool {
					_, offered := u.tools[t.Name]
					return !offered
				})
			}
			return result, err
		}
	})
	return u
}

// endCalls ends the requests that run. Later ones are served.
func (u *user) endCalls() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.end()
	u.calls, u.end = context.WithCancel(context.Background())
}

// close ends the requests and MCP sessions of the user, and the session with the site.
func (u *user) close() error {
	u.endCalls()
	var errs []error
	for session := range u.server.Sessions() {
		errs = append(errs, session.Close())
	}
	return errors.Join(append(errs, u.session.Close())...)
}

// show offers the tools of a page. The names of earlier ones stay known, so that calls that wait for
// the user can go on.
func (u *user) show(page *agent.Page) error {
	tools, err := adapter.Tools(agent.AnyVendor, page)
	if err != nil {
		return err
	}
	u.mu.Lock()
	u.page, u.tools = page, make(map[string]adapter.Tool)
	for _, tool := range tools {
		u.tools[tool.Definition.Name] = tool
	}
	u.mu.Unlock()
	for _, tool := range tools {
		u.add(&mcp.Tool{Name: tool.Definition.Name, Description: tool.Definition.Description, InputSchema: tool.InputSchema})
	}
	return nil
}

// know makes a name known that is not offered.
func (u *user) know(name string) {
	u.mu.Lock()
	known := slices.Contains(u.known, name)
	u.mu.Unlock()
	if !known {
		u.add(&mcp.Tool{Name: name, Description: "a call that waits for the user", InputSchema: json.RawMessage(`{"type":"object"}`)})
	}
}

// add adds a tool to the server, and removes the oldest ones that are not offered.
func (u *user) add(tool *mcp.Tool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.known = append(slices.DeleteFunc(u.known, func(name string) bool { return name == tool.Name }), tool.Name)
	u.server.AddTool(tool, u.handler)
	for len(u.known) > maxKnown+len(u.tools) {
		oldest := slices.IndexFunc(u.known, func(name string) bool { _, offered := u.tools[name]; return !offered })
		u.server.RemoveTools(u.known[oldest])
		u.known = slices.Delete(u.known, oldest, oldest+1)
	}
}

// handler runs a tool. A call that needs its user ends with a question and a
// sealed state; the next call brings both back and goes on from there.
func (u *user) handler(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	u.mu.Lock()
	page := u.page
	tool, offered := u.tools[req.Params.Name]
	u.mu.Unlock()
	if req.Params.RequestState == "" && !offered {
		return nil, fmt.Errorf("unknown tool %q", req.Params.Name)
	}
	if req.Params.RequestState == "" && canAskTwice(req.Session) {
		if asks := lacking(ctx, page, tool); len(asks) > 0 {
			return askValues(u.keys, req.Params, asks)
		}
	}
	result, err := u.call(ctx, page, tool, req.Params)
	var pending *lookleap.PendingError
	switch {
	case errors.As(err, &pending) && !canAsk(req.Session):
		return answer(nil, cannotAsk()), nil
	case errors.As(err, &pending):
		return askConsent(u.keys, req.Params, pending)
	}
	if result != nil && result.Page != nil {
		err = errors.Join(err, u.show(result.Page))
	}
	return answer(result, err), nil
}

// call begins an action, or goes on with what the user said.
func (u *user) call(ctx context.Context, page *agent.Page, tool adapter.Tool, call *mcp.CallToolParamsRaw) (*agent.CallResult, error) {
	if call.RequestState == "" {
		return tool.Call(ctx, call.Arguments)
	}
	w, err := unseal(u.keys, call)
	if err != nil {
		return nil, err
	}
	if w.Plan != nil {
		return adapter.Resume(ctx, u.session.Resume, w.Plan, w.consent(call))
	}
	values, err := w.values(call)
	if err != nil {
		return nil, err
	}
	return page.Do(ctx, agent.Call{Site: tool.Site, Action: tool.Action, ArgsJSON: call.Arguments, Reply: values})
}

// cannotAsk is the error of a call that needs its user, for a client that cannot ask.
func cannotAsk() error {
	return &lookleap.Error{Code: lookleap.CodeConsentNoPrompter, Message: "this client cannot ask its user: nothing was done", Err: lookleap.ErrConsentRefused}
}

// canAsk reports whether the client said that it can ask its user with a form. A client that names no way
// can; one that names only URLs cannot.
func canAsk(session *mcp.ServerSession) bool {
	p := session.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return false
	}
	e := p.Capabilities.Elicitation
	return e.Form != nil || e.URL == nil
}

// manyRounds is the protocol from which on a call may ask more than once.
const manyRounds = "2026-07-28"

func canAskTwice(session *mcp.ServerSession) bool {
	return canAsk(session) && session.InitializeParams().ProtocolVersion >= manyRounds
}
