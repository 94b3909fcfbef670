package aiuri

import (
	"bytes"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Codes of the ai: URI scheme. User information and ports have the codes of the root
// package. A key set or document that cannot be fetched has the code of the exchange.
const (
	codeNotAI          lookleap.Code = "not-ai"
	codeURIEmpty       lookleap.Code = "empty"
	codeURITooLong     lookleap.Code = "too-long"
	codeBadChar        lookleap.Code = "bad-char"
	codeNonASCII       lookleap.Code = "non-ascii"
	codeEmptyAuthority lookleap.Code = "empty-authority"
	codeBadAuthority   lookleap.Code = "bad-authority"
	CodeNoAuthority    lookleap.Code = "no-authority"
	CodeUnknownLocal   lookleap.Code = "unknown-local"

	CodeBadGateway       lookleap.Code = "bad-gateway"
	CodeAmbiguous        lookleap.Code = "ambiguous"
	CodeNotGateway       lookleap.Code = "not-gateway"
	CodeUntrustedGateway lookleap.Code = "untrusted-gateway"

	CodeBadDocument          lookleap.Code = "bad-document"
	CodeJWKSOrigin           lookleap.Code = "jwks-origin"
	CodePolicyUnsupported    lookleap.Code = "policy-unsupported"
	CodePolicyWeaker         lookleap.Code = "policy-weaker-than-spec"
	CodePolicyDowngrade      lookleap.Code = "policy-downgrade"
	CodeDiscoveryFailed      lookleap.Code = "discovery-failed"
	CodeDiscoveryConflict    lookleap.Code = "discovery-conflict"
	CodeNoEndpoint           lookleap.Code = "no-endpoint"
	CodeServiceUnavailable   lookleap.Code = "service-unavailable"
	codeAmbiguousDNS         lookleap.Code = "ambiguous-dns"
	CodeUnknownAuthority     lookleap.Code = "unknown-authority"
	CodeAuthorityUnconfirmed lookleap.Code = "authority-unconfirmed"

	CodeBadKeySet           lookleap.Code = "bad-key-set"
	CodeNoTrustAnchor       lookleap.Code = "no-trust-anchor"
	CodeRejectedUnsigned    lookleap.Code = "rejected-unsigned"
	CodeRejectedSignature   lookleap.Code = "rejected-bad-signature"
	CodeRejectedKey         lookleap.Code = "rejected-unknown-key"
	CodeRejectedAlgorithm   lookleap.Code = "rejected-alg"
	CodeRejectedCritical    lookleap.Code = "rejected-crit"
	CodeRejectedPolicy      lookleap.Code = "rejected-policy"
	codeForeignKeyReference lookleap.Code = "foreign-key-reference"

	CodeNoResolver        lookleap.Code = "no-resolver"
	CodeUnauthenticated   lookleap.Code = "unauthenticated-endpoint"
	CodeScope             lookleap.Code = "scope"
	CodeEndpointFailed    lookleap.Code = "endpoint-failed"
	CodeNoSession         lookleap.Code = "no-session"
	CodeMethodNotAllowed  lookleap.Code = "method-not-allowed"
	CodeNotAuthorized     lookleap.Code = "not-authorized"
	CodeBadConfiguration  lookleap.Code = "bad-configuration"
	CodeUnsafeNotDeclared lookleap.Code = "not-declared-safe"
	CodeRequestTimeout    lookleap.Code = "request-timeout"

	CodeAuthorityNotAllowed   lookleap.Code = "authority-not-allowed"
	CodeCredentialsNotAllowed lookleap.Code = "credentials-not-allowed"
	CodeTokenUnavailable      lookleap.Code = "token-unavailable"
	CodeTransportFailed       lookleap.Code = "transport-failed"
	CodePluginBusy            lookleap.Code = "plugin-busy"
	codeUnbound               lookleap.Code = "unbound-result"
)

// fail returns an error without a position.
func fail(code lookleap.Code, message, fix string) *lookleap.Error {
	return &lookleap.Error{Code: code, Message: message, Fix: fix}
}

// failAt returns an error with the position of an offset in bytes.
func failAt(code lookleap.Code, offset int, message, fix string) *lookleap.Error {
	return &lookleap.Error{Code: code, Position: positionOf(offset), Message: message, Fix: fix}
}

// failOn returns an error about a subject. The cause may be nil.
func failOn(code lookleap.Code, subject, message, fix string, cause error) *lookleap.Error {
	return &lookleap.Error{Code: code, Subject: subject, Message: message, Fix: fix, Err: cause}
}

// urlError returns an error about a URL or a host name that package domain refused.
func urlError(code lookleap.Code, subject, message string, err error) *lookleap.Error {
	e := fetch.URLError("", message, err)
	e.Code, e.Subject = code, subject
	return e
}

// positionOf returns the position of an offset in a text of one line.
func positionOf(offset int) lookleap.Position {
	return lookleap.Position{Line: 1, Column: offset + 1, Offset: offset}
}

// warning returns a finding that is not an error.
func warning(code lookleap.Code, requirement, message, fix string) lookleap.Finding {
	return lookleap.Finding{Severity: lookleap.SeverityWarning, Code: code, Requirement: requirement, Message: message, Fix: fix}
}

// jsonError returns an error of the JSON reader as a [*lookleap.Error].
func jsonError(code lookleap.Code, err error) *lookleap.Error {
	e := fail(code, "the text is not strict JSON", "")
	if bad, ok := err.(*strictjson.Error); ok {
		e.Message, e.Fix, e.Position = bad.Message, bad.Fix, lookleap.Position(bad.Place())
	}
	return e
}

// refuse returns an error about a JSON value that breaks a rule of the draft.
func refuse(v strictjson.Value, code lookleap.Code, message, fix string) *lookleap.Error {
	return jsonError(code, v.Refuse(string(code), message, fix))
}

// markFinding is the finding for a document that begins with a byte order mark.
func markFinding(requirement string) lookleap.Finding {
	return lookleap.Finding{Severity: lookleap.SeverityInfo, Code: strictjson.CodeBOM, Requirement: requirement,
		Message: "the document begins with a byte order mark", Fix: "save it as UTF-8 without a byte order mark"}
}

// parsedMemory returns about how many bytes the parsed form of a JSON text takes, however many
// members and elements it has.
func parsedMemory(text []byte) int { return 2<<10 + 2*len(text) + 512*bytes.Count(text, []byte(",")) }
