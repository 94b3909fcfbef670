package lookleap

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"github.com/lookleap/lookleap/internal/codes"
)

// Code is a reason code: a short kebab-case word that says why a check ended as
// it did. Codes are stable within a draft revision and shared by all packages,
// so that a host can branch, count and translate them. [Codes] lists the table,
// and [Code.Title] says what one of them means.
type Code string

// Title is the one sentence of the table, in our own words and without a final
// stop. An unknown code titles as itself.
func (c Code) Title() string {
	if title, ok := codes.Title(string(c)); ok {
		return title
	}
	return string(c)
}

// Known reports whether the code is in the shared table.
func (c Code) Known() bool {
	_, ok := codes.Title(string(c))
	return ok
}

// Codes yields the shared table in alphabetical order: code and title.
func Codes() iter.Seq2[Code, string] {
	return func(yield func(Code, string) bool) {
		for code, title := range codes.All() {
			if !yield(Code(code), title) {
				return
			}
		}
	}
}

// CodeOf finds the reason code of an error: that of the first error in its tree
// which knows one, that of a sentinel of this package, [CodeOK] for nil, and
// [CodeInternal] for any other error.
func CodeOf(err error) (code Code) {
	if err == nil {
		return CodeOK
	}
	defer func() {
		if recover() != nil { // a method of the error
			code = CodeInternal
		}
	}()
	var coded interface{ ReasonCode() Code }
	if errors.As(err, &coded) {
		return cmp.Or(coded.ReasonCode(), CodeInternal)
	}
	var word interface{ ReasonCode() string } // of a package below this one
	if errors.As(err, &word) && Code(word.ReasonCode()).Known() {
		return Code(word.ReasonCode())
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return CodeTimeout
	case errors.Is(err, context.Canceled):
		return CodeCancelled
	}
	return CodeInternal
}

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

// Codes of RFC 8615.
const (
	CodeBadName             Code = "bad-name"
	CodeSoft404             Code = "soft-404"
	CodeRedirectCrossOrigin Code = "redirect-cross-origin"
	CodeForbidden           Code = "forbidden"
	CodeUnavailable         Code = "unavailable"
)

// Codes of loading: what became of a skill on its way.
const (
	CodeNeedsConsent Code = "needs-consent"
)
