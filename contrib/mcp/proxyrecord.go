package lookleapmcp

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// entry is one line of the record of a proxy: a call without a plan. What a person decided about has a
// plan, and what came of it goes to the Record of the host.
type entry struct {
	Time       time.Time `json:"time"`
	Tool       string    `json:"tool"`
	Definition string    `json:"definition,omitempty"` // digest
	Arguments  string    `json:"arguments"`            // digest of their canonical form
	Decision   string    `json:"decision"`             // "refused" or "rule"
	Reason     string    `json:"reason,omitempty"`
	Outcome    string    `json:"outcome,omitempty"` // "sent" before the call, then "done", "error" or "unknown"
}

// recorder writes the record of a proxy, one line in each Write.
type recorder struct {
	mu sync.Mutex
	to io.Writer
}

// write records an outcome of a call that a rule lets pass, or a refusal, which has no outcome.
func (r *recorder) write(c *gatedCall, outcome, reason string) error {
	if r.to == nil {
		return nil
	}
	e := c.entry
	e.Time, e.Outcome, e.Reason, e.Decision = time.Now().UTC(), outcome, plaintext.Clip(reason, 500), "refused"
	if outcome != "" {
		e.Decision = "rule"
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.to.Write(append(line, '\n')); err != nil {
		return &lookleap.Error{Code: lookleap.CodeIO, Message: "the record of calls cannot be written", Fix: "make room on the disk", Err: err}
	}
	return nil
}

// ended records what became of a call without a plan, and returns the error for the client. An error
// about a changed tool names the change.
func (p *proxy) ended(c *gatedCall, err error, asked bool) error {
	c.identify()
	if err != nil && len(c.changed) > 0 && c.result == nil {
		err = &lookleap.Error{Code: lookleap.CodeOf(err), Message: "the server changed the " + strings.Join(c.changed, ", ") +
			" of this tool since it was approved", Err: err}
	}
	outcome, reason := "", ""
	if err != nil {
		reason = err.Error()
	}
	switch {
	case asked, lookleap.CodeOf(err) == lookleap.CodeConsentPending:
		return err
	case errors.Is(err, lookleap.ErrInDoubt):
		outcome = "unknown"
	case c.result == nil:
	case c.result.IsError:
		outcome = "error"
	default:
		outcome = "done"
	}
	if c.decided && (outcome != "" || lookleap.CodeOf(err) == lookleap.CodeConsentRefused) {
		return err
	}
	if failed := p.record.write(c, outcome, reason); err == nil {
		return failed
	}
	return err
}

// identify fills in what the record says about the call itself.
func (c *gatedCall) identify() {
	arguments := jsontext.Value(c.call.Params.Arguments).Clone()
	if len(arguments) == 0 || string(arguments) == "null" {
		arguments = jsontext.Value("{}") // as for the gate
	}
	if arguments.Canonicalize() == nil || c.entry.Arguments == "" { // others are refused
		c.entry.Arguments = lookleap.Digest(arguments)
	}
	c.entry.Tool = plaintext.Clip(visible(c.call.Params.Name), maxToolName)
	if c.definition != nil {
		c.entry.Definition = c.definition.digest
	}
}
