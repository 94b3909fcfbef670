package aiuri

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// AuditRecord is all that a gateway tells of a request (section 6): no path, no
// query, no body, no token. Whoever keeps it deletes it when it expires.
type AuditRecord struct {
	Time, Expires time.Time
	Endpoint      string // redacted
	Code          lookleap.Code
	Status        int
}

// GatewayOptions configure a [Gateway].
type GatewayOptions struct {
	Base       string     // https URL under which the gateway is reached; required
	Authorizer Authorizer // required; a BodyAuthorizer is asked twice
	Invoker    Invoker    // how endpoints are reached; required

	Discoverer *Discoverer // whose keys and policy count; nil: NewDiscoverer with its defaults

	Challenge string // WWW-Authenticate of a 401; "": Bearer

	// Origins are web origins besides the gateway's own whose pages may call it, such as
	// "https://shop.example". Browsers add a user's session to requests that pages of
	// other origins cause. Such requests, reads included, are refused before the
	// Authorizer is asked.
	Origins []string

	// Credentials are the authorities that may get tokens and client certificates, as
	// for [ClientOptions.Credentials]. Empty: no authority gets any, and endpoints that
	// demand them are refused.
	Credentials []string

	// Scopes names what a call needs; nil: nothing. A panic refuses the call.
	Scopes func(method string, u URI) []string
	// Safe declares paths free of effects, for which GET and HEAD are served. Nil or
	// a panic: none is.
	Safe func(u URI) bool

	ClientCertificate bool // the Invoker shows one where the policy demands it
	// UserKey makes the marks of users that bind results to the user of the session (see
	// [Call.User]): 32 random bytes. Nil: results are not bound to users.
	UserKey []byte
	// TLSEnded says that TLS 1.3 with the client is ended before this handler, by a
	// proxy. Otherwise a request that did not come over TLS 1.3 is refused.
	TLSEnded bool

	Expect Expectation // Audience, Require, RequireBinding, MaxAge and AllowRS256; the rest is filled in for each call
	// KeyLife is how long key sets are cached; 0: DefaultKeyLife, at most MaxKeyLife.
	KeyLife   time.Duration
	KeyMemory int   // bytes of key sets that are cached; 0: DefaultKeyMemory
	MaxBody   int64 // octets of a request's body; 0: DefaultMaxBody

	// Timeout is that of a call, from the first look to the verified result; 0: 30 s.
	// The reading of the body is bounded by it too, or by the server's ReadTimeout.
	Timeout time.Duration
	// InFlight is the number of calls of each plug-in that may be under way at once, a
	// quarter of them for one authority; 0: DefaultInFlight. Further calls are refused.
	InFlight int

	Audit     func(AuditRecord) // nil: nothing is told to anybody
	Retention time.Duration     // until an audit record expires; 0: at once
}

// Gateway is an http.Handler that translates between HTTPS and AI endpoints
// (section 3.2). Nothing reaches the client that was not verified, and what does
// carries the endpoint's own signature. Serve it as it is or below a prefix; an
// http.ServeMux cleans paths with a redirect before this handler can refuse them.
type Gateway struct {
	host    *lookleap.Host
	options GatewayOptions
	mapping Mapping
	keys    *keyCache
	pages   *pages
	allowed authorities
	plugins plugins
}

