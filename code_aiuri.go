package lookleap

// Codes of the ai: URI scheme. User information and ports have the shared codes,
// and a key set or document that cannot be had the code of the exchange.
const (
	CodeNotAI          Code = "not-ai"
	CodeURIEmpty       Code = "empty"
	CodeURITooLong     Code = "too-long"
	CodeBadChar        Code = "bad-char"
	CodeNonASCII       Code = "non-ascii"
	CodeEmptyAuthority Code = "empty-authority"
	CodeBadAuthority   Code = "bad-authority"
	CodeNoAuthority    Code = "no-authority"

	CodeBadGateway       Code = "bad-gateway"
	CodeAmbiguous        Code = "ambiguous"
	CodeNotGateway       Code = "not-gateway"
	CodeUntrustedGateway Code = "untrusted-gateway"

	CodeBadDocument          Code = "bad-document"
	CodeJWKSOrigin           Code = "jwks-origin"
	CodePolicyUnsupported    Code = "policy-unsupported"
	CodePolicyWeaker         Code = "policy-weaker-than-spec"
	CodePolicyDowngrade      Code = "policy-downgrade"
	CodeDiscoveryFailed      Code = "discovery-failed"
	CodeDiscoveryConflict    Code = "discovery-conflict"
	CodeNoEndpoint           Code = "no-endpoint"
	CodeServiceUnavailable   Code = "service-unavailable"
	CodeAmbiguousDNS         Code = "ambiguous-dns"
	CodeUnknownAuthority     Code = "unknown-authority"
	CodeAuthorityUnconfirmed Code = "authority-unconfirmed"

	CodeBadKeySet           Code = "bad-key-set"
	CodeNoTrustAnchor       Code = "no-trust-anchor"
	CodeRejectedUnsigned    Code = "rejected-unsigned"
	CodeRejectedSignature   Code = "rejected-bad-signature"
	CodeRejectedKey         Code = "rejected-unknown-key"
	CodeRejectedAlgorithm   Code = "rejected-alg"
	CodeRejectedCritical    Code = "rejected-crit"
	CodeRejectedPolicy      Code = "rejected-policy"
	CodeForeignKeyReference Code = "foreign-key-reference"

	CodeNoResolver        Code = "no-resolver"
	CodeUnauthenticated   Code = "unauthenticated-endpoint"
	CodeScope             Code = "scope"
	CodeEndpointFailed    Code = "endpoint-failed"
	CodeNoSession         Code = "no-session"
	CodeMethodNotAllowed  Code = "method-not-allowed"
	CodeNotAuthorized     Code = "not-authorized"
	CodeBadConfiguration  Code = "bad-configuration"
	CodeUnsafeNotDeclared Code = "not-declared-safe"
	CodeRequestTimeout    Code = "request-timeout"

	CodeCredentialsNotAllowed Code = "credentials-not-allowed"
	CodeTokenUnavailable      Code = "token-unavailable"
	CodeTransportFailed       Code = "transport-failed"
	CodePluginBusy            Code = "plugin-busy"
	CodeUnbound               Code = "unbound-result"
)

var aiuriCodes = map[Code]string{
	CodeNotAI:          "the text is no ai: URI",
	CodeURIEmpty:       "the URI names nothing",
	CodeURITooLong:     "the URI is longer than its limit",
	CodeBadChar:        "the URI holds an octet that RFC 3986 does not allow there",
	CodeNonASCII:       "the URI holds an octet outside ASCII",
	CodeEmptyAuthority: "the URI has an authority without a host",
	CodeBadAuthority:   "the authority is no host of letters, digits and hyphens",
	CodeNoAuthority:    "the URI has no authority, so nobody can be asked about it",

	CodeBadGateway:       "the gateway's base is no plain https URL",
	CodeAmbiguous:        "the path reads as another one to some readers",
	CodeNotGateway:       "the URL does not lie below the gateway's base",
	CodeUntrustedGateway: "the gateway is not among those that were configured",

	CodeBadDocument:          "the document is not of the form that the draft gives",
	CodeJWKSOrigin:           "the document takes its keys from an origin that was not allowed",
	CodePolicyUnsupported:    "the policy demands what this side cannot do, so nothing was sent",
	CodePolicyWeaker:         "the document asks for less than the draft demands",
	CodePolicyDowngrade:      "the policy became weaker than it was before",
	CodeDiscoveryFailed:      "the origin's document could not be had, which is no absence",
	CodeDiscoveryConflict:    "the ways of advertising an endpoint disagree",
	CodeNoEndpoint:           "the origin advertises no endpoint",
	CodeServiceUnavailable:   "the DNS says that there is no such service",
	CodeAmbiguousDNS:         "the DNS gives several endpoints",
	CodeUnknownAuthority:     "the authority is a registry name that nobody here knows",
	CodeAuthorityUnconfirmed: "the authority does not confirm what another origin says of it",

	CodeBadKeySet:           "the key set is malformed, ambiguous or over its limits",
	CodeNoTrustAnchor:       "no document says by which keys results can be verified",
	CodeRejectedUnsigned:    "the result carries no signature",
	CodeRejectedSignature:   "the signature does not fit the result",
	CodeRejectedKey:         "no usable key of the set fits the signature",
	CodeRejectedAlgorithm:   "the signature's algorithm is not allowed",
	CodeRejectedCritical:    "the signature demands an extension that nobody here knows",
	CodeRejectedPolicy:      "the result is signed but contradicts the policy",
	CodeForeignKeyReference: "the signature points to keys elsewhere, which are never used",

	CodeNoResolver:        "nothing is configured that could resolve the URI",
	CodeUnauthenticated:   "the endpoint was not authenticated",
	CodeScope:             "a scope is malformed or not among those that the document offers",
	CodeEndpointFailed:    "the endpoint answered with a failure",
	CodeNoSession:         "the request belongs to no session",
	CodeMethodNotAllowed:  "the gateway does not support this method",
	CodeNotAuthorized:     "the session does not permit this",
	CodeBadConfiguration:  "the gateway cannot keep its duties as it is configured",
	CodeUnsafeNotDeclared: "the path was not declared free of effects, so a safe method is refused",
	CodeRequestTimeout:    "the body of the request did not arrive in time",

	CodeCredentialsNotAllowed: "the options allow no credentials for this authority, so nothing was sent",
	CodeTokenUnavailable:      "the token source returned no token, so nothing was sent",
	CodeTransportFailed:       "the transport to the endpoint failed",
	CodePluginBusy:            "too many calls of a plug-in have not returned, so no further one was made",
	CodeUnbound:               "the signed result does not say what it answers, for whom or how long",
}
