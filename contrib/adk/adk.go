// Package lookleapadk offers the ANML actions of a site as a toolset of the Agent Development
// Kit (google.golang.org/adk).
//
//	page, err := lookleapadk.Open(ctx, "https://shop.example", nil)
//	tools := lookleapadk.New(page)
//	agent, err := llmagent.New(llmagent.Config{Name: "assistant", Model: model, Toolsets: []tool.Toolset{tools}})
//
// The tools are those of the page that the last action returned. A call that needs the user
// requests a tool confirmation, whose hint is all that the user has to see. Respond to it as
// ADK does, with {"confirmed": true}: the user agrees to everything that was shown. To agree
// to some items only, add {"payload": {"approved": ["id", …]}}.
//
// The pending plan is in the state of the ADK session, where no model or client writes. The
// Host of the page's session needs a prompter that suspends: see [Prompter].
package lookleapadk

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	adkagent "google.golang.org/adk/agent"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

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

// Toolset is the actions of one user's session with a site.
type Toolset struct {
	mu   sync.Mutex
	page *agent.Page
}

// New returns the actions of a page, and of the pages that they return.
func New(page *agent.Page) *Toolset { return &Toolset{page: page} }

// Name returns the name of the toolset.
func (t *Toolset) Name() string { return "lookleap" }

// Page returns the page whose actions are the tools now.
func (t *Toolset) Page() *agent.Page {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.page
}

// Tools returns the actions of the current page.
func (t *Toolset) Tools(adkagent.ReadonlyContext) ([]tool.Tool, error) {
	var out []tool.Tool
	for _, action := range t.Page().Tools() {
		d := action.Definition(agent.Gemini)
		schema := new(jsonschema.Schema)
		if err := json.Unmarshal(action.InputSchema, schema); err != nil {
			return nil, err
		}
		made, err := functiontool.New(functiontool.Config{Name: d.Name, Description: d.Description, InputSchema: schema},
			func(ctx tool.Context, args map[string]any) (map[string]any, error) { return t.run(ctx, action, args) })
		if err != nil {
			return nil, err
		}
		out = append(out, made)
	}
	return out, nil
}

// stateKey is the key of a pending plan in the state of the ADK session.
func stateKey(call string) string { return "lookleap_plan_" + call }

// run runs the action, or goes on with what the user decided. An error is data for the
// model: what failed, and what it can do.
func (t *Toolset) run(ctx tool.Context, action agent.Tool, args map[string]any) (map[string]any, error) {
	var result *agent.CallResult
	text, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	if confirmation := ctx.ToolConfirmation(); confirmation != nil {
		result, err = t.resume(ctx, confirmation.Payload)
	} else {
		result, err = action.Call(ctx, text)
	}
	var pending *lookleap.PendingError
	switch {
	case errors.As(err, &pending):
		if err := ctx.State().Set(stateKey(ctx.FunctionCallID()), string(pending.State)); err != nil {
			return nil, err
		}
		if err := ctx.RequestConfirmation(pending.Request.Complete(), map[string]any{"plan": pending.Request.ID}); err != nil {
			return nil, err
		}
		return agent.Advise(err).Data(), nil
	case err != nil:
		return agent.Advise(err).Data(), nil
	}
	if result.Page != nil {
		t.mu.Lock()
		t.page = result.Page
		t.mu.Unlock()
	}
	return result.Data(anml.TextOptions{}), nil
}

// resume commits the plan of a call that the user confirmed. ADK does not call the tool if
// the user declined.
func (t *Toolset) resume(ctx tool.Context, payload any) (*agent.CallResult, error) {
	value, err := ctx.State().Get(stateKey(ctx.FunctionCallID()))
	state, ok := value.(string)
	if err != nil || !ok {
		return nil, &lookleap.Error{Code: lookleap.CodePlanInvalid, Message: "the confirmed call has no pending plan",
			Err: lookleap.ErrPlanInvalid}
	}
	plan, err := lookleap.ParsePlan(json.RawMessage(state))
	if err != nil {
		return nil, err
	}
	request := plan.Request()
	decision := lookleap.ConsentDecision{Digest: request.Digest}
	fields, _ := payload.(map[string]any)
	if chosen, some := fields["approved"].([]any); some {
		for _, id := range chosen {
			if text, ok := id.(string); ok {
				decision.Approved = append(decision.Approved, text)
			}
		}
	} else {
		for _, item := range request.Items {
			decision.Approved = append(decision.Approved, item.ID)
		}
	}
	return t.Page().Session().Resume(ctx, json.RawMessage(state), decision)
}
