package agentstxt

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
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
