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
	"crypto/rand"
	"encoding/json"
	"errors"

	"github.com/firebase/genkit/go/ai"

	"github.com/lookleap/lookleap"
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

// Tools makes the tools of one user's session. Its zero value is not usable.
type Tools struct {
	// OnPage receives the page that an action returns. Its tools are for the next generation.
	OnPage func(*agent.Page)
	// Key seals the state that passes through the message history, with at least
	// [lookleap.MinKeyLen] secret random bytes. Processes that resume one another share it.
	Key []byte

	session *agent.Session
}

// New returns the tools of a session, with a random key.
func New(session *agent.Session) *Tools {
	t := &Tools{session: session, Key: make([]byte, lookleap.MinKeyLen)}
	_, _ = rand.Read(t.Key) // never fails
	return t
}

// The members of the metadata of an interrupted call and of its restart.
const (
	keyState    = "lookleapState" // sealed
	keyDecision = "lookleapDecision"
)

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
	var result *agent.CallResult
	args, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	if ctx.Resumed != nil {
		result, err = t.resume(ctx, ctx.Resumed)
	} else {
		result, err = tool.Call(ctx, args)
	}
	var pending *lookleap.PendingError
	if errors.As(err, &pending) {
		state, err := lookleap.Seal(t.Key, pending.State)
		if err != nil {
			return nil, err
		}
		return nil, ctx.Interrupt(&ai.InterruptOptions{Metadata: map[string]any{keyState: state}})
	}
	if result != nil && result.Page != nil && t.OnPage != nil {
		t.OnPage(result.Page)
	}
	return adapter.Data(result, err), nil
}

func (t *Tools) resume(ctx context.Context, meta map[string]any) (*agent.CallResult, error) {
	sealed, _ := meta[keyState].(string)
	text, _ := meta[keyDecision].(string)
	state, err := lookleap.Unseal(t.Key, sealed)
	if err != nil {
		return nil, err
	}
	return adapter.Resume(ctx, t.session.Resume, state, json.RawMessage(text))
}

// Request returns what the user is asked by an interrupted call. It is derived from the sealed
// plan, not from what the message history says next to it.
func (t *Tools) Request(part *ai.Part) (*lookleap.ConsentRequest, error) {
	meta, ok := interrupt(part)
	if !ok {
		return nil, notWaiting(nil)
	}
	sealed, _ := meta[keyState].(string)
	state, err := lookleap.Unseal(t.Key, sealed)
	if err != nil {
		return nil, err
	}
	return adapter.Request(state)
}

func notWaiting(cause error) error {
	return &lookleap.Error{Code: lookleap.CodeUsage, Message: "the call does not wait for a consent", Err: cause}
}

// Restart returns the part for ai.WithToolRestarts that goes on with the user's decision.
func (t *Tools) Restart(part *ai.Part, decision lookleap.ConsentDecision) (*ai.Part, error) {
	meta, ok := interrupt(part)
	text, err := json.Marshal(decision)
	if err != nil || !ok {
		return nil, notWaiting(err)
	}
	restart := ai.NewToolRequestPart(part.ToolRequest)
	restart.Metadata = map[string]any{"resumed": map[string]any{keyState: meta[keyState], keyDecision: string(text)}}
	return restart, nil
}

// interrupt returns the metadata of an interrupted call.
func interrupt(part *ai.Part) (map[string]any, bool) {
	return ai.InterruptAs[map[string]any](part)
}
