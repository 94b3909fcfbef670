// Package lookleapadk offers the ANML actions of a site as a toolset of the Agent Development
// Kit (google.golang.org/adk).
//
//	page, err := lookleapadk.Open(ctx, "https://shop.example", nil)
//	tools := lookleapadk.New("kim", page) // for the user "kim" of the runner
//	agent, err := llmagent.New(llmagent.Config{Name: "assistant", Model: model, Toolsets: []tool.Toolset{tools}})
//
// The tools are those of the page that the last action returned. A call that needs the user
// requests a tool confirmation. Its hint is all that the user has to see, and its payload is the
// answer of a user who agrees to everything: {"digest": …, "approved": ["id", …]}. To agree,
// respond with {"confirmed": true, "payload": …}, whose payload has the same digest and the ids of
// the items that the user agrees to. Everything else is a no. To refuse with a reason for the
// agent, respond with {"confirmed": false, "payload": {"reason": …}}.
//
// The pending plan is in the state of the ADK session, where no model or client writes. The
// digest is not in the model's context, so a model that asks its own confirmation for the call
// cannot answer it. The Host of the page's session needs a prompter that suspends: see [Prompter].
package lookleapadk

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	adkagent "google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/adk/tool/toolconfirmation"
	"google.golang.org/genai"

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

// Toolset is the actions of one user's session with a site.
type Toolset struct {
	user string
	mu   sync.Mutex
	page *agent.Page
}

// New returns the actions of a page, and of the pages that they return, for the user with this id
// in the ADK. For any other user the toolset returns an error, because the session of the page
// holds one user's data. A program with several users has a toolset, and an agent, for each.
func New(user string, page *agent.Page) *Toolset { return &Toolset{user: user, page: page} }

// Name returns the name of the toolset.
func (t *Toolset) Name() string { return "lookleap" }

// Page returns the page whose actions are the tools now.
func (t *Toolset) Page() *agent.Page {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.page
}

// owns returns an error for another user than that of the toolset.
func (t *Toolset) owns(user string) error {
	if user == t.user {
		return nil
	}
	return &lookleap.Error{Code: lookleap.CodePlanOtherUser, Message: "the tools belong to another user",
		Fix: "make a toolset with New for each user of the runner"}
}

// Tools returns the actions of the current page, and those of earlier pages that wait for the user.
func (t *Toolset) Tools(ctx adkagent.ReadonlyContext) ([]tool.Tool, error) {
	if err := t.owns(ctx.UserID()); err != nil {
		return nil, err
	}
	actions, err := adapter.Tools(agent.Gemini, t.Page())
	if err != nil {
		return nil, err
	}
	var out []tool.Tool
	offered := make(map[string]bool)
	for _, a := range actions {
		schema := new(jsonschema.Schema)
		if err := json.Unmarshal(a.InputSchema, schema); err != nil {
			return nil, err
		}
		made, err := t.make(functiontool.Config{Name: a.Definition.Name, Description: a.Definition.Description, InputSchema: schema}, a.Call)
		if err != nil {
			return nil, err
		}
		out = append(out, made)
		offered[a.Definition.Name] = true
	}
	for key, value := range ctx.ReadonlyState().All() {
		name := suspendedIn(key, value).Tool
		if name == "" || offered[name] {
			continue
		}
		offered[name] = true
		made, err := t.make(functiontool.Config{Name: name, Description: "An action of an earlier page, which waits for the user. Do not call it."}, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, made)
	}
	return out, nil
}

// action is an action as a tool of ADK.
type action struct {
	functionTool
	toolset *Toolset
}

// functionTool is what ADK needs of a tool that it calls.
type functionTool interface {
	tool.Tool
	Declaration() *genai.FunctionDeclaration
	ProcessRequest(ctx tool.Context, req *model.LLMRequest) error
	Run(ctx tool.Context, args any) (map[string]any, error)
}

// make makes a tool. The call is nil for an action of an earlier page, which can only be resumed.
func (t *Toolset) make(c functiontool.Config, call func(context.Context, json.RawMessage) (*agent.CallResult, error)) (tool.Tool, error) {
	made, err := functiontool.New(c, func(ctx tool.Context, args map[string]any) (map[string]any, error) {
		if call == nil {
			return adapter.Data(nil, noPlan), nil
		}
		text, err := json.Marshal(args)
		if err != nil {
			return nil, err
		}
		return t.end(ctx, c.Name)(call(ctx, text))
	})
	if err != nil {
		return nil, err
	}
	return &action{made.(functionTool), t}, nil
}