// NewGateway builds a gateway on a host. One that could not keep its duties is
// refused: without authorizer, without invoker, or at a base that is no https URL.
func NewGateway(host *lookleap.Host, o GatewayOptions) (*Gateway, error) {
	switch {
	case host == nil:
		return nil, errNoHost("a gateway")
	case o.Authorizer == nil:
		return nil, fail(CodeBadConfiguration, "a gateway needs an authorizer", "")
	case o.Invoker == nil:
		return nil, fail(CodeBadConfiguration, "a gateway needs an invoker", "")
	}
	m, err := newMapping(o.Base, domain.Rules{})
	if err != nil {
		return nil, err
	}
	pages, err := newPages(m.base.Origin(), o.Origins)
	if err != nil {
		return nil, err
	}
	allowed, err := parseAuthorities(o.Credentials)
	if err != nil {
		return nil, err
	}
	if err := checkUserKey(o.UserKey); err != nil {
		return nil, err
	}
	if o.Discoverer == nil {
		o.Discoverer = NewDiscoverer(host, DiscovererOptions{})
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	return &Gateway{host: host, options: o, mapping: m, keys: newKeyCache(host, o.KeyLife, o.KeyMemory), pages: pages, allowed: allowed, plugins: newPlugins(o.InFlight)}, nil
}

// ServeHTTP serves one call. Refusals are problem details (RFC 9457) that hold a
// code and nothing of the request or the result.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g == nil || g.host == nil {
		http.Error(w, "the gateway was not made with NewGateway", http.StatusInternalServerError)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), g.options.Timeout)
	defer cancel()
	endpoint := ""
	var c Call
	v, mediaType, err := g.serve(r.WithContext(ctx), &c, &endpoint, g.boundReading(w, r))
	code, status := lookleap.CodeOf(err), http.StatusOK
	if code == lookleap.CodeCancelled && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		code = lookleap.CodeTimeout // it was our limit that ended it
	}
	header := w.Header()
	header.Set("Cache-Control", "private, no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	var body []byte
	var text string
	switch {
	case err != nil:
		status = statusOf(code)
		if errors.Is(err, ErrNoSession) {
			code, status = CodeNoSession, http.StatusUnauthorized
			header.Set("WWW-Authenticate", cmp.Or(g.options.Challenge, "Bearer"))
		}
		switch code {
		case CodeMethodNotAllowed:
			header.Set("Allow", "GET, HEAD, POST")
		case CodeUnsafeNotDeclared:
			header.Set("Allow", "POST")
		case CodeRequestTimeout:
			header.Set("Connection", "close")
		}
		header.Set("Content-Type", "application/problem+json")
		body = []byte(`{"status":` + strconv.Itoa(status) + `,"title":` + strconv.Quote(code.Title()) + `,"code":` + strconv.Quote(string(code)) + "}\n")
	case isDetached(v.JWS):
		c.putBinding(header)
		header.Set("Content-Type", mediaType)
		header.Set(ProvenanceHeader, v.JWS)
		body = v.Payload
	default:
		c.putBinding(header)
		header.Set("Content-Type", joseType)
		text = v.JWS
	}
	header.Set("Content-Length", strconv.Itoa(len(body)+len(text)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
		_, _ = io.WriteString(w, text) // one of them is empty
	}
	g.audit(r.Context(), endpoint, code, status)
}

func isDetached(jws string) bool { return strings.Contains(jws, "..") }

// statusOf translates a reason into HTTP (section 3.2).
func statusOf(code lookleap.Code) int {
	switch code {
	case CodeAmbiguous, CodeBadChar, CodeNonASCII, CodeBadAuthority, CodeEmptyAuthority, CodeNoAuthority,
		lookleap.CodeUserinfo, lookleap.CodeBadPort, CodeURITooLong, CodeNotGateway, lookleap.CodeTooLarge, lookleap.CodeUsage:
		return http.StatusBadRequest
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

// Purge drops everything that is kept about an origin.
func (g *Gateway) Purge(origin string) {
	if g == nil || g.host == nil {
		return
	}
	g.options.Discoverer.Purge(origin)
	g.keys.purge()
}

// audit waits for the function no longer than for a call, and not at all for one of
// those that never return.
func (g *Gateway) audit(ctx context.Context, endpoint string, code lookleap.Code, status int) {
	if g.options.Audit == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.options.Timeout)
	defer cancel()
	now := g.host.Time()
	_, err := call(ctx, g.plugins.audit, "", func(context.Context) (struct{}, error) {
		g.options.Audit(AuditRecord{now, now.Add(g.options.Retention), endpoint, code, status})
		return struct{}{}, nil
	})
	if err != nil {
		g.host.Report(ctx, lookleap.Event{Kind: lookleap.EventFinding, Code: lookleap.CodeOf(err), Subject: endpoint,
			Finding: &lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeOf(err), Requirement: "AIU-6-03", Message: "an audit record was lost"}})
	}
}

// serve is the way of a call: map, judge the method, authorise, resolve, read the
// body, invoke, verify. Nothing is sent before all that comes first has passed,
// nobody is asked about an authority by whoever has no session, and the body of
// a call that is refused without it is not read.
func (g *Gateway) serve(r *http.Request, c *Call, endpoint *string, complete func()) (*Verified, string, error) {
	if !g.options.TLSEnded && (r.TLS == nil || r.TLS.Version < tls.VersionTLS13) {
		return nil, "", fail(lookleap.CodeInsecureTransport, "the request did not come over TLS 1.3", "")
	}
	u, err := g.mapping.URI(escapedPath(r), r.URL.RawQuery, r.URL.ForceQuery || r.URL.RawQuery != "")
	if err != nil {
		return nil, "", err
	}
	*endpoint = u.Redacted()
	c.URI, c.Method = u, r.Method
	if err := g.method(r, c); err != nil {
		return nil, "", err
	}
	if err := c.takeBinding(r.Header); err != nil {
		return nil, "", err
	}
	if err := g.pages.check(r); err != nil {
		return nil, "", err
	}
	grant, err := g.authorize(r, c)
	if err != nil {
		return nil, "", err
	}
	if r.Method == http.MethodPost && r.ContentLength > g.options.MaxBody {
		return nil, "", fail(lookleap.CodeTooLarge, "the request is larger than its limit", "")
	}
	d, err := g.options.Discoverer.Resolve(r.Context(), u)
	if err != nil {
		return nil, "", err
	}
	if err := g.keepPolicy(c, grant, d); err != nil {
		return nil, "", err
	}
	keys, err := g.keys.keysOf(r.Context(), d)
	if err != nil {
		return nil, "", err
	}
	if r.Method == http.MethodPost {
		if c.Body, err = g.readBody(r); err != nil {
			return nil, "", err
		}
		complete()
		if err := g.authorizeBody(r, c, grant); err != nil {
			return nil, "", err
		}
	}
	if d.Document.Policy.Auth != "" {
		if c.Token, err = tokenOf(r.Context(), g.plugins.tokens, grant.Tokens, c.To, c.Scopes); err != nil {
			return nil, "", err
		}
	}
	result, err := invoke(r.Context(), g.plugins.transport, g.options.Invoker, c)
	if err != nil {
		return nil, "", err
	}
	v, err := g.keys.verify(r.Context(), d, keys, result, g.options.Expect.bind(c, d))
	if err != nil {
		// A forged result that is too large is the endpoint's fault, not the client's.
		if lookleap.CodeOf(err) == lookleap.CodeTooLarge {
			err = fail(CodeEndpointFailed, "the result is larger than its limit", "")
		}
		return nil, "", err
	}
	return v, servable(result.MediaType), nil
}

// escapedPath is the path as the client wrote it, since dot segments and escapes
// have to be seen.
func escapedPath(r *http.Request) string {
	if path, _, _ := strings.Cut(r.RequestURI, "?"); strings.HasPrefix(path, "/") {
		return path
	}
	return r.URL.EscapedPath()
}

// servable keeps media types that no browser runs.
func servable(mediaType string) string {
	name, isApplication := strings.CutPrefix(mediaType, "application/")
	name, isJSON := strings.CutSuffix(name, "+json")
	if mediaType == "application/json" || mediaType == "text/plain" || isApplication && isJSON && isPlainName(name) {
		return mediaType
	}
	return "application/octet-stream"
}

// isPlainName keeps out commas and the like, at which browsers take a list of
// media types apart.
func isPlainName(name string) bool {
	for i := range len(name) {
		if c := name[i]; class[c]&unreserved == 0 && c != '+' {
			return false
		}
	}
	return name != ""
}

// method serves safe methods only where the host says that they have no effect
// (RFC 9110 section 9.2.1).
func (g *Gateway) method(r *http.Request, call *Call) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		if !g.safe(r.Context(), call.URI) {
			return fail(CodeUnsafeNotDeclared, "the path was not declared free of effects", "use POST")
		}
		call.Method = http.MethodGet
		return refuseEncoded(r.Header)
	case http.MethodPost:
		call.MediaType = r.Header.Get("Content-Type")
		return refuseEncoded(r.Header)
	}
	return fail(CodeMethodNotAllowed, "the method is none of GET, HEAD and POST", "")
}

