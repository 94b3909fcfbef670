// Package lookleapeino offers the ANML actions of a page as tools of Eino.
//
//	page, err := lookleapeino.Open(ctx, "https://shop.example", nil)
//	tools, err := lookleapeino.Tools(nil, page)
//	agent, err := react.NewAgent(ctx, &react.AgentConfig{
//		ToolCallingModel: model,
//		ToolsConfig:      compose.ToolsNodeConfig{Tools: tools},
//	})
//
// A call that needs the user interrupts the run. [Requests] returns what to show. Resume the
// run with the decision by compose.ResumeWithData:
//
//	for id, request := range lookleapeino.Requests(err) {
//		ctx = compose.ResumeWithData(ctx, id, decide(request)) // a *lookleap.ConsentDecision
//	}
//
// Data of another type is a no. Without data, the call asks again.
//
// The run needs a checkpoint store, and the Host of the page's session a prompter that suspends: see
// [Prompter].
package lookleapeino

import (
	"context"
	"encoding/json"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/eino-contrib/jsonschema"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/contrib/internal/adapter"
	"github.com/lookleap/lookleap/internal/strictjson"
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

// Tools returns the actions of pages of one session as tools. It returns an error if two actions
// have the same name in any letter case. The page that an action returns has tools of its own:
// onPage receives it, and may be nil. Use its tools in the next run.
func Tools(onPage func(*agent.Page), pages ...*agent.Page) ([]tool.BaseTool, error) {
	actions, err := adapter.Tools(agent.AnyVendor, pages...)
	if err != nil {
		return nil, err
	}
	var out []tool.BaseTool
	for _, a := range actions {
		out = append(out, &action{Tool: a, onPage: onPage})
	}
	return out, nil
}

// action is one action as a tool.
type action struct {
	adapter.Tool
	onPage func(*agent.Page)
}

// Info describes the tool.
func (a *action) Info(context.Context) (*schema.ToolInfo, error) {
	params := new(jsonschema.Schema)
	if err := json.Unmarshal(a.InputSchema, params); err != nil {
		return nil, err
	}
	return &schema.ToolInfo{Name: a.Definition.Name, Desc: a.Definition.Description, ParamsOneOf: schema.NewParamsOneOfByJSONSchema(params)}, nil
}

// suspended is what a checkpoint holds of a call that waits for its user.
type suspended struct{ State []byte } // of the plan

func init() { schema.RegisterName[suspended]("lookleap_suspended") }

// InvokableRun runs the action, or goes on with what the user decided.
func (a *action) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	return invoke(ctx, func() (*agent.CallResult, error) { return a.Call(ctx, json.RawMessage(args)) }, a.Session.Resume,
		func(result *agent.CallResult, err error) string {
			if result != nil && result.Page != nil && a.onPage != nil {
				a.onPage(result.Page)
			}
			return adapter.Text(result, err)
		})
}

// interrupt suspends the run. What is shown is derived from the plan.
func interrupt(ctx context.Context, state []byte) error {
	request, err := adapter.Request(state)
	if err != nil {
		return err
	}
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	return tool.StatefulInterrupt(ctx, string(text), suspended{state})
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
		if c.IsRootCause && strictjson.Decode([]byte(text), request) == nil && request.Digest != "" {
			out[c.ID] = request
		}
	}
	return out
}
