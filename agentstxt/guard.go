package agentstxt

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/roundtrip"
	"github.com/lookleap/lookleap/internal/zero"
)

// Transport sends requests through a host and enforces the policies of their origins.
// It is an [http.RoundTripper] and a [lookleap.Fetcher]. Make one with [Guard].
type Transport struct {
	client *Client
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
// A refusal is a [*lookleap.VerifyError]; then nothing was sent. It wraps
// [lookleap.ErrDenied] if it is final. Otherwise [lookleap.Retryable] returns when to try
// again. A [lookleap.Host] with such a Fetcher returns these errors too.
//
// Guard uses the zero [Options]; NewClient(host, options).Guard() uses others, such as
// those of [Web].
func Guard(host *lookleap.Host) *Transport { return NewClient(host, Options{}).Guard() }

// Guard returns a transport that uses the policies of this client. It counts requests with
// the [lookleap.Host.Limiter].
func (c *Client) Guard() *Transport {
	c = zero.Or(c)
	return &Transport{client: c}
}

// Client returns the client whose policies the guard enforces.
func (t *Transport) Client() *Client { return zero.Or(t).client }

// Time returns the time of the host's clock.
func (t *Transport) Time() time.Time { return zero.Or(t.Client()).host.Time() }

// sentBy is the context key that marks the requests which a client or its guard sends
// through the host, so that a guard detects a host that sends through the guard.
type sentBy struct{ client *Client }

// RoundTrip sends a request if [Transport.Check] allows it. Like [http.Transport], it asks for
// gzip and decodes it if the request names no encoding and no range. The context of the
// response's request holds what the publisher states about the use of its content: see
// [UsageFrom].
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x, err := t.decide(req)
	if err != nil {
		if req != nil && req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	sent := req.WithContext(context.WithValue(req.Context(), sentBy{t.client}, true))
	sent.Header = roundtrip.Canonical(req.Header)
	compressed := sent.Method != http.MethodHead && sent.Header.Get("Accept-Encoding") == "" && sent.Header.Get("Range") == ""
	if compressed {
		asked := make(http.Header, len(sent.Header)+1)
		maps.Copy(asked, sent.Header)
		asked["Accept-Encoding"] = []string{"gzip"}
		sent.Header = asked
	}
	resp, err := t.client.host.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	if compressed {
		decode(resp)
	}
	usage := ParseContentUsage(resp.Header)
	if x.robots != nil {
		usage = usage.Strictest(x.robots.value.statedAt(x.target.path, x.target.query, x.target.hasQuery))
	}
	stateUsage(req, resp, usage)
	return resp, nil
}

// Check decides about a request as RoundTrip does, and counts it, but does not send it.
// It returns a verdict that explains why the request is allowed. A refusal is a
// [*lookleap.VerifyError]; if the request's context ended or the host is closed, Check
// returns that error.
func (t *Transport) Check(req *http.Request) (*lookleap.Verdict, error) {
	x, err := t.decide(req)
	if err != nil {
		return nil, err
	}
	return t.client.verdict(&x), nil
}

// decided is a decision about one request and what it rests on.
type decided struct {
	target   target
	policy   *knownFile[*Policy]     // nil if the request has no origin
	decision Decision                // of both files
	robots   *knownFile[*RobotsFile] // nil if robots.txt was not asked
	byRobots Decision
	summary  string    // "" if the decision says it
	until    time.Time // when a refusal ends; zero: with what it rests on
}

// decide decides about a request and counts it: it finds the origin (target), reads what the
// origin's files say (consult), and takes the request from the limit of the directive.
func (t *Transport) decide(req *http.Request) (x decided, err error) {
	c := zero.Or(t).client
	if err := c.ready(); err != nil {
		return x, err
	}
	if req == nil {
		return x, usageError("the request is nil", "")
	}
	ctx := req.Context()
	if x.target, err = t.target(req); err != nil {
		x.target.origin.name = "a request without a URL"
		if req.URL != nil { // without user information, query and fragment
			x.target.origin.name = req.URL.Scheme + "://" + req.URL.Host + req.URL.EscapedPath()
		}
		x.decision.Code, x.summary = lookleap.CodeOf(err), err.Error()
		return x, t.refuse(ctx, &x, err)
	}
	if err := c.consult(ctx, &x); err != nil {
		return x, err
	}
	switch {
	case x.robots != nil && !x.byRobots.Allowed:
		return x, t.refuse(ctx, &x, x.robots.value.err)
	case !x.decision.Allowed:
		return x, t.refuse(ctx, &x, x.policy.value.err)
	case x.decision.Limit <= 0:
		return x, nil
	}
	rate := lookleap.Rate{Limit: x.decision.Limit, Window: c.options.Window}
	wait, err := c.host.Take(ctx, limitKey(x.target.origin, x.decision.Rule), rate)
	if err != nil {
		x.summary = "the limit of the policy could not be checked"
		x.decision.Allowed, x.decision.Code = false, lookleap.CodeOf(err)
		return x, t.refuse(ctx, &x, err)
	}
	if wait > 0 {
		x.until = c.host.Time().Add(wait)
		x.summary = fmt.Sprintf("%d requests were sent in the last %s, the next may follow %s",
			rate.Limit, rate.Window, x.until.UTC().Format(time.RFC3339))
		x.decision.Allowed, x.decision.Code = false, lookleap.CodeLimit
		return x, t.refuse(ctx, &x, nil)
	}
	return x, nil
}

// target returns what a request asks for. It returns an error for a request whose Host
// field contradicts its URL.
func (t *Transport) target(req *http.Request) (target, error) {
	if req.Context().Value(sentBy{t.client}) != nil {
		return target{}, usageError("the guard's host sends through the guard itself", "give the guard a host of its own")
	}
	o, err := t.client.originOf(req.URL)
	if err != nil {
		return target{}, err
	}
	if req.Host != "" && !strings.EqualFold(req.Host, req.URL.Host) {
		if other, err := originAt(req.URL.Scheme, req.Host); err != nil || other.name != o.name {
			return target{}, &lookleap.Error{Code: lookleap.CodeBadHost,
				Message: "the request's Host field names another site than its URL"}
		}
	}
	return newTarget(o, req.URL, req.Method), nil
}

// consult decides about the target by the policy of its origin, and by robots.txt if the
// policy allows it and the options say so. The stricter decision counts.
func (c *Client) consult(ctx context.Context, x *decided) (err error) {
	o := x.target.origin
	both := len(c.options.Robots.Tokens) > 0 && !x.target.isFile()
	if both && !c.policies.knows(o) && !c.robots.knows(o) {
		early, cancel := context.WithCancel(ctx)
		defer cancel() // after a policy that denies, robots.txt does not matter
		// The call below shares this one, so that the caller waits once.
		go func() { _, _ = c.robots.get(early, o) }()
	}
	if x.policy, err = c.policies.get(ctx, o); err != nil {
		return &lookleap.Error{Code: lookleap.CodeOf(err), Subject: o.name, Message: "the policy could not be read", Err: err}
	}
	path := x.target.path
	if x.policy.value.foreign != nil { // whose rules may be about queries
		path = x.target.pathAndQuery()
	}
	x.decision = x.policy.value.decide(path, x.target.reads)
	x.decision.Path, x.decision.Generation = x.target.path, x.policy.generation
	if !both || !x.decision.Allowed {
		return nil
	}
	if x.robots, err = c.robots.get(ctx, o); err != nil {
		return &lookleap.Error{Code: lookleap.CodeOf(err), Subject: o.name, Message: "robots.txt could not be read", Err: err}
	}
	x.byRobots = x.robots.value.decide(x.target.path, x.target.query, x.target.hasQuery)
	if !x.byRobots.Allowed {
		x.decision.Allowed, x.decision.Code = false, x.byRobots.Code
	}
	return nil
}

// limitKey is the key of a directive for the Limiter. The directive's line is not part of
// it, since it may change with the file.
func limitKey(o origin, rule string) string { return "agentstxt limit " + o.name + " " + rule }

// decode makes a compressed response look like one that was never compressed.
func decode(resp *http.Response) {
	if resp.Body == nil || !strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		return
	}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength = -1
	resp.Uncompressed = true
	resp.Body = &gzipBody{raw: resp.Body}
}

// gzipBody decodes a body while it is read.
type gzipBody struct {
	raw     io.ReadCloser
	decoder *gzip.Reader
	err     error // of the beginning of the data
}

func (b *gzipBody) Read(p []byte) (int, error) {
	if b.decoder == nil && b.err == nil {
		b.decoder, b.err = gzip.NewReader(b.raw)
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.decoder.Read(p)
}

func (b *gzipBody) Close() error { return b.raw.Close() }
