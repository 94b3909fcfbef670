package lookleapmcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/gate"
	"github.com/lookleap/lookleap/contrib/internal/adapter"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// GateOptions are the options of [Gate].
type GateOptions struct {
	// About says what the arguments of a tool mean and whether it is read-only. Nil: the
	// arguments are texts, of which a long one is shown in part, and a tool whose annotations say so is read-only.
	About func(tool *mcp.Tool) gate.Tool
	// User returns the id of the user of a request, for a server with several. Nil: the gate's user.
	User func(ctx context.Context, call *mcp.CallToolRequest) string
	// Keys seal what passes through the clients. Nil means a random key, so a restart ends open questions.
	Keys lookleap.Keys
}

// Gate puts all tools of a server behind a gate, also those that are added later. A call that a person
// has to decide about becomes an input request of the client, as those of the actions of a site do, or an
// elicitation for clients before 2026-07-28. A client that cannot ask gets a refusal. The Host of the gate
// needs a [Prompter].
//
//	err := lookleapmcp.Gate(server, g, lookleapmcp.GateOptions{})
func Gate(server *mcp.Server, g *gate.Gate, o GateOptions) error {
	return gateServer(server, g, o, gateHooks{})
}

// gateHooks are the parts of a gate that a proxy does in its own way. Nil means the usual way.
type gateHooks struct {
	// about returns the called tool.
	about func(ctx context.Context, c *gatedCall) (gate.Tool, error)
	// waiting continues a call whose person, whose client cannot ask, was asked elsewhere before. Waits is
	// false if there is none.
	waiting func(ctx context.Context, c *gatedCall) (result gate.Result, waits bool, err error)
	// elsewhere asks a person whose client cannot ask, and returns what became of the call.
	elsewhere func(ctx context.Context, c *gatedCall, pending *lookleap.PendingError) (gate.Result, error)
	// ended records what becomes of a call: an error, a result, or a question to the client. It returns
	// the error that the client gets.
	ended func(c *gatedCall, err error, asked bool) error
}

func gateServer(server *mcp.Server, g *gate.Gate, o GateOptions, hooks gateHooks) error {
	keys, err := keysOf(o.Keys, "mcp gate")
	if err != nil {
		return err
	}
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
			call, is := request.(*mcp.CallToolRequest)
			if !is || method != "tools/call" {
				return next(ctx, method, request)
			}
			own := g
			if o.User != nil {
				own = g.ForUser(o.User(ctx, call))
			}
			return (&gatedCall{gate: own.WithoutTools(), options: o, hooks: hooks, keys: keys, next: next, call: call}).run(ctx)
		}
	})
	return nil
}

// gatedCall is one call of a tool of a server behind a gate.
type gatedCall struct {
	gate    *gate.Gate // with the tool as this call lists it, since other calls may get another definition
	options GateOptions
	hooks   gateHooks
	keys    lookleap.Keys
	next    mcp.MethodHandler
	call    *mcp.CallToolRequest
	result  *mcp.CallToolResult // of the tool, if it ran
	decided bool                // by a person: no rule let it pass

	// For a proxy:
	definition *definition
	changed    []string // parts of the definition that changed since it was approved
	entry      entry
}

// own is the key of a gatedCall in the context of its tool.
type own struct{}

func (c *gatedCall) run(ctx context.Context) (mcp.Result, error) {
	gated, err := c.tool(ctx)
	switch {
	case err != nil && c.hooks.ended != nil:
		return c.end(gate.Result{}, err), nil
	case err != nil:
		return nil, err
	}
	ctx = context.WithValue(ctx, own{}, c)
	params := c.call.Params
	var result gate.Result
	if params.RequestState == "" {
		waits := false
		if c.hooks.waiting != nil && !canAsk(c.call.Session) {
			result, waits, err = c.hooks.waiting(ctx, c)
		}
		if !waits {
			result, err = gated.Call(ctx, params.Arguments)
		}
	} else {
		var w waiting
		if w, err = unseal(c.keys, params); err == nil {
			result, err = c.resume(ctx, w.Plan, w.consent(params))
		}
	}
	var pending *lookleap.PendingError
	if errors.As(err, &pending) && !canAsk(c.call.Session) {
		if err = cannotAsk(); c.hooks.elsewhere != nil {
			result, err = c.hooks.elsewhere(ctx, c, pending)
		}
		pending = nil
	}
	switch {
	case pending == nil:
		return c.end(result, err), nil
	case c.hooks.ended != nil:
		if err := c.hooks.ended(c, nil, true); err != nil {
			return c.answer(result, err), nil
		}
	}
	if !canAskTwice(c.call.Session) {
		return c.elicit(ctx, pending), nil
	}
	asked, err := askConsent(c.keys, params, pending)
	if err != nil {
		return nil, err
	}
	out := newResult[mcp.CallToolResult](c.call.Session, "input_required")
	out.InputRequests, out.RequestState = asked.InputRequests, asked.RequestState
	return out, nil
}

// resume continues a call that a person decided about.
func (c *gatedCall) resume(ctx context.Context, state json.RawMessage, answer any) (gate.Result, error) {
	c.decided = true
	return adapter.Resume(ctx, c.gate.Resume, state, answer)
}

// end returns what the client gets for a call that asks nothing more.
func (c *gatedCall) end(r gate.Result, err error) *mcp.CallToolResult {
	if c.hooks.ended != nil {
		err = c.hooks.ended(c, err, false)
	}
	return c.answer(r, err)
}

