package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
)

// suspend is the Prompter of an MCP server: nobody is asked while a call runs.
// The call ends, its question travels to the client, and the answer comes with
// the next call.
type suspend struct{}

func (suspend) PromptConsent(context.Context, *lookleap.ConsentRequest) (lookleap.ConsentDecision, error) {
	return lookleap.ConsentDecision{}, lookleap.ErrConsentPending
}

// consentQuestion is the name of the input request for the user's agreement.
const consentQuestion = "consent"

// askConsent turns a pending plan into a question: one checkbox for each thing to
// agree to, none of them ticked.
func askConsent(key []byte, call *mcp.CallToolParamsRaw, p *lookleap.PendingError) (*mcp.CallToolResult, error) {
	boxes := make(map[string]any, len(p.Request.Items))
	for _, item := range p.Request.Items {
		boxes[item.ID] = map[string]any{"type": "boolean", "title": item.Summary, "default": false}
	}
	state, err := waiting{Plan: p.State, Request: p.Request}.seal(key, call)
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{consentQuestion: &mcp.ElicitParams{
			Message: p.Request.String(), RequestedSchema: map[string]any{"type": "object", "properties": boxes},
		}},
		RequestState: state,
	}, err
}

// consent reads what the user agreed to.
func (w waiting) consent(call *mcp.CallToolParamsRaw) (lookleap.ConsentDecision, error) {
	ticked, err := reply(call, consentQuestion)
	if err != nil {
		return lookleap.ConsentDecision{}, err
	}
	d := lookleap.ConsentDecision{Digest: w.Request.Digest}
	for _, item := range w.Request.Items {
		if yes, _ := ticked[item.ID].(bool); yes {
			d.Approved = append(d.Approved, item.ID)
		}
	}
	return d, nil
}
