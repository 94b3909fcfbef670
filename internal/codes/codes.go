// Package codes holds the title of every reason code of the module. The constants
// are in the package that each code belongs to; a test keeps the two in step.
package codes

import (
	"iter"
	"maps"
	"slices"
	"sync"
)

// Title returns the title of a code and whether the code is known. A title is one
// sentence without a final stop.
func Title(code string) (title string, known bool) {
	title, known = titles()[code]
	return title, known
}

// All yields all codes with their titles in alphabetical order of the codes.
func All() iter.Seq2[string, string] {
	return func(yield func(code, title string) bool) {
		all := titles()
		for _, code := range slices.Sorted(maps.Keys(all)) {
			if !yield(code, all[code]) {
				return
			}
		}
	}
}

// titles is built on first use, so that importing the module costs nothing for it.
var titles = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	maps.Copy(all, titlesWithoutANML())
	maps.Copy(all, anmlTitles())
	return all
})

// titlesWithoutANML are those of the root, of what all packages share and of every document but
// ANML.
func titlesWithoutANML() map[string]string {
	return map[string]string{
		// Codes of contracts, fetching, DNS and URLs.
		"ok":       "the check passed",
		"skipped":  "the check was not needed, or an earlier check already refused",
		"internal": "a plug-in or this library failed, so the answer is no",
		"usage":    "the function was called with invalid arguments or in the wrong state",
		"io":       "a local file or stream could not be read or written",

		"bad-suffix-list": "the file is not a complete Public Suffix List",

		"fetcher-failed":  "the host's Fetcher failed, panicked or broke its contract",
		"resolver-failed": "the host's Resolver failed, panicked or broke its contract",
		"cache-failed":    "the host's Cache failed, panicked or broke its contract",
		"ledger-failed":   "the host's PlanLedger failed, so nothing was committed",
		"limiter-failed":  "the host's Limiter failed, so nothing was sent that it should count",
		"clock-failed":    "the host's clock panicked, so everything counts as expired",

		"denied":                 "a guard refused the request before it was sent",
		"closed":                 "the host is closed",
		"cancelled":              "the caller cancelled the operation",
		"timeout":                "the operation did not finish in time",
		"budget":                 "all requests that one operation may make are used up",
		"unreachable":            "the server could not be reached",
		"connection-refused":     "the server refused the connection",
		"connection-reset":       "the server reset the connection",
		"truncated":              "the response ended before it was complete",
		"too-slow":               "the response arrived more slowly than the minimum rate",
		"too-large":              "the input is larger than the limit",
		"limit":                  "a limit on the number of parts or uses is reached",
		"header-too-large":       "the header of the response is larger than the limit",
		"tls":                    "the TLS handshake or the server's certificate failed",
		"tls-too-old":            "the connection uses a TLS version that is too old",
		"client-certificate":     "a client certificate is required, and the connection has none",
		"development":            "made in development mode, so nothing of the connection was checked",
		"no-connection-evidence": "the fetcher does not report its connection, so its response is not evidence of trust",
		"blocked-address":        "the name resolves to an address that is not public",
		"blocked-port":           "the port is not one of the allowed ports",
		"blocked-network":        "only TCP over IPv4 or IPv6 is allowed",

		"rate-limited":       "the server asked the client to retry later",
		"conflict":           "the data contradicts data that is already there",
		"stale":              "the copy is too old and could not be refreshed",
		"insecure-transport": "the data came over plain http, so anyone on the network path could change it",

		"bad-status":         "unexpected HTTP status",
		"bad-redirect":       "the redirect has no valid target",
		"too-many-redirects": "there are too many redirects, or they form a loop",
		"redirect-forbidden": "this document does not allow the redirect to be followed",
		"media-type":         "the response does not have the expected media type",
		"charset":            "the declared character set is not allowed or contradicts the bytes",
		"content-encoding":   "the content encoding is unknown, used twice or does not match the bytes",
		"bom":                "the text begins with a byte order mark",
		"not-utf8":           "the bytes are not valid UTF-8",

		"dns-error":          "the DNS lookup failed",
		"dnssec-bogus":       "the DNS answer failed DNSSEC validation",
		"dnssec-missing":     "the DNS zone is not signed",
		"dnssec-limit":       "validating the DNS answer takes more work than allowed, as in an attack on validators",
		"no-address":         "the name has no address",
		"not-https":          "the URL is not https",
		"bad-url":            "the URL is malformed or ambiguous",
		"bad-host":           "the host is not a valid domain name",
		"host-trailing-dot":  "the host ends with a dot",
		"ip-host":            "the host is an IP address or can be read as one",
		"special-host":       "the host is a single label or a special-use domain name",
		"bad-port":           "the port is out of range or not in canonical form",
		"userinfo":           "the URL contains user information",
		"dot-segment":        "the path contains dot segments",
		"ambiguous-path":     "the path contains encoded characters that servers and clients interpret differently",
		"empty-segment":      "the path contains an empty segment",
		"url-too-long":       "the URL is longer than the limit",
		"outside-trust-root": "the URL is outside the trust root",

		"consent-no-prompter":  "no prompter is configured, so the user cannot be asked and nothing is approved",
		"consent-refused":      "the user did not agree",
		"consent-failed":       "asking the user failed, so nothing is approved",
		"consent-mismatch":     "the decision is about another plan",
		"consent-unknown-kind": "the request is of an unknown kind, so no one can decide it",
		"consent-pending":      "the user has not decided yet",
		"consent-too-often":    "the site asked the user too often within a short time",
		"consent-partial":      "the user refused an optional part, but the plan can only be committed as a whole",
		"consent-too-long":     "a command is too long to be shown to the user in full",
		"plan-expired":         "the plan has expired",
		"plan-already-done":    "the plan was committed before",
		"plan-claim-lost":      "another worker has taken the plan over, so this one sends nothing",
		"plan-invalid":         "the state of the plan is malformed or was changed",
		"plan-other-user":      "the plan belongs to another user",
		"seal-broken":          "the sealed state was forged, changed or sealed with another key",
		"cache-forged":         "a cache entry was forged or changed",

		// Codes of the XML and JSON parsers.
		"not-well-formed":      "the text violates the grammar of its format",
		"bad-character":        "the text contains a character that its format forbids",
		"bad-name":             "the name does not have the required form",
		"undefined-entity":     "the text refers to an entity that is not predefined",
		"duplicate-attribute":  "an element has the same attribute twice",
		"namespace":            "a namespace prefix is undeclared, reserved or misused",
		"mismatched-tag":       "an end tag does not match its start tag",
		"unexpected-end":       "the text ends before it is complete",
		"trailing-content":     "there is content after the end of the document",
		"bad-xml-declaration":  "the XML declaration is malformed or misplaced",
		"encoding":             "the declared encoding does not match the bytes",
		"unsupported-encoding": "the encoding is not supported",
		"query-not-allowed":    "the URL has a query, which is not allowed here",
		"fragment-not-allowed": "the URL has a fragment, which is not allowed here",
		"json-bom":             "the JSON text begins with a byte order mark",
		"json-syntax":          "the text is not valid JSON",
		"json-trailing-data":   "there is data after the JSON value",
		"json-duplicate-name":  "an object has the same member name twice",
		"json-lone-surrogate":  "a string contains half of a surrogate pair",
		"json-too-deep":        "the JSON text is nested too deeply",
		"json-too-many-values": "the JSON text has too many values",
		"json-type":            "the JSON value does not have the expected type",
		"json-missing-member":  "a required member is missing",
		"json-not-integer":     "the JSON number is not an integer",
		"number-overflow":      "the number is larger than a 64-bit floating-point number can represent",
		"precision-loss":       "the number has more digits than a 64-bit floating-point number can represent",

		// Codes of AGENTS.TXT.
		"hash-missing":   "the first significant line is not a hash line",
		"hash-mismatch":  "the hash line does not match the directives",
		"bad-directive":  "a line is not a comment, a blank line or a directive",
		"foreign-format": "the file has another format that uses the same file name",
		"access-denied":  "the server does not show the policy without credentials",
		"no-policy":      "the origin publishes no policy",

		"restricted":         "the policy cannot be trusted, so the whole origin is restricted",
		"allowed":            "a directive allows the path",
		"disallowed":         "a directive disallows the path",
		"unlisted":           "no directive matches the path",
		"policy-file":        "reading the policy file itself is always allowed",
		"robots-disallowed":  "a rule of robots.txt disallows the path",
		"foreign-disallowed": "a file named agents.txt of another format disallows the path, in the form of robots.txt",
		"content-usage":      "the publisher states how its content may be used",
		"bad-limit":          "the limit of the directive cannot be obeyed as it is written",

		"unknown-param":    "the directive has an unknown parameter",
		"unknown-version":  "the file names an unknown version of the format",
		"duplicate":        "two directives are about the same path, and the stricter one applies",
		"status":           "the server's status means that there is no policy",
		"wildcard-literal": "a wildcard in the path of an ALLOW line is read as a literal character",

		// Codes of RFC 8615.
		"not-well-known":        "the path does not begin with /.well-known/",
		"scheme-unsupported":    "well-known URIs are not defined for this scheme or name",
		"scheme-not-fetchable":  "documents of this scheme cannot be fetched over HTTP",
		"insecure-scheme":       "the origin uses plain http",
		"port-not-specified":    "the name is not defined for this port",
		"bad-entry":             "the registry entry is incomplete",
		"bad-registry":          "the registry file does not have the published form",
		"unregistered-name":     "the name is not in the registry",
		"generic-name":          "the name is too general for a single application",
		"extra-path":            "the name defines no paths below itself",
		"soft-404":              "the server returned an error page with a success status instead of the document",
		"redirect-cross-origin": "the redirect leaves the origin",
		"absent":                "the document does not exist",
		"forbidden":             "the server refuses access to the document",
		"unavailable":           "the server returned no usable response",
		"probe-rate":            "too many names were requested from the origin within a short time",

		// Codes of Domain-Verified Skills.
		"query-in-skill-url":  "the skill URL has a query",
		"fragment-dropped":    "the fragment is not part of the skill's identity and was removed",
		"not-skill-url":       "the URL does not name a SKILL.md file",
		"invalid-trust-root":  "the trust root contains a part that is not allowed in a trust root",
		"trust-root-no-slash": "the trust root does not end with a slash",
		"trust-root-mapped":   "the trust root was converted to the form that the platform uses for pages",
		"ugc-bare-root":       "a platform with many publishers cannot be a trust root as a whole",
		"ugc-root-too-short":  "the trust root is too short to identify one publisher on the platform",
		"reserved-segment":    "the path begins with a reserved word of the platform and not with a publisher",
		"public-suffix-host":  "the host is a public suffix, below which anyone can publish",
		"never-trusted-host":  "on this host, the path does not prove who published the content",
		"not-content-route":   "the path does not lead to the repository's own content",
		"untrusted-ref":       "the revision is one that outsiders can create",
		"commit-ref":          "the revision looks like a commit, which may come from an outsider's fork",
		"needs-root":          "the user has not confirmed a trust root for this host",
		"root-not-registered": "the default trust root is used, because none is registered",
		"self-declared-root":  "the skill declares a trust root for itself",
		"blocked-root":        "the trust root is blocked",
		"revoked":             "trust in this root or domain was revoked",
		"platform-relaxed":    "the rules of a built-in platform cannot be relaxed",
		"bad-platform":        "the platform entry is incomplete or contradicts itself",

		"redirect-outside-root":      "the redirect leaves the trust root",
		"skill-not-found":            "there is no SKILL.md at this URL",
		"skill-forbidden":            "the server refuses access to the skill",
		"blocked-by-policy":          "the site's policy for automated clients forbids the request",
		"dnssec-insecure":            "the DNS zone of the host is not signed, but signatures are required",
		"digest-mismatch":            "the bytes do not have the expected digest",
		"changed-since-registration": "the file has changed since it was registered",
		"not-activated":              "the skill is not activated",
		"needs-consent":              "the user has to consent first",
		"consent-stale":              "the user consented to other bytes",
		"script-outside-skill":       "the script is outside the skill's directory",
		"data-outside-skill":         "the data file is outside the skill's directory",
		"bad-scheme":                 "nothing is loaded from references with this scheme",
		"not-bundled":                "the reference does not name a file of the skill",
		"no-runner":                  "no script runner is configured",
		"composition-cycle":          "the skill refers to a skill that is already loading it",
		"composition-depth":          "skills refer to other skills too deeply",
		"composition-total":          "too many skills were loaded in this session",
		"trust-root-crossing":        "a skill uses a skill of another trust root",

		"no-origin-discovery": "the origin's files belong to the platform and not to this trust root",
		"bad-index":           "the index does not have a supported form",
		"bad-index-entry":     "the index entry is incomplete or has the wrong type",
		"index-truncated":     "the index has too many entries, so the rest was ignored",
		"index-mismatch":      "the index and the skill contradict each other",
		"conflicting-path":    "the entry names two different locations",
		"entry-outside-root":  "the entry is outside the origin or the trust root",
		"duplicate-entry":     "the location is listed twice",
		"unknown-schema":      "the index names an unknown schema",
		"unknown-type":        "the type of the entry is not supported",
		"bad-sitemap":         "the sitemap is not well-formed",
		"sitemap-limit":       "the sitemap is larger than the sitemap protocol allows",
		"sitemap-nested":      "the sitemap index is nested too deeply or refers to another site",

		"no-frontmatter":           "the file does not begin with a metadata block between --- lines",
		"unterminated-frontmatter": "the metadata block has no closing --- line",
		"bad-frontmatter":          "the metadata block uses YAML that parsers interpret differently",
		"name-too-long":            "the name is too long",
		"name-hyphen":              "the name has a hyphen in a place where other programs forbid it",
		"name-directory":           "the skill's name is not the name of its directory",
		"bad-description":          "the description is missing, empty or not plain text",
		"description-too-long":     "the description is too long",
		"bad-field":                "a metadata field has an invalid value",
		"unknown-field":            "the metadata has a field that the format does not define",
		"empty-body":               "the file has no instructions after the metadata",
		"unsafe-characters":        "the text contains invisible characters",
		"hidden-text":              "part of the text is invisible to a reader of the rendered page",
		"missing-skill-md":         "the directory has no SKILL.md file",
		"resource-outside-root":    "a file that the skill refers to is outside the trust root",
		"not-well-known-path":      "the skill is published outside /.well-known/skills/",
		"unsafe-file-name":         "the file name is not safe on every operating system",
		"name-clash":               "two names mean the same file on some operating systems",
		"link":                     "the file is a link, and links are not followed",
		"not-locked":               "the skill or file is not in the lockfile",
		"not-published":            "the file belongs to a file manager, an editor or version control, so it is not published",
		"lock-missing-file":        "the lockfile lists a file that does not exist",
		"bad-lockfile":             "the lockfile does not have a supported form",
		"bad-archive":              "the archive is damaged, or programs could read it in different ways",

		// Codes of trust that is kept.
		"trust-store":       "the trust store could not be read or written, so nothing is permitted by it",
		"trust-conflict":    "the trust record was changed since it was read",
		"trust-not-kept":    "the user's decision could not be stored, and holds for this session only",
		"refused-before":    "the user refused this skill or this version of it before",
		"asked-recently":    "the user was asked about this skill recently, and is not asked again yet",
		"policy-denied":     "a policy of the organisation refuses this",
		"policy-unreadable": "a policy of the organisation could not be read, so nothing is allowed",
		"withdrawn":         "a revocation feed withdrew the skill, its root or its bytes",
		"bad-feed":          "the revocation feed is malformed",
		"feed-unusable":     "the revocation feed could not be fetched or verified",
		"feed-backwards":    "the revocation feed is older than the last one, or lost entries",
		"feed-stale":        "the revocation feed could not be read for too long, so nothing is allowed",

		// Codes of the ai: URI scheme.
		"not-ai":          "the text is not an ai: URI",
		"empty":           "the URI is empty",
		"too-long":        "the URI is longer than the limit",
		"bad-char":        "the URI contains a character that RFC 3986 does not allow there",
		"non-ascii":       "the URI contains a character outside ASCII",
		"empty-authority": "the URI has an authority without a host",
		"bad-authority":   "the authority is not a host name of letters, digits and hyphens",
		"no-authority":    "the URI has no authority, so there is no server to ask",
		"unknown-local":   "this device or system has no such endpoint",

		"bad-gateway":       "the gateway's base is not a plain https URL",
		"ambiguous":         "servers and clients interpret the path differently",
		"not-gateway":       "the URL is not below the gateway's base",
		"untrusted-gateway": "the gateway is not one of the configured gateways",

		"bad-document":            "the document does not have the form that the draft defines",
		"jwks-origin":             "the document refers to keys on an origin that is not allowed",
		"policy-unsupported":      "the policy requires something that is not supported, so nothing was sent",
		"policy-weaker-than-spec": "the document requires less than the draft",
		"policy-downgrade":        "the policy is weaker than it was before",
		"discovery-failed":        "the origin's document could not be fetched; it may exist",
		"discovery-conflict":      "two discovery methods name different endpoints",
		"no-endpoint":             "the origin advertises no endpoint",
		"service-unavailable":     "the DNS states that the service does not exist",
		"ambiguous-dns":           "the DNS returned several endpoints",
		"unknown-authority":       "the authority is a registry name that is not configured",
		"authority-unconfirmed":   "the authority does not confirm what another origin says about it",

		"bad-key-set":            "the key set is malformed, ambiguous or too large",
		"no-trust-anchor":        "no document names the keys for verifying results",
		"rejected-unsigned":      "the result is not signed",
		"rejected-bad-signature": "the signature is not valid for the result",
		"rejected-unknown-key":   "the key set has no usable key for the signature",
		"rejected-alg":           "the signature algorithm is not allowed",
		"rejected-crit":          "the signature requires an unknown extension",
		"rejected-policy":        "the result is signed but violates the policy",
		"foreign-key-reference":  "the signature refers to keys elsewhere, which are never used",

		"no-resolver":              "no resolver is configured for the URI",
		"unauthenticated-endpoint": "the endpoint is not authenticated",
		"scope":                    "a scope is malformed or not offered by the document",
		"endpoint-failed":          "the endpoint reported a failure",
		"no-session":               "the request does not belong to a session",
		"method-not-allowed":       "the gateway does not support this method",
		"not-authorized":           "the session does not allow the request",
		"bad-configuration":        "the gateway's configuration violates its duties",
		"not-declared-safe":        "the path is not declared to be free of side effects, so a safe method is refused",
		"request-timeout":          "the body of the request did not arrive in time",

		"authority-not-allowed":   "the options or a policy do not allow calls of this authority, so nothing was sent",
		"credentials-not-allowed": "the options do not allow credentials for this authority, so nothing was sent",
		"token-unavailable":       "the token source returned no token, so nothing was sent",
		"transport-failed":        "the transport to the endpoint failed",
		"plugin-busy":             "too many calls of a plug-in are still running, so no new call was made",
		"unbound-result":          "the signed result does not state its request, audience or lifetime",
	}
}
