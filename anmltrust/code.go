package anmltrust

import "github.com/lookleap/lookleap"

// Codes of ANML trust delegation.
const (
	CodeSelf            lookleap.Code = "self"
	CodeSelfNarrowed    lookleap.Code = "self-narrowed"
	CodeQueryAuthorized lookleap.Code = "query-authorized"
	CodeListed          lookleap.Code = "listed"
	CodeListedFallback  lookleap.Code = "listed-fallback"

	CodeNoClaim            lookleap.Code = "no-claim"
	CodeClaimMalformed     lookleap.Code = "claim-malformed"
	CodeClaimInvalid       lookleap.Code = "claim-invalid" // in the table of ANML documents
	CodeClaimDuplicate     lookleap.Code = "claim-duplicate"
	CodeNotServed          lookleap.Code = "not-served"
	CodeSiteDomainInvalid  lookleap.Code = "site-domain-invalid"
	CodeServingHostInvalid lookleap.Code = "serving-host-invalid"

	CodeNoRecord        lookleap.Code = "no-record"
	CodeRecordMalformed lookleap.Code = "record-malformed"
	CodeRecordAmbiguous lookleap.Code = "record-ambiguous"
	CodeDNSSECRequired  lookleap.Code = "dnssec-required"

	CodeQuery404             lookleap.Code = "query-404"
	CodeQueryAuthorizedFalse lookleap.Code = "query-authorized-false"
	CodeQueryMalformed       lookleap.Code = "query-malformed"
	CodeQueryExpired         lookleap.Code = "query-expired"
	CodeQuery400             lookleap.Code = "query-400"
	CodeQuery429             lookleap.Code = "query-429"
	CodeQueryStatus          lookleap.Code = "query-status"
	CodeQueryRedirect        lookleap.Code = "query-redirect"
	CodeQueryUnavailable     lookleap.Code = "query-unavailable"
	CodeQueryTLS             lookleap.Code = "query-tls"

	CodeManifestHost           lookleap.Code = "manifest-host"
	CodeManifestTLS            lookleap.Code = "manifest-tls"
	CodeManifestRedirect       lookleap.Code = "manifest-redirect"
	CodeManifestMissing        lookleap.Code = "manifest-missing"
	CodeManifest429            lookleap.Code = "manifest-429"
	CodeManifestUnavailable    lookleap.Code = "manifest-unavailable"
	CodeManifestType           lookleap.Code = "manifest-type"
	CodeManifestMalformed      lookleap.Code = "manifest-malformed"
	CodeManifestVersion        lookleap.Code = "manifest-version"
	CodeManifestSiteMismatch   lookleap.Code = "manifest-site-mismatch"
	CodeManifestNotYetValid    lookleap.Code = "manifest-not-yet-valid"
	CodeManifestExpired        lookleap.Code = "manifest-expired"
	CodeManifestEntryMalformed lookleap.Code = "manifest-entry-malformed"
	CodeManifestRollback       lookleap.Code = "manifest-rollback"
	CodeNotListed              lookleap.Code = "not-listed"

	CodeManifestLongLived     lookleap.Code = "manifest-long-lived"
	CodeManifestByteOrder     lookleap.Code = "manifest-byte-order-mark"
	CodeSelfNarrowUnavailable lookleap.Code = "self-narrow-unavailable"
	CodeClockRollback         lookleap.Code = "clock-rollback"
	CodeTrustEvidence         lookleap.Code = "trust-evidence-missing"
	CodeTrustRevoked          lookleap.Code = "trust-revoked"
)
