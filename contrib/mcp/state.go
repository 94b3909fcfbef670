package lookleapmcp

import (
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// waiting is what a call that needs its user leaves with the client. It is
// sealed: the client, and the model behind it, can neither read nor change it.
type waiting struct {
	Tool   string          `json:"tool"`             // the call that it belongs to,
	Args   string          `json:"args"`             // and the digest of its arguments
	Fields []string        `json:"fields,omitempty"` // whose values were asked for,
	Plan   json.RawMessage `json:"plan,omitempty"`   // or the plan that waits for the user's word
}

// seal makes the state of a call.
func (w waiting) seal(keys lookleap.Keys, call *mcp.CallToolParamsRaw) (string, error) {
	w.Tool, w.Args = call.Name, lookleap.Digest(call.Arguments)
	state, err := json.Marshal(w)
	if err != nil {
		return "", err
	}
	return keys.Seal(state)
}

// unseal opens the state that a call brings back. One that was forged, or belongs
// to another call, is refused.
func unseal(keys lookleap.Keys, call *mcp.CallToolParamsRaw) (w waiting, err error) {
	state, err := keys.Unseal(call.RequestState)
	if err != nil {
		return w, err
	}
	if err := strictjson.Decode(state, &w); err != nil {
		return w, err
	}
	if w.Tool != call.Name || w.Args != lookleap.Digest(call.Arguments) {
		return w, errors.New("the answer belongs to another call: nothing was done")
	}
	return w, nil
}

// reply returns the form that the user filled in. Any answer but "accept" is a no.
func reply(call *mcp.CallToolParamsRaw, question string) (content map[string]any, accepted bool) {
	r, ok := call.InputResponses[question].(*mcp.ElicitResult)
	if !ok || r == nil || r.Action != "accept" {
		return nil, false
	}
	return r.Content, true
}
