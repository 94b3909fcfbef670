// Package lookleapgenkit offers the ANML actions of a page as tools of Genkit.
//
//	page, err := lookleapgenkit.Open(ctx, "https://shop.example", nil)
//	tools := lookleapgenkit.New(page.Session())
//	offered, err := tools.Of(page)
//	resp, err := genkit.Generate(ctx, g, ai.WithTools(offered...), ai.WithPrompt("book two seats"))
//
// A call that needs the user interrupts the generation. [Tools.Request] returns what to show,
// and [Tools.Restart] goes on with the decision:
//
//	for _, part := range resp.Interrupts() {
//		request, err := tools.Request(part)
//		restart, err := tools.Restart(part, decide(request))
//		resp, err = genkit.Generate(ctx, g, ai.WithMessages(resp.History()...),
//			ai.WithTools(offered...), ai.WithToolRestarts(restart))
//	}
//
// The Host of the session needs a prompter that suspends: see [Prompter].
package lookleapgenkit

import (
	"context"
	"encoding/json"

	"github.com/firebase/genkit/go/ai"

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

// Tools makes the tools of one user's session. Its zero value is not usable.
type Tools struct {
	// OnPage receives the page that an action returns. Its tools are for the next generation.
	OnPage func(*agent.Page)
	Questions

	session *agent.Session
}

// New returns the tools of a session, with a random key.
func New(session *agent.Session) *Tools { return &Tools{session: session, Questions: newQuestions()} }

// Of returns the actions of pages of the session as tools. It returns an error if two actions have
// the same name in any letter case.
func (t *Tools) Of(pages ...*agent.Page) ([]ai.ToolRef, error) {
	actions, err := adapter.Tools(agent.AnyVendor, pages...)
	if err != nil {
		return nil, err
	}
	var out []ai.ToolRef
	for _, a := range actions {
		d := a.Definition
		delete(d.Parameters, "$schema") // Genkit supports no other version than its own
		out = append(out, ai.NewTool(d.Name, d.Description, func(ctx *ai.ToolContext, in any) (map[string]any, error) {
			return t.run(ctx, a, in)
		}, ai.WithInputSchema(d.Parameters)))
	}
	return out, nil
}

// run runs the action, or goes on with what the user decided. An error is data for the
// model: what failed, and what it can do.
func (t *Tools) run(ctx *ai.ToolContext, tool adapter.Tool, in any) (map[string]any, error) {
	args, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	result, waits, err := run(ctx, &t.Questions, func() (*agent.CallResult, error) { return tool.Call(ctx, args) }, t.session.Resume)
	if waits != nil {
		return nil, waits
	}
	if result != nil && result.Page != nil && t.OnPage != nil {
		t.OnPage(result.Page)
	}
	return adapter.Data(result, err), nil
}
