package agent

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anmltrust"
)

// Tool is an action as a tool-calling runtime wants it (sections 9.3 and 11.1).
type Tool struct {
	Name        string          // 1 to 64 of A-Z a-z 0-9 _ -
	Description string          // our words, with the service's in quotes
	InputSchema json.RawMessage // a JSON Schema
	Site        string          // for a [Call] of the action by other means: the domain of its site
	Action      string          // and its id
	call        func(ctx context.Context, args json.RawMessage) (*CallResult, error)
}

// Call runs the tool through [Page.Do] with the arguments that a model made. Its
// result is made for a model by [CallResult.Text], its error by [ErrorText].
func (t Tool) Call(ctx context.Context, args json.RawMessage) (*CallResult, error) {
	if t.call == nil {
		return nil, missing("the tool belongs to no page", "take it from Page.Tools")
	}
	return t.call(ctx, args)
}

// noArguments is the schema of a tool whose action answers asks: what it tells
// comes from the user's profile, never from a model.
const noArguments = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{},"required":[],"additionalProperties":false}`

// emptyArgs reports whether a model gives no arguments at all, in any of the ways
// that models have for it.
func emptyArgs(args json.RawMessage) bool {
	var text bytes.Buffer
	if json.Compact(&text, args) != nil {
		return len(bytes.TrimSpace(args)) == 0
	}
	return text.String() == "{}" || text.String() == "null"
}

// tools lists the actions that may be called: executable, of somebody who may
// offer them, at an endpoint that is sent to.
func (p *Page) tools() []Tool {
	if p.executable() != nil {
		return nil
	}
	var out []Tool
	now := p.session.now()
	asksOf := make(map[anml.Site]map[string][]anml.Ask)
	for tool := range p.doc.Tools(anml.JSONSchema) {
		owner, whose := p.owner(tool.Site, anmltrust.Interact, now)
		if whose == anmltrust.Dropped {
			continue
		}
		if _, err := p.endpoint(tool.Action, owner); err != nil {
			continue
		}
		call := Call{Site: tool.Site.Domain(), Action: tool.Action.ID()}
		t := Tool{Name: tool.Name, Description: tool.Description, InputSchema: tool.InputSchema, Site: call.Site, Action: call.Action}
		if asksOf[tool.Site] == nil {
			asksOf[tool.Site] = asksByAction(tool.Site)
		}
		if asks := asksOf[tool.Site][call.Action]; answers(tool.Action, asks, call) {
			if unanswerable(tool.Action, asks, call) != nil {
				continue
			}
			t.InputSchema = json.RawMessage(noArguments)
		} else if _, err := silent(asks, call); err != nil {
			continue
		}
		t.call = func(ctx context.Context, args json.RawMessage) (*CallResult, error) {
			call := call
			if !emptyArgs(args) {
				call.ArgsJSON = args
			}
			return p.Do(ctx, call)
		}
		out = append(out, t)
	}
	return out
}
