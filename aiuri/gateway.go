package aiuri

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// Grant is what a web session permits (section 3.2).
type Grant struct {
	User   string   // whom the session belongs to; bound to the token
	Scopes []string // that the session covers
	Token  string   // for the endpoint, good for this user; "": none
}

// ErrNoSession is what an [Authorizer] gives for a request without a session.
var ErrNoSession = errors.New("aiuri: the request belongs to no session")

// Authorizer judges a request by its web session, by token exchange, DPoP, mutual
// TLS or whatever the host has. The call has its URI, media type and scopes
// already, and nobody was asked about its authority yet. It has no body, nor has
// the request: what a caller sends is not read before the caller may send it. A nil
// grant, an error or a panic is a refusal. It is called from several goroutines at
// once.
type Authorizer interface {
	Authorize(ctx context.Context, r *http.Request, call *Call) (*Grant, error)
}

// BodyAuthorizer is an [Authorizer] that judges what is sent too: an amount, or the
// digest that a signature of the request covers. It is asked about every POST that
// Authorize has granted and the endpoint's policy permits, now with the body. An
// error or a panic is a refusal.
type BodyAuthorizer interface {
	Authorizer
	AuthorizeBody(ctx context.Context, r *http.Request, call *Call, grant *Grant) error
}

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

	// Origins are web origins whose pages may POST, such as "https://shop.example",
	// beside the gateway's own. Browsers add a user's session to what pages of others
	// send, too, so that those are refused before the Authorizer is asked.
	Origins []string

	// Scopes names what a call needs; nil: nothing. A panic refuses the call.
	Scopes func(method string, u URI) []string
	// Safe declares paths free of effects, for which GET and HEAD are served. Nil or
	// a panic: none is.
	Safe func(u URI) bool

	ClientCertificate bool // the Invoker shows one where the policy demands it
	// TLSEnded says that TLS 1.3 with the client is ended before this handler, by a
	// proxy. Otherwise a request that did not come over TLS 1.3 is refused.
	TLSEnded bool

	Expect  Expectation   // Audience, Require and AllowRS256; the rest is filled in for each call
	KeyLife time.Duration // how long key sets are kept; 0: DefaultKeyLife, at most MaxKeyLife
	MaxBody int64         // octets of a request's body; 0: DefaultMaxBody

	// Timeout is that of a call, from the first look to the verified result; 0: 30 s.
	// The reading of the body is bounded by it too, or by the server's ReadTimeout.
	Timeout time.Duration

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
	keys    *keySource
	sites   *http.CrossOriginProtection
}

