package aiuri

import (
	"context"
	"slices"
	"time"

	"github.com/lookleap/lookleap/internal/domain"
)

// LocalResolver resolves ai: URIs without an authority, such as
// "ai:/agent/forklift-42?task=load". They are valid only on one device or system, so only
// the host knows what they name. A page or document of the web cannot advertise one.
// ResolveLocal must be safe for concurrent use.
type LocalResolver interface {
	// ResolveLocal returns the endpoint that u names or lies below. u is in normal form,
	// without a fragment. It returns an error if this system has no such endpoint.
	ResolveLocal(ctx context.Context, u URI) (*LocalEndpoint, error)
}

// LocalEndpoint is an endpoint of the device or system on which the agent runs. It is called
// under the same rules as any endpoint: the user consents, credentials go only to a system
// that ClientOptions.LocalCredentials names, and results must be signed.
type LocalEndpoint struct {
	// System is the name of the device or system: a host name in a domain that is local by
	// definition, such as "forklift-42.local" or "warehouse.internal", or one word. The user
	// sees it as the recipient. A name of the public DNS is refused.
	System   string
	Endpoint URI            // without authority and query; it includes all paths below it
	Keys     *KeySet        // verifies the results; required
	Scopes   []string       // the scopes that a call may request
	Policy   EndpointPolicy // results must be signed whatever it says
}

// resolveLocal returns the discovery of a URI without authority. It is not cached.
func (d *Discoverer) resolveLocal(ctx context.Context, u URI) (*Discovery, error) {
	unknown := func(message string, cause error) error {
		return failOn(CodeUnknownLocal, u.Redacted(), message, "", cause)
	}
	switch {
	case u.kind != Absolute:
		return nil, fail(CodeNoAuthority, "the URI has neither an authority nor an absolute path",
			"write ai://authority/path, or ai:/path for a local endpoint")
	case d.options.Local == nil:
		return nil, fail(CodeNoAuthority, "the URI has no authority, and no local resolver is configured",
			"set DiscovererOptions.Local, or write ai://authority/path")
	}
	local, err := call(ctx, d.local, "", func(ctx context.Context) (*LocalEndpoint, error) { return d.options.Local.ResolveLocal(ctx, u) })
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil || local == nil:
		return nil, unknown("the local resolver knows no such endpoint", err)
	}
	origin, err := local.origin()
	if err != nil {
		return nil, err
	}
	document := &Descriptor{Endpoint: local.Endpoint.Normalize(), Scopes: slices.Clone(local.Scopes), Policy: local.Policy}
	if !document.covers(u) {
		return nil, unknown("the local resolver returned another endpoint", nil)
	}
	found := document.discovery(SourceLocal, origin, time.Time{})
	found.System, found.keys = local.System, local.Keys
	return found, nil
}

// origin checks a local endpoint and returns the origin that stands for its system.
func (l *LocalEndpoint) origin() (string, error) {
	const message = "the local resolver returned an invalid endpoint: "
	bad := func(what, fix string) error { return fail(CodeBadConfiguration, message+what, fix) }
	if _, query := l.Endpoint.Query(); l.Endpoint.Kind() != Absolute || query {
		return "", bad("its URI is not an absolute path without a query", "write ai:/path")
	}
	if l.Keys == nil {
		return "", failOn(CodeNoTrustAnchor, l.Endpoint.Redacted(), message+"it has no keys to verify results with",
			"set LocalEndpoint.Keys", nil)
	}
	if slices.ContainsFunc(l.Scopes, func(scope string) bool { return !isScope(scope) }) {
		return "", bad("a scope is not a scope token of RFC 6749", "")
	}
	host, err := domain.Rules{AllowSpecial: true}.ParseHost(l.System)
	if _, public := domain.ParseHost(l.System); err != nil || host != l.System || public == nil {
		return "", bad("its system is not a local host name in lower case",
			"use a single word, or a name below .local, .internal or .home.arpa")
	}
	return "https://" + host, nil
}
