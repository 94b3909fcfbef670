package aiuri

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
)

// ClientOptions configure a [Client]. A Client needs Native or at least one of Gateways to
// invoke anything. All other fields may be zero.
type ClientOptions struct {
	Discoverer *Discoverer // nil: NewDiscoverer with zero options
	Native     Invoker     // preferred over gateways, which see all requests and results
	// Gateways are the base URLs of trusted gateways. The first is used unless a request
	// names another one. Gateways are never discovered.
	Gateways []string
	// Tokens returns tokens for endpoints whose policy requires them; nil: these
	// endpoints are refused.
	Tokens TokenSource
	// Permit decides about each endpoint before it is called, and before its own URI is looked up.
	// An error refuses the call. Nil: every endpoint may be called. See [MatchAuthority].
	Permit func(URI) error
	// Credentials are the authorities that may get tokens and client certificates: names
	// such as "bank.example" and "bank.example:8443", or patterns such as
	// "*.bank.example", which match every subdomain but not the domain itself. Empty:
	// endpoints that require credentials are refused.
	Credentials []string
	// LocalCredentials are the local systems that may get them (see LocalEndpoint.System).
	LocalCredentials []string
	// ClientCertificate says that the fetcher presents a client certificate. If it is
	// false, endpoints that require one are refused before anything is sent.
	ClientCertificate bool
	// UserKey is the key for the user marks that bind plans and results to the user of
	// [Client.ForUser]: 32 random bytes, equal in all processes that resume each other's
	// plans. Nil: a random key for this client.
	UserKey []byte
	// Timeout is the longest wait for one call of the transport, of the token source or of a
	// function of the options; 0: 5 min. The caller's context can end it earlier.
	Timeout time.Duration
	// Harmless reports whether a request has no physical or financial effect and
	// therefore needs no consent. It gets the request as it would be sent. If it is nil or
	// panics, every request needs consent. If the endpoint's authority does not confirm the
	// endpoint, a request with a body always needs consent, and so does a URI that is not the
	// advertised one: both tell the endpoint something.
	Harmless func(*Request) bool

	// Expect sets Audience, Require, RequireBinding, MaxAge and AllowRS256. The client
	// fills in the other fields for each call.
	Expect Expectation
	// KeyLife is how long key sets are cached; 0: DefaultKeyLife, at most MaxKeyLife.
	KeyLife time.Duration
	// MaxBody is the number of bytes that the body of a request may have; 0:
	// DefaultMaxBody. Larger requests are refused before anything is sent.
	MaxBody int64
}

// DefaultMaxBody is the number of bytes that the body of a request may have, at a [Client]
// and at a [Gateway].
const DefaultMaxBody = 1 << 20

// Request is a request to an endpoint.
type Request struct {
	Page      string   `json:"page,omitempty"`      // https page that advertises the endpoint; "": the authority's own document
	URI       URI      `json:"uri,omitzero"`        // zero: the endpoint that the page advertises
	Method    string   `json:"method"`              // in capitals; "": POST with a body, GET without
	Body      []byte   `json:"body,omitzero"`       // nil: no body; empty: a body of no bytes
	MediaType string   `json:"mediaType,omitempty"` // of the body
	Scopes    []string `json:"scopes,omitempty"`    // requested; the document must have them
	Gateway   string   `json:"gateway,omitempty"`   // one of ClientOptions.Gateways; "": the first
}

// Client invokes endpoints and returns only results that it has verified. It is safe for
// concurrent use.
type Client struct {
	host       *lookleap.Host
	options    ClientOptions
	discoverer *Discoverer
	keys       *keyCache
	gateways   map[string]Invoker
	first      string
	allowed    authorities
	parts      parts
	user       string // of ForUser; may be empty
}

// NewClient returns a client that fetches, asks and stores through host.
func NewClient(host *lookleap.Host, o ClientOptions) (*Client, error) {
	if host == nil {
		return nil, errNoHost("a client")
	}
	c := &Client{host: host, options: o, discoverer: o.Discoverer, keys: newKeyCache(host, o.KeyLife),
		gateways: make(map[string]Invoker), parts: newParts(cmp.Or(max(o.Timeout, 0), defaultWait))}
	if c.options.MaxBody <= 0 {
		c.options.MaxBody = DefaultMaxBody
	}
	if err := checkUserKey(o.UserKey); err != nil {
		return nil, err
	}
	if len(o.UserKey) == 0 {
		c.options.UserKey = []byte(rand.Text() + rand.Text())
	}
	var err error
	if c.allowed, err = parseAuthorities(o.Credentials); err != nil {
		return nil, err
	}
	c.allowed.systems = slices.Clone(o.LocalCredentials)
	if c.discoverer == nil {
		c.discoverer = NewDiscoverer(host, DiscovererOptions{})
	}
	for _, base := range o.Gateways {
		m, err := NewMapping(base)
		if err != nil {
			return nil, err
		}
		c.gateways[m.Base()] = &gatewayInvoker{host, m}
		if c.first == "" {
			c.first = m.Base()
		}
	}
	return c, nil
}

