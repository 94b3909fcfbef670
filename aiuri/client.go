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
	*caller
	options  ClientOptions
	gateways map[string]Invoker
	first    string
	user     string // of ForUser; may be empty
}

// NewClient returns a client that fetches, asks and stores through host.
func NewClient(host *lookleap.Host, o ClientOptions) (*Client, error) {
	common, err := newCaller(host, o.Discoverer, o.Credentials, o.UserKey, o.KeyLife, cmp.Or(max(o.Timeout, 0), defaultWait))
	if err != nil {
		return nil, err
	}
	common.certificate, common.expect, common.maxBody = o.ClientCertificate, o.Expect, cmp.Or(max(o.MaxBody, 0), DefaultMaxBody)
	common.allowed.systems = slices.Clone(o.LocalCredentials)
	if len(o.UserKey) == 0 {
		o.UserKey = []byte(rand.Text() + rand.Text())
	}
	c := &Client{caller: common, options: o, gateways: make(map[string]Invoker)}
	for _, base := range o.Gateways {
		m, err := NewMapping(base)
		if err != nil {
			return nil, err
		}
		c.gateways[m.Base()] = &gatewayInvoker{host, m}
		c.first = cmp.Or(c.first, m.Base())
	}
	return c, nil
}

// ready returns an error if the client was not made with NewClient.
func (c *Client) ready() error {
	if c == nil || c.caller == nil {
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
	p.request.Body = bytes.Clone(r.Body) // after its size was checked
	p.call.Body = p.request.Body
	if c.harmless(ctx, p) {
		if err := c.authorize(ctx, p); err != nil {
			return nil, err
		}
		return c.send(ctx, p)
	}
	return c.ask(ctx, p)
}

// harmless reports whether the request needs no consent. Of an endpoint that its authority does not
// confirm, the host decides only about requests that tell it nothing. A panic or timeout means no.
func (c *Client) harmless(ctx context.Context, p *prepared) bool {
	r := &p.request
	tells := r.Body != nil || r.Method != http.MethodGet || r.MediaType != "" || !p.call.URI.Equal(p.discovery.Endpoint.sent())
	if c.options.Harmless == nil || tells && !p.discovery.Confirmed {
		return false
	}
	shown := *r
	shown.URI = p.call.URI
	shown.Body = bytes.Clone(r.Body)
	shown.Scopes = slices.Clone(r.Scopes)
	return ask(ctx, c.functions, func() bool { return c.options.Harmless(&shown) })
}

// permit returns the error with which the options refuse an endpoint. A panic or a timeout also
// refuses it.
func (c *Client) permit(ctx context.Context, u URI) error {
	if c.options.Permit == nil {
		return nil
	}
	_, err := call(ctx, c.functions, "", func(context.Context) (struct{}, error) { return struct{}{}, c.options.Permit(u) })
	if err != nil {
		return failOn(CodeAuthorityNotAllowed, u.Redacted(), "the endpoint may not be called", "", err)
	}
	return nil
}

// maxRequestText is the number of bytes of media type, method and scopes together.
const maxRequestText = 8 << 10

// check returns the request with its method, so that a resumed request has the same one. It refuses
// a request that is malformed or larger than its limits.
func (c *Client) check(r Request) (Request, error) {
	if r.Method == "" && r.Body == nil {
		r.Method = http.MethodGet
	}
	r.Method = cmp.Or(r.Method, http.MethodPost)
	isNoCapital := func(c rune) bool { return c < 'A' || c > 'Z' }
	isNoPrint := func(c rune) bool { return c < ' ' || c > '~' }
	_, _, malformed := mime.ParseMediaType(r.MediaType)
	blanks := strings.TrimSpace(r.MediaType) != r.MediaType
	switch {
	case strings.ContainsFunc(r.Method, isNoCapital):
		return r, fail(CodeMethodNotAllowed, "the method is not a word in capitals", "")
	case int64(len(r.Body)) > c.maxBody || len(r.MediaType)+len(r.Method)+len(strings.Join(r.Scopes, " ")) > maxRequestText:
		return r, fail(lookleap.CodeTooLarge, "the request is larger than its limit", "send less, or raise MaxBody")
	case r.MediaType != "" && (malformed != nil || blanks || strings.ContainsFunc(r.MediaType, isNoPrint)):
		return r, fail(lookleap.CodeUsage, "the media type of the request is malformed", "write type/subtype")
	}
	return r, nil
}

// prepare finds where a request goes and whether it may go there. It does not read the body,
// which the caller may still change.
func (c *Client) prepare(ctx context.Context, r Request) (*prepared, error) {
	r, err := c.check(r)
	if err != nil {
		return nil, err
	}
	invoker, gateway, err := c.route(r)
	if err != nil {
		return nil, err
	}
	d, u, err := c.find(ctx, r)
	if err != nil {
		return nil, err
	}
	keys, err := c.admit(ctx, d, r.Scopes, c.options.Tokens != nil)
	if err != nil {
		return nil, err
	}
	recipient := gateway
	if gateway == "" && d.System != "" {
		recipient = d.Origin
	}
	p := &prepared{request: r, discovery: d, keys: keys, invoker: invoker, recipient: cmp.Or(recipient, "ai://"+u.Authority())}
	p.call = Call{URI: u, Method: r.Method, Body: r.Body, Scopes: r.Scopes, MTLS: d.Document.Policy.MTLS, Targets: inOrder(d.Targets),
		User: userMark(c.options.UserKey, c.user, cmp.Or(u.Authority(), d.Origin)), To: d.destination(gateway)}
	if r.Body != nil {
		p.call.MediaType = r.MediaType
	}
	return p, nil
}

// route returns the native transport, or the one of a configured gateway and its base.
func (c *Client) route(r Request) (i Invoker, gateway string, err error) {
	switch {
	case r.Gateway == "" && c.options.Native != nil:
		return c.options.Native, "", nil
	case r.URI.Kind() == Absolute:
		return nil, "", fail(CodeNoResolver, "a local endpoint needs a native transport: a gateway is on another system",
			"set ClientOptions.Native")
	case r.Gateway == "" && c.first == "":
		return nil, "", fail(CodeNoResolver, "neither a native transport nor a gateway is configured", "")
	}
	m, err := NewMapping(cmp.Or(r.Gateway, c.first))
	if err != nil {
		return nil, "", err
	}
	i, ok := c.gateways[m.Base()]
	if !ok {
		return nil, "", fail(CodeUntrustedGateway, "the gateway is not among the configured gateways", "")
	}
	return i, m.Base(), nil
}

// find discovers the endpoint, checks that its document covers the URI, and returns the URI as it is
// sent.
func (c *Client) find(ctx context.Context, r Request) (d *Discovery, u URI, err error) {
	if r.Page != "" {
		d, err = c.discoverer.Discover(ctx, r.Page)
	} else if err = c.permit(ctx, r.URI); err == nil {
		d, err = c.discoverer.Resolve(ctx, r.URI)
	}
	if err != nil {
		return nil, u, err
	}
	if u = r.URI; u.IsZero() {
		u = d.Endpoint
	}
	if d.Document != nil && !d.Document.covers(u) {
		return nil, u, failOn(CodeAuthorityUnconfirmed, u.Redacted(), "the document does not name this endpoint", "", nil)
	}
	u = u.sent()
	return d, u, c.permit(ctx, u)
}

// authorize gets the token of a call.
func (c *Client) authorize(ctx context.Context, p *prepared) error {
	if err := c.getToken(ctx, &p.call, c.options.Tokens); err != nil {
		return refusal(c.host, p.call.URI.Redacted(), err)
	}
	return nil
}

// send makes the call and verifies the result.
func (c *Client) send(ctx context.Context, p *prepared) (*Verified, error) {
	p.call.Nonce = rand.Text()
	v, err := c.exchange(ctx, &p.call, p.discovery, p.keys, p.invoker)
	if err != nil {
		return nil, refusal(c.host, p.call.URI.Redacted(), err)
	}
	return v, nil
}
