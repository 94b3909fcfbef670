package lookleapmcp

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/contrib/internal/adapter"
)

// answer shows a model what became of a call: the result, the error, or both.
func answer(r *agent.CallResult, err error) *mcp.CallToolResult {
	out := &mcp.CallToolResult{Meta: mcp.Meta{}, Content: []mcp.Content{&mcp.TextContent{Text: adapter.Text(r, err)}}, IsError: err != nil}
	if err != nil {
		out.Meta["lookleap/code"] = lookleap.CodeOf(err)
	}
	if r != nil {
		out.Meta["lookleap/plan"], out.Meta["lookleap/outcome"], out.Meta["lookleap/status"] = r.Plan, r.Outcome.String(), r.Status
		out.IsError = out.IsError || r.Outcome == anml.OutcomeError || r.Outcome == anml.OutcomeUnknown
	}
	return out
}
