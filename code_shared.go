package lookleap

// Codes of the contracts, of fetching, of DNS and of URLs: every document may
// end a check with them.
const (
	CodeOK       Code = "ok"
	CodeSkipped  Code = "skipped"
	CodeInternal Code = "internal"
	CodeUsage    Code = "usage"
	CodeIO       Code = "io"

	CodeFetcherFailed  Code = "fetcher-failed"
	CodeResolverFailed Code = "resolver-failed"
	CodeCacheFailed    Code = "cache-failed"
	CodeLedgerFailed   Code = "ledger-failed"
	CodeClockFailed    Code = "clock-failed"

	CodeDenied         Code = "denied"
	CodeClosed         Code = "closed"
	CodeCancelled      Code = "cancelled"
	CodeTimeout        Code = "timeout"
	CodeBudget         Code = "budget"
	CodeUnreachable    Code = "unreachable"
	CodeConnRefused    Code = "connection-refused"
	CodeConnReset      Code = "connection-reset"
	CodeTruncated      Code = "truncated"
	CodeTooSlow        Code = "too-slow"
	CodeTooLarge       Code = "too-large"
	CodeLimit          Code = "limit"
	CodeHeaderTooLarge Code = "header-too-large"
	CodeTLS            Code = "tls"
	CodeTLSTooOld      Code = "tls-too-old"
	CodeClientCert     Code = "client-certificate"
	CodeNoConnection   Code = "no-connection-evidence"
	CodeBlockedAddress Code = "blocked-address"
	CodeBlockedPort    Code = "blocked-port"
	CodeBlockedNetwork Code = "blocked-network"

	CodeRateLimited       Code = "rate-limited"
	CodeConflict          Code = "conflict"
	CodeStale             Code = "stale"
	CodeInsecureTransport Code = "insecure-transport"

	CodeBadStatus         Code = "bad-status"
	CodeBadRedirect       Code = "bad-redirect"
	CodeTooManyRedirects  Code = "too-many-redirects"
	CodeRedirectForbidden Code = "redirect-forbidden"
	CodeMediaType         Code = "media-type"
	CodeCharset           Code = "charset"
	CodeEncoding          Code = "content-encoding"
	CodeNotUTF8           Code = "not-utf8"
	CodeByteOrderMark     Code = "bom"

	CodeDNSError      Code = "dns-error"
	CodeDNSSECBogus   Code = "dnssec-bogus"
	CodeDNSSECLimit   Code = "dnssec-limit"
	CodeNoAddress     Code = "no-address"
	CodeNotHTTPS      Code = "not-https"
	CodeBadURL        Code = "bad-url"
	CodeBadHost       Code = "bad-host"
	CodeTrailingDot   Code = "host-trailing-dot"
	CodeIPHost        Code = "ip-host"
	CodeSpecialHost   Code = "special-host"
	CodeBadPort       Code = "bad-port"
	CodeUserinfo      Code = "userinfo"
	CodeDotSegment    Code = "dot-segment"
	CodeAmbiguousPath Code = "ambiguous-path"
	CodeEmptySegment  Code = "empty-segment"
	CodeURLTooLong    Code = "url-too-long"
	CodeOutsideRoot   Code = "outside-trust-root"

	CodeConsentNoPrompter Code = "consent-no-prompter"
	CodeConsentRefused    Code = "consent-refused"
	CodeConsentFailed     Code = "consent-failed"
	CodeConsentMismatch   Code = "consent-mismatch"
	CodeConsentUnknown    Code = "consent-unknown-kind"
	CodeConsentPending    Code = "consent-pending"
	CodeConsentTooLong    Code = "consent-too-long"
	CodeConsentTooOften   Code = "consent-too-often"
	CodeConsentPartial    Code = "consent-partial"
	CodePlanExpired       Code = "plan-expired"
	CodePlanDone          Code = "plan-already-done"
	CodePlanInvalid       Code = "plan-invalid"
	CodePlanOtherUser     Code = "plan-other-user"
	CodeSealBroken        Code = "seal-broken"
	CodeCacheForged       Code = "cache-forged"
)

