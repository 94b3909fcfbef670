package fetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/roundtrip"
)

// UserAgent is the User-Agent of requests for which the caller sets no other.
const UserAgent = "lookleap (+https://github.com/lookleap/lookleap)"

// Clock is a Fetcher that knows the time, as *lookleap.Host does. For other Fetchers, the
// system's clock counts.
type Clock interface{ Time() time.Time }

// Do sends a request and reads its response. Every error is an [*Error]. If ctx ended, its
// code is cancelled, also if a caller of the caller set the deadline.
//
// Do follows the redirects that the request's rule allows, with the method GET after a 303
// and otherwise with the same method and body. It refuses a redirect that would send a body,
// or a method other than GET and HEAD, to another origin. It also refuses a 301 or 302 of such
// a method, because clients disagree about its meaning.
//
// A Fetcher sends each request once. If a request that only reads fails because the server
// closed an idle connection, Do sends it once more. That costs the budget like any request.
func Do(ctx context.Context, f lookleap.Fetcher, r *Request) (*Response, error) {
	e := &exchange{fetcher: f, request: r, limits: r.Limits.withDefaults(), now: time.Now}
	if clock, ok := f.(Clock); ok {
		e.now = clock.Time
	}
	e.timeout = &codedError{code: lookleap.CodeTimeout, message: "no complete response came within " + e.limits.Time.String()}
	e.ends = time.Now().Add(e.limits.Time)
	ctx, cancel := context.WithTimeoutCause(ctx, e.limits.Time, e.timeout)
	defer cancel()
	if err := e.begin(); err != nil {
		return nil, e.fail(ctx, err)
	}
	for {
		resp, err := e.once(ctx)
		if err != nil {
			if stale := (*staleError)(nil); errors.As(err, &stale) && !e.repeated {
				e.repeated = true
				continue
			}
			return nil, e.fail(ctx, err)
		}
		if !IsRedirect(resp.Status) || r.Redirect == nil {
			for _, hop := range resp.Hops {
				resp.Freshness = resp.Freshness.Strictest(hop.Freshness)
			}
			return resp, nil
		}
		if err := e.follow(resp); err != nil {
			return nil, e.fail(ctx, err)
		}
	}
}

// exchange is the state of one Do, with the next request.
type exchange struct {
	fetcher lookleap.Fetcher
	request *Request
	limits  Limits
	now     func() time.Time
	timeout error     // the cause if this exchange's own time is over
	ends    time.Time // when it is over

	url     domain.URL
	method  string
	header  http.Header
	body    []byte
	visited []string
	hops    []Hop

	repeated bool // a request was repeated, which is done once
	arrived  bool // the server may have received a request
}

// begin checks the request. The header stays that of the caller, so it is copied before a change.
func (e *exchange) begin() error {
	r := e.request
	e.method, e.body = r.Method, r.Body
	if e.method == "" {
		e.method = http.MethodGet
	}
	if err := e.checkScheme(r.URL); err != nil {
		return err
	}
	e.url = r.URL
	if e.method == http.MethodConnect {
		return coded(lookleap.CodeUsage, "the method CONNECT is not supported")
	}
	for name := range r.Header {
		if slices.Contains(reservedHeaders, http.CanonicalHeaderKey(name)) {
			return coded(lookleap.CodeUsage, "the caller must not set the header field %s", http.CanonicalHeaderKey(name))
		}
	}
	e.header = roundtrip.Canonical(r.Header)
	return nil
}

// checkScheme returns an error unless the next request may go to a URL: over https, or over
// http for a plain read that has used only http so far.
func (e *exchange) checkScheme(u domain.URL) error {
	before := e.url.IsZero() || e.url.Scheme() == "http"
	if e.request.Plain && u.Scheme() == "http" && before && !e.needsProof() {
		return nil
	}
	return onlyHTTPS(u)
}

