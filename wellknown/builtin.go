package wellknown

import (
	"sync"
	"time"
)

// builtinDate is the day of the registry from which the table was made.
var builtinDate = time.Date(2025, time.December, 1, 0, 0, 0, 0, time.UTC)

// Builtin returns the table that comes with the package: the registered names that
// agents meet most and, as unregistered, the names of the drafts that this module
// implements. [LoadRegistry] reads the whole registry.
func Builtin() *Registry { return builtin() }

var builtin = sync.OnceValue(func() *Registry {
	r, err := NewRegistry(builtinDate, builtinEntries...)
	if err != nil {
		panic(err) // TestBuiltin
	}
	return r
})

var (
	jsonType = []string{"application/json"}
	textType = []string{"text/plain"}
)

var builtinEntries = []Entry{
	{Name: "acme-challenge", Controller: "IETF", Reference: "RFC8555", Status: Permanent, HasPath: true},
	{Name: "assetlinks.json", Controller: "Google", Reference: "https://developers.google.com/digital-asset-links", Status: Provisional, MediaTypes: jsonType},
	{Name: "brski", Controller: "IETF", Reference: "RFC8995", Status: Permanent, HasPath: true},
	{Name: "caldav", Controller: "IETF", Reference: "RFC6764", Status: Permanent},
	{Name: "carddav", Controller: "IETF", Reference: "RFC6764", Status: Permanent},
	{Name: "change-password", Controller: "W3C", Reference: "https://www.w3.org/TR/change-password-url/", Status: Provisional},
	{Name: "core", Controller: "IETF", Reference: "RFC6690", Status: Permanent, Schemes: []string{"coap", "coaps", "coap+tcp", "coaps+tcp", "coap+ws", "coaps+ws", "http", "https"}, MediaTypes: []string{"application/link-format"}},
	{Name: "est", Controller: "IETF", Reference: "RFC7030", Status: Permanent, HasPath: true},
	{Name: "genid", Controller: "W3C", Reference: "https://www.w3.org/TR/rdf11-concepts/", Status: Permanent, HasPath: true},
	{Name: "gpc.json", Controller: "W3C", Reference: "https://www.w3.org/TR/gpc/", Status: Provisional, MediaTypes: jsonType},
	{Name: "host-meta", Controller: "IETF", Reference: "RFC6415", Status: Permanent, MediaTypes: []string{"application/xrd+xml"}},
	{Name: "host-meta.json", Controller: "IETF", Reference: "RFC6415", Status: Permanent, MediaTypes: jsonType},
	{Name: "jmap", Controller: "IETF", Reference: "RFC8620", Status: Permanent, MediaTypes: jsonType},
	{Name: "mta-sts.txt", Controller: "IETF", Reference: "RFC8461", Status: Permanent, MediaTypes: textType},
	{Name: "ni", Controller: "IETF", Reference: "RFC6920", Status: Permanent, HasPath: true},
	{Name: "nodeinfo", Controller: "Jonne Haß", Reference: "https://nodeinfo.diaspora.software/", Status: Provisional, MediaTypes: jsonType},
	{Name: "oauth-authorization-server", Controller: "IETF", Reference: "RFC8414", Status: Permanent, MediaTypes: jsonType, HasPath: true},
	{Name: "oauth-protected-resource", Controller: "IETF", Reference: "RFC9728", Status: Permanent, MediaTypes: jsonType, HasPath: true},
	{Name: "openid-configuration", Controller: "OpenID Foundation", Reference: "https://openid.net/specs/openid-connect-discovery-1_0.html", Status: Permanent, MediaTypes: jsonType},
	{Name: "openpgpkey", Controller: "GnuPG e.V.", Reference: "draft-koch-openpgp-webkey-service", Status: Provisional, HasPath: true},
	{Name: "security.txt", Controller: "IETF", Reference: "RFC9116", Status: Permanent, MediaTypes: textType},
	{Name: "timezone", Controller: "IETF", Reference: "RFC7808", Status: Permanent, HasPath: true},
	{Name: "webfinger", Controller: "IETF", Reference: "RFC7033", Status: Permanent, MediaTypes: []string{"application/jrd+json"}},

	// Names of the drafts that this module implements. None was in the registry
	// on the day of the table.
	{Name: "agent-skills", Reference: "Agent Skills discovery v0.2", HasPath: true},
	{Name: "aiip", Reference: "draft-sogomonian-ai-uri-scheme-01", MediaTypes: jsonType},
	{Name: "anml", Reference: "draft-jeskey-anml-01", MediaTypes: []string{"application/anml+xml", "application/anml+json"}},
	{Name: "anml-trust", Reference: "draft-jeskey-anml-01", MediaTypes: jsonType},
	{Name: "skills", Reference: "draft-zzn-dvs-00", HasPath: true},
}