var sharedCodes = map[Code]string{
	CodeOK:       "the check passed",
	CodeSkipped:  "the check was not needed or could not be reached",
	CodeInternal: "something failed inside a plug-in or this library, so the answer is no",
	CodeUsage:    "the call was used wrongly",
	CodeIO:       "a local file or stream could not be read or written",

	CodeFetcherFailed:  "the host's Fetcher panics or breaks its contract",
	CodeResolverFailed: "the host's Resolver panics or breaks its contract",
	CodeCacheFailed:    "the host's Cache panics or breaks its contract",
	CodeLedgerFailed:   "the host's PlanLedger fails, so nothing was committed",
	CodeClockFailed:    "the host's clock panics, so everything counts as expired",

	CodeDenied:         "a guard refused the request before it was sent",
	CodeClosed:         "the host is closed",
	CodeCancelled:      "the caller cancelled",
	CodeTimeout:        "no complete answer came in time",
	CodeBudget:         "the request budget of this document is used up",
	CodeUnreachable:    "the server could not be reached",
	CodeConnRefused:    "the server refused the connection",
	CodeConnReset:      "the server reset the connection",
	CodeTruncated:      "the answer ended before it was complete",
	CodeTooSlow:        "the answer came slower than the least rate",
	CodeTooLarge:       "the input is larger than its limit",
	CodeLimit:          "a limit on the number of parts or uses is reached",
	CodeHeaderTooLarge: "the answer's header is larger than its limit",
	CodeTLS:            "the server's certificate or TLS handshake failed",
	CodeTLSTooOld:      "the connection uses a TLS version below the least one allowed",
	CodeClientCert:     "the connection presented no client certificate where one is demanded",
	CodeNoConnection:   "the fetcher reports no connection, so its answer is no trust evidence",
	CodeBlockedAddress: "the name resolves to an address that is not public unicast",
	CodeBlockedPort:    "the port is not on the list of allowed ports",
	CodeBlockedNetwork: "only TCP over IPv4 and IPv6 may be dialled",

	CodeRateLimited:       "the server asked to come back later",
	CodeConflict:          "it contradicts what is there already",
	CodeStale:             "the copy is older than it should be, and could not be read again",
	CodeInsecureTransport: "it came over plain http, so anybody on the way could change it",

	CodeBadStatus:         "the status is none that can be used here",
	CodeBadRedirect:       "the redirect has no usable target",
	CodeTooManyRedirects:  "the redirects exceed their limit or form a loop",
	CodeRedirectForbidden: "the redirect leads where this document may not follow",
	CodeMediaType:         "the answer's media type is not the expected one",
	CodeCharset:           "the declared character set is not allowed or contradicts the bytes",
	CodeEncoding:          "the content encoding is unknown, doubled or lies about the bytes",
	CodeByteOrderMark:     "the text begins with a byte order mark",
	CodeNotUTF8:           "the bytes are not valid UTF-8",

	CodeDNSError:      "the resolver could not find out",
	CodeDNSSECBogus:   "the DNS answer failed DNSSEC validation",
	CodeDNSSECLimit:   "validating the DNS answer takes more work than allowed, as in an attack on validators",
	CodeNoAddress:     "the name has no address",
	CodeNotHTTPS:      "the URL is not https",
	CodeBadURL:        "the URL is malformed or ambiguous",
	CodeBadHost:       "the host is no valid, unambiguous domain name",
	CodeTrailingDot:   "the host ends with a dot",
	CodeIPHost:        "the host is an IP address or reads as one",
	CodeSpecialHost:   "the host is a single label or a special-use name",
	CodeBadPort:       "the port is out of range or not written canonically",
	CodeUserinfo:      "the URL carries user information",
	CodeDotSegment:    "the path has dot segments",
	CodeAmbiguousPath: "the path has encoded characters that readers disagree about",
	CodeEmptySegment:  "the path has an empty inner segment",
	CodeURLTooLong:    "the URL is longer than its limit",
	CodeOutsideRoot:   "the URL does not lie under the trust root",

	CodeConsentNoPrompter: "nobody can be asked, so nothing is agreed to",
	CodeConsentRefused:    "the user did not agree",
	CodeConsentFailed:     "asking the user failed, so nothing is agreed to",
	CodeConsentMismatch:   "the decision is not about this plan",
	CodeConsentUnknown:    "the request is of a kind that nobody knows how to decide",
	CodeConsentPending:    "the user has not decided yet",
	CodeConsentTooOften:   "the site has asked too often within a short time",
	CodeConsentPartial:    "the user refused an optional part of an effect that is done as a whole",
	CodeConsentTooLong:    "a command is too long to be shown whole, so no user can agree to it",
	CodePlanExpired:       "the plan is older than it may be when committed",
	CodePlanDone:          "the plan was committed before",
	CodePlanInvalid:       "the plan's state is malformed or was changed",
	CodePlanOtherUser:     "the plan belongs to another user",
	CodeSealBroken:        "the sealed state was forged, altered or sealed with another key",
	CodeCacheForged:       "a cache entry was forged, replayed or altered",
}
