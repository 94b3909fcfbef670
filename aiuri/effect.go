package aiuri

import (
	"bytes"
	"encoding/json"

	"github.com/lookleap/lookleap"
)

// effect is what a plan commits: a request, and where it was found to lead.
type effect struct {
	Request   Request `json:"request"`
	HasBody   bool    `json:"hasBody"` // the body follows
	URI       URI     `json:"uri"`
	Recipient string  `json:"recipient"`
	Origin    string  `json:"origin"`
	Document  string  `json:"document"`
	User      string  `json:"user,omitempty"` // mark of the user whose plan it is; "": no one in particular
}

// marshal writes the effect as one line of JSON and the body as it is, since a
// body may be large, and text of it would have to be made and read again.
func (e effect) marshal() ([]byte, error) {
	body := e.Request.Body
	e.Request.Body, e.HasBody = nil, body != nil
	line, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, len(line)+1+len(body))
	return append(append(append(data, line...), '\n'), body...), nil
}

// unmarshalEffect reads what marshal wrote. The body is a part of data.
func unmarshalEffect(data []byte) (e effect, err error) {
	line, body, ok := bytes.Cut(data, []byte("\n"))
	if err := json.Unmarshal(line, &e); err != nil || !ok || e.Request.Body != nil || !e.HasBody && len(body) > 0 {
		return effect{}, lookleap.ErrPlanInvalid
	}
	if e.HasBody {
		e.Request.Body = body
	}
	return e, nil
}
