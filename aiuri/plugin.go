package aiuri

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

// How long a client waits for one call of a plug-in, and how long a discoverer does.
const (
	defaultWait = 5 * time.Minute
	lookupWait  = 30 * time.Second
)

// DefaultInFlight is the number of concurrent calls of one plug-in.
const DefaultInFlight = 1024

// callLimit bounds the concurrent calls of one plug-in. A call that never returns keeps its
// place. One authority gets at most a quarter of the places, so that it cannot block others.
type callLimit struct {
	most int

	mu  sync.Mutex
	all int
	of  map[string]int // by authority
}

func newCallLimit(most int) *callLimit {
	if most <= 0 {
		most = DefaultInFlight
	}
	return &callLimit{most: most, of: make(map[string]int)}
}

func (l *callLimit) enter(authority string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= l.most || authority != "" && l.of[authority] >= max(l.most/4, 1) {
		return false
	}
	l.all++
	l.of[authority]++
	return true
}

func (l *callLimit) leave(authority string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	l.of[authority]--
	if l.of[authority] == 0 {
		delete(l.of, authority)
	}
}

// plugin is the name, error code and limits of a plug-in.
type plugin struct {
	name  string
	code  lookleap.Code
	limit *callLimit
	wait  time.Duration // longest wait for one call; 0: until the caller's context ends
}

// errPanicked is the error of a plug-in that panicked or ended its goroutine.
var errPanicked = errors.New("it did not return")

// late returns the error of a call that did not return in time.
func (p plugin) late() error {
	return fail(lookleap.CodeTimeout, fmt.Sprintf("%s did not return within %v", p.name, p.wait),
		"end each call with its context; the Timeout of a client or gateway can be raised")
}

// call runs f, which calls a plug-in for an authority (may be empty). It returns when f
// returns, when ctx ends, or after the longest wait. A panic or an error without a known code gets the plug-in's code.
func call[T any](ctx context.Context, p plugin, authority string, f func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if !p.limit.enter(authority) {
		return none, fail(CodePluginBusy, "too many calls of "+p.name+" have not returned",
			"end each call when its context ends, or raise InFlight")
	}
	done := make(chan outcome, 1)
	limited, stop := context.WithCancel(ctx)
	if p.wait != 0 {
		limited, stop = context.WithTimeout(ctx, p.wait)
	}
	defer stop()
	go func() {
		o := outcome{err: errPanicked}
		defer func() {
			_ = recover()
			p.limit.leave(authority)
			done <- o
		}()
		value, err := f(limited)
		o = outcome{value, err}
	}()
	var o outcome
	select {
	case o = <-done:
	case <-limited.Done():
		o.err = limited.Err()
	}
	switch code := lookleap.CodeOf(o.err); {
	case o.err == nil:
		return o.value, nil
	case ctx.Err() != nil:
		return none, ctx.Err()
	case limited.Err() != nil:
		return none, p.late()
	case code == lookleap.CodeInternal || !code.Known():
		return none, &lookleap.Error{Code: p.code, Message: p.name + " failed", Err: o.err}
	}
	return o.value, o.err
}

