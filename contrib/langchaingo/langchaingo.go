// Package lookleaplangchain offers the ANML actions of a page as tools of LangChainGo.
//
//	page, err := lookleaplangchain.Open(ctx, "https://shop.example", nil)
//	tools := lookleaplangchain.New(page.Session())
//	offered, err := tools.Of(page)
//	executor := agents.NewExecutor(agents.NewOpenAIFunctionsAgent(model, offered))
//	out, err := chains.Run(ctx, executor, "book two seats")
//
// LangChainGo has no interrupts: a call that needs the user ends the run with an error that is
// a *lookleap.PendingError. Pass the decision to [Tools.Decide] and run the executor again. The
// same call of the same tool then goes on with the plan that the user was shown:
//
//	var pending *lookleap.PendingError
//	if errors.As(err, &pending) {
//		tools.Decide(pending, decide(pending.Request))
//		out, err = chains.Run(ctx, executor, "book two seats")
//	}
//
// The Host of the session needs a prompter that suspends: see [Prompter].
package lookleaplangchain

import (
	"context"
	"encoding/json"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/contrib/internal/adapter"
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

// Tools makes the tools of one user's session. Its methods are safe for concurrent use.
type Tools struct {
	// OnPage receives the page that an action returns. Its tools are for the next run.
	OnPage func(*agent.Page)

	session *agent.Session
	waiting
}

// New returns the tools of a session.
func New(session *agent.Session) *Tools {
	return &Tools{session: session}
}

// Of returns the actions of pages of the session as tools for agents. It returns an error if two
// actions have the same name in any letter case. The agents of LangChainGo pass one text to a tool,
// so the description has the schema of the JSON object that the text is.
func (t *Tools) Of(pages ...*agent.Page) ([]tools.Tool, error) {
	actions, err := adapter.Tools(agent.OpenAI, pages...)
	if err != nil {
		return nil, err
	}
	var out []tools.Tool
	for _, a := range actions {
		out = append(out, &action{tools: t, tool: a})
	}
	return out, nil
}

// LLMTools returns the actions of pages for llms.WithTools. Pass the arguments of a
// llms.ToolCall to Call of the tool with the same name.
func LLMTools(pages ...*agent.Page) ([]llms.Tool, error) {
	actions, err := adapter.Tools(agent.OpenAI, pages...)
	if err != nil {
		return nil, err
	}
	var out []llms.Tool
	for _, a := range actions {
		out = append(out, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
			Name: a.Definition.Name, Description: a.Definition.Description, Parameters: a.Definition.Parameters, Strict: a.Definition.Strict,
		}})
	}
	return out, nil
}

// action is one action as a tool.
type action struct {
	tools *Tools
	tool  adapter.Tool
}

// Name returns the name of the tool.
func (a *action) Name() string { return a.tool.Definition.Name }

// Description describes the tool and its input.
func (a *action) Description() string {
	schema, _ := json.Marshal(a.tool.Definition.Parameters) // decoded from JSON
	return a.tool.Definition.Description + ". The input is a JSON object with this schema: " + string(schema)
}

// Call runs the action, or goes on with what the user decided about the same call. An error
// of the action is text for the model; a *lookleap.PendingError ends the run.
func (a *action) Call(ctx context.Context, input string) (string, error) {
	t := a.tools
	return run(ctx, &t.waiting, a.Name()+"\x00"+input,
		func() (*agent.CallResult, error) { return a.tool.Call(ctx, json.RawMessage(input)) }, t.session.Resume,
		func(result *agent.CallResult, err error) string {
			if result != nil && result.Page != nil && t.OnPage != nil {
				t.OnPage(result.Page)
			}
			return adapter.Text(result, err)
		})
}