// plain refuses what would be lost on the way: a body that is encoded would be read as
// another one, and a condition on a version that is obsolete would not be kept.
func refuseEncoded(h http.Header) error {
	if len(h.Values("Content-Type")) > 1 {
		return fail(lookleap.CodeUsage, "the request has several media types", "")
	}
	for _, name := range []string{"Content-Encoding", "Content-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"} {
		if len(h.Values(name)) > 0 {
			return fail(lookleap.CodeUsage, "the request has an encoding or a condition, which cannot be kept", "")
		}
	}
	return nil
}

// boundReading bounds the time in which a body may come, or what is left of a
// refused one is thrown away, by that of a call: contexts do not end that, and the
// server only where it has a ReadTimeout. What it gives is called when the body has
// come, since the connection is watched for its end then.
func (g *Gateway) boundReading(w http.ResponseWriter, r *http.Request) (complete func()) {
	server, _ := r.Context().Value(http.ServerContextKey).(*http.Server)
	if r.ContentLength == 0 || server != nil && server.ReadTimeout > 0 && server.ReadTimeout <= g.options.Timeout {
		return func() {}
	}
	control := http.NewResponseController(w) // a writer without deadlines goes without
	_ = control.SetReadDeadline(time.Now().Add(g.options.Timeout))
	return func() { _ = control.SetReadDeadline(time.Time{}) }
}

