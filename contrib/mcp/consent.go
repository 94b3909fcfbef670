package lookleapmcp

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
)

// consentQuestion is the name of the input request for the user's agreement.
const consentQuestion = "consent"

// askConsent turns a pending plan into a question: one checkbox for each thing to
// agree to, none of them ticked.
func askConsent(key []byte, call *mcp.CallToolParamsRaw, p *lookleap.PendingError) (*mcp.CallToolResult, error) {
	form, err := boxes(p.Request)
	if err != nil {
		return nil, err
	}
	state, err := waiting{Plan: p.State, Request: p.Request}.seal(key, call)
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{consentQuestion: &mcp.ElicitParams{
			Message: p.Request.Complete(), RequestedSchema: form,
		}},
		RequestState: state,
	}, err
}

// boxes is the schema of a form with a box for each item, in the order in which
// the request shows them. The number is that in the text.
func boxes(r *lookleap.ConsentRequest) (json.RawMessage, error) {
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	number := 0
	for _, section := range r.Sections(false) {
		for _, line := range section.Lines {
			if line.Item == "" || line.Indent > 0 {
				continue
			}
			number++
			if number > 1 {
				b.WriteByte(',')
			}
			name, _ := json.Marshal(line.Item) // a string
			box, err := json.Marshal(map[string]any{"type": "boolean", "title": line.String(), "default": false})
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, "%s:%s", name, box)
		}
	}
	b.WriteString(`}}`)
	return b.Bytes(), nil
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
