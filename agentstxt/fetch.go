package agentstxt

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
)

// Fetch reads the policy of a URL's origin once, without keeping it. It gives a
// policy also when there is none to be had: a restricted one. An error means
// that nothing could be asked: the URL has no origin, or ctx ended.
//
// It uses the zero [Options]. A program that needs other options, or asks more than
// once, uses a [Client] or a [Guard].
func Fetch(ctx context.Context, host *lookleap.Host, rawURL string) (*Policy, error) {
	return NewClient(host, Options{}).Policy(ctx, rawURL)
}

// How long things hold when the server does not say (RFC 9111, RFC 9309).
const (
	leastFresh     = 5 * time.Minute
	mostFresh      = 24 * time.Hour
	usuallyFresh   = time.Hour
	staleFor       = 24 * time.Hour // a good copy stands in for at most that long
	malformedFor   = 10 * time.Minute
	deniedFor      = time.Hour
	rateLimitedFor = 10 * time.Minute
	firstBackoff   = 30 * time.Second
	mostBackoff    = time.Hour
)

// outcome is what one attempt to read a policy gave.
type outcome struct {
	answer    Response // complete, unless err says otherwise
	err       error    // there was no answer
	confirmed bool     // the copy that was asked about still holds
	validator fetch.Validator
	evidence  lookleap.Evidence
	asked     time.Time
	received  time.Time
	until     time.Time     // freshness that the server stated, clamped
	retry     time.Duration // that the server asked for; 0: none
	local     bool          // only this process may keep it
}

// read performs one bounded read of a policy. It goes to the Host itself, past
// any guard of ours. Only the caller's own end is an error.
func (c *Client) read(ctx context.Context, o origin, known fetch.Validator) (*outcome, error) {
	asked := c.host.Time()
	if o.plain && c.options.RefuseHTTP {
		return &outcome{answer: Response{Insecure: true}, asked: asked, received: c.host.Time(), evidence: lookleap.Evidence{URL: o.name + policyPath}}, nil
	}
	header := http.Header{"Accept": {"text/plain"}}
	if c.options.UserAgent != "" {
		header.Set("User-Agent", c.options.UserAgent)
	}
	known.Ask(header)
	req := &fetch.Request{
		URL: o.policy, Header: header, Redirect: fetch.Anywhere,
		ReadBody: func(status int) bool { return status == http.StatusOK },
		Limits:   fetch.Limits{Body: c.limits.Size, Time: c.limits.Timeout, Hops: c.limits.Redirects},
	}
	ctx = c.mark(ctx)
	var fetcher lookleap.Fetcher = c.host
	if o.plain {
		fetcher, req.Redirect = plainFetcher{c.host, o}, nil
	}
	resp, err := fetch.Do(ctx, fetcher, req)
	if err == nil && o.plain && resp.Status >= 300 && resp.Status < 400 && resp.Status != http.StatusNotModified {
		req.URL, err = fetch.Location(o.policy, resp.Header, req.Rules)
		if req.Redirect = fetch.Anywhere; err == nil {
			fetcher = c.host
			before := resp.Freshness
			if resp, err = fetch.Do(ctx, fetcher, req); err == nil {
				resp.Freshness = resp.Freshness.Strictest(before)
			}
		}
	}
	confirmed := err == nil && known.Confirms(resp)
	if err == nil && resp.Status == http.StatusNotModified && known != (fetch.Validator{}) && !confirmed {
		return c.read(ctx, o, fetch.Validator{}) // it is about something else than the copy
	}
	if err != nil {
		if fetch.Cancelled(err) || errors.Is(err, lookleap.ErrClosed) {
			return nil, err
		}
		out := &outcome{err: err, asked: asked, received: c.host.Time(), evidence: lookleap.Evidence{URL: o.name + policyPath}}
		var failed *fetch.Error
		if errors.As(err, &failed) {
			failed.URL = o.shown(failed.URL)
			out.evidence.URL, out.evidence.Status, out.evidence.MediaType = failed.URL, failed.Status, failed.MediaType
		}
		return out, nil
	}
	out := &outcome{
		answer: Response{
			Status:      resp.Status,
			ContentType: strings.Join(resp.Header.Values("Content-Type"), ", "),
			Body:        resp.Body,
			Insecure:    o.plain,
		},
		confirmed: confirmed,
		validator: resp.Validator(),
		evidence:  resp.Evidence(),
		asked:     asked,
		received:  resp.Received,
		until:     resp.Freshness.Until(leastFresh, mostFresh, usuallyFresh),
		retry:     resp.RetryAfter,
		local:     resp.Freshness.OneUser,
	}
	out.evidence.URL = o.shown(out.evidence.URL)
	if resp.Freshness.NoStore {
		out.until = resp.Received.Add(leastFresh)
	}
	return out, nil
}