func (g *Gateway) readBody(r *http.Request) ([]byte, error) {
	body := bytes.NewBuffer(make([]byte, 0, max(r.ContentLength, 0)+bytes.MinRead))
	_, err := body.ReadFrom(io.LimitReader(r.Body, g.options.MaxBody+1))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, fail(lookleap.CodeTooLarge, "the request is larger than its limit", "")
	case err != nil && isTimeout(err):
		return nil, &lookleap.Error{Code: CodeRequestTimeout, Message: "the body of the request did not arrive in time", Err: err}
	case err != nil:
		return nil, &lookleap.Error{Code: lookleap.CodeUsage, Message: "the request could not be read", Err: err}
	case int64(body.Len()) > g.options.MaxBody:
		return nil, fail(lookleap.CodeTooLarge, "the request is larger than its limit", "")
	}
	return body.Bytes(), nil
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}

// safe fails closed.
func (g *Gateway) safe(ctx context.Context, u URI) bool {
	if g.options.Safe == nil {
		return false
	}
	ok, err := call(ctx, g.plugins.host, "", func(context.Context) (bool, error) { return g.options.Safe(u), nil })
	return ok && err == nil
}

// keepPolicy offers the endpoint nothing weaker than its policy.
func (g *Gateway) keepPolicy(call *Call, grant *Grant, d *Discovery) error {
	if !d.Verifiable() {
		return fail(CodeNoTrustAnchor, "no document says by which keys results can be verified", "")
	}
	if err := d.Document.permits(call.Scopes); err != nil {
		return err
	}
	policy := d.Document.Policy
	switch {
	case policy.Auth != "" && (grant.User == "" || grant.Tokens == nil):
		return fail(CodeBadConfiguration, "the policy demands authorization and the grant has no user or no tokens", "")
	case policy.MTLS && !g.options.ClientCertificate:
		return fail(CodePolicyUnsupported, "the policy demands a client certificate and none is configured", "")
	}
	if err := g.allowed.check(d); err != nil {
		return err
	}
	call.MTLS, call.To, call.Targets = policy.MTLS, d.destination(""), d.Targets
	if call.Nonce == "" { // a client that sends one computes the digest with its own mark, or without
		call.Nonce, call.User = rand.Text(), userMark(g.options.UserKey, grant.User, call.URI.Authority())
	}
	return nil
}
