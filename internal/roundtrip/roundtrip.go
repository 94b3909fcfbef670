package roundtrip

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options are the bounds of [Do] and the form of its errors.
type Options struct {
	Time time.Duration // of the exchange, until the body ends; 0: no limit
	Rate int           // minimum bytes of the body per second (see [Pace]); 0: no minimum

	// Fail returns an error with a reason code of the root package and a sentence.
	Fail func(code, reason string) error
}

// Limits that are not options.
const (
	maxInterim = 16 // 1xx responses before the final one
	maxLookups = 4  // attempts to get a connection, without those that other requests may have lost
)

// The reason codes of [CodeOf] and of [Options.Fail].
const (
	CodeBadURL            = "bad-url"
	CodeBadStatus         = "bad-status"
	CodeConnRefused       = "connection-refused"
	CodeConnReset         = "connection-reset"
	CodeDNSError          = "dns-error"
	CodeHeaderTooLarge    = "header-too-large"
	CodeRedirectForbidden = "redirect-forbidden"
	CodeTimeout           = "timeout"
	CodeTLS               = "tls"
	CodeTLSTooOld         = "tls-too-old"
	CodeTooSlow           = "too-slow"
	CodeTruncated         = "truncated"
)

// begun and ended count the calls of [Do] in this process.
var begun, ended atomic.Int64

// Do sends a request through t, at most once, and returns its response. It returns an error for a
// response to another request, because then t followed a redirect. It writes the names of header
// fields of the request and the response in their canonical form. The body of the request cannot
// be read a second time.
//
// Do sees what t reports through net/http/httptrace. For a transport that reports nothing, only
// the time and the rate are checked.
func Do(t http.RoundTripper, req *http.Request, o Options) (*http.Response, error) {
	if req.URL != nil && !isTarget(req.URL.RawQuery) {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, o.Fail(CodeBadURL, "the query of the URL has a space or a control character")
	}
	x := &exchange{options: o, overlap: ended.Load()}
	begun.Add(1)
	defer ended.Add(1)
	x.ctx, x.cancel = context.WithCancelCause(req.Context())
	x.pace.Rate, x.pace.Slow = o.Rate, x.tooSlow
	if o.Time > 0 {
		x.pace.Start(o.Time, x.expire)
	}
	hasBody := false // then the exchange ends with the body
	defer func() {
		if !hasBody {
			x.end()
		}
	}()
	resp, err := t.RoundTrip(x.build(req))
	if err = x.judge(req, resp, err); err != nil {
		if resp != nil && resp.Body != nil {
			_ = resp.Body.Close()
		}
		return nil, err
	}
	if resp == nil {
		return nil, nil // this breaks the contract; the caller reports it
	}
	answered := resp.Request
	resp.Request = req
	if answered != nil {
		if note := Note(answered.Context()); note != nil {
			Annotate(resp, note)
		}
	}
	resp.Header = Canonical(resp.Header)
	if resp.Body != nil && resp.Body != http.NoBody {
		hasBody = true
		x.pace.Reader, x.body = resp.Body, body{resp.Body, x}
		resp.Body = &x.body
	}
	return resp, nil
}

// isTarget reports whether a query can be written into a request line.
func isTarget(query string) bool {
	for i := 0; i < len(query); i++ {
		if c := query[i]; c <= ' ' || c == 0x7f {
			return false
		}
	}
	return true
}

// exchange is the state of one Do.
type exchange struct {
	options Options
	ctx     context.Context
	cancel  context.CancelCauseFunc
	overlap int64  // how many calls had ended when this one began
	host    string // of the request
	plain   bool   // the request is http

	// What lives as long as the exchange is part of it, so that it is allocated once.
	pace  Pace
	trace httptrace.ClientTrace
	url   url.URL // a copy shows whether the transport changes it to follow a redirect
	body  body

	mu       sync.Mutex
	conn     connection
	sent     bool // a request was written, or may have been
	answered bool // a response began
	lookups  int
	interim  int
	failed   error
}

// build returns the request for the transport.
func (x *exchange) build(req *http.Request) *http.Request {
	if req.URL != nil {
		x.host, x.plain = req.URL.Hostname(), req.URL.Scheme == "http"
	}
	x.trace = httptrace.ClientTrace{
		GetConn:              x.getConn,
		GotConn:              x.gotConn,
		WroteHeaders:         x.wroteHeaders,
		GotFirstResponseByte: x.gotFirstByte,
		Got1xxResponse:       x.gotInterim,
	}
	out := req.WithContext(httptrace.WithClientTrace(mark(x.ctx), &x.trace))
	if req.URL != nil {
		x.url = *req.URL
		out.URL = &x.url
	}
	out.GetBody = nil
	out.Header = Canonical(req.Header)
	out.Trailer = Canonical(req.Trailer)
	return out
}

