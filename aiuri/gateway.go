package aiuri

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
)

// AuditRecord describes a request without its path, query, body and token (section 6). Delete
// it when it expires.
type AuditRecord struct {
	Time, Expires time.Time
	Endpoint      string // scheme and authority
	Code          lookleap.Code
	Status        int
}

// GatewayOptions configure a [Gateway]. Base, Authorizer and Invoker are required.
type GatewayOptions struct {
	Base       string     // https URL of the gateway; required
	Authorizer Authorizer // decides about requests; required. See also BodyAuthorizer
	Invoker    Invoker    // calls endpoints; required

	Discoverer *Discoverer // finds keys and policies; nil: NewDiscoverer with zero options

	Challenge string // WWW-Authenticate header of a 401; "": Bearer

	// Origins are the web origins, besides the gateway's own, whose pages may call it, such
	// as "https://shop.example". Browsers add a user's session to requests of any page, so
	// requests of pages of other origins are refused, reads included, before the
	// Authorizer is called.
	Origins []string

	// Credentials are the authorities that may get tokens and client certificates: see
	// [ClientOptions.Credentials]. Empty: endpoints that require credentials are refused.
	Credentials []string

	// Scopes returns the scopes that a call needs; nil: no scopes. A panic refuses the call.
	Scopes func(method string, u URI) []string
	// Safe reports whether a URI has no effects, so that GET and HEAD are served. Nil or a
	// panic: they are refused.
	Safe func(u URI) bool

	ClientCertificate bool // the Invoker presents one if the policy requires it
	// UserKey is the key for the user marks that bind results to the user of the session
	// (see [Call.User]): 32 random bytes. Nil: results are not bound to users.
	UserKey []byte
	// TLSEnded says that a proxy in front of this handler terminates TLS 1.3. If it is
	// false, requests that did not come over TLS 1.3 are refused.
	TLSEnded bool

	// Expect sets Audience, Require, RequireBinding, MaxAge and AllowRS256. The gateway
	// fills in the other fields for each call.
	Expect Expectation
	// KeyLife is how long key sets are cached; 0: DefaultKeyLife, at most MaxKeyLife.
	KeyLife time.Duration
	MaxBody int64 // bytes of the body of a request; 0: DefaultMaxBody

	// Timeout is the time for a call, until its result is verified; 0: 30 s. The body must
	// arrive within it too, or within the server's ReadTimeout if that is shorter.
	Timeout time.Duration

	Audit     func(AuditRecord) // gets a record of each request; may be nil
	Retention time.Duration     // until an audit record expires; 0: at once
}

// Gateway is an http.Handler that translates between HTTPS and AI endpoints (section 3.2).
// It responds only with verified results, which keep the endpoint's own signature. Serve it
// directly or below a prefix, but not through an http.ServeMux: that redirects ambiguous
// paths, which this handler refuses.
type Gateway struct {
	*caller
	options GatewayOptions
	mapping Mapping
	pages   *pages
	auditor *part
}

// NewGateway returns a gateway that fetches through host. It returns an error without a host,
// an authorizer or an invoker, or if the base is not an https URL.
func NewGateway(host *lookleap.Host, o GatewayOptions) (*Gateway, error) {
	switch {
	case o.Authorizer == nil:
		return nil, fail(CodeBadConfiguration, "a gateway needs an authorizer", "set Authorizer")
	case o.Invoker == nil:
		return nil, fail(CodeBadConfiguration, "a gateway needs an invoker", "set Invoker")
	}
	common, err := newCaller(host, o.Discoverer, o.Credentials, o.UserKey, o.KeyLife, 0)
	if err != nil {
		return nil, err
	}
	common.certificate, common.expect, common.maxBody = o.ClientCertificate, o.Expect, cmp.Or(max(o.MaxBody, 0), DefaultMaxBody)
	m, err := NewMapping(o.Base)
	if err != nil {
		return nil, err
	}
	pages, err := newPages(m.base.Origin(), o.Origins)
	if err != nil {
		return nil, err
	}
	o.Timeout = cmp.Or(max(o.Timeout, 0), 30*time.Second)
	return &Gateway{common, o, m, pages, newPart("the audit function", CodePluginBusy, 0)}, nil
}