// tokenOf returns a token of a source for a destination.
func tokenOf(ctx context.Context, limits plugin, source TokenSource, to Destination, scopes []string) (string, error) {
	token, err := call(ctx, limits, to.Authority(), func(ctx context.Context) (string, error) {
		return source.Token(ctx, to, slices.Clone(scopes))
	})
	switch {
	case err == nil && token != "":
		return token, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	code := CodeTokenUnavailable
	if lookleap.CodeOf(err) == CodePluginBusy {
		code = CodePluginBusy
	}
	return "", &lookleap.Error{Code: code, Subject: to.Endpoint.Redacted(), Message: "the token source returned no token", Err: err}
}

// invoke calls a transport with a copy of the call.
func invoke(ctx context.Context, limits plugin, i Invoker, c *Call) (SignedResult, error) {
	shown := *c
	return call(ctx, limits, c.URI.Authority(), func(ctx context.Context) (SignedResult, error) { return i.Invoke(ctx, &shown) })
}

// plugins are the plug-ins that both clients and gateways call.
type plugins struct{ transport, tokens, host, audit plugin }

func newPlugins(inFlight int, wait time.Duration) plugins {
	return plugins{
		transport: plugin{"the transport", CodeTransportFailed, newCallLimit(inFlight), wait},
		tokens:    plugin{"the token source", CodeTokenUnavailable, newCallLimit(inFlight), wait},
		host:      plugin{"a function of the options", CodeNotAuthorized, newCallLimit(inFlight), wait},
		audit:     plugin{"the audit function", CodePluginBusy, newCallLimit(inFlight), wait},
	}
}

// Destination is where a credential goes, and who says so.
type Destination struct {
	Endpoint   URI            // as its document names it
	Advertiser string         // https origin that advertises the endpoint
	Confirmed  bool           // the authority's own document names the endpoint
	Policy     EndpointPolicy // of the document
	Gateway    string         // base of the HTTPS gateway that gets the call; "" if it goes to the endpoint
	System     string         // the local system of an endpoint without authority; "" for others
}

// Authority returns the host and port of the endpoint. It is empty for a local endpoint.
func (d Destination) Authority() string { return d.Endpoint.Authority() }

func (d *Discovery) destination(gateway string) Destination {
	return Destination{Endpoint: d.Document.Endpoint, Advertiser: d.Origin, Confirmed: d.Confirmed,
		Policy: d.Document.Policy, Gateway: gateway, System: d.System}
}

// TokenSource returns bearer tokens. It is called only if the confirmed policy of the endpoint
// requires a token and the options allow credentials for its authority. A token must be bound
// to the user of the call and valid only for these scopes. Token must be safe for concurrent
// use.
type TokenSource interface {
	Token(ctx context.Context, to Destination, scopes []string) (string, error)
}

// TokenFunc is a function that is a [TokenSource].
type TokenFunc func(ctx context.Context, to Destination, scopes []string) (string, error)

// Token calls f. A nil function returns an error.
func (f TokenFunc) Token(ctx context.Context, to Destination, scopes []string) (string, error) {
	if f == nil {
		return "", fail(CodeTokenUnavailable, "the token function is nil", "")
	}
	return f(ctx, to, scopes)
}

// authorities are the authorities that may get credentials.
type authorities struct {
	names   map[string]bool // host, and port if one was written
	parents []URI           // every subdomain is allowed, at the same port
	systems []string        // local systems
}

// parseAuthorities reads names such as "bank.example" and "bank.example:8443", and
// patterns such as "*.bank.example".
func parseAuthorities(list []string) (a authorities, err error) {
	a.names = make(map[string]bool, len(list))
	for _, text := range list {
		name, pattern := strings.CutPrefix(text, "*.")
		u, err := FromIRI("ai://" + name)
		if err != nil || u.path != "" || u.hasQuery || u.hasFragment || strings.HasSuffix(name, ":") {
			return a, &lookleap.Error{Code: CodeBadConfiguration, Message: "an entry of the list is not an authority",
				Fix: "write host, host:port or *.host", Err: err}
		}
		if !pattern {
			a.names[u.Authority()] = true
			continue
		}
		if _, ok := domain.Registrable(u.Host()); !ok {
			return a, fail(CodeBadConfiguration, "a pattern of the list covers domains of different owners",
				"write *. before a domain that one owner has registered")
		}
		a.parents = append(a.parents, u)
	}
	return a, nil
}

// MatchAuthority reports whether the authority of a URI is on a list: names and patterns as in
// [ClientOptions.Credentials]. It returns an error if an entry of the list is malformed. A local
// URI has no authority, so it is on no list.
func MatchAuthority(u URI, list []string) (bool, error) {
	a, err := parseAuthorities(list)
	return err == nil && a.allow(u), err // Parse refuses an empty authority, so none is on the list
}

// allow reports whether the authority of u is on the list. No default port is
// defined for ai: URIs, so a name without a port does not cover one with a port.
func (a authorities) allow(u URI) bool {
	return a.names[u.Authority()] || slices.ContainsFunc(a.parents, func(parent URI) bool {
		return parent.port == u.port && strings.HasSuffix(u.Host(), "."+parent.Host())
	})
}

// check refuses an endpoint that requires credentials which it may not get. It gets them only
// if its own confirmed policy requires them and the host allows its authority, whatever a
// page that advertises the endpoint says.
func (a authorities) check(d *Discovery) error {
	policy := d.Document.Policy
	switch {
	case policy.Auth == "" && !policy.MTLS:
		return nil
	case !d.Confirmed:
		return &lookleap.Error{Code: CodeAuthorityUnconfirmed, Subject: d.Endpoint.Redacted(),
			Message: d.Origin + " requires credentials, but the endpoint's own authority does not confirm it",
			Fix:     "map the authority to its https origin in DiscovererOptions.Static or by a Registry"}
	case d.System != "" && !slices.Contains(a.systems, d.System):
		return &lookleap.Error{Code: CodeCredentialsNotAllowed, Subject: d.Endpoint.Redacted(),
			Message: "the policy requires credentials, but the options do not allow them for this system",
			Fix:     "add " + d.System + " to LocalCredentials"}
	case d.System == "" && !a.allow(d.Document.Endpoint):
		return &lookleap.Error{Code: CodeCredentialsNotAllowed, Subject: d.Endpoint.Redacted(),
			Message: "the policy requires credentials, but the options do not allow them for this authority",
			Fix:     "add " + d.Document.Endpoint.Authority() + " to Credentials"}
	}
	return nil
}
