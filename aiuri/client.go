package aiuri

import (
	"bytes"
	"context"
	"crypto/rand"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
)

// ClientOptions are the choices of [NewClient]. What is not configured is not
// done: the zero value can invoke nothing.
type ClientOptions struct {
	Discoverer *Discoverer // nil: NewDiscoverer with its defaults
	Native     Invoker     // preferred where it is set: a gateway sees everything
	Gateways   []string    // bases of trusted gateways; the first is used unless a request names one. Never discovered
	Tokens     TokenSource // for endpoints with auth; nil: those are refused
	// Credentials are the authorities that may get tokens and client certificates, as
	// names such as "bank.example" and "bank.example:8443" or patterns such as
	// "*.bank.example", which covers every subdomain and not the domain itself. Empty:
	// no authority gets any, and endpoints that demand them are refused.
	Credentials []string
	// ClientCertificate says that the fetcher shows a client certificate. Without
	// it endpoints that demand one are refused before anything is sent.
	ClientCertificate bool
	// UserKey makes the marks of users, which bind plans and results to the user of
	// [Client.ForUser]: 32 random bytes, the same in all processes that resume each
	// other's plans. Nil: a key of this client.
	UserKey []byte
	// InFlight is the number of calls of each plug-in that may be under way at once, a
	// quarter of them for one authority; 0: DefaultInFlight. Further calls are refused.
	InFlight int
	// Harmless tells requests without physical or financial effect, which need no
	// consent. It sees the request as it would be sent: with the URI that the page
	// advertises and the method filled in. Nil, a panic or doubt: every request needs
	// consent. A body for an endpoint that its authority does not confirm always does.
	Harmless func(*Request) bool

	Expect Expectation // Audience, Require, RequireBinding, MaxAge and AllowRS256; the rest is filled in for each call
	// KeyLife is how long key sets are cached; 0: DefaultKeyLife, at most MaxKeyLife.
	KeyLife   time.Duration
	KeyMemory int   // bytes of key sets that are cached; 0: DefaultKeyMemory
	MaxBody   int64 // octets of a request's body; 0: DefaultMaxBody. A larger one is too-large before anybody is asked anything
}

// DefaultMaxBody is the number of octets that the body of a request may have, at a
// [Client] as at a [Gateway].
const DefaultMaxBody = 1 << 20

// Request is what a caller wants of an endpoint.
type Request struct {
	Page      string   `json:"page,omitempty"`      // https page that advertises the endpoint; "": the authority's own document
	URI       URI      `json:"uri,omitzero"`        // zero: the endpoint that the page advertises
	Method    string   `json:"method"`              // in capitals; "": POST with a body, GET without
	Body      []byte   `json:"body,omitzero"`       // nil: none; empty: one without octets
	MediaType string   `json:"mediaType,omitempty"` // of the body
	Scopes    []string `json:"scopes,omitempty"`    // asked for; none by default, and never more than these
	Gateway   string   `json:"gateway,omitempty"`   // one of the configured ones; "": the first
}

// Client invokes endpoints and gives nothing back that was not verified. It may
// be used from several goroutines at once.
type Client struct {
	host       *lookleap.Host
	options    ClientOptions
	discoverer *Discoverer
	keys       *keyCache
	gateways   map[string]Invoker
	first      string
	allowed    authorities
	plugins    plugins
	user       string // "": no one in particular
}

// NewClient builds a client on a host.
func NewClient(host *lookleap.Host, o ClientOptions) (*Client, error) {
	if host == nil {
		return nil, errNoHost("a client")
	}
	c := &Client{host: host, options: o, discoverer: o.Discoverer, keys: newKeyCache(host, o.KeyLife, o.KeyMemory), gateways: make(map[string]Invoker), plugins: newPlugins(o.InFlight)}
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
	return fail(CodeBadConfiguration, what+" needs a host", "pass &lookleap.Host{}")
}

// ready reports whether NewClient made the client.
func (c *Client) ready() error {
	if c == nil || c.host == nil {
		return fail(lookleap.CodeUsage, "the client is nil or zero", "make it with NewClient")
	}
	return nil
}

