package agentstxt

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/zero"
)

// Transport sends requests through a host and enforces the policies of their
// origins: it is an [http.RoundTripper] and a [lookleap.Fetcher]. Make one with
// [Guard].
type Transport struct {
	client  *Client
	limiter *Limiter
}

// Guard gives a transport that obeys agents.txt. Whatever passes through it is
// judged, and counted against the limit of the directive that allows it:
//
//	client := &http.Client{Transport: agentstxt.Guard(host)}
//	guarded := &lookleap.Host{Fetcher: agentstxt.Guard(host), Prompter: ui}
//
// A redirect that the client follows comes back through the guard and is judged
// anew, by the policy of its own origin. The guard reads policies through the
// host itself; that is exempt, and /agents.txt may always be read. A guard whose
// host sends through that same guard refuses everything.
//
// A refusal is a [*lookleap.VerifyError] that wraps [lookleap.ErrDenied], and
// nothing was sent.
//
// Guard uses the zero [Options]; NewClient(host, options).Guard() uses others.
func Guard(host *lookleap.Host) *Transport { return NewClient(host, Options{}).Guard() }

// Guard gives a transport that uses this client's policies, with a limiter of
// its own.
func (c *Client) Guard() *Transport {
	c = zero.Or(c)
	return &Transport{client: c, limiter: NewLimiter(c.options.Window, c.limits.Counted)}
}

// Client gives access to the policies that the guard goes by.
func (t *Transport) Client() *Client { return zero.Or(t).client }

// Limiter gives access to what the guard has counted.
func (t *Transport) Limiter() *Limiter { return zero.Or(t).limiter }

// own marks the requests that a client, or the guard over it, sends through its
// host, so that the guard knows them if the host hands them back.
type own struct{ client *Client }

func (c *Client) mark(ctx context.Context) context.Context {
	return context.WithValue(ctx, own{c}, true)
}

// RoundTrip judges a request and sends it if it may be sent.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, err := t.Check(req); err != nil {
		if req != nil && req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	return t.client.host.RoundTrip(req.WithContext(t.client.mark(req.Context())))
}

// Time is the time by the host's clock.
func (t *Transport) Time() time.Time { return zero.Or(t.Client()).host.Time() }

// Check judges a request as RoundTrip does and counts it, without sending it.
// The verdict of an allowed request says why; a refusal is a
// [*lookleap.VerifyError], and the end of the request's context, or of the host,
// is the error that it is.
func (t *Transport) Check(req *http.Request) (*lookleap.Verdict, error) {
	c := t.Client()
	if err := c.ready(); err != nil {
		return nil, err
	}
	if req == nil {
		return nil, usageError("the request is nil", "")
	}
	ctx := req.Context()
	o, path, err := t.target(req)
	if err != nil {
		return nil, t.refuse(ctx, c.verdict(origin{name: subject(req)}, nil, Decision{Code: lookleap.CodeOf(err)}, err.Error()), err)
	}
	h, err := c.hold(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("agentstxt: asking for the policy of %s: %w", o.name, err)
	}
	d := h.decide(path, req.Method == "" || req.Method == http.MethodGet || req.Method == http.MethodHead)
	summary := h.policy.sentence(d)
	if d.Allowed {
		ok, next := t.limiter.Take(o.name, d, c.host.Time())
		if ok {
			return c.verdict(o, h, d, summary), nil
		}
		d.Allowed, d.Code = false, lookleap.CodeLimit
		summary = fmt.Sprintf("%d requests were sent in the last %s, the next may follow %s", d.Limit, t.limiter.window, next.UTC().Format(time.RFC3339))
		v := c.verdict(o, h, d, summary)
		v.Expires = next
		return nil, t.refuse(ctx, v, nil)
	}
	return nil, t.refuse(ctx, c.verdict(o, h, d, summary), h.policy.Err())
}

// target finds the origin that a request goes to and the path as it is sent. A
// request that says one thing and does another is refused.
func (t *Transport) target(req *http.Request) (origin, string, error) {
	if req.Context().Value(own{t.client}) != nil {
		return origin{}, "", usageError("the guard's host sends through the guard itself", "give the guard a host of its own")
	}
	o, err := originOf(req.URL)
	if err != nil {
		return origin{}, "", err
	}
	if req.Host != "" && !strings.EqualFold(req.Host, req.URL.Host) {
		named := *req.URL
		named.Host = req.Host
		if other, err := originOf(&named); err != nil || other.name != o.name {
			return origin{}, "", &lookleap.Error{Code: lookleap.CodeBadHost, Message: "the request's Host field names another site than its URL"}
		}
	}
	return o, req.URL.EscapedPath(), nil
}

