package agent

import (
	"context"
	"encoding/json"
)

// Tool is an action as a tool-calling runtime wants it.
type Tool struct {
	Name        string          // 1 to 64 of A-Z a-z 0-9 _ -
	Description string          // our words, with the service's in quotes
	InputSchema json.RawMessage // a JSON Schema
	Site        string          // for a [Call] of the action by other means: the domain of its site
	Action      string          // and its id
	call        func(ctx context.Context, args json.RawMessage) (*Result, error)
}

// Call runs the tool through [Page.Do] with the arguments that a model made.
func (t Tool) Call(ctx context.Context, args json.RawMessage) (*Result, error) {
	return t.call(ctx, args)
}

func (p *Page) tools() []Tool { return nil } // owner: actions
