package aiuri

import (
	"context"
	"slices"
	"strings"

	"github.com/lookleap/lookleap/internal/domain"
)

// Destination says where a credential goes, and on whose word.
type Destination struct {
	Endpoint   URI            // as the document of its authority names it
	Advertiser string         // https origin that advertises the endpoint: that of the page, or of the document
	Confirmed  bool           // the authority's own document names the endpoint
	Policy     EndpointPolicy // of that document
	Gateway    string         // base of the HTTPS gateway that the call passes through; "": it goes there directly
}

// Authority returns host and port of the endpoint.
func (d Destination) Authority() string { return d.Endpoint.Authority() }

func (d *Discovery) destination(gateway string) Destination {
	return Destination{Endpoint: d.Document.Endpoint, Advertiser: d.Origin, Confirmed: d.Confirmed, Policy: d.Document.Policy, Gateway: gateway}
}

// TokenSource returns bearer tokens. It is asked only if the confirmed policy of the
// endpoint asks for authorization and the options allow credentials for its authority.
// A token must be bound to the user of the call and valid for these scopes only. Token
// is called from several goroutines at once.
type TokenSource interface {
	Token(ctx context.Context, to Destination, scopes []string) (string, error)
}

// TokenFunc is a function that serves as a [TokenSource].
type TokenFunc func(ctx context.Context, to Destination, scopes []string) (string, error)

// Token calls f. A nil function returns an error.
func (f TokenFunc) Token(ctx context.Context, to Destination, scopes []string) (string, error) {
	if f == nil {
		return "", fail(CodeTokenUnavailable, "the token function is nil", "")
	}
	return f(ctx, to, scopes)
}

// authorities are those that may get credentials.
type authorities struct {
	names   map[string]bool // host, and port if one was written
	parents []URI           // of which every subdomain is allowed, at the same port
}

// parseAuthorities reads names such as "bank.example" and "bank.example:8443", and
// patterns such as "*.bank.example".
func parseAuthorities(list []string) (a authorities, err error) {
	a.names = make(map[string]bool, len(list))
	for _, text := range list {
		name, pattern := strings.CutPrefix(text, "*.")
		u, err := FromIRI("ai://" + name)
		if err != nil || u.path != "" || u.hasQuery || u.hasFragment || strings.HasSuffix(name, ":") {
			return a, &Error{Code: CodeBadConfiguration, Reason: "an entry of Credentials is not the name of an authority", Fix: "write host, host:port or *.host", Err: err}
		}
		if !pattern {
			a.names[u.Authority()] = true
			continue
		}
		if _, ok := domain.Registrable(u.Host()); !ok {
			return a, fail(CodeBadConfiguration, "a pattern of Credentials covers domains of different owners", "write *. before a domain that one owner has registered")
		}
		a.parents = append(a.parents, u)
	}
	return a, nil
}

// allow reports whether the authority of u is on the list. No default port is
// defined for ai: URIs, so a name without a port does not cover one with a port.
func (a authorities) allow(u URI) bool {
	return a.names[u.Authority()] || slices.ContainsFunc(a.parents, func(parent URI) bool {
		return parent.port == u.port && strings.HasSuffix(u.Host(), "."+parent.Host())
	})
}

// check refuses an endpoint that demands credentials which it may not get. An endpoint
// gets them only if its own confirmed policy asks for them and the host allows its
// authority; a page that advertises the endpoint has no say in it.
func (a authorities) check(d *Discovery) error {
	policy := d.Document.Policy
	switch {
	case policy.Auth == "" && !policy.MTLS:
		return nil
	case !d.Confirmed:
		return &Error{Code: CodeAuthorityUnconfirmed, Subject: d.Endpoint.Redacted(), Reason: "credentials are demanded by " + d.Origin + " and not by the endpoint's own authority",
			Fix: "map the authority to its https origin in DiscoveryOptions.Static or by a Registry"}
	case !a.allow(d.Document.Endpoint):
		return &Error{Code: CodeCredentialsNotAllowed, Subject: d.Endpoint.Redacted(), Reason: "the policy demands credentials and the options do not allow them for this authority",
			Fix: "add " + d.Document.Endpoint.Authority() + " to Credentials"}
	}
	return nil
}
