package lookleapmcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/internal/adapter"
)

// consentQuestion is the name of the input request for the user's agreement.
const consentQuestion = "consent"

// askConsent turns a pending plan into a question: one checkbox for each thing to
// agree to, none of them ticked. What is shown is derived from the plan.
func askConsent(keys lookleap.Keys, call *mcp.CallToolParamsRaw, p *lookleap.PendingError) (*mcp.CallToolResult, error) {
	request, err := adapter.Request(p.State)
	if err != nil {
		return nil, err
	}
	form, err := boxes(request)
	if err != nil {
		return nil, err
	}
	state, err := waiting{Plan: p.State}.seal(keys, call)
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{consentQuestion: &mcp.ElicitParams{
			Message: request.Complete(), RequestedSchema: form,
		}},
		RequestState: state,
	}, err
}

// reasonOf returns the name of the input for the reason of a refusal, which is no item's.
func reasonOf(r *lookleap.ConsentRequest) string {
	name := "reason"
	for slices.ContainsFunc(r.Items, func(item lookleap.ConsentItem) bool { return item.ID == name }) {
		name += "_"
	}
	return name
}

// boxes is the schema of a form with a box for each item, in the order in which
// the request shows them. The number is that in the text.
func boxes(r *lookleap.ConsentRequest) (json.RawMessage, error) {
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	for i, question := range r.Questions() {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(question.Item) // a string
		box, err := json.Marshal(map[string]any{"type": "boolean", "title": question.String(), "default": false})
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s:%s", name, box)
	}
	name, _ := json.Marshal(reasonOf(r)) // a string
	fmt.Fprintf(&b, `,%s:{"type":"string","title":"%s","maxLength":%d}}}`, name, lookleap.ReasonQuestion, lookleap.MaxReason)
	return b.Bytes(), nil
}

// consent returns what the user answered, for [adapter.Resume]. The digest is that of the sealed
// plan, which belongs to the question.
func (w waiting) consent(call *mcp.CallToolParamsRaw) any {
	content, accepted := reply(call, consentQuestion)
	if !accepted {
		return adapter.Decline{}
	}
	request, err := adapter.Request(w.Plan)
	if err != nil {
		return err.Error() // as Resume reports
	}
	d := lookleap.ConsentDecision{Digest: request.Digest}
	for name, value := range content {
		ticked, isBox := value.(bool)
		text, isText := value.(string)
		switch {
		case isText && name == reasonOf(request):
			d.Reason = text
		case !isBox:
			return content // which is no decision
		case ticked:
			d.Approved = append(d.Approved, name)
		}
	}
	return d
}
