package aiuri

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/planowner"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// effect is what a plan commits: a request and the endpoint that it goes to.
type effect struct {
	Request   Request `json:"request"`
	URI       URI     `json:"uri"`
	Recipient string  `json:"recipient"`
	Origin    string  `json:"origin"`
	Document  string  `json:"document"`
	User      string  `json:"user,omitempty"` // mark of the user who may resume the plan
}

// effect returns what a plan for the request commits, without a user.
func (p *prepared) effect() effect {
	return effect{p.request, p.call.URI, p.recipient, p.discovery.Origin, p.discovery.DocumentOrigin, ""}
}

func readEffect(plan *lookleap.Plan) (e effect, err error) {
	if strictjson.Decode(plan.Effect(), &e) != nil || plan.Request().Kind != lookleap.ConsentInvoke {
		return effect{}, lookleap.ErrPlanInvalid
	}
	return e, nil
}

// ask asks the user and sends the request.
func (c *Client) ask(ctx context.Context, p *prepared) (*Verified, error) {
	plan, err := c.plan(p)
	if err != nil {
		return nil, err
	}
	approval, err := c.host.Ask(planowner.Context(ctx, c.user), plan)
	if err != nil {
		return nil, err
	}
	return c.commit(ctx, approval)
}

// maxPlanText is an upper bound for the bytes of a plan without the body of its request.
const maxPlanText = 1 << 20

// Resume continues an invocation that waited for its user. It discovers the endpoint again
// and sends exactly what the user approved. It returns a [lookleap.ErrPlanInvalid] if the
// state is not a plan or was changed. Its code is [lookleap.CodePlanOtherUser] if the plan
// belongs to another user.
func (c *Client) Resume(ctx context.Context, state json.RawMessage, decision lookleap.ConsentDecision) (*Verified, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	if int64(len(state)) > 2*c.maxBody+maxPlanText { // the body is encoded twice
		return nil, refusal(c.host, "an invocation", fail(lookleap.CodeTooLarge, "the plan is larger than any plan of this client", ""))
	}
	plan, err := lookleap.ParsePlan(state)
	if err != nil {
		return nil, err
	}
	e, err := readEffect(plan)
	if err != nil {
		return nil, err
	}
	if nonce, _, _ := strings.Cut(e.User, "."); !hmac.Equal([]byte(e.User), []byte(c.planMark(nonce))) { // before the decision counts
		return nil, failOn(lookleap.CodePlanOtherUser, "", "the plan was prepared for another user",
			"resume it with Client.ForUser of that user and the same UserKey", lookleap.ErrPlanInvalid)
	}
	approval, err := c.host.Decide(planowner.Context(ctx, c.user), plan, decision)
	if err != nil {
		return nil, err
	}
	return c.commit(ctx, approval)
}

// planMark returns the mark of the client's user for a plan. It differs from plan to plan.
func (c *Client) planMark(nonce string) string {
	if mark := userMark(c.options.UserKey, c.user, "plan\x00"+nonce); mark != "" {
		return nonce + "." + mark
	}
	return ""
}