// newResult returns an empty result for a session. The newest protocol demands a type of a result,
// "complete" or "input_required". The SDK sets it below its middleware, and from outside it can be set
// only by its JSON.
func newResult[R any](session *mcp.ServerSession, kind string) *R {
	r := new(R)
	if p := session.InitializeParams(); p != nil && p.ProtocolVersion >= manyRounds {
		_ = json.Unmarshal([]byte(`{"resultType":"`+kind+`"}`), r) // which has no other member
	}
	return r
}

// elicit asks a client of an earlier protocol, and goes on with its answer.
func (c *gatedCall) elicit(ctx context.Context, pending *lookleap.PendingError) mcp.Result {
	form, err := boxes(pending.Request)
	if err != nil {
		return c.end(gate.Result{}, err)
	}
	reply, err := c.call.Session.Elicit(ctx, &mcp.ElicitParams{Message: pending.Request.Complete(), RequestedSchema: form})
	if err == nil {
		_, err = c.tool(ctx) // it may have changed meanwhile; then its plan is stale
	}
	if err != nil {
		return c.end(gate.Result{}, err)
	}
	answered := &mcp.CallToolParamsRaw{InputResponses: mcp.InputResponseMap{consentQuestion: reply}}
	result, err := c.resume(ctx, pending.State, waiting{Plan: pending.State}.consent(answered))
	return c.end(result, err)
}

// tool puts the called tool behind the gate, as the server defines it now.
func (c *gatedCall) tool(ctx context.Context) (*gate.Gated, error) {
	about, err := c.about(ctx)
	if err != nil {
		return nil, err
	}
	about.Run = runOnServer
	return c.gate.Tool(about)
}

// about returns the called tool. Its schema is all that a model is told about it besides the name and
// the description, so that an approval ends when any of it changes.
func (c *gatedCall) about(ctx context.Context) (about gate.Tool, err error) {
	if c.hooks.about != nil {
		return c.hooks.about(ctx, c)
	}
	tool, err := c.listed(ctx)
	if err != nil {
		return gate.Tool{}, err
	}
	if c.options.About != nil {
		about = c.options.About(tool)
	} else {
		about.Arguments = textArguments
		about.ReadOnly = tool.Annotations != nil && tool.Annotations.ReadOnlyHint
	}
	about.Name, about.Description = tool.Name, tool.Description
	about.Schema, err = json.Marshal(schemaOf(tool))
	return about, err
}

// listed asks the server itself for the definition of the called tool.
func (c *gatedCall) listed(ctx context.Context) (*mcp.Tool, error) {
	list := &mcp.ListToolsRequest{Session: c.call.Session, Params: &mcp.ListToolsParams{}, Extra: c.call.Extra}
	for {
		page, err := c.next(ctx, "tools/list", list)
		if err != nil {
			return nil, err
		}
		tools, ok := page.(*mcp.ListToolsResult)
		if !ok {
			return nil, errors.New("the server does not list its tools")
		}
		for _, tool := range tools.Tools {
			if tool.Name == c.call.Params.Name {
				return tool, nil
			}
		}
		if tools.NextCursor == "" {
			return nil, &lookleap.Error{Code: lookleap.CodeUsage, Message: "the server has no such tool"}
		}
		list.Params.Cursor = tools.NextCursor
	}
}

// runOnServer runs a tool with the approved arguments. The result is kept for the client as it is; the
// record of the plan has it as JSON.
func runOnServer(ctx context.Context, approved gate.Call) ([]byte, error) {
	c, ok := ctx.Value(own{}).(*gatedCall)
	if !ok {
		return nil, lookleap.NothingSent(errors.New("the tool is not called through its server"))
	}
	params := *c.call.Params
	params.Arguments, params.RequestState, params.InputResponses = approved.Arguments, "", nil
	request := *c.call
	request.Params = &params
	result, err := c.next(ctx, "tools/call", &request)
	if err != nil {
		return nil, err
	}
	if c.result, ok = result.(*mcp.CallToolResult); !ok {
		return nil, errors.New("the tool returned no result")
	}
	return json.Marshal(c.result)
}

// answer is what the client gets: the result of the tool, with a note if something failed after it, that
// of its first run, or the error.
func (c *gatedCall) answer(r gate.Result, err error) *mcp.CallToolResult {
	out := newResult[mcp.CallToolResult](c.call.Session, "complete")
	switch {
	case c.result != nil:
		*out = *c.result
		if err != nil { // it came after the call, which must not look as if it was not done
			note := "(lookleap: the call was done, and this is its result. Then this failed: " +
				plaintext.Clip(plaintext.Line(err.Error()), 500) + ")"
			out.Content = append(slices.Clone(out.Content), &mcp.TextContent{Text: note})
			err = nil
		}
	case errors.Is(err, lookleap.ErrAlreadyDone) && json.Unmarshal(r.Output, out) == nil:
	default:
		out.Content, out.IsError = []mcp.Content{&mcp.TextContent{Text: adapter.GateText(r, err)}}, err != nil
	}
	meta := mcp.Meta{}
	for name, value := range out.Meta {
		meta[name] = value
	}
	out.Meta = meta
	if err != nil {
		meta["lookleap/code"] = lookleap.CodeOf(err)
	}
	if r.Plan != "" {
		meta["lookleap/plan"] = r.Plan
	}
	for i, sentence := range r.Changed {
		if i == 0 {
			out.Content = append([]mcp.Content{}, out.Content...)
		}
		out.Content = append(out.Content, &mcp.TextContent{Text: "The person changed the call before it ran: " + sentence})
	}
	return out
}
