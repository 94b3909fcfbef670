package anmltrust

import (
	"fmt"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictjson"
)

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
	CodeTierTooLow      lookleap.Code = "tier-too-low"

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

// usageError returns an error for a value that its constructor did not make.
func usageError(what, fix string) error {
	return refuse(lookleap.CodeUsage, lookleap.Position{}, fix, "%s", what)
}

func refuse(code lookleap.Code, at lookleap.Position, fix, format string, args ...any) *lookleap.Error {
	return &lookleap.Error{Code: code, Message: fmt.Sprintf(format, args...), Fix: fix, Position: at}
}

// refuseValue refuses a value of a JSON text.
func refuseValue(v strictjson.Value, code lookleap.Code, message, fix string) *lookleap.Error {
	return &lookleap.Error{Code: code, Message: message, Fix: fix, Position: lookleap.Position(v.Place())}
}

// refuseJSON keeps the position and the fix of a refused JSON text under a code of this package.
func refuseJSON(code lookleap.Code, err error) *lookleap.Error {
	if e, ok := err.(*strictjson.Error); ok {
		return &lookleap.Error{Code: code, Message: e.Message + " [" + e.Code + "]", Fix: e.Fix, Position: lookleap.Position(e.Place())}
	}
	return &lookleap.Error{Code: code, Message: err.Error()}
}

// warn returns a finding about a row.
func warn(code lookleap.Code, row, message, fix string) lookleap.Finding {
	return lookleap.Finding{Severity: lookleap.SeverityWarning, Code: code, Requirement: row, Message: message, Fix: fix}
}

// findingOf returns an error about a record, manifest or response as a finding of a row.
func findingOf(err error, row string) lookleap.Finding {
	f := warn(lookleap.CodeOf(err), row, sentence(err), "")
	if e, ok := err.(*lookleap.Error); ok {
		f.Fix, f.Position = e.Fix, e.Position
	}
	return f
}

// sentence returns what an error says without its code and fix, as part of another message.
func sentence(err error) string {
	if e, ok := err.(*lookleap.Error); ok {
		return e.Message
	}
	return err.Error()
}

// maxQuoted is how many characters of a remote text a message quotes.
const maxQuoted = 64