// plan returns the plan that the user is asked about.
func (c *Client) plan(p *prepared) (*lookleap.Plan, error) {
	e := p.effect()
	// The mark differs from plan to plan, so the item's digest leaves it out: the host must
	// recognise a request that the user has refused.
	unmarked, _ := json.Marshal(e) // these types cannot fail
	e.User = c.planMark(rand.Text())
	data, _ := json.Marshal(e)
	scopes := "without scopes"
	if len(p.call.Scopes) > 0 {
		scopes = "scopes: " + strings.Join(p.call.Scopes, " ")
	}
	item := lookleap.ConsentItem{ID: "call", Summary: p.call.Method + " to the AI endpoint, " + scopes,
		Recipient: p.recipient, Digest: lookleap.Digest(unmarked),
		Values: []lookleap.ConsentValue{{Label: "URI", Text: p.call.URI.String()}},
		Remote: []lookleap.RemoteText{{Source: p.discovery.Origin, Label: "URI", Text: p.call.URI.String()}}}
	if p.call.Body != nil {
		value, text := p.call.shownBody()
		item.Values = append(item.Values, value)
		item.Remote = append(item.Remote, lookleap.RemoteText{Source: "this agent", Label: "what it would send", Text: text})
	}
	summary := "invoke the endpoint " + p.call.URI.Redacted()
	switch {
	case p.discovery.System != "":
		summary += " of the local system " + p.discovery.System
	case !p.discovery.Confirmed:
		summary += ", which " + p.discovery.Origin + " advertises and its own authority does not confirm"
	}
	return lookleap.NewPlan(lookleap.ConsentRequest{
		Kind: lookleap.ConsentInvoke, Origin: p.discovery.Origin, TrustRoot: p.discovery.DocumentOrigin, Summary: summary,
		Items: []lookleap.ConsentItem{item}, Verdict: p.discovery.Verdict,
	}, data, c.host.Time())
}

// shownBody returns the body as the user approves it, and as a text that describes a long or binary
// one. Of a large body, the value has only the beginning, with the size and digest of the whole.
func (c *Call) shownBody() (v lookleap.ConsentValue, text string) {
	shown, isText := c.Body[:min(len(c.Body), lookleap.MaxShown)], utf8.Valid(c.Body)
	for isText && !utf8.Valid(shown) {
		shown = shown[:len(shown)-1] // does not cut a character
	}
	v = lookleap.ConsentValue{Label: "body, " + plaintext.Quote(c.MediaType, maxRequestText), Text: string(shown)}
	text = v.Text
	if len(shown) < len(c.Body) {
		v.Size, v.Digest = len(c.Body), lookleap.Digest(c.Body)
		text = fmt.Sprintf("%s\u2026 (%d bytes in all)", shown, len(c.Body))
	}
	if !isText {
		text = fmt.Sprintf("%d bytes of %s, which is not text", len(c.Body), c.MediaType)
	}
	return v, text
}

// commit sends what the plan contains, if that still goes to the endpoint that the user
// approved. The endpoint may have moved since, or may require more.
func (c *Client) commit(ctx context.Context, a *lookleap.Approval) (v *Verified, err error) {
	e, err := readEffect(a.Plan())
	if err != nil {
		return nil, err
	}
	p, err := c.prepare(ctx, e.Request)
	if err != nil {
		return nil, refusal(c.host, "an invocation", err)
	}
	now := p.effect()
	if now.Origin != e.Origin || now.Document != e.Document || !now.URI.Equal(e.URI) || now.Recipient != e.Recipient {
		return nil, refusal(c.host, "an invocation",
			fail(lookleap.CodePlanInvalid, "the request would now go to another endpoint than the user approved", ""))
	}
	if p.call.Method != http.MethodGet && p.call.Method != http.MethodHead {
		p.call.IdempotencyKey = a.Plan().IdempotencyKey()
	}
	_, err = c.host.CommitApproved(ctx, a, lookleap.Effect{
		Prepare: func(ctx context.Context, _ *lookleap.Approval) error { return c.authorize(ctx, p) },
		Send: func(ctx context.Context, _ *lookleap.Approval) ([]byte, error) {
			if v, err = c.send(ctx, p); err != nil {
				return nil, err
			}
			return v.receipt()
		},
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}

// receipt is what the plan ledger keeps of a result: its signature, so that it can be
// verified again, and the digest of what was signed. A long signature is left out.
func (v *Verified) receipt() ([]byte, error) {
	r := struct {
		Payload string `json:"payload"`
		JWS     string `json:"jws,omitempty"`
	}{lookleap.Digest(v.Payload), v.JWS}
	if len(r.JWS) > lookleap.MaxReceipt/2 {
		r.JWS = ""
	}
	return json.Marshal(r)
}