func errNoHost(what string) *lookleap.Error {
	return fail(CodeBadConfiguration, what+" needs a host, which is nil", "pass &lookleap.Host{}")
}

// ready returns an error if the client was not made with NewClient.
func (c *Client) ready() error {
	if c == nil || c.host == nil {
		return fail(lookleap.CodeUsage, "the client is nil or zero", "make it with NewClient")
	}
	return nil
}

// ForUser returns a client that acts for one user and shares everything else with c. The id
// is never sent. Plans contain a mark of it, so that another user's client does not resume
// them. Endpoints get another mark, which differs for each authority (see [Call.User]).
func (c *Client) ForUser(id string) *Client {
	if c == nil {
		return nil
	}
	forUser := *c
	forUser.user = id
	return &forUser
}

// prepared is a request with its endpoint, keys and transport.
type prepared struct {
	request   Request
	discovery *Discovery
	keys      fetchedKeys
	invoker   Invoker
	call      Call
	gateway   string // "" for a native transport
	recipient string
}

// Invoke finds the endpoint, checks that its policy can be kept, asks the user, and sends
// the request. It returns the result only if a key of the endpoint signed it and its claims
// match the request. A refusal is a [*lookleap.VerifyError] or a [*lookleap.Error] and
// contains nothing of the result. While the user has not decided, the error is a
// [*lookleap.PendingError] for [Client.Resume].
func (c *Client) Invoke(ctx context.Context, r Request) (*Verified, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	r.Scopes = slices.Clone(r.Scopes) // the caller may change them while the user decides
	p, err := c.prepare(ctx, r)
	if err != nil {
		return nil, refusal(c.host, "an invocation", err)
	}
	if c.options.Harmless != nil && (p.discovery.Confirmed || p.tellsNothing()) {
		p.request.Body = bytes.Clone(r.Body) // Harmless decides about the bytes that are sent
		p.call.Body = p.request.Body
		if c.harmless(ctx, p) {
			if err := c.authorize(ctx, p); err != nil {
				return nil, err
			}
			return c.send(ctx, p)
		}
	}
	e := effect{p.request, false, p.call.URI, p.recipient, p.discovery.Origin, p.discovery.DocumentOrigin, ""}
	plan, err := c.plan(p, e)
	if err != nil {
		return nil, err
	}
	approval, err := c.host.Ask(c.asUser(ctx), plan)
	if err != nil {
		return nil, err
	}
	return c.commit(ctx, approval, e)
}

// tellsNothing reports whether a request has nothing that the endpoint's document does not name.
func (p *prepared) tellsNothing() bool {
	r := &p.request
	return r.Body == nil && r.Method == http.MethodGet && r.MediaType == "" && p.call.URI.Equal(p.discovery.Endpoint.Normalize().WithoutFragment())
}

// permit returns the error with which the options refuse an endpoint. A panic or a timeout also
// refuses it.
func (c *Client) permit(ctx context.Context, u URI) error {
	if c.options.Permit == nil {
		return nil
	}
	_, err := call(ctx, c.parts.host, "", func(context.Context) (struct{}, error) { return struct{}{}, c.options.Permit(u) })
	if err != nil {
		return &lookleap.Error{Code: CodeAuthorityNotAllowed, Subject: u.Redacted(), Message: "the endpoint may not be called", Err: err}
	}
	return nil
}

// harmless reports whether the request needs no consent. A panic or timeout means no.
func (c *Client) harmless(ctx context.Context, p *prepared) bool {
	shown := p.request
	shown.URI = p.call.URI
	shown.Body = bytes.Clone(p.call.Body)
	shown.Scopes = slices.Clone(p.call.Scopes)
	return ask(ctx, c.parts.host, func() bool { return c.options.Harmless(&shown) })
}

// fillMethod sets the default method, so that a resumed request has the same one.
func (r *Request) fillMethod() error {
	switch {
	case r.Method == "" && r.Body == nil:
		r.Method = http.MethodGet
	case r.Method == "":
		r.Method = http.MethodPost
	}
	for i := range len(r.Method) {
		if c := r.Method[i]; c < 'A' || c > 'Z' {
			return fail(CodeMethodNotAllowed, "the method is not a word in capitals", "")
		}
	}
	return nil
}

// maxRequestText is the number of bytes of media type, method and scopes together.
const maxRequestText = 8 << 10

// checkSize refuses a request that is larger than its limits or has a malformed media type.
func (c *Client) checkSize(r *Request) error {
	text := len(r.MediaType) + len(r.Method)
	for _, s := range r.Scopes {
		text += len(s) + 1
	}
	if int64(len(r.Body)) > c.options.MaxBody || text > maxRequestText {
		return fail(lookleap.CodeTooLarge, "the request is larger than its limit", "send less, or raise MaxBody")
	}
	if _, _, err := mime.ParseMediaType(r.MediaType); r.MediaType != "" && (err != nil || !isPlainText(r.MediaType)) {
		return fail(lookleap.CodeUsage, "the media type of the request is malformed", "write type/subtype")
	}
	return nil
}