// reservedHeaders are the header fields that only this package and net/http set.
var reservedHeaders = []string{
	"Accept-Encoding", "Connection", "Content-Length", "Expect", "Host", "Keep-Alive", "Proxy-Authorization",
	"Proxy-Connection", "Referer", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// once sends one request and follows nothing.
func (e *exchange) once(ctx context.Context) (*Response, error) {
	if err := ctx.Err(); err != nil { // a Fetcher may send before it looks at the context
		return nil, causeOf(ctx, err)
	}
	if !e.request.Budget.Take() {
		return nil, coded(lookleap.CodeBudget, "the document's budget of requests is used up")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &watch{request: e.request, host: e.url.NetURL().Hostname(), plain: e.url.Scheme() == "http", cancel: cancel}
	w.proof = e.needsProof() || e.request.Verified
	sent := e.now()
	resp, err := roundTrip(e.fetcher, e.build(ctx, w))
	if resp != nil && resp.Body != nil {
		resp.Body = &foreignBody{ReadCloser: resp.Body}
		defer resp.Body.Close()
	}
	conn, failed := w.outcome()
	e.arrived = e.arrived || resp != nil || w.mayHaveSent()
	switch {
	case failed != nil:
		return nil, failed
	case err != nil && ctx.Err() == nil && !e.acts() && w.stale(err):
		return nil, &staleError{err}
	case err != nil:
		return nil, causeOf(ctx, err)
	case resp == nil || resp.Header == nil && resp.Body == nil:
		return nil, coded(lookleap.CodeInternal, "the fetcher returned neither a response nor an error")
	case !conn.Reported() && e.needsProof():
		return nil, coded(lookleap.CodeNoConnection, "the fetcher did not report the connection of its response")
	}
	return e.read(ctx, resp, conn, sent, cancel)
}

// roundTrip makes sure that a Fetcher obeys its contract, as a Host does itself, and turns a
// panic into an error.
func roundTrip(f lookleap.Fetcher, req *http.Request) (resp *http.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			resp, err = nil, coded(lookleap.CodeInternal, "the fetcher failed: %v", p)
		}
	}()
	if _, ok := f.(*lookleap.Host); ok {
		return f.RoundTrip(req)
	}
	return roundtrip.Do(f, req, roundtrip.Options{Fail: func(code, reason string) error {
		return coded(lookleap.Code(code), "%s", reason)
	}})
}

// needsProof reports whether the Fetcher must report the connection.
func (e *exchange) needsProof() bool {
	return e.request.TrustEvidence || e.request.ClientCertificate || e.acts()
}

// acts reports whether the request does more than read.
func (e *exchange) acts() bool {
	return e.body != nil || e.method != http.MethodGet && e.method != http.MethodHead
}

