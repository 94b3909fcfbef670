package aiuri

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Resume goes on with an invocation that waited for its user. The endpoint's
// trust is checked again; what is sent is what the user saw. A state that is no
// plan's, was changed, or is a plan of another user is a [lookleap.ErrPlanInvalid].
func (c *Client) Resume(ctx context.Context, state json.RawMessage, decision lookleap.ConsentDecision) (*Verified, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	if int64(len(state)) > 2*c.options.MaxBody+maxStory {
		return nil, refusal(c.host, "an invocation", fail(lookleap.CodeTooLarge, "the plan is larger than any that this client makes", ""))
	}
	plan, err := lookleap.ParsePlan(state)
	if err != nil {
		return nil, err
	}
	approval, err := c.host.Decide(ctx, plan, decision)
	if err != nil {
		return nil, err
	}
	e, err := unmarshalEffect(plan.Effect())
	if err != nil || plan.Request().Kind != lookleap.ConsentInvoke || e.User != c.planMark() {
		return nil, lookleap.ErrPlanInvalid
	}
	return c.commit(ctx, approval, e)
}

// planMark marks whose plans the client makes.
func (c *Client) planMark() string { return userMark(c.options.UserKey, c.user, "plan") }

// maxStory is more than what stands in a plan beside its effect.
const maxStory = 1 << 20

func (c *Client) plan(p *prepared, e effect) (*lookleap.Plan, error) {
	data, err := e.marshal()
	if err != nil {
		return nil, err
	}
	item := lookleap.ConsentItem{ID: "call", Summary: p.call.summary(), Recipient: p.recipient, Digest: lookleap.Digest(data),
		Values: []lookleap.ConsentValue{{Label: "URI", Text: p.call.URI.String()}},
		Remote: []lookleap.RemoteText{{Source: p.discovery.Origin, Label: "URI", Text: p.call.URI.String()}}}
	if p.call.Body != nil {
		item.Values = append(item.Values, p.call.bodyValue())
		item.Remote = append(item.Remote, lookleap.RemoteText{Source: "this agent", Label: "what it would send", Text: p.call.shownBody()})
	}
	summary := "invoke the endpoint " + p.call.URI.Redacted()
	if !p.discovery.Confirmed {
		summary += ", which " + p.discovery.Origin + " advertises and its own authority does not confirm"
	}
	return lookleap.NewPlan(lookleap.ConsentRequest{
		Kind: lookleap.ConsentInvoke, Origin: p.discovery.Origin, TrustRoot: p.discovery.DocumentOrigin, Summary: summary,
		Items: []lookleap.ConsentItem{item}, Verdict: p.discovery.Verdict,
	}, data, c.host.Time())
}

func (c *Call) summary() string {
	if len(c.Scopes) == 0 {
		return c.Method + " to the AI endpoint, without scopes"
	}
	return c.Method + " to the AI endpoint, scopes: " + strings.Join(c.Scopes, " ")
}

// bodyValue is the body as the user approves it. The plan has a large one already,
// and the request only its beginning, byte for byte.
func (c *Call) bodyValue() lookleap.ConsentValue {
	v := lookleap.ConsentValue{Label: "body, " + plaintext.Quote(c.MediaType, 100), Text: c.head()}
	if len(v.Text) < len(c.Body) {
		v.Size, v.Digest = len(c.Body), lookleap.Digest(c.Body)
	}
	return v
}

// head returns what a request shows of the body: all of a short one. A text is cut
// between two characters, and anything else is as it is.
func (c *Call) head() string {
	if len(c.Body) <= lookleap.MaxShown {
		return string(c.Body)
	}
	n := lookleap.MaxShown
	if utf8.Valid(c.Body) {
		for !utf8.RuneStart(c.Body[n]) {
			n--
		}
	}
	return string(c.Body[:n])
}

// shownBody describes the body in a line, or is the body if that is short.
func (c *Call) shownBody() string {
	switch {
	case !utf8.Valid(c.Body):
		return fmt.Sprintf("%d octets of %s, which are no text", len(c.Body), c.MediaType)
	case len(c.Body) <= lookleap.MaxShown:
		return string(c.Body)
	}
	return fmt.Sprintf("%s\u2026 and more, %d octets in all", c.head(), len(c.Body))
}

// commit sends what the plan holds and nothing else, if it still leads to whom the
// user agreed to: meanwhile the endpoint may have moved, or demand more.
func (c *Client) commit(ctx context.Context, a *lookleap.Approval, e effect) (v *Verified, err error) {
	p, err := c.prepare(ctx, e.Request)
	if err != nil {
		return nil, refusal(c.host, "an invocation", err)
	}
	if p.discovery.Origin != e.Origin || p.discovery.DocumentOrigin != e.Document || !p.call.URI.Equal(e.URI) || p.recipient != e.Recipient {
		return nil, refusal(c.host, "an invocation", fail(lookleap.CodePlanInvalid, "the endpoint is another one than the user agreed to", ""))
	}
	err = c.host.Commit(ctx, a, func(ctx context.Context, data []byte) error {
		own, err := unmarshalEffect(data)
		if err != nil {
			return err
		}
		p.call.Body = own.Request.Body
		v, err = c.send(ctx, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}

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
