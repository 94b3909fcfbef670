package lookleapmcp

import (
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
)

// answer shows a model what became of a call.
func answer(r *agent.CallResult) *mcp.CallToolResult {
	return &mcp.CallToolResult{
		Meta:    mcp.Meta{"lookleap/plan": r.Plan, "lookleap/outcome": r.Outcome.String(), "lookleap/status": r.Status},
		Content: []mcp.Content{&mcp.TextContent{Text: r.Text(anml.TextOptions{})}},
		IsError: r.Outcome == anml.OutcomeError || r.Outcome == anml.OutcomeUnknown,
	}
}

// refusal shows a model why nothing was done: the sentence as text, code and
// verdict as data.
func refusal(err error) *mcp.CallToolResult {
	meta := mcp.Meta{"lookleap/code": lookleap.CodeOf(err)}
	text := err.Error()
	var no *lookleap.VerifyError
	if errors.As(err, &no) && no.Verdict != nil {
		meta["lookleap/verdict"] = no.Verdict
		text = no.Verdict.String()
	}
	return &mcp.CallToolResult{Meta: meta, Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: true}
}