// ForUser returns a client that acts for one user and shares everything else with c.
// The id is the host's own and is never sent: plans hold a mark of it, which no other
// user's client resumes, and endpoints get a mark of it that differs from one authority
// to the next (see [Call.User]).
func (c *Client) ForUser(id string) *Client {
	if c == nil {
		return nil
	}
	own := *c
	own.user = id
	return &own
}

// Purge drops everything that is kept about an origin.
func (c *Client) Purge(origin string) {
	if c.ready() != nil {
		return
	}
	c.discoverer.Purge(origin)
	c.keys.purge()
}

// prepared is a request with everything that was found out about it.
type prepared struct {
	request   Request
	discovery *Discovery
	keys      fetchedKeys
	invoker   Invoker
	call      Call
	gateway   string // "": none
	recipient string
}

// Invoke finds the endpoint, checks that its policy can be kept, asks the user,
// and sends. The result comes back only if it is signed by a key of the endpoint
// and keeps to the policy; every refusal is a [*lookleap.VerifyError] or
// [*lookleap.Error] without a word of the result, and a user who has not
// decided yet is a [*lookleap.PendingError] for [Client.Resume].
func (c *Client) Invoke(ctx context.Context, r Request) (*Verified, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	r.Scopes = slices.Clone(r.Scopes) // the caller may change them while the user thinks
	p, err := c.prepare(ctx, r)
	if err != nil {
		return nil, refusal(c.host, "an invocation", err)
	}
	if c.options.Harmless != nil && (p.discovery.Confirmed || r.Body == nil) {
		p.request.Body = bytes.Clone(r.Body) // what is judged is what is sent
		p.call.Body = p.request.Body
		if c.harmless(ctx, p) {
			return c.send(ctx, p)
		}
	}
	e := effect{p.request, false, p.call.URI, p.recipient, p.discovery.Origin, p.discovery.DocumentOrigin, c.planMark()}
	plan, err := c.plan(p, e)
	if err != nil {
		return nil, err
	}
	approval, err := c.host.Ask(ctx, plan)
	if err != nil {
		return nil, err
	}
	return c.commit(ctx, approval, e)
}

// harmless fails closed.
func (c *Client) harmless(ctx context.Context, p *prepared) bool {
	shown := p.request
	shown.URI, shown.Body, shown.Scopes = p.call.URI, bytes.Clone(p.call.Body), slices.Clone(p.call.Scopes)
	ok, err := call(ctx, c.plugins.host, "", func(context.Context) (bool, error) { return c.options.Harmless(&shown), nil })
	return ok && err == nil
}

// fillMethod makes the method explicit, so that it is the same when it is resumed.
func (r *Request) fillMethod() error {
	switch {
	case r.Method == "" && r.Body == nil:
		r.Method = http.MethodGet
	case r.Method == "":
		r.Method = http.MethodPost
	}
	for i := range len(r.Method) {
		if c := r.Method[i]; c < 'A' || c > 'Z' {
			return fail(CodeMethodNotAllowed, "a method is a word in capitals", "")
		}
	}
	return nil
}

// maxWords is the number of octets that the media type and the scopes of a request
// may have together.
const maxWords = 8 << 10

// bounded holds a request to its limits.
func (c *Client) bounded(r *Request) error {
	words := len(r.MediaType) + len(r.Method)
	for _, s := range r.Scopes {
		words += len(s) + 1
	}
	if int64(len(r.Body)) > c.options.MaxBody || words > maxWords {
		return fail(lookleap.CodeTooLarge, "the request is larger than its limit", "send less, or raise MaxBody")
	}
	if _, _, err := mime.ParseMediaType(r.MediaType); r.MediaType != "" && (err != nil || !isPlainText(r.MediaType)) {
		return fail(lookleap.CodeUsage, "the media type of the request is malformed", "write type/subtype")
	}
	return nil
}

// isPlainText reports whether s is printable ASCII without blanks around it.
func isPlainText(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return s == strings.TrimSpace(s)
}

