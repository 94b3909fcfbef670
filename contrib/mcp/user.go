package lookleapmcp

import (
	"context"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
)

// user is one user's session with the site, as an MCP server.
type user struct {
	server  *mcp.Server
	session *agent.Session
	key     []byte // seals what passes through the user's clients

	mu    sync.Mutex
	tools []string           // what is offered now
	calls context.Context    // of the requests that run
	end   context.CancelFunc // ends calls
}

// newUser returns a user without a session. Its server ends requests when [user.endCalls] is called:
// the SDK waits for them when a session is closed, and one may wait for a person who never answers.
func newUser(server *mcp.Server, key []byte) *user {
	u := &user{server: server, key: key}
	u.calls, u.end = context.WithCancel(context.Background())
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			u.mu.Lock()
			calls := u.calls
			u.mu.Unlock()
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			defer context.AfterFunc(calls, stop)()
			return next(ctx, method, req)
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

func (u *user) show(page *agent.Page) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.server.RemoveTools(u.tools...)
	u.tools = nil
	for _, tool := range page.Tools() {
		u.tools = append(u.tools, tool.Name)
		u.server.AddTool(&mcp.Tool{Name: tool.Name, Description: tool.Description, InputSchema: tool.InputSchema}, u.handler(page, tool))
	}
}

// handler runs one tool. A call that needs its user ends with a question and a
// sealed state; the next call brings both back and goes on from there.
func (u *user) handler(page *agent.Page, tool agent.Tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if req.Params.RequestState == "" && canAskTwice(req.Session) {
			if asks := lacking(ctx, page, tool); len(asks) > 0 {
				return askValues(u.key, req.Params, asks)
			}
		}
		result, err := u.call(ctx, page, tool, req.Params)
		var pending *lookleap.PendingError
		switch {
		case errors.As(err, &pending) && !canAsk(req.Session):
			return refusal(&lookleap.Error{Code: lookleap.CodeConsentNoPrompter,
				Message: "this client cannot ask its user: nothing was done", Err: lookleap.ErrConsentRefused}), nil
		case errors.As(err, &pending):
			return askConsent(u.key, req.Params, pending)
		case err != nil:
			return refusal(err), nil
		}
		if result.Page != nil {
			u.show(result.Page)
		}
		return answer(result), nil
	}
}

// call begins an action, or goes on with what the user said.
func (u *user) call(ctx context.Context, page *agent.Page, tool agent.Tool, call *mcp.CallToolParamsRaw) (*agent.CallResult, error) {
	if call.RequestState == "" {
		return tool.Call(ctx, call.Arguments)
	}
	w, err := unseal(u.key, call)
	if err != nil {
		return nil, err
	}
	if w.Plan == nil {
		values, err := w.values(call)
		if err != nil {
			return nil, err
		}
		return page.Do(ctx, agent.Call{Site: tool.Site, Action: tool.Action, ArgsJSON: call.Arguments, Reply: values})
	}
	decision, err := w.consent(call)
	if err != nil {
		return nil, err
	}
	return u.session.Resume(ctx, w.Plan, decision)
}

// canAsk reports whether the client said that it can ask its user.
func canAsk(session *mcp.ServerSession) bool {
	p := session.InitializeParams()
	return p != nil && p.Capabilities != nil && p.Capabilities.Elicitation != nil
}

// manyRounds is the protocol from which on a call may ask more than once.
const manyRounds = "2026-07-28"

func canAskTwice(session *mcp.ServerSession) bool {
	return canAsk(session) && session.InitializeParams().ProtocolVersion >= manyRounds
}
