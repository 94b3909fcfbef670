package aiuri

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
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

// Resume continues an invocation that waited for its user. It discovers the endpoint again
// and sends exactly what the user approved. It returns a [lookleap.ErrPlanInvalid] if the
// state is not a plan or was changed. Its code is [lookleap.CodePlanOtherUser] if the plan
// belongs to another user.
func (c *Client) Resume(ctx context.Context, state json.RawMessage, decision lookleap.ConsentDecision) (*Verified, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	if int64(len(state)) > 2*c.options.MaxBody+maxPlanText {
		return nil, refusal(c.host, "an invocation", fail(lookleap.CodeTooLarge, "the plan is larger than any plan of this client", ""))
	}
	plan, err := lookleap.ParsePlan(state)
	if err != nil {
		return nil, err
	}
	e, err := unmarshalEffect(plan.Effect())
	if err != nil || plan.Request().Kind != lookleap.ConsentInvoke {
		return nil, lookleap.ErrPlanInvalid
	}
	if err := c.owns(e.User); err != nil {
		return nil, err
	}
	approval, err := c.host.Decide(c.asUser(ctx), plan, decision)
	if err != nil {
		return nil, err
	}
	return c.commit(ctx, approval, e)
}

// planMark returns the mark of the client's user for a plan. It differs from plan to plan.
func (c *Client) planMark(nonce string) string {
	mark := userMark(c.options.UserKey, c.user, "plan\x00"+nonce)
	if mark == "" {
		return ""
	}
	return nonce + "." + mark
}

// owns returns an error unless a plan with this mark belongs to the client's user. It is called
// before the user's decision counts.
func (c *Client) owns(mark string) error {
	nonce, _, _ := strings.Cut(mark, ".")
	if hmac.Equal([]byte(mark), []byte(c.planMark(nonce))) {
		return nil
	}
	return &lookleap.Error{Code: lookleap.CodePlanOtherUser, Message: "the plan was prepared for another user",
		Fix: "resume it with Client.ForUser of that user and the same UserKey", Err: lookleap.ErrPlanInvalid}
}

// asUser returns a context that names the client's user to the host.
func (c *Client) asUser(ctx context.Context) context.Context { return planowner.Context(ctx, c.user) }

// maxPlanText is an upper bound for the bytes of a plan without its effect.
const maxPlanText = 1 << 20

// plan returns the plan that the user is asked about.
func (c *Client) plan(p *prepared, e effect) (*lookleap.Plan, error) {
	request := e.digest()
	e.User = c.planMark(rand.Text())
	data := e.marshal()
	// The mark differs from plan to plan, so the item's digest leaves it out: the host must
	// recognise a request that the user has refused.
	item := lookleap.ConsentItem{ID: "call", Summary: p.call.summary(), Recipient: p.recipient, Digest: request,
		Values: []lookleap.ConsentValue{{Label: "URI", Text: p.call.URI.String()}},
		Remote: []lookleap.RemoteText{{Source: p.discovery.Origin, Label: "URI", Text: p.call.URI.String()}}}
	if p.call.Body != nil {
		item.Values = append(item.Values, p.call.bodyValue())
		item.Remote = append(item.Remote, lookleap.RemoteText{Source: "this agent", Label: "what it would send", Text: p.call.bodyText()})
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

func (c *Call) summary() string {
	if len(c.Scopes) == 0 {
		return c.Method + " to the AI endpoint, without scopes"
	}
	return c.Method + " to the AI endpoint, scopes: " + strings.Join(c.Scopes, " ")
}

// bodyValue returns the body as the user approves it. Of a large body, the value has only
// the beginning, with the size and digest of the whole.
func (c *Call) bodyValue() lookleap.ConsentValue {
	v := lookleap.ConsentValue{Label: "body, " + plaintext.Quote(c.MediaType, maxRequestText), Text: c.head()}
	if len(v.Text) < len(c.Body) {
		v.Size, v.Digest = len(c.Body), lookleap.Digest(c.Body)
	}
	return v
}

// head returns the first bytes of the body, up to lookleap.MaxShown. It does not cut a
// character of a text.
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

// bodyText returns a short body, and describes a long or binary one.
func (c *Call) bodyText() string {
	switch {
	case !utf8.Valid(c.Body):
		return fmt.Sprintf("%d bytes of %s, which is not text", len(c.Body), c.MediaType)
	case len(c.Body) <= lookleap.MaxShown:
		return string(c.Body)
	}
	return fmt.Sprintf("%s\u2026 (%d bytes in all)", c.head(), len(c.Body))
}

// commit sends what the plan contains, if that still goes to the endpoint that the user
// approved. The endpoint may have moved since, or may require more.
func (c *Client) commit(ctx context.Context, a *lookleap.Approval, e effect) (v *Verified, err error) {
	p, err := c.prepare(ctx, e.Request)
	if err != nil {
		return nil, refusal(c.host, "an invocation", err)
	}
	if p.discovery.Origin != e.Origin || p.discovery.DocumentOrigin != e.Document || !p.call.URI.Equal(e.URI) ||
		p.recipient != e.Recipient {
		return nil, refusal(c.host, "an invocation",
			fail(lookleap.CodePlanInvalid, "the request would now go to another endpoint than the user approved", ""))
	}
	_, err = c.host.CommitApproved(ctx, a, lookleap.Effect{
		Prepare: func(ctx context.Context, a *lookleap.Approval) error {
			approved, err := unmarshalEffect(a.Plan().Effect())
			if err != nil {
				return err
			}
			p.call.Body = approved.Request.Body
			if p.call.Method != http.MethodGet && p.call.Method != http.MethodHead {
				p.call.IdempotencyKey = a.Plan().IdempotencyKey()
			}
			return c.authorize(ctx, p)
		},
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

// effect is what a plan commits: a request and the endpoint that it goes to.
type effect struct {
	Request   Request `json:"request"`
	HasBody   bool    `json:"hasBody"` // the body follows the line of JSON
	URI       URI     `json:"uri"`
	Recipient string  `json:"recipient"`
	Origin    string  `json:"origin"`
	Document  string  `json:"document"`
	User      string  `json:"user,omitempty"` // mark of the user who may resume the plan
}

// marshal returns the effect as one line of JSON, and the body after it. A large body would
// take time and memory as a JSON string.
func (e effect) marshal() []byte {
	line := e.line()
	data := make([]byte, 0, len(line)+len(e.Request.Body))
	return append(append(data, line...), e.Request.Body...)
}

// line returns the effect without its body, as one line of JSON.
func (e effect) line() []byte {
	e.Request.Body, e.HasBody = nil, e.Request.Body != nil
	line, _ := json.Marshal(e) // these types cannot fail
	return append(line, '\n')
}

// digest returns the [lookleap.Digest] of what marshal returns, without a copy of the body.
func (e effect) digest() string {
	sum := sha256.New()
	sum.Write(e.line())
	sum.Write(e.Request.Body)
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// unmarshalEffect reads what marshal wrote. The body shares the memory of data.
func unmarshalEffect(data []byte) (e effect, err error) {
	line, body, ok := bytes.Cut(data, []byte("\n"))
	if err := strictjson.Decode(line, &e); err != nil || !ok || e.Request.Body != nil || !e.HasBody && len(body) > 0 {
		return effect{}, lookleap.ErrPlanInvalid
	}
	if e.HasBody {
		e.Request.Body = body
	}
	return e, nil
}