// prepare finds out where a request goes and whether it may. It does not look at
// the body, which is the caller's still.
func (c *Client) prepare(ctx context.Context, r Request) (*prepared, error) {
	if err := c.bounded(&r); err != nil {
		return nil, err
	}
	p := &prepared{request: r}
	var err error
	if err = p.request.fillMethod(); err != nil {
		return nil, err
	}
	if err := c.choose(p); err != nil {
		return nil, err
	}
	if err := c.find(ctx, p); err != nil {
		return nil, err
	}
	d := p.discovery
	switch {
	case !d.Verifiable():
		return nil, errNoKeys(d)
	case d.Document.Policy.Auth != "" && c.options.Tokens == nil:
		return nil, &lookleap.Error{Code: CodePolicyUnsupported, Subject: d.Endpoint.Redacted(), Message: "the policy demands authorisation and no token source is configured"}
	case d.Document.Policy.MTLS && !c.options.ClientCertificate:
		return nil, &lookleap.Error{Code: CodePolicyUnsupported, Subject: d.Endpoint.Redacted(), Message: "the policy demands a client certificate and none is configured"}
	}
	if err := c.allowed.check(d); err != nil {
		return nil, err
	}
	if err := d.Document.permits(r.Scopes); err != nil {
		return nil, err
	}
	// Before the call, so that a key server that fails costs no result of a call made.
	if p.keys, err = c.keys.keysOf(ctx, d); err != nil {
		return nil, err
	}
	r = p.request
	p.call.Method, p.call.Body, p.call.Scopes, p.call.MTLS, p.call.Targets = r.Method, r.Body, r.Scopes, d.Document.Policy.MTLS, d.Targets
	if r.Body != nil {
		p.call.MediaType = r.MediaType
	}
	p.call.User, p.call.To = userMark(c.options.UserKey, c.user, p.call.URI.Authority()), d.destination(p.gateway)
	return p, nil
}

// choose prefers a native transport, and knows configured gateways alone.
func (c *Client) choose(p *prepared) error {
	base := p.request.Gateway
	switch {
	case base == "" && c.options.Native != nil:
		p.invoker = c.options.Native
		return nil
	case base == "" && c.first == "":
		return fail(CodeNoResolver, "neither a native transport nor a gateway is configured", "")
	case base == "":
		base = c.first
	}
	m, err := NewMapping(base)
	if err != nil {
		return err
	}
	if p.invoker = c.gateways[m.Base()]; p.invoker == nil {
		return fail(CodeUntrustedGateway, "the gateway is not among the configured ones", "")
	}
	p.gateway, p.recipient = m.Base(), m.Base()
	return nil
}

// find discovers the endpoint and holds the URI to it.
func (c *Client) find(ctx context.Context, p *prepared) (err error) {
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
	if p.discovery.Document != nil && !p.discovery.Document.vouches(u) {
		return &lookleap.Error{Code: CodeAuthorityUnconfirmed, Subject: u.Redacted(), Message: "the document does not name this endpoint"}
	}
	p.call.URI = u.Normalize().WithoutFragment()
	if p.recipient == "" {
		p.recipient = "ai://" + p.call.URI.Authority()
	}
	return nil
}

// send performs the call and verifies what came.
func (c *Client) send(ctx context.Context, p *prepared) (*Verified, error) {
	subject := p.call.URI.Redacted()
	if p.discovery.Document.Policy.Auth != "" {
		token, err := c.token(ctx, p)
		if err != nil {
			return nil, refusal(c.host, subject, err)
		}
		p.call.Token = token
	}
	p.call.Nonce = rand.Text()
	r, err := invoke(ctx, c.plugins.transport, p.invoker, &p.call)
	if err != nil {
		return nil, refusal(c.host, subject, err)
	}
	v, err := c.keys.verify(ctx, p.discovery, p.keys, r, c.options.Expect.bind(&p.call, p.discovery))
	if err != nil {
		return nil, refusal(c.host, subject, err)
	}
	return v, nil
}

// token asks for a token that this call may carry.
func (c *Client) token(ctx context.Context, p *prepared) (string, error) {
	return tokenOf(ctx, c.plugins.tokens, c.options.Tokens, p.call.To, p.call.Scopes)
}