// subject is a URL for messages: without user information, query and fragment.
func subject(req *http.Request) string {
	if req.URL == nil {
		return "a request without a URL"
	}
	return req.URL.Scheme + "://" + req.URL.Host + req.URL.EscapedPath()
}

func (t *Transport) refuse(ctx context.Context, v *lookleap.Verdict, cause error) error {
	t.client.host.Report(ctx, lookleap.Event{Kind: lookleap.EventVerdict, Code: v.Code, Subject: v.Subject, Verdict: v, Err: cause})
	return &lookleap.VerifyError{Verdict: v, Err: errors.Join(lookleap.ErrDenied, cause)}
}

// verdict tells the story of one decision: how the policy was read, and what it
// says.
func (c *Client) verdict(o origin, h *held, d Decision, summary string) *lookleap.Verdict {
	v := &lookleap.Verdict{
		Document: Draft, Subject: o.name + d.Path, OK: d.Allowed, Code: d.Code, Summary: summary, CheckedAt: c.host.Time(),
	}
	if d.Allowed {
		v.Code = lookleap.CodeOK
	}
	if h == nil {
		v.Checks = []lookleap.Check{
			{Requirement: "AGT-2-02", Code: d.Code, Status: lookleap.Failed, Message: summary},
			{Requirement: "AGT-6-11", Code: lookleap.CodeSkipped, Status: lookleap.Skipped, Message: "no directive was looked for"},
		}
		return v
	}
	v.Expires, v.Findings = h.until, h.policy.Findings()
	v.Checks = []lookleap.Check{h.read(), h.decided(d, summary)}
	return v
}

// read is the check that there is a policy to go by.
func (h *held) read() lookleap.Check {
	p, evidence := h.policy, h.evidence
	evidence.Digest = p.Integrity()
	check := lookleap.Check{Requirement: "AGT-7-01", Code: lookleap.CodeOK, Status: lookleap.Passed, Until: h.until, Evidence: []lookleap.Evidence{evidence}}
	switch {
	case p.state == Valid && h.standing:
		check.Status, check.Code, check.Requirement = lookleap.Noted, lookleap.CodeStale, "AGT-2-12"
		check.Message = "the policy could not be read again, an earlier copy is in force"
	case p.state == Valid:
		check.Message = fmt.Sprintf("the policy is whole, with %d directives", p.own)
	case p.state == Absent:
		check.Status, check.Code, check.Requirement = lookleap.Noted, p.reason, "AGT-2-08"
		check.Message = "the origin publishes no policy"
	default:
		check.Status, check.Code, check.Requirement = lookleap.Failed, p.Reason(), "AGT-5-01"
		check.Message = p.Err().Error()
	}
	return check
}

// decided is the check of the path.
func (h *held) decided(d Decision, summary string) lookleap.Check {
	check := lookleap.Check{Requirement: "AGT-6-11", Code: d.Code, Status: lookleap.Failed, Message: summary, Until: h.until}
	if d.Allowed {
		check.Code, check.Status = lookleap.CodeOK, lookleap.Passed
	}
	if h.policy.State() != Valid {
		check.Requirement = "AGT-5-04"
	}
	if d.Allowed && h.policy.State() == Absent { // there was nothing to look for
		check.Code, check.Status = lookleap.CodeSkipped, lookleap.Skipped
	}
	if d.Line > 0 {
		check.Evidence = []lookleap.Evidence{{Text: fmt.Sprintf("line %d: %s", d.Line, d.Rule)}}
	}
	return check
}

// sentence says what a decision under the policy means.
func (p *Policy) sentence(d Decision) string {
	switch {
	case d.Code == CodeRestricted:
		return "the whole origin is restricted: " + p.distrust()
	case d.Line > 0 && d.Limit > 0:
		return fmt.Sprintf("%s in line %d, at most %d requests in the window", d.Code.Title(), d.Line, d.Limit)
	case d.Line > 0:
		return fmt.Sprintf("%s in line %d", d.Code.Title(), d.Line)
	}
	return d.Code.Title()
}

// distrust says why the policy is restricted, where one sentence can.
func (p *Policy) distrust() string {
	var why *lookleap.Error
	var status *StatusError
	switch err := p.Err(); {
	case !errors.As(err, &why):
		return p.Reason().Title()
	case why.Position.Line > 0:
		return fmt.Sprintf("%s, in line %d of its policy", why.Message, why.Position.Line)
	case errors.Is(err, ErrMalformed), errors.As(err, &status), coded.Cause(why.Err) == nil:
		return why.Message
	}
	return fmt.Sprintf("%s: %s", why.Message, lookleap.CodeOf(why.Err).Title())
}
