package lookleapmcp

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml/agent"
	"github.com/lookleap/lookleap/contrib/internal/adapter"
)

// valuesQuestion is the name of the input request for data that the profile lacks.
const valuesQuestion = "values"

// lacking lists the fields that an action asks for and the profile does not hold.
func lacking(ctx context.Context, page *agent.Page, tool adapter.Tool) (asks []agent.Decision) {
	for _, d := range page.Decide(ctx) {
		if d.Site == tool.Site && d.Ask.Action() == tool.Action && d.Code == agent.CodeNoValue {
			asks = append(asks, d)
		}
	}
	return asks
}

// askValues asks the user for values. Giving one is not an agreement yet: what would
// be sent is shown once more, all of it.
func askValues(keys lookleap.Keys, call *mcp.CallToolParamsRaw, asks []agent.Decision) (*mcp.CallToolResult, error) {
	var w waiting
	var message strings.Builder
	inputs := make(map[string]any, len(asks))
	message.WriteString("The service asks for something that is not in your profile. Leave empty what you do not want to give.\n")
	for _, d := range asks {
		w.Fields = append(w.Fields, d.Field)
		inputs[d.Field] = map[string]any{"type": "string", "title": quote(d.Field, 60)}
		fmt.Fprintf(&message, "%s, it says: %s\n", quote(d.Field, 60), quote(d.Ask.Purpose(), 200))
	}
	state, err := w.seal(keys, call)
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{valuesQuestion: &mcp.ElicitParams{
			Message: message.String(), RequestedSchema: map[string]any{"type": "object", "properties": inputs},
		}},
		RequestState: state,
	}, err
}

// values reads what the user gave, for the fields that were asked and no others.
func (w waiting) values(call *mcp.CallToolParamsRaw) (*agent.Reply, error) {
	given, accepted := reply(call, valuesQuestion)
	if !accepted {
		return nil, &lookleap.Error{Code: lookleap.CodeConsentRefused, Message: "the user gave no values: nothing was done",
			Err: lookleap.ErrConsentRefused}
	}
	r := &agent.Reply{Values: make(map[string]agent.Value)}
	for _, field := range w.Fields {
		if text, _ := given[field].(string); text != "" {
			r.Values[field] = agent.Value{Text: text}
		}
	}
	return r, nil
}

// quote quotes a text of the service. Characters that a dialogue would not show are
// escaped, and a long text is cut.
func quote(text string, limit int) string {
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit]) + "…"
	}
	return strconv.Quote(text)
}