// judge returns an error if the transport failed or broke its contract.
func (x *exchange) judge(req *http.Request, resp *http.Response, err error) error {
	x.mu.Lock()
	failed := x.failed
	x.mu.Unlock()
	switch {
	case failed != nil:
		return failed
	case err != nil:
		return x.causeOf(err)
	case resp == nil:
		return nil
	case followed(req, resp):
		return x.options.Fail(CodeRedirectForbidden, "the fetcher answered for another URL: it followed a redirect by itself")
	case resp.StatusCode == http.StatusSwitchingProtocols:
		return x.options.Fail(CodeBadStatus, "the server switched to another protocol without being asked")
	}
	return nil
}

// followed reports whether a response is to another request than req. req may itself come from
// a redirect that an [http.Client] follows.
func followed(req *http.Request, resp *http.Response) bool {
	r := resp.Request
	return r != nil && (r.Response != req.Response || !sameURL(r.URL, req.URL))
}

func sameURL(a, b *url.URL) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b || a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host) && a.RequestURI() == b.RequestURI()
}

// causeOf returns the error that ended the exchange, or err.
func (x *exchange) causeOf(err error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failed != nil {
		return x.failed
	}
	return err
}

// fail ends the exchange with an error. The first one counts.
func (x *exchange) fail(code, reason string) error {
	x.mu.Lock()
	if x.failed == nil {
		x.failed = x.options.Fail(code, reason)
	}
	failed := x.failed
	x.mu.Unlock()
	x.cancel(failed)
	return failed
}

func (x *exchange) expire() {
	_ = x.fail(CodeTimeout, "no complete response came within "+x.options.Time.String())
}

func (x *exchange) tooSlow() {
	_ = x.fail(CodeTooSlow, "the response arrived more slowly than the minimum rate")
}

// end releases the timer and the context. It may be called more than once.
func (x *exchange) end() {
	x.pace.Stop()
	x.cancel(nil)
}

// getConn is called before each attempt to get a connection. Each other request that runs at the
// same time may take a connection away from this one, so that another attempt is not a fault.
func (x *exchange) getConn(string) {
	x.mu.Lock()
	x.lookups++
	tooMany := x.lookups > maxLookups+int(begun.Load()-x.overlap-1)
	x.mu.Unlock()
	if !x.isSecond() && tooMany {
		_ = x.fail(CodeConnReset, "the server ended each connection before a request could be sent")
	}
}

// gotConn is called for each connection before the request is written to it.
func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	conn := connection{info.Conn}
	if x.isSecond() {
		if !conn.isShared() {
			Close(info.Conn)
		}
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.conn, x.sent, x.answered = conn, false, false
}

// isSecond reports whether the request was sent before, and ends the exchange if
// it was.
func (x *exchange) isSecond() bool {
	x.mu.Lock()
	second, answered := x.sent && !x.conn.belongsToOther(x.host, x.plain), x.answered
	x.mu.Unlock()
	switch {
	case !second:
	case answered:
		_ = x.fail(CodeRedirectForbidden, "the fetcher sends a second request by itself; one exchange is one request")
	default:
		_ = x.fail(CodeConnReset, "the connection failed after the request was sent, and it is not sent again")
	}
	return second
}

func (x *exchange) wroteHeaders() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sent = true
}

func (x *exchange) gotFirstByte() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.answered = true
}

func (x *exchange) gotInterim(int, textproto.MIMEHeader) error {
	x.mu.Lock()
	x.interim++
	tooMany := x.interim > maxInterim
	x.mu.Unlock()
	if tooMany {
		return x.fail(CodeHeaderTooLarge, "the server sent too many interim responses")
	}
	return nil
}

// Canonical returns a header whose names have the canonical form that net/http looks up: h itself
// if they do, otherwise a copy.
func Canonical(h http.Header) http.Header {
	for name := range h {
		if http.CanonicalHeaderKey(name) == name {
			continue
		}
		out := make(http.Header, len(h))
		for name, values := range h {
			name = http.CanonicalHeaderKey(name)
			out[name] = append(out[name][:len(out[name]):len(out[name])], values...)
		}
		return out
	}
	return h
}

// noteKey is the context key of a note.
type noteKey struct{}

// Annotate adds what a transport says about a response to the context of its request. [Do] keeps
// it, although it replaces the transport's request with the caller's.
func Annotate(resp *http.Response, note any) {
	if resp.Request != nil {
		resp.Request = resp.Request.WithContext(context.WithValue(resp.Request.Context(), noteKey{}, note))
	}
}

// Note returns what was added with [Annotate], nil if nothing was. The context is that of the
// response's request.
func Note(ctx context.Context) any { return ctx.Value(noteKey{}) }
