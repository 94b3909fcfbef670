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

// Transport sends requests through a host and enforces the policies of their origins.
// It is an [http.RoundTripper] and a [lookleap.Fetcher]. Make one with [Guard].
type Transport struct {
	client  *Client
	limiter *Limiter
}

// Guard returns a transport that obeys agents.txt. It checks every request against the
// policy of its origin and counts it against the limit of the directive that allows it:
//
//	client := &http.Client{Transport: agentstxt.Guard(host)}
//	guarded := &lookleap.Host{Fetcher: agentstxt.Guard(host), Prompter: ui}
//
// Redirects that the client follows pass through the guard again. The guard reads the
// policies through the host itself, and /agents.txt may always be read. A guard whose
// host sends through that same guard refuses every request.
//
// A refusal is a [*lookleap.VerifyError] that wraps [lookleap.ErrDenied]; then nothing
// was sent.
//
// Guard uses the zero [Options]; NewClient(host, options).Guard() uses others.
func Guard(host *lookleap.Host) *Transport { return NewClient(host, Options{}).Guard() }

// Guard returns a transport that uses the policies of this client and a new [Limiter].
func (c *Client) Guard() *Transport {
	c = zero.Or(c)
	return &Transport{client: c, limiter: NewLimiter(c.options.Window, c.limits.Counted)}
}

// Client returns the client whose policies the guard enforces.
func (t *Transport) Client() *Client { return zero.Or(t).client }

// Limiter returns the limiter that counts the guard's requests.
func (t *Transport) Limiter() *Limiter { return zero.Or(t).limiter }

// Time returns the time of the host's clock.
func (t *Transport) Time() time.Time { return zero.Or(t.Client()).host.Time() }

// sentBy is the context key that marks the requests which a client or its guard sends
// through the host, so that a guard detects a host that sends through the guard.
type sentBy struct{ client *Client }

func (c *Client) mark(ctx context.Context) context.Context {
	return context.WithValue(ctx, sentBy{c}, true)
}

// RoundTrip sends a request if [Transport.Check] allows it.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, err := t.Check(req); err != nil {
		if req != nil && req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	return t.client.host.RoundTrip(req.WithContext(t.client.mark(req.Context())))
}

// Check decides about a request as RoundTrip does, and counts it, but does not send it.
// It returns a verdict that explains why the request is allowed. A refusal is a
// [*lookleap.VerifyError]; if the request's context ended or the host is closed, Check
// returns that error.
func (t *Transport) Check(req *http.Request) (*lookleap.Verdict, error) {
	c := zero.Or(t).client
	if err := c.ready(); err != nil {
		return nil, err
	}
	if req == nil {
		return nil, usageError("the request is nil", "")
	}
	ctx := req.Context()
	o, path, err := t.target(req)
	if err != nil {
		subject := "a request without a URL"
		if req.URL != nil { // without user information, query and fragment
			subject = req.URL.Scheme + "://" + req.URL.Host + req.URL.EscapedPath()
		}
		return nil, t.refuse(ctx, c.verdict(origin{name: subject}, nil, Decision{Code: lookleap.CodeOf(err)}, err.Error()), err)
	}
	entry, err := c.current(ctx, o)
	if err != nil {
		return nil, &lookleap.Error{Code: lookleap.CodeOf(err), Subject: o.name, Message: "the policy could not be read", Err: err}
	}
	d := entry.policy.decide(path, req.Method == "" || req.Method == http.MethodGet || req.Method == http.MethodHead)
	d.Generation = entry.generation
	if !d.Allowed {
		return nil, t.refuse(ctx, c.verdict(o, entry, d, entry.policy.explain(d)), entry.policy.Err())
	}
	if ok, next := t.limiter.Take(o.name, d, c.host.Time()); !ok {
		d.Allowed, d.Code = false, lookleap.CodeLimit
		v := c.verdict(o, entry, d, fmt.Sprintf("%d requests were sent in the last %s, the next may follow %s", d.Limit, t.limiter.window, next.UTC().Format(time.RFC3339)))
		v.Expires = next
		return nil, t.refuse(ctx, v, nil)
	}
	return c.verdict(o, entry, d, entry.policy.explain(d)), nil
}