// Run runs the action, or goes on with what the user decided. The function tool of ADK would not
// call anything if the user declined, and check the arguments of a confirmed call again.
func (a *action) Run(ctx tool.Context, args any) (map[string]any, error) {
	if err := a.toolset.owns(ctx.UserID()); err != nil {
		return adapter.Data(nil, err), nil
	}
	confirmation := ctx.ToolConfirmation()
	if confirmation == nil {
		return a.functionTool.Run(ctx, args)
	}
	plan, answer, ok := answered(ctx, a.Name(), confirmation)
	if !ok {
		return adapter.Data(nil, noPlan), nil
	}
	return a.toolset.end(ctx, a.Name())(adapter.Resume(ctx, a.toolset.Page().Session().Resume, plan, answer))
}

// ProcessRequest adds the tool to a request of the model.
func (a *action) ProcessRequest(ctx tool.Context, req *model.LLMRequest) error {
	if err := a.functionTool.ProcessRequest(ctx, req); err != nil {
		return err
	}
	req.Tools[a.Name()] = a
	return nil
}

// suspended is what the state of the ADK session holds of a call that waits for its user.
type suspended struct {
	Tool string          `json:"tool"`
	Plan json.RawMessage `json:"plan"`
}

const statePrefix = "lookleap_plan_"

// stateKey is the key of a pending plan in the state of the ADK session.
func stateKey(call string) string { return statePrefix + call }

// suspendedIn returns the call that waits under a key of the state; the zero value if there is none.
func suspendedIn(key string, value any) (s suspended) {
	text, _ := value.(string)
	if !strings.HasPrefix(key, statePrefix) || strictjson.Decode([]byte(text), &s) != nil {
		return suspended{}
	}
	return s
}

// noPlan is the error of a confirmation or a call of an action that has neither a plan nor a page.
var noPlan = &lookleap.Error{Code: lookleap.CodePlanInvalid, Message: "no plan of this call waits for the user",
	Err: lookleap.ErrPlanInvalid}

// end ends a call: it asks the user, or tells the model what became of it.
func (t *Toolset) end(ctx tool.Context, name string) func(*agent.CallResult, error) (map[string]any, error) {
	return func(result *agent.CallResult, err error) (map[string]any, error) {
		waits, failed := ask(ctx, name, err)
		if failed != nil {
			return nil, failed
		}
		if !waits {
			t.show(result)
		}
		return adapter.Data(result, err), nil
	}
}

// ask asks the user about a call that waits, and forgets what waited of one that does not. The plan is in
// the state of the ADK session.
func ask(ctx tool.Context, name string, err error) (waits bool, failed error) {
	key := stateKey(ctx.FunctionCallID())
	var pending *lookleap.PendingError
	if !errors.As(err, &pending) {
		if _, missing := ctx.State().Get(key); missing == nil {
			return false, ctx.State().Set(key, "")
		}
		return false, nil
	}
	request, failed := adapter.Request(pending.State)
	if failed != nil {
		return true, failed
	}
	state, failed := json.Marshal(suspended{name, pending.State})
	if failed != nil {
		return true, failed
	}
	if err := ctx.State().Set(key, string(state)); err != nil {
		return true, err
	}
	return true, ctx.RequestConfirmation(request.Complete(), adapter.Yes(request))
}

// answered returns the plan of a call that waited, and the answer that the dialogue of ADK brought.
// It returns false if no plan of this call waits.
func answered(ctx tool.Context, name string, confirmation *toolconfirmation.ToolConfirmation) (plan json.RawMessage, answer any, ok bool) {
	key := stateKey(ctx.FunctionCallID())
	value, _ := ctx.State().Get(key)
	pending := suspendedIn(key, value)
	if pending.Tool != name {
		return nil, nil, false
	}
	if confirmation.Confirmed {
		return pending.Plan, confirmation.Payload, true
	}
	payload, _ := confirmation.Payload.(map[string]any)
	reason, _ := payload["reason"].(string)
	return pending.Plan, adapter.Decline{Reason: reason}, true
}

// show makes the page of a result the current one.
func (t *Toolset) show(result *agent.CallResult) {
	if result == nil || result.Page == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.page = result.Page
}
