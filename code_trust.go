package lookleap

// Codes of ANML trust delegation.
const (
	CodeSelf            Code = "self"
	CodeSelfNarrowed    Code = "self-narrowed"
	CodeQueryAuthorized Code = "query-authorized"
	CodeListed          Code = "listed"
	CodeListedFallback  Code = "listed-fallback"

	CodeNoClaim            Code = "no-claim"
	CodeClaimMalformed     Code = "claim-malformed"
	CodeClaimInvalid       Code = "claim-invalid" // in the table of ANML documents
	CodeClaimDuplicate     Code = "claim-duplicate"
	CodeNotServed          Code = "not-served"
	CodeSiteDomainInvalid  Code = "site-domain-invalid"
	CodeServingHostInvalid Code = "serving-host-invalid"

	CodeNoRecord        Code = "no-record"
	CodeRecordMalformed Code = "record-malformed"
	CodeRecordAmbiguous Code = "record-ambiguous"
	CodeDNSSECRequired  Code = "dnssec-required"

	CodeQuery404             Code = "query-404"
	CodeQueryAuthorizedFalse Code = "query-authorized-false"
	CodeQueryMalformed       Code = "query-malformed"
	CodeQueryExpired         Code = "query-expired"
	CodeQuery400             Code = "query-400"
	CodeQuery429             Code = "query-429"
	CodeQueryStatus          Code = "query-status"
	CodeQueryRedirect        Code = "query-redirect"
	CodeQueryUnavailable     Code = "query-unavailable"
	CodeQueryTLS             Code = "query-tls"

	CodeManifestHost           Code = "manifest-host"
	CodeManifestTLS            Code = "manifest-tls"
	CodeManifestRedirect       Code = "manifest-redirect"
	CodeManifestMissing        Code = "manifest-missing"
	CodeManifest429            Code = "manifest-429"
	CodeManifestUnavailable    Code = "manifest-unavailable"
	CodeManifestType           Code = "manifest-type"
	CodeManifestMalformed      Code = "manifest-malformed"
	CodeManifestVersion        Code = "manifest-version"
	CodeManifestSiteMismatch   Code = "manifest-site-mismatch"
	CodeManifestNotYetValid    Code = "manifest-not-yet-valid"
	CodeManifestExpired        Code = "manifest-expired"
	CodeManifestEntryMalformed Code = "manifest-entry-malformed"
	CodeManifestRollback       Code = "manifest-rollback"
	CodeNotListed              Code = "not-listed"

	CodeManifestLongLived     Code = "manifest-long-lived"
	CodeManifestByteOrder     Code = "manifest-byte-order-mark"
	CodeSelfNarrowUnavailable Code = "self-narrow-unavailable"
	CodeClockRollback         Code = "clock-rollback"
	CodeTrustEvidence         Code = "trust-evidence-missing"
	CodeTrustRevoked          Code = "trust-revoked"
	CodeTrustUnverified       Code = "trust-unverified"
)

var trustCodes = map[Code]string{
	CodeSelf:            "the server is the site itself",
	CodeSelfNarrowed:    "the site's own manifest narrows what this host of its may say",
	CodeQueryAuthorized: "the site's query endpoint authorizes the server",
	CodeListed:          "the site's manifest lists the server",
	CodeListedFallback:  "the site's manifest lists the server, and its query endpoint did not answer",

	CodeNoClaim:            "nothing claims to speak for another site",
	CodeClaimMalformed:     "the claim names no site",
	CodeClaimDuplicate:     "two sites of the document have the same domain",
	CodeNotServed:          "an agent's response can speak for no site",
	CodeSiteDomainInvalid:  "the site's domain is no domain that can delegate",
	CodeServingHostInvalid: "the serving host is no party to a delegation",

	CodeNoRecord:        "the site publishes no trust record",
	CodeRecordMalformed: "the site's trust record is malformed",
	CodeRecordAmbiguous: "the site advertises more sources than are asked",
	CodeDNSSECRequired:  "the record is not signed, and a query needs that here",

	CodeQuery404:             "the query endpoint does not authorize the server",
	CodeQueryAuthorizedFalse: "the query endpoint says no with status 200",
	CodeQueryMalformed:       "the query endpoint's answer is malformed",
	CodeQueryExpired:         "the query endpoint's answer has expired",
	CodeQuery400:             "the query endpoint does not understand the question",
	CodeQuery429:             "the query endpoint asks for patience",
	CodeQueryStatus:          "the query endpoint answered with a status that authorizes nobody",
	CodeQueryRedirect:        "the query endpoint redirects, which is not followed",
	CodeQueryUnavailable:     "the query endpoint gave no usable answer",
	CodeQueryTLS:             "the query endpoint's TLS or certificate failed",

	CodeManifestHost:           "the manifest is advertised on a host that is not the site's",
	CodeManifestTLS:            "the manifest's TLS or certificate failed, or is not valid for the site",
	CodeManifestRedirect:       "the manifest redirects to where it is not followed",
	CodeManifestMissing:        "the advertised manifest is not there",
	CodeManifest429:            "the manifest's server asks for patience",
	CodeManifestUnavailable:    "the manifest's server gave no usable answer",
	CodeManifestType:           "the manifest's media type is not that of a manifest",
	CodeManifestMalformed:      "the manifest is malformed",
	CodeManifestVersion:        "the manifest's version is not understood",
	CodeManifestSiteMismatch:   "the manifest speaks for another site",
	CodeManifestNotYetValid:    "the manifest is issued in the future",
	CodeManifestExpired:        "the manifest has expired",
	CodeManifestEntryMalformed: "the manifest's entry about the server is malformed",
	CodeManifestRollback:       "the manifest is older than one seen before",
	CodeNotListed:              "the site's manifest does not list the server",

	CodeManifestLongLived:     "the manifest lives longer than recommended",
	CodeManifestByteOrder:     "a byte order mark stands before the manifest",
	CodeSelfNarrowUnavailable: "whether the site narrows this host of its could not be found out",
	CodeClockRollback:         "the clock went back",
	CodeTrustEvidence:         "the evidence ends before a decision",
	CodeTrustRevoked:          "the authorization was withdrawn",
	CodeTrustUnverified:       "the authorization could not be verified anew",
}