func (e *exchange) build(ctx context.Context, w *watch) *http.Request {
	header := e.header.Clone()
	if header == nil {
		header = make(http.Header)
	}
	header.Set("Accept-Encoding", "gzip")
	if header.Get("Accept") == "" && len(e.request.Accept) > 0 {
		header.Set("Accept", strings.Join(e.request.Accept, ", "))
	}
	if header.Get("User-Agent") == "" {
		header.Set("User-Agent", UserAgent)
	}
	u := e.url.NetURL()
	// Requests that a Fetcher makes meanwhile, such as those of a guard that reads a policy, are not watched.
	watched := roundtrip.Watched(ctx, &httptrace.ClientTrace{GetConn: w.getConn, GotConn: w.gotConn})
	req := (&http.Request{
		Method: e.method, URL: u, Host: u.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(watched)
	if e.body != nil {
		req.ContentLength = int64(len(e.body))
		req.Body = &gatedBody{bytes.NewReader(e.body), ctx, w}
		if len(e.body) == 0 {
			req.Body = http.NoBody
		}
	}
	return req
}

// gatedBody returns bytes only after a connection was reported and passed its checks, and
// until the exchange ends, which a Fetcher may notice later. It has no other method than Read,
// and the request has no GetBody, so that it cannot be sent twice.
type gatedBody struct {
	content *bytes.Reader
	ctx     context.Context
	watch   *watch
}

func (b *gatedBody) Read(p []byte) (int, error) {
	switch conn, failed := b.watch.outcome(); {
	case failed != nil:
		return 0, failed
	case !conn.Reported():
		return 0, coded(lookleap.CodeNoConnection, "the fetcher asks for a body before it reports a connection")
	case b.ctx.Err() != nil:
		return 0, causeOf(b.ctx, b.ctx.Err())
	}
	return b.content.Read(p)
}

func (*gatedBody) Close() error { return nil }

// read judges the header of a response and reads its body.
func (e *exchange) read(ctx context.Context, resp *http.Response, conn Conn, sent time.Time, cancel context.CancelCauseFunc) (*Response, error) {
	size := 0
	for name, values := range resp.Header {
		for _, value := range values {
			size += len(name) + len(value) + len(": \r\n")
		}
	}
	if size > e.limits.Header {
		return nil, coded(lookleap.CodeHeaderTooLarge, "the header of the response is larger than %d bytes", e.limits.Header)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 599 {
		return nil, coded(lookleap.CodeBadStatus, "%d is not a final status", resp.StatusCode)
	}
	out := &Response{Status: resp.StatusCode, Header: resp.Header, URL: e.url, Hops: e.hops, Conn: conn}
	var err error
	out.MediaType, out.Params, err = ParseMediaType(resp.Header)
	if accept := e.request.Accept; len(accept) > 0 && isSuccess(resp.StatusCode) && !slices.Contains(accept, out.MediaType) {
		return nil, &responseError{out, lookleap.CodeMediaType, cmp.Or(err, errNotTheMediaTypes)}
	}
	if e.wantsBody(resp.StatusCode) {
		if resp.Body == nil {
			return nil, coded(lookleap.CodeInternal, "the fetcher returned a response without a body")
		}
		// Also ends a body that ignores the context.
		defer context.AfterFunc(ctx, func() { _ = resp.Body.Close() })()
		paced := &roundtrip.Pace{Reader: resp.Body, Rate: e.limits.Rate, Slow: func() { cancel(errTooSlow) }}
		defer paced.Stop()
		var body []byte
		if e.request.Stream != nil {
			err = streamBody(resp, e.limits.Body, paced, func(r io.Reader) error { return e.request.Stream(out, r) })
		} else {
			body, err = readBody(resp, e.limits.Body, paced)
		}
		if err != nil {
			return nil, &responseError{out, "", causeOf(ctx, err)}
		}
		out.Body = body
	}
	out.Received = e.now()
	out.Freshness = ParseFreshness(resp.Header, sent, out.Received)
	if conn.ClientCertificate || e.header.Get("Authorization") != "" || e.header.Get("Cookie") != "" {
		out.Freshness.OneUser = true
	}
	out.RetryAfter, _ = ParseRetryAfter(resp.Header, out.Received, MinRetryAfter, MaxRetryAfter)
	return out, nil
}

// isSuccess reports whether a final status is one of success that comes with a body.
func isSuccess(status int) bool {
	return status < 300 && status != http.StatusNoContent && status != http.StatusResetContent
}

func (e *exchange) wantsBody(status int) bool {
	switch {
	case e.method == http.MethodHead, status == http.StatusNoContent, status == http.StatusResetContent, status == http.StatusNotModified:
		return false
	case IsRedirect(status) && e.request.Redirect != nil:
		return false
	case e.request.ReadBody != nil:
		return e.request.ReadBody(status)
	}
	return isSuccess(status)
}

// follow judges a redirect and prepares its request.
func (e *exchange) follow(resp *Response) error {
	to, err := location(e.url, resp.Header, e.request.Rules)
	if err == nil {
		err = e.checkScheme(to)
	}
	if err != nil {
		return &responseError{resp, "", err}
	}
	hop := Hop{From: e.url, To: to, Status: resp.Status, Number: len(e.hops) + 1, Freshness: resp.Freshness}
	if err := e.admit(hop); err != nil {
		return &responseError{resp, "", err}
	}
	if hop.Status == http.StatusSeeOther && e.method != http.MethodHead {
		e.method, e.body = http.MethodGet, nil
		e.header = e.header.Clone() // it may be the caller's
		e.header.Del("Content-Type")
	}
	if !hop.SameOrigin() {
		e.header = ownHeaders(e.header)
	}
	e.visited = append(e.visited, e.url.String())
	e.hops = append(slices.Clip(e.hops), hop)
	e.url = to
	return nil
}

func (e *exchange) admit(hop Hop) error {
	switch {
	case hop.Number > e.limits.Hops:
		return coded(lookleap.CodeTooManyRedirects, "more than %d redirects", e.limits.Hops)
	case hop.To.String() == e.url.String() || slices.Contains(e.visited, hop.To.String()):
		return coded(lookleap.CodeTooManyRedirects, "the redirects form a loop")
	}
	if e.acts() && hop.Status != http.StatusSeeOther {
		switch {
		case !hop.SameOrigin():
			return coded(lookleap.CodeRedirectForbidden, "a request that does more than read is not sent to another origin")
		case hop.Status == http.StatusMovedPermanently || hop.Status == http.StatusFound:
			return coded(lookleap.CodeRedirectForbidden,
				"a %d leaves open whether a request that does more than read is sent again", hop.Status)
		}
	}
	if err := e.request.Redirect(hop); err != nil {
		code := lookleap.CodeOf(err)
		if code == lookleap.CodeInternal {
			code = lookleap.CodeRedirectForbidden
		}
		return &codedError{code: code, message: "the redirect to " + hop.To.WithoutQuery() + " is not followed: " + err.Error(), err: err}
	}
	return nil
}

// ownHeaders returns the header fields for an origin that the caller did not name.
func ownHeaders(h http.Header) http.Header {
	own := make(http.Header)
	for _, name := range []string{"Accept", "User-Agent"} {
		own[name] = h.Values(name)
	}
	return own
}

// responseError is the error for a response that is refused.
type responseError struct {
	response *Response
	code     lookleap.Code // "": that of err
	err      error
}

func (e *responseError) Error() string { return e.err.Error() }
func (e *responseError) Unwrap() error { return e.err }

// staleError is the failure of a plain read on a connection that the server may
// have closed while it was idle.
type staleError struct{ error }

func (e *staleError) Unwrap() error { return e.error }

// causeOf returns why the context was cancelled, or err if it was not.
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// fail returns the error of Do. If the caller's context ended, that is the error.
func (e *exchange) fail(ctx context.Context, err error) *Error {
	out := &Error{Err: err, Hops: e.hops, arrived: e.arrived}
	out.URL = e.url.WithoutQuery()
	if e.url.IsZero() {
		out.URL = e.request.URL.WithoutQuery()
	}
	var refused *responseError
	if errors.As(err, &refused) {
		out.Status, out.MediaType = refused.response.Status, refused.response.MediaType
		out.RetryAfter, _ = ParseRetryAfter(refused.response.Header, e.now(), MinRetryAfter, MaxRetryAfter)
		out.Code, out.Err = refused.code, refused.err
	}
	if cause := context.Cause(ctx); ctx.Err() != nil && !errors.Is(cause, e.timeout) {
		out.Code, out.Err = lookleap.CodeCancelled, ctx.Err()
		return out
	}
	if out.Code == "" {
		out.Code, out.Transient = classify(out.Err)
	}
	if out.Code == lookleap.CodeTimeout && !time.Now().Before(e.ends) {
		out.Err = e.timeout // and not that of a timer of the transport that ended at the same moment
	}
	return out
}