// plainFetcher sends requests to an http origin that internal/fetch, which knows
// https alone, was given under the scheme https. Its connections are no
// evidence, and so are not reported.
type plainFetcher struct {
	host   *lookleap.Host
	origin origin
}

func (f plainFetcher) RoundTrip(req *http.Request) (*http.Response, error) {
	out := req.Clone(untraced{req.Context()})
	out.URL.Scheme = "http"
	out.URL.Host = strings.TrimPrefix(f.origin.name, "http://")
	out.Host = out.URL.Host
	resp, err := f.host.RoundTrip(out)
	if resp != nil {
		resp.Request = req
	}
	return resp, err
}

// Time lets internal/fetch live by the Host's clock.
func (f plainFetcher) Time() time.Time { return f.host.Time() }

// untraced hides who listens to the connections of a request.
type untraced struct{ context.Context }

func (c untraced) Value(key any) any {
	v := c.Context.Value(key)
	if _, ok := v.(*httptrace.ClientTrace); ok {
		return nil
	}
	return v
}

// passes reports whether what kept a policy from being read may pass by itself,
// so that an earlier copy can stand in: the server did not answer, or said that
// it is in trouble. What the server did answer, and what must not be asked, is
// no such reason.
func (o *outcome) passes() bool {
	if o.err == nil {
		return o.answer.Status >= 500
	}
	switch lookleap.CodeOf(o.err) {
	case lookleap.CodeTimeout, lookleap.CodeTooSlow, lookleap.CodeUnreachable, lookleap.CodeConnRefused, lookleap.CodeConnReset,
		lookleap.CodeTruncated, lookleap.CodeDNSError, lookleap.CodeNoAddress, lookleap.CodeDNSSECBogus,
		lookleap.CodeTLS, lookleap.CodeTLSTooOld, lookleap.CodeClientCert:
		return true
	}
	return false
}

// policy judges what was read.
func (o *outcome) policy(options Options) *Policy {
	switch code := lookleap.CodeOf(o.err); {
	case o.err == nil:
		return Judge(o.answer, options)
	case code == lookleap.CodeTooLarge:
		return restricted(malformed(code, lookleap.Position{}, "the file is larger than its limit", "merge directives or drop comments"))
	}
	return restricted(unavailable(lookleap.CodeUnreachable, "the policy could not be read", o.err))
}

// origin is scheme, host and port: what one policy speaks for.
type origin struct {
	name   string     // canonical, for instance https://shop.example:8443
	policy domain.URL // of the file. For http it has the scheme https until it is sent
	plain  bool       // the scheme is http
}

// PolicyURL is where the policy of a URL's origin is (section 2): /agents.txt,
// whatever path and query the URL has. The scheme is https or http.
func PolicyURL(rawURL string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", badURL(err)
	}
	o, err := originOf(u)
	if err != nil {
		return "", err
	}
	return o.name + policyPath, nil
}

// originOf gives the origin of a URL, or an error for a URL that has none or
// whose host is ambiguous. Which hosts may be reached is the Fetcher's business.
func originOf(u *url.URL) (origin, error) {
	rules := domain.Rules{Schemes: []string{"https", "http"}, AllowIP: true, AllowSpecial: true}
	if u == nil || u.Opaque != "" {
		return origin{}, badURL(errors.New("the URL has no path"))
	}
	base, err := rules.Parse(u.Scheme + "://" + u.Host + "/")
	if err != nil {
		return origin{}, badURL(err)
	}
	o := origin{name: base.Origin(), plain: base.Scheme() == "http"}
	file := base.Origin() + policyPath
	if o.plain {
		file = fmt.Sprintf("https://%s:%d%s", base.Host(), base.Port(), policyPath)
	}
	if o.policy, err = rules.Parse(file); err != nil {
		return origin{}, badURL(err)
	}
	return o, nil
}

// shown is a URL as people should see it: that of the policy with its own scheme.
func (o origin) shown(url string) string {
	if url == o.policy.String() {
		return o.name + policyPath
	}
	return url
}

// badURL gives an error of internal/domain its code.
func badURL(err error) error {
	code := lookleap.CodeBadURL
	var bad *domain.Error
	if errors.As(err, &bad) {
		code = lookleap.Code(bad.Code)
	}
	return &lookleap.Error{Code: code, Message: "the URL has no usable origin", Err: err}
}