// NewGateway builds a gateway on a host. One that could not keep its duties is
// refused: without authorizer, without invoker, or at a base that is no https URL.
func NewGateway(host *lookleap.Host, o GatewayOptions) (*Gateway, error) {
	switch {
	case o.Authorizer == nil:
		return nil, fail(lookleap.CodeBadConfiguration, "a gateway needs an authorizer", "")
	case o.Invoker == nil:
		return nil, fail(lookleap.CodeBadConfiguration, "a gateway needs an invoker", "")
	}
	m, err := newMapping(o.Base, domain.Rules{})
	if err != nil {
		return nil, err
	}
	sites := http.NewCrossOriginProtection()
	for _, origin := range o.Origins {
		if err := sites.AddTrustedOrigin(origin); err != nil {
			return nil, &Error{Code: lookleap.CodeBadConfiguration, Reason: "one of Origins is no web origin", Fix: "write https://host", Err: err}
		}
	}
	if o.Discoverer == nil {
		o.Discoverer = NewDiscoverer(host, DiscoveryOptions{})
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	return &Gateway{host: host, options: o, mapping: m, keys: newKeySource(host, o.KeyLife, 256), sites: sites}, nil
}

// ServeHTTP serves one call. Refusals are problem details (RFC 9457) that hold a
// code and nothing of the request or the result.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), g.options.Timeout)
	defer cancel()
	endpoint := ""
	v, mediaType, err := g.serve(r.WithContext(ctx), &endpoint, g.boundReading(w, r))
	code, status := lookleap.CodeOf(err), http.StatusOK
	if code == lookleap.CodeCancelled && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		code = lookleap.CodeTimeout // it was our limit that ended it
	}
	header := w.Header()
	header.Set("Cache-Control", "private, no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	var body []byte
	var text string
	switch {
	case err != nil:
		status = statusOf(code)
		if errors.Is(err, ErrNoSession) {
			code, status = lookleap.CodeNoSession, http.StatusUnauthorized
			header.Set("WWW-Authenticate", cmp.Or(g.options.Challenge, "Bearer"))
		}
		switch code {
		case lookleap.CodeMethodNotAllowed:
			header.Set("Allow", "GET, HEAD, POST")
		case lookleap.CodeUnsafeNotDeclared:
			header.Set("Allow", "POST")
		}
		header.Set("Content-Type", "application/problem+json")
		body = []byte(`{"status":` + strconv.Itoa(status) + `,"title":` + strconv.Quote(code.Title()) + `,"code":` + strconv.Quote(string(code)) + "}\n")
	case isDetached(v.JWS):
		header.Set("Content-Type", mediaType)
		header.Set(ProvenanceHeader, v.JWS)
		body = v.Payload
	default:
		header.Set("Content-Type", joseType)
		text = v.JWS
	}
	header.Set("Content-Length", strconv.Itoa(len(body)+len(text)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
		_, _ = io.WriteString(w, text) // one of them is empty
	}
	g.audit(endpoint, code, status)
}

func isDetached(jws string) bool { return strings.Contains(jws, "..") }

// statusOf translates a reason into HTTP (section 3.2).
func statusOf(code lookleap.Code) int {
	switch code {
	case lookleap.CodeAmbiguous, lookleap.CodeBadChar, lookleap.CodeNonASCII, lookleap.CodeBadAuthority, lookleap.CodeEmptyAuthority, lookleap.CodeNoAuthority,
		lookleap.CodeUserinfo, lookleap.CodeBadPort, lookleap.CodeURITooLong, lookleap.CodeNotGateway, lookleap.CodeTooLarge, lookleap.CodeUsage:
		return http.StatusBadRequest
	case lookleap.CodeNotAuthorized, lookleap.CodeScope, lookleap.CodeInsecureTransport:
		return http.StatusForbidden
	case lookleap.CodeUnknownAuthority, lookleap.CodeAuthorityUnconfirmed:
		return http.StatusNotFound
	case lookleap.CodeMethodNotAllowed, lookleap.CodeUnsafeNotDeclared:
		return http.StatusMethodNotAllowed
	case lookleap.CodeTimeout, lookleap.CodeTooSlow:
		return http.StatusGatewayTimeout
	case lookleap.CodeBadConfiguration:
		return http.StatusInternalServerError
	}
	return http.StatusBadGateway
}

// Purge drops everything that is kept about an origin.
func (g *Gateway) Purge(origin string) {
	g.options.Discoverer.Purge(origin)
	g.keys.purge()
}

func (g *Gateway) audit(endpoint string, code lookleap.Code, status int) {
	if g.options.Audit == nil {
		return
	}
	defer func() { _ = recover() }()
	now := g.host.Time()
	g.options.Audit(AuditRecord{now, now.Add(g.options.Retention), endpoint, code, status})
}

// serve is the way of a call: map, judge the method, authorise, resolve, read the
// body, invoke, verify. Nothing is sent before all that comes first has passed,
// nobody is asked about an authority by whoever has no session, and the body of
// a call that is refused without it is not read.
func (g *Gateway) serve(r *http.Request, endpoint *string, complete func()) (*Verified, string, error) {
	if !g.options.TLSEnded && (r.TLS == nil || r.TLS.Version < tls.VersionTLS13) {
		return nil, "", fail(lookleap.CodeInsecureTransport, "the request did not come over TLS 1.3", "")
	}
	u, err := g.mapping.URI(escapedPath(r), r.URL.RawQuery, r.URL.ForceQuery || r.URL.RawQuery != "")
	if err != nil {
		return nil, "", err
	}
	*endpoint = u.Redacted()
	call := &Call{URI: u, Method: r.Method}
	if err := g.method(r, call); err != nil {
		return nil, "", err
	}
	if g.sites.Check(r) != nil {
		return nil, "", fail(lookleap.CodeNotAuthorized, "a page of another web origin sent the request", "")
	}
	grant, err := g.authorize(r, call)
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
	if err := g.keepPolicy(call, grant, d); err != nil {
		return nil, "", err
	}
	if r.Method == http.MethodPost {
		if call.Body, err = g.readBody(r); err != nil {
			return nil, "", err
		}
		complete()
		if err := g.authorizeBody(r, call, grant); err != nil {
			return nil, "", err
		}
	}
	result, err := invoke(r.Context(), g.options.Invoker, call)
	if err != nil {
		return nil, "", err
	}
	x := g.options.Expect
	x.Endpoint, x.Scopes, x.Request = d.Endpoint, d.Document.Scopes, RequestDigest(call)
	v, err := g.keys.verify(r.Context(), d, result, x)
	if err != nil {
		// A forged result that is too large is the endpoint's fault, not the client's.
		if lookleap.CodeOf(err) == lookleap.CodeTooLarge {
			err = fail(lookleap.CodeEndpointFailed, "the result is larger than its limit", "")
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
		if !g.safe(call.URI) {
			return fail(lookleap.CodeUnsafeNotDeclared, "the path was not declared free of effects", "use POST")
		}
		call.Method = http.MethodGet
		return nil
	case http.MethodPost:
		call.MediaType = r.Header.Get("Content-Type")
		return plain(r.Header)
	}
	return fail(lookleap.CodeMethodNotAllowed, "the method is none of GET, HEAD and POST", "")
}

// plain holds a POST to what is sent on. A body that is encoded would be read as
// another one, and a condition would be lost and the effect not.
func plain(h http.Header) error {
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
	if r.ContentLength == 0 || server != nil && server.ReadTimeout > 0 {
		return func() {}
	}
	control := http.NewResponseController(w) // a writer without deadlines goes without
	_ = control.SetReadDeadline(time.Now().Add(g.options.Timeout))
	return func() { _ = control.SetReadDeadline(time.Time{}) }
}

func (g *Gateway) readBody(r *http.Request) ([]byte, error) {
	body := bytes.NewBuffer(make([]byte, 0, max(r.ContentLength, 0)+bytes.MinRead))
	_, err := body.ReadFrom(io.LimitReader(r.Body, g.options.MaxBody+1))
	switch {
	case err != nil:
		return nil, &Error{Code: lookleap.CodeUsage, Reason: "the request could not be read", Err: err}
	case int64(body.Len()) > g.options.MaxBody:
		return nil, fail(lookleap.CodeTooLarge, "the request is larger than its limit", "")
	}
	return body.Bytes(), nil
}

// safe fails closed.
func (g *Gateway) safe(u URI) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return g.options.Safe != nil && g.options.Safe(u)
}

// authorize asks the host what the session permits.
func (g *Gateway) authorize(r *http.Request, call *Call) (*Grant, error) {
	grant, err := g.grant(r, call)
	switch {
	case errors.Is(err, ErrNoSession):
		return nil, err
	case err != nil || grant == nil:
		return nil, fail(lookleap.CodeNotAuthorized, "the session does not permit this", "")
	}
	for _, s := range call.Scopes {
		if !slices.Contains(grant.Scopes, s) {
			return nil, fail(lookleap.CodeScope, "the session does not cover a scope", "")
		}
	}
	return grant, nil
}

// keepPolicy offers the endpoint nothing weaker than its policy.
func (g *Gateway) keepPolicy(call *Call, grant *Grant, d *Discovery) error {
	if !d.Verifiable() {
		return fail(lookleap.CodeNoTrustAnchor, "no document says by which keys results can be verified", "")
	}
	if err := d.Document.permits(call.Scopes); err != nil {
		return err
	}
	policy := d.Document.Policy
	switch {
	case policy.Auth != "" && (grant.User == "" || grant.Token == ""):
		return fail(lookleap.CodeBadConfiguration, "the policy demands authorisation and the grant is not bound to a user", "")
	case policy.MTLS && !g.options.ClientCertificate:
		return fail(lookleap.CodePolicyUnsupported, "the policy demands a client certificate and none is configured", "")
	}
	call.Token, call.MTLS = grant.Token, policy.MTLS
	return nil
}

func (g *Gateway) grant(r *http.Request, call *Call) (grant *Grant, err error) {
	defer func() {
		if recover() != nil {
			grant, err = nil, fail(lookleap.CodeNotAuthorized, "the authorizer failed", "")
		}
	}()
	if g.options.Scopes != nil {
		call.Scopes = g.options.Scopes(call.Method, call.URI)
	}
	return g.options.Authorizer.Authorize(r.Context(), withoutBody(r), call)
}

// authorizeBody asks an authorizer that wants to see the body.
func (g *Gateway) authorizeBody(r *http.Request, call *Call, grant *Grant) (err error) {
	judge, ok := g.options.Authorizer.(BodyAuthorizer)
	if !ok {
		return nil
	}
	refused := fail(lookleap.CodeNotAuthorized, "the session does not permit to send this", "")
	defer func() {
		if recover() != nil {
			err = refused
		}
	}()
	switch err := judge.AuthorizeBody(r.Context(), withoutBody(r), call, grant); {
	case errors.Is(err, ErrNoSession):
		return err
	case err != nil:
		return refused
	}
	return nil
}

// withoutBody gives a request whose body nobody can read.
func withoutBody(r *http.Request) *http.Request {
	shown := *r
	shown.Body = http.NoBody
	return &shown
}