// ServeHTTP serves one call. A refusal is a problem document (RFC 9457) with a reason code. It
// contains nothing of the request or the result.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g == nil || g.caller == nil {
		http.Error(w, "the gateway was not made with NewGateway", http.StatusInternalServerError)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), g.options.Timeout)
	defer cancel()
	var c Call
	v, err := g.serve(r.WithContext(ctx), &c, g.boundReading(w, r))
	code, status := lookleap.CodeOf(err), http.StatusOK
	header := w.Header()
	header.Set("Cache-Control", "private, no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	var body []byte
	var text string
	if err != nil {
		if errors.Is(err, ErrNoSession) {
			code = CodeNoSession
		}
		status = statusOf(code)
		switch code {
		case CodeNoSession:
			header.Set("WWW-Authenticate", cmp.Or(g.options.Challenge, "Bearer"))
		case CodeMethodNotAllowed:
			header.Set("Allow", "GET, HEAD, POST")
		case CodeUnsafeNotDeclared:
			header.Set("Allow", "POST")
		case CodeRequestTimeout:
			header.Set("Connection", "close")
		}
		header.Set("Content-Type", "application/problem+json")
		text = fmt.Sprintf("{\"status\":%d,\"title\":%q,\"code\":%q}\n", status, code.Title(), code)
	} else {
		c.writeBinding(header)
		if strings.Contains(v.JWS, "..") { // detached
			header.Set("Content-Type", inertMediaType(v.mediaType))
			header.Set(ProvenanceHeader, v.JWS)
			body = v.Payload
		} else {
			header.Set("Content-Type", joseType)
			text = v.JWS
		}
	}
	header.Set("Content-Length", strconv.Itoa(len(body)+len(text)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
		_, _ = io.WriteString(w, text) // one of them is empty
	}
	g.audit(r.Context(), c.URI.Redacted(), code, status)
}

// statusOf returns the HTTP status for a reason code (section 3.2).
func statusOf(code lookleap.Code) int {
	switch code {
	case CodeAmbiguous, codeBadChar, codeNonASCII, codeBadAuthority, codeEmptyAuthority, CodeNoAuthority,
		lookleap.CodeUserinfo, lookleap.CodeBadPort, codeURITooLong, CodeNotGateway, lookleap.CodeTooLarge, lookleap.CodeUsage:
		return http.StatusBadRequest
	case CodeNoSession:
		return http.StatusUnauthorized
	case CodeNotAuthorized, CodeScope, lookleap.CodeInsecureTransport, CodeCredentialsNotAllowed:
		return http.StatusForbidden
	case CodeRequestTimeout:
		return http.StatusRequestTimeout
	case CodePluginBusy:
		return http.StatusServiceUnavailable
	case CodeUnknownAuthority, CodeAuthorityUnconfirmed:
		return http.StatusNotFound
	case CodeMethodNotAllowed, CodeUnsafeNotDeclared:
		return http.StatusMethodNotAllowed
	case lookleap.CodeTimeout, lookleap.CodeTooSlow:
		return http.StatusGatewayTimeout
	case CodeBadConfiguration:
		return http.StatusInternalServerError
	}
	return http.StatusBadGateway
}

// audit calls the audit function. It waits for it at most Timeout, and not at all if too many
// calls of it have not returned.
func (g *Gateway) audit(ctx context.Context, endpoint string, code lookleap.Code, status int) {
	if g.options.Audit == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.options.Timeout)
	defer cancel()
	now := g.host.Time()
	record := AuditRecord{now, now.Add(g.options.Retention), endpoint, code, status}
	if !ask(ctx, g.auditor, func() bool { g.options.Audit(record); return true }) {
		lost := warning(CodePluginBusy, "AIU-6-03", "an audit record was lost", "")
		g.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: lost.Code, Subject: endpoint, Finding: &lost})
	}
}

// serve makes a call: it maps the URL, checks method and page, authorizes, resolves, fetches
// the keys, reads the body, invokes and verifies. A request without a session causes no
// discovery, and the body of a call that is refused is not read. The call is filled in as far as it
// gets.
func (g *Gateway) serve(r *http.Request, c *Call, complete func()) (v *Verified, err error) {
	if !g.options.TLSEnded && (r.TLS == nil || r.TLS.Version < tls.VersionTLS13) {
		return nil, fail(lookleap.CodeInsecureTransport, "the request did not come over TLS 1.3", "")
	}
	if c.URI, err = g.mapping.URI(escapedPath(r), r.URL.RawQuery, r.URL.ForceQuery || r.URL.RawQuery != ""); err != nil {
		return nil, err
	}
	if err := g.readHeader(r, c); err != nil {
		return nil, err
	}
	grant, err := g.authorize(r, c)
	if err != nil {
		return nil, err
	}
	if c.Method == http.MethodPost && r.ContentLength > g.maxBody {
		return nil, errTooLarge
	}
	d, err := g.discoverer.Resolve(r.Context(), c.URI)
	if err != nil {
		return nil, err
	}
	keys, err := g.admit(r.Context(), d, c.Scopes, true)
	if err != nil {
		return nil, err
	}
	if d.Document.Policy.Auth != "" && (grant.User == "" || grant.Tokens == nil) {
		return nil, fail(CodeBadConfiguration, "the policy requires a token, but the grant has no user or no tokens", "")
	}
	c.MTLS, c.To = d.Document.Policy.MTLS, d.destination("")
	if c.Nonce == "" { // otherwise the client computes the digest with its own nonce and mark
		c.Nonce, c.User = rand.Text(), userMark(g.options.UserKey, grant.User, c.URI.Authority())
	}
	if c.Method == http.MethodPost {
		if c.Body, err = g.readBody(r); err != nil {
			return nil, err
		}
		complete()
		if err := g.authorizeBody(r, c, grant); err != nil {
			return nil, err
		}
	}
	if err := g.getToken(r.Context(), c, grant.Tokens); err != nil {
		return nil, err
	}
	v, err = g.exchange(r.Context(), c, d, keys, g.options.Invoker)
	if lookleap.CodeOf(err) == lookleap.CodeTooLarge { // the endpoint's fault; the code would say that it is the client's
		err = fail(CodeEndpointFailed, "the result is larger than its limit", "")
	}
	return v, err
}