// target returns the origin that a request goes to, and the path as it is sent. It
// returns an error for a request whose Host field contradicts its URL.
func (t *Transport) target(req *http.Request) (origin, string, error) {
	if req.Context().Value(sentBy{t.client}) != nil {
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

// refuse reports a verdict to the host and returns it as an error.
func (t *Transport) refuse(ctx context.Context, v *lookleap.Verdict, cause error) error {
	t.client.host.Report(ctx, lookleap.Event{Kind: lookleap.EventVerdict, Code: v.Code, Subject: v.Subject, Verdict: v, Err: cause})
	return &lookleap.VerifyError{Verdict: v, Err: errors.Join(lookleap.ErrDenied, cause)}
}

// verdict explains a decision in two checks: how the policy was read, and what it says
// about the path. The entry is nil if the request has no origin.
func (c *Client) verdict(o origin, entry *cachedPolicy, d Decision, summary string) *lookleap.Verdict {
	v := &lookleap.Verdict{
		Document: Draft, Subject: o.name + d.Path, OK: d.Allowed, Code: d.Code, Summary: summary, CheckedAt: c.host.Time(),
	}
	if d.Allowed {
		v.Code = lookleap.CodeOK
	}
	if entry == nil {
		v.Checks = []lookleap.Check{
			{Requirement: "AGT-2-02", Code: d.Code, Status: lookleap.Failed, Message: summary},
			{Requirement: "AGT-6-11", Code: lookleap.CodeSkipped, Status: lookleap.Skipped, Message: "no directive was looked for"},
		}
		return v
	}
	p, evidence := entry.policy, entry.evidence
	evidence.Digest = p.Integrity()
	read := lookleap.Check{Requirement: "AGT-7-01", Code: lookleap.CodeOK, Status: lookleap.Passed, Until: entry.recheck, Evidence: []lookleap.Evidence{evidence}}
	decided := lookleap.Check{Requirement: "AGT-6-11", Code: d.Code, Status: lookleap.Failed, Message: summary, Until: entry.recheck}
	if d.Allowed {
		decided.Code, decided.Status = lookleap.CodeOK, lookleap.Passed
	}
	if d.Line > 0 {
		decided.Evidence = []lookleap.Evidence{{Text: fmt.Sprintf("line %d: %s", d.Line, d.Rule)}}
	}
	switch {
	case p.state == Valid && entry.stale:
		read.Status, read.Code, read.Requirement = lookleap.Noted, lookleap.CodeStale, "AGT-2-12"
		read.Message = "the policy could not be read again, so an earlier copy is in force"
	case p.state == Valid:
		read.Message = fmt.Sprintf("the policy is whole, with %d directives", p.own)
	case p.state == Absent:
		read.Status, read.Code, read.Requirement = lookleap.Noted, p.reason, "AGT-2-08"
		read.Message = "the origin publishes no policy"
		decided.Requirement = "AGT-5-04"
		if d.Allowed { // there was nothing to look for
			decided.Code, decided.Status = lookleap.CodeSkipped, lookleap.Skipped
		}
	default:
		read.Status, read.Code, read.Requirement = lookleap.Failed, p.Reason(), "AGT-5-01"
		read.Message = p.Err().Error()
		decided.Requirement = "AGT-5-04"
	}
	v.Expires, v.Findings, v.Checks = entry.recheck, p.Findings(), []lookleap.Check{read, decided}
	return v
}

// explain returns a decision under the policy as one sentence.
func (p *Policy) explain(d Decision) string {
	switch {
	case d.Code == CodeRestricted:
		return "the whole origin is restricted: " + p.restrictedBecause()
	case d.Line > 0 && d.Limit > 0:
		return fmt.Sprintf("%s in line %d, at most %d requests in the window", d.Code.Title(), d.Line, d.Limit)
	case d.Line > 0:
		return fmt.Sprintf("%s in line %d", d.Code.Title(), d.Line)
	}
	return d.Code.Title()
}

// restrictedBecause returns why the policy is restricted, as one clause.
func (p *Policy) restrictedBecause() string {
	var why *lookleap.Error
	switch err := p.Err(); {
	case !errors.As(err, &why):
		return p.Reason().Title()
	case why.Position.Line > 0:
		return fmt.Sprintf("%s, in line %d of its policy", why.Message, why.Position.Line)
	case errors.Is(err, ErrMalformed), coded.Cause(why.Err) == nil:
		return why.Message
	}
	return fmt.Sprintf("%s: %s", why.Message, lookleap.CodeOf(why.Err).Title())
}
