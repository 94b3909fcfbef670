package agentstxt

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
)

// Fetch fetches the policy of a URL's origin once with the zero [Options]. If the
// policy cannot be fetched, it returns a restricted policy and no error. It returns an
// error if the URL has no origin, ctx ended, or the host is nil or closed.
//
// Use a [Client] or a [Guard] for other options and for more than one request.
func Fetch(ctx context.Context, host *lookleap.Host, rawURL string) (*Policy, error) {
	return NewClient(host, Options{}).Policy(ctx, rawURL)
}

// readResult is the result of one attempt to read a file.
type readResult struct {
	response   Response // complete unless err is not nil
	err        error    // why there is no response
	confirmed  bool     // the server confirmed the copy that the client has
	validator  fetch.Validator
	evidence   lookleap.Evidence
	asked      time.Time
	received   time.Time
	fresh      time.Time     // until when the server need not be asked, within bounds
	retryAfter time.Duration // that the server asked for; 0 if it did not
	private    bool          // shared caches must not store it
}

// get sends a GET request for a file at the root of an origin through the Host, and not
// through a guard of this package.
func (c *Client) get(ctx context.Context, o origin, file domain.URL, known fetch.Validator, req *fetch.Request) (*fetch.Response, error) {
	header := http.Header{"Accept": {"text/plain"}}
	switch {
	case c.options.UserAgent != "":
		header.Set("User-Agent", c.options.UserAgent)
	case len(c.options.Robots.Tokens) > 0:
		header.Set("User-Agent", c.options.Robots.Tokens[0]+" "+fetch.UserAgent)
	}
	known.Ask(header)
	req.URL, req.Header, req.Redirect = file, header, fetch.Anywhere
	ctx = context.WithValue(ctx, sentBy{c}, true)
	var fetcher lookleap.Fetcher = c.host
	if o.plain {
		fetcher, req.Redirect = plainFetcher{c.host, o}, nil
	}
	resp, err := fetch.Do(ctx, fetcher, req)
	if err == nil && o.plain && resp.Status >= 300 && resp.Status < 400 && resp.Status != http.StatusNotModified {
		// Over plain http only the first request is sent; the redirect must lead to https.
		req.URL, err = fetch.Location(file, resp.Header, req.Rules)
		if req.Redirect = fetch.Anywhere; err == nil {
			before := resp.Freshness
			if resp, err = fetch.Do(ctx, c.host, req); err == nil {
				resp.Freshness = resp.Freshness.Strictest(before)
			}
		}
	}
	if err == nil && resp.Status == http.StatusNotModified && known != (fetch.Validator{}) && !known.Confirms(resp) {
		return c.get(ctx, o, file, fetch.Validator{}, req) // the 304 is about another file than the client's copy
	}
	var failed *fetch.Error
	if errors.As(err, &failed) {
		failed.URL = o.displayURL(failed.URL)
	}
	return resp, err
}

// read reads a file once, within limits. It returns an error only if ctx ended or the
// host is closed.
func (c *Client) read(ctx context.Context, o origin, from source, known fetch.Validator) (*readResult, error) {
	asked := c.host.Time()
	result := &readResult{asked: asked, received: asked, evidence: lookleap.Evidence{URL: o.name + from.path}, response: Response{Insecure: o.plain}}
	if o.plain && c.options.RefuseHTTP {
		return result, nil
	}
	// Another process may have been asked to come back later.
	if wait, err := c.host.Wait(ctx, from.retry+o.name, lookleap.Rate{}); err == nil && wait > 0 {
		result.response.Status, result.retryAfter = from.wait, wait
		return result, nil
	}
	file, err := o.file(from.path)
	if err != nil {
		return nil, badURL(err)
	}
	req := &fetch.Request{
		ReadBody: func(status int) bool { return status == http.StatusOK },
		Limits:   fetch.Limits{Body: c.limits.Size, Time: c.limits.Timeout, Hops: c.limits.Redirects},
	}
	var begin []byte
	if from.cut {
		req.Limits.Body += 1 << 20
		req.Stream = func(_ *fetch.Response, r io.Reader) (err error) {
			// One byte more shows that the file is longer. The rest is not read.
			begin, err = io.ReadAll(io.LimitReader(r, int64(c.limits.Size)+1))
			return err
		}
	}
	resp, err := c.get(ctx, o, file, known, req)
	switch {
	case fetch.Cancelled(err), errors.Is(err, lookleap.ErrClosed):
		return nil, err
	case err != nil:
		result.err, result.received = err, c.host.Time()
		var failed *fetch.Error
		if errors.As(err, &failed) {
			result.evidence.URL = cmp.Or(failed.URL, result.evidence.URL)
			result.evidence.Status, result.evidence.MediaType = failed.Status, failed.MediaType
			result.retryAfter = failed.RetryAfter
		}
		return result, nil
	}
	body := resp.Body
	if from.cut {
		body = begin
	}
	result.response = Response{
		Status: resp.Status, ContentType: strings.Join(resp.Header.Values("Content-Type"), ", "), Body: body, Insecure: o.plain,
	}
	result.confirmed, result.validator = known.Confirms(resp), resp.Validator()
	result.received, result.fresh, result.retryAfter, result.private = resp.Received, freshUntil(resp), resp.RetryAfter, resp.Freshness.OneUser
	result.evidence = resp.Evidence()
	result.evidence.URL = o.displayURL(result.evidence.URL)
	if (resp.Status == from.wait || resp.Status >= 500) && resp.RetryAfter > 0 {
		if err := c.host.Hold(ctx, from.retry+o.name, min(resp.RetryAfter, maxRetryAfter)); err != nil {
			c.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: lookleap.CodeOf(err), Subject: o.name + from.path, Err: err})
		}
	}
	return result, nil
}

// freshUntil returns until when the server of a response need not be asked again.
func freshUntil(resp *fetch.Response) time.Time {
	if resp.Freshness.NoStore {
		return resp.Received.Add(minFresh)
	}
	return resp.Freshness.Until(minFresh, maxFresh, defaultFresh)
}

// plainFetcher sends requests to an http origin. Package fetch supports only https, so
// their URLs have that scheme until here. The connections are no evidence, so they are
// not reported.
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

// Time makes package fetch use the Host's clock.
func (f plainFetcher) Time() time.Time { return f.host.Time() }

// untraced hides the httptrace of a context.
type untraced struct{ context.Context }

func (c untraced) Value(key any) any {
	v := c.Context.Value(key)
	if _, ok := v.(*httptrace.ClientTrace); ok {
		return nil
	}
	return v
}

// isTemporary reports whether the attempt failed for a reason that may pass, so that an
// earlier copy may stay in force: the server did not respond, or reported an error of
// its own.
func (r *readResult) isTemporary() bool {
	if r.err == nil {
		return r.response.Status >= 500
	}
	switch lookleap.CodeOf(r.err) {
	case lookleap.CodeTimeout, lookleap.CodeTooSlow, lookleap.CodeUnreachable, lookleap.CodeConnRefused, lookleap.CodeConnReset,
		lookleap.CodeTruncated, lookleap.CodeDNSError, lookleap.CodeNoAddress, lookleap.CodeDNSSECBogus,
		lookleap.CodeTLS, lookleap.CodeTLSTooOld, lookleap.CodeClientCert:
		return true
	}
	return false
}
