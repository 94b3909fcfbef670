// Package lookleapeino offers the ANML actions of a page as tools of Eino.
//
//	page, err := lookleapeino.Open(ctx, "https://shop.example", nil)
//	agent, err := react.NewAgent(ctx, &react.AgentConfig{
//		ToolCallingModel: model,
//		ToolsConfig:      compose.ToolsNodeConfig{Tools: lookleapeino.Tools(page, nil)},
//	})
//
// A call that needs the user interrupts the run. [Requests] returns what to show. Resume the
// run with the decision by compose.ResumeWithData:
//
//	for id, request := range lookleapeino.Requests(err) {
//		ctx = compose.ResumeWithData(ctx, id, decide(request)) // a *lookleap.ConsentDecision
//	}
//
// The run needs a checkpoint store, and the Host of the page's session a prompter that suspends: see
// [Prompter].
package lookleapeino

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/internal/adapter"
)

// Prompter is the [lookleap.ConsentPrompter] for the Host: it suspends the operation.
type Prompter = lookleap.SuspendingPrompter

// Open discovers the ANML service of a site for one user, on a Host with the safe defaults and a
// prompter that suspends. The profile is the user's data by ANML field, such as "email", and may
// be nil; nothing of it is sent before the user agreed to the value. Programs with several users
// or a Host of their own use [agent.Session.Discover] instead. Close the Session of the page when it
// is not used any more.
func Open(ctx context.Context, site string, profile map[string]string) (*agent.Page, error) {
	return adapter.Open(ctx, &lookleap.Host{Prompter: Prompter{}}, site, profile)
}

// Tools returns the actions of a page as tools. The page that an action returns has tools of
// its own: onPage receives it, and may be nil. Use its tools in the next run.
func Tools(page *agent.Page, onPage func(*agent.Page)) []tool.BaseTool {
	var out []tool.BaseTool
	for _, t := range page.Tools() {
		out = append(out, &action{session: page.Session(), tool: t, onPage: onPage})
	}
	return out
}

// action is one action as a tool.
type action struct {
	session *agent.Session
	tool    agent.Tool
	onPage  func(*agent.Page)
}

// Info describes the tool.
func (a *action) Info(context.Context) (*schema.ToolInfo, error) {
	d := a.tool.Definition(agent.AnyVendor)
	params := new(jsonschema.Schema)
	if err := json.Unmarshal(a.tool.InputSchema, params); err != nil {
		return nil, err
	}
	return &schema.ToolInfo{Name: d.Name, Desc: d.Description, ParamsOneOf: schema.NewParamsOneOfByJSONSchema(params)}, nil
}

// suspended is what a checkpoint holds of a call that waits for its user.
type suspended struct {
	State   []byte // of the plan
	Request []byte // the consent request as JSON
}

func init() { schema.RegisterName[suspended]("lookleap_suspended") }

// InvokableRun runs the action, or goes on with what the user decided. An error is text for
// the model: what failed, and what it can do.
func (a *action) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	var result *agent.CallResult
	var err error
	if interrupted, known, state := tool.GetInterruptState[suspended](ctx); interrupted && known {
		target, decided, decision := tool.GetResumeContext[*lookleap.ConsentDecision](ctx)
		if !target || !decided || decision == nil {
			return "", tool.StatefulInterrupt(ctx, string(state.Request), state)
		}
		result, err = a.session.Resume(ctx, state.State, *decision)
	} else {
		result, err = a.tool.Call(ctx, json.RawMessage(args))
	}
	var pending *lookleap.PendingError
	switch {
	case errors.As(err, &pending):
		request, err := json.Marshal(pending.Request)
		if err != nil {
			return "", err
		}
		return "", tool.StatefulInterrupt(ctx, string(request), suspended{State: pending.State, Request: request})
	case err != nil:
		return agent.Advise(err).Text, nil
	}
	if result.Page != nil && a.onPage != nil {
		a.onPage(result.Page)
	}
	return result.Text(anml.TextOptions{}), nil
}

// Requests returns what the users of an interrupted run are asked, by the ids with which
// compose.ResumeWithData resumes it.
func Requests(err error) map[string]*lookleap.ConsentRequest {
	info, ok := compose.ExtractInterruptInfo(err)
	if !ok {
		return nil
	}
	out := map[string]*lookleap.ConsentRequest{}
	for _, c := range info.InterruptContexts {
		text, _ := c.Info.(string)
		request := new(lookleap.ConsentRequest)
		if c.IsRootCause && json.Unmarshal([]byte(text), request) == nil && request.Digest != "" {
			out[c.ID] = request
		}
	}
	return out
}
