package aiuri

import (
	"context"
	"slices"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
)

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

// tokenOf returns a token of a source for a destination.
func tokenOf(ctx context.Context, p *part, source TokenSource, to Destination, scopes []string) (string, error) {
	token, err := call(ctx, p, to.Authority(), func(ctx context.Context) (string, error) {
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
	return "", failOn(code, to.Endpoint.Redacted(), "the token source returned no token", "", err)
}

// authorities are the authorities that may get credentials.
type authorities struct {
	names   []string // host, and port if one was written
	parents []string // the same after a dot; every subdomain is allowed, at the same port
	systems []string // local systems
}

// parseAuthorities reads names such as "bank.example" and "bank.example:8443", and
// patterns such as "*.bank.example".
func parseAuthorities(list []string) (a authorities, err error) {
	for _, text := range list {
		name, pattern := strings.CutPrefix(text, "*.")
		u, err := FromIRI("ai://" + name)
		if err != nil || u.path != "" || u.hasQuery || u.hasFragment || strings.HasSuffix(name, ":") {
			return a, failOn(CodeBadConfiguration, "", "an entry of the list is not an authority", "write host, host:port or *.host", err)
		}
		if !pattern {
			a.names = append(a.names, u.Authority())
			continue
		}
		if _, ok := domain.Registrable(u.Host()); !ok {
			return a, fail(CodeBadConfiguration, "a pattern of the list covers domains of different owners",
				"write *. before a domain that one owner has registered")
		}
		a.parents = append(a.parents, "."+u.Authority())
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
	return slices.Contains(a.names, u.Authority()) ||
		slices.ContainsFunc(a.parents, func(parent string) bool { return strings.HasSuffix(u.Authority(), parent) })
}

// check refuses a call whose result could not be verified, whose scopes the document does not
// have, or whose policy the caller cannot keep: it needs tokens or a client certificate that the
// caller lacks or the endpoint may not get. An endpoint gets them only if its own confirmed policy
// requires them and the host allows its authority, whatever a page that advertises it says.
func (a authorities) check(d *Discovery, scopes []string, hasTokens, hasCertificate bool) error {
	refuse := func(code lookleap.Code, message, fix string) error {
		return failOn(code, d.Endpoint.Redacted(), message, fix, nil)
	}
	if !d.Verifiable() {
		return refuse(CodeNoTrustAnchor, "no document names keys to verify results with", "")
	}
	policy := d.Document.Policy
	switch {
	case policy.Auth != "" && !hasTokens:
		return refuse(CodePolicyUnsupported, "the policy requires a token of the user, but there is no user or no token source", "")
	case policy.MTLS && !hasCertificate:
		return refuse(CodePolicyUnsupported, "the policy requires a client certificate, but none is configured", "")
	}
	if err := d.Document.permits(scopes); err != nil {
		return err
	}
	switch {
	case policy.Auth == "" && !policy.MTLS:
	case !d.Confirmed:
		return refuse(CodeAuthorityUnconfirmed, d.Origin+" requires credentials, but the endpoint's own authority does not confirm it",
			"map the authority to its https origin in DiscovererOptions.Static or by a Registry")
	case d.System != "" && !slices.Contains(a.systems, d.System):
		return refuse(CodeCredentialsNotAllowed, "the policy requires credentials, but the options do not allow them for this system",
			"add "+d.System+" to LocalCredentials")
	case d.System == "" && !a.allow(d.Document.Endpoint):
		return refuse(CodeCredentialsNotAllowed, "the policy requires credentials, but the options do not allow them for this authority",
			"add "+d.Document.Endpoint.Authority()+" to Credentials")
	}
	return nil
}