var errTooLarge = fail(lookleap.CodeTooLarge, "the request is larger than its limit", "")

// escapedPath returns the path as the client wrote it, with dot segments and escapes.
func escapedPath(r *http.Request) string {
	if path, _, _ := strings.Cut(r.RequestURI, "?"); strings.HasPrefix(path, "/") {
		return path
	}
	return r.URL.EscapedPath()
}

// plainJSON matches media types that no browser executes or reads as a list of them.
var plainJSON = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^application/([A-Za-z0-9._~+-]+\+)?json$`)
})

// inertMediaType returns a media type that no browser executes: the given one, if it is
// JSON or plain text.
func inertMediaType(mediaType string) string {
	if mediaType == "text/plain" || plainJSON().MatchString(mediaType) {
		return mediaType
	}
	return "application/octet-stream"
}

// readHeader reads method, media type and marks. GET and HEAD are allowed only if the host declares
// that they have no effect (RFC 9110 section 9.2.1). Headers that the gateway does not pass on are
// refused: an encoded body would be read as another one, and a condition would be ignored.
func (g *Gateway) readHeader(r *http.Request, c *Call) error {
	switch c.Method = r.Method; r.Method {
	case http.MethodGet, http.MethodHead:
		c.Method = http.MethodGet
		if g.options.Safe == nil || !ask(r.Context(), g.functions, func() bool { return g.options.Safe(c.URI) }) {
			return fail(CodeUnsafeNotDeclared, "the path is not declared free of effects", "use POST")
		}
	case http.MethodPost:
		c.MediaType = r.Header.Get("Content-Type")
	default:
		return fail(CodeMethodNotAllowed, "the method is not GET, HEAD or POST", "")
	}
	if len(r.Header.Values("Content-Type")) > 1 {
		return fail(lookleap.CodeUsage, "the request has several media types", "")
	}
	for _, name := range []string{"Content-Encoding", "Content-Range", "If-Match", "If-None-Match",
		"If-Modified-Since", "If-Unmodified-Since", "If-Range"} {
		if len(r.Header.Values(name)) > 0 {
			return fail(lookleap.CodeUsage, "the request has an encoding or a condition, which a gateway does not pass on", "")
		}
	}
	if err := c.readBinding(r.Header); err != nil {
		return err
	}
	return g.pages.check(r)
}

// boundReading sets a deadline of Timeout for reading the body, or for the rest of a refused
// one. Contexts do not end that, and the server does so only with a ReadTimeout. Call the
// returned function once the body was read: the server then watches the connection.
func (g *Gateway) boundReading(w http.ResponseWriter, r *http.Request) (complete func()) {
	server, _ := r.Context().Value(http.ServerContextKey).(*http.Server)
	if r.ContentLength == 0 || server != nil && server.ReadTimeout > 0 && server.ReadTimeout <= g.options.Timeout {
		return func() {}
	}
	control := http.NewResponseController(w) // some writers have no deadlines
	_ = control.SetReadDeadline(time.Now().Add(g.options.Timeout))
	return func() { _ = control.SetReadDeadline(time.Time{}) }
}

// readBody reads a body of at most MaxBody bytes.
func (g *Gateway) readBody(r *http.Request) ([]byte, error) {
	body := bytes.NewBuffer(make([]byte, 0, max(r.ContentLength, 0)+bytes.MinRead))
	_, err := body.ReadFrom(io.LimitReader(r.Body, g.maxBody+1))
	var tooLarge *http.MaxBytesError
	var late interface{ Timeout() bool }
	switch {
	case errors.As(err, &tooLarge) || err == nil && int64(body.Len()) > g.maxBody:
		return nil, errTooLarge
	case errors.As(err, &late) && late.Timeout():
		return nil, failOn(CodeRequestTimeout, "", "the body of the request did not arrive in time", "", err)
	case err != nil:
		return nil, failOn(lookleap.CodeUsage, "", "the request could not be read", "", err)
	}
	return body.Bytes(), nil
}