// isPlainText reports whether s is printable ASCII without spaces around it.
func isPlainText(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return s == strings.TrimSpace(s)
}

// prepare finds where a request goes and whether it may go there. It does not read the body,
// which the caller may still change.
func (c *Client) prepare(ctx context.Context, r Request) (*prepared, error) {
	p := &prepared{request: r}
	var err error
	if err = p.request.fillMethod(); err != nil {
		return nil, err
	}
	if err := c.checkSize(&p.request); err != nil {
		return nil, err
	}
	if err := c.chooseInvoker(p); err != nil {
		return nil, err
	}
	if r.Page == "" {
		if err := c.permit(ctx, r.URI); err != nil {
			return nil, err
		}
	}
	if err := c.findEndpoint(ctx, p); err != nil {
		return nil, err
	}
	d := p.discovery
	if err := c.permit(ctx, p.call.URI); err != nil {
		return nil, err
	}
	if err := c.allowed.check(d, r.Scopes, c.options.Tokens != nil, c.options.ClientCertificate); err != nil {
		return nil, err
	}
	// Now, because a key server that fails after the call would cost its result.
	if p.keys, err = c.keys.keysOf(ctx, d); err != nil {
		return nil, err
	}
	r = p.request
	p.call.Method = r.Method
	p.call.Body = r.Body
	p.call.Scopes = r.Scopes
	p.call.MTLS = d.Document.Policy.MTLS
	p.call.Targets = d.Targets
	if r.Body != nil {
		p.call.MediaType = r.MediaType
	}
	p.call.User, p.call.To = userMark(c.options.UserKey, c.user, cmp.Or(p.call.URI.Authority(), d.Origin)), d.destination(p.gateway)
	return p, nil
}

// chooseInvoker sets the transport: the native one, or a configured gateway.
func (c *Client) chooseInvoker(p *prepared) error {
	base := p.request.Gateway
	switch {
	case base == "" && c.options.Native != nil:
		p.invoker = c.options.Native
		return nil
	case p.request.URI.Kind() == Absolute:
		return fail(CodeNoResolver, "a local endpoint needs a native transport: a gateway is on another system", "set ClientOptions.Native")
	case base == "" && c.first == "":
		return fail(CodeNoResolver, "neither a native transport nor a gateway is configured", "")
	case base == "":
		base = c.first
	}
	m, err := NewMapping(base)
	if err != nil {
		return err
	}
	p.invoker = c.gateways[m.Base()]
	if p.invoker == nil {
		return fail(CodeUntrustedGateway, "the gateway is not among the configured gateways", "")
	}
	p.gateway, p.recipient = m.Base(), m.Base()
	return nil
}

// findEndpoint discovers the endpoint and checks that its document covers the URI.
func (c *Client) findEndpoint(ctx context.Context, p *prepared) (err error) {
	u := p.request.URI
	if p.request.Page == "" {
		p.discovery, err = c.discoverer.Resolve(ctx, u)
	} else {
		p.discovery, err = c.discoverer.Discover(ctx, p.request.Page)
	}
	if err != nil {
		return err
	}
	if u.IsZero() {
		u = p.discovery.Endpoint
	}
	if p.discovery.Document != nil && !p.discovery.Document.covers(u) {
		return &lookleap.Error{Code: CodeAuthorityUnconfirmed, Subject: u.Redacted(), Message: "the document does not name this endpoint"}
	}
	p.call.URI = u.Normalize().WithoutFragment()
	switch {
	case p.recipient != "":
	case p.discovery.System != "":
		p.recipient = p.discovery.Origin
	default:
		p.recipient = "ai://" + p.call.URI.Authority()
	}
	return nil
}

// authorize gets the token of a call.
func (c *Client) authorize(ctx context.Context, p *prepared) error {
	if p.discovery.Document.Policy.Auth == "" {
		return nil
	}
	token, err := tokenOf(ctx, c.parts.tokens, c.options.Tokens, p.call.To, p.call.Scopes)
	if err != nil {
		return refusal(c.host, p.call.URI.Redacted(), err)
	}
	p.call.Token = token
	return nil
}

// send makes the call and verifies the result.
func (c *Client) send(ctx context.Context, p *prepared) (*Verified, error) {
	subject := p.call.URI.Redacted()
	p.call.Nonce = rand.Text()
	r, err := invoke(ctx, c.parts.transport, p.invoker, &p.call)
	if err != nil {
		return nil, refusal(c.host, subject, err)
	}
	v, err := c.keys.verify(ctx, p.discovery, p.keys, r, c.options.Expect.bind(&p.call, p.discovery))
	if err != nil {
		return nil, refusal(c.host, subject, err)
	}
	return v, nil
}
