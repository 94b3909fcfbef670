package lookleap

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/roundtrip"
	"github.com/lookleap/lookleap/internal/zero"
)

// Error reports why something could not be read, fetched or done. All packages of
// this module return it. A check that ended with "no" returns a [*VerifyError], and
// an operation that waits for its user returns a [*PendingError].
//
// Callers branch on the code with [CodeOf], or on the sentinel errors of a package
// with errors.Is.
type Error struct {
	Code     Code
	Subject  string   // what the error is about: a URL without its query, a file, a name; "" if the caller knows
	Position Position // where in Subject; zero if the error is about the whole
	Message  string   // one sentence without a final stop; remote text in it is quoted
	Fix      string   // what the reader of the error can do; "" if no fix is known
	Err      error    // the cause, if any
}

// Error returns one line: subject, position, message and cause, then the code in
// parentheses, then the fix. Facts that a cause repeats are left out. Causes that
// were joined with [errors.Join] follow on indented lines, one each.
func (e *Error) Error() string {
	e = zero.Or(e)
	return strings.Join(e.lines(""), "\n\t")
}

// lines returns the text of the error, the line of the error itself first. The code
// is left out if it is the code of the error above.
func (e *Error) lines(above Code) []string {
	var facts, joined []string
	say := func(fact string) {
		if fact != "" && !slices.Contains(facts, fact) {
			facts = append(facts, fact)
		}
	}
	say(e.Subject)
	say(e.Position.String())
	say(e.Message)
	code, fix := cmp.Or(e.Code, CodeInternal), e.Fix
	if e.Message == "" && coded.Cause(e.Err) == nil {
		say(code.Title())
	}
	for cause := coded.Cause(e.Err); cause != nil; {
		if response, ok := cause.(*ResponseError); ok {
			say(response.facts())
			cause = coded.Cause(response.Err)
			continue
		}
		if exchange, ok := cause.(interface{ AsError() *Error }); ok { // of internal/fetch
			cause = exchange.AsError()
		}
		below, ok := cause.(*Error)
		if !ok {
			if causes := joinedErrors(cause); causes != nil {
				joined = linesOf(causes, code)
			} else {
				text, inner := withoutCode(cause, code)
				say(text)
				fix = cmp.Or(fix, inner)
			}
			break
		}
		say(below.Subject)
		say(below.Position.String())
		say(below.Message)
		fix = cmp.Or(fix, below.Fix)
		cause = coded.Cause(below.Err)
	}
	text := line(strings.Join(facts, ": "))
	if code != above {
		text += " (" + line(string(code)) + ")"
	}
	if fix != "" {
		text += "; " + line(fix)
	}
	return append([]string{text}, joined...)
}

// linesOf returns the texts of joined errors, each one once.
func linesOf(causes []error, above Code) (lines []string) {
	for _, err := range causes {
		var texts []string
		err = coded.Cause(err)
		if exchange, ok := err.(interface{ AsError() *Error }); ok {
			err = exchange.AsError()
		}
		if e, _ := err.(*Error); e != nil {
			texts = e.lines(above)
		} else if more := joinedErrors(err); more != nil {
			texts = linesOf(more, above)
		} else if err != nil {
			text, _ := withoutCode(err, above)
			texts = []string{line(text)}
		}
		for _, text := range texts {
			if !slices.Contains(lines, text) {
				lines = append(lines, text)
			}
		}
	}
	return lines
}

// joinedErrors returns the errors that errors.Join joined to err, or nil.
func joinedErrors(err error) []error {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var texts []string
	for _, e := range list.Unwrap() {
		if e != nil {
			texts = append(texts, e.Error())
		}
	}
	if err.Error() != strings.Join(texts, "\n") { // it has a text of its own
		return nil
	}
	return list.Unwrap()
}

// withoutCode returns the text of an error in one line, and the fix of an [*Error]
// that it wraps. It leaves out the fix, and the code if that is the code above.
func withoutCode(err error, above Code) (text, fix string) {
	text = err.Error()
	if e := (*Error)(nil); errors.As(err, &e) && e != nil {
		text, fix = strings.ReplaceAll(text, e.Error(), strings.Join(e.lines(e.Code), "; ")), e.Fix
		text = strings.TrimSuffix(text, "; "+line(fix))
	}
	text = strings.TrimSuffix(text, " ("+string(above)+")")
	return strings.ReplaceAll(text, "\n", "; "), fix
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return zero.Or(e).Err }

// ReasonCode returns the code. It is [CodeOK] for a nil *Error.
func (e *Error) ReasonCode() Code {
	if e == nil {
		return CodeOK
	}
	return e.Code
}

// ResponseError holds what an HTTP server said in a response that cannot be used.
// errors.As finds it below an [*Error].
type ResponseError struct {
	Status     int           // HTTP status; 0 if no request was made or the status is not known
	RetryAfter time.Duration // how long to wait before the next request; 0 if not known
	Err        error         // the cause, if any
}

func (e *ResponseError) facts() string {
	var facts []string
	if e.Status != 0 {
		facts = append(facts, "HTTP status "+strconv.Itoa(e.Status))
	}
	if e.RetryAfter > 0 {
		facts = append(facts, "retry after "+e.RetryAfter.String())
	}
	return strings.Join(facts, ", ")
}

// Error returns the status, the time to wait, and the cause.
func (e *ResponseError) Error() string {
	e = zero.Or(e)
	said := e.facts()
	if cause := coded.Cause(e.Err); cause != nil {
		said = strings.TrimPrefix(said+": "+cause.Error(), ": ")
	}
	return said
}

// Unwrap returns the cause.
func (e *ResponseError) Unwrap() error { return zero.Or(e).Err }

// AsError returns the finding as an error about a subject. A finding without a code
// was made wrongly, so its error has [CodeUsage].
func (f Finding) AsError(subject string) *Error {
	return &Error{Code: cmp.Or(f.Code, CodeUsage), Subject: subject, Position: f.Position, Message: f.Message, Fix: f.Fix}
}

// usageError returns an error for a call that was made wrongly.
func usageError(message string) error { return &Error{Code: CodeUsage, Message: message} }

// consentError returns an error for consent that is missing. It is an [ErrConsentRefused].
func consentError(code Code, message string, cause error) error {
	e := &Error{Code: code, Message: message, Err: coded.Classify(ErrConsentRefused, cause)}
	if cause == nil { // a cause has its own fix
		e.Fix = consentFixes[code]
	}
	return e
}

// consentFixes are the fixes of the faults that a program can do something about. A refusal has no
// fix.
var consentFixes = map[Code]string{
	CodeConsentNoPrompter: "set Host.Prompter",
	CodePlanExpired:       "do the operation again: it makes a new plan, and the user is asked again",
	CodeConsentMismatch:   "return the user's decision about this request, with its Digest and ids of its items",
}

// Code is a reason code: a short kebab-case word that says why a check ended as it
// did. Codes do not change within a revision of a draft, so that a host can branch,
// count and translate them. [Codes] lists the codes of all packages, and
// [Code.Title] says what a code means.
type Code string

// Title returns what the code means, in one sentence without a final stop. The title
// of an unknown code is the code itself.
func (c Code) Title() string {
	if title, ok := coded.Titles()[string(c)]; ok {
		return title
	}
	return string(c)
}

// Known reports whether a package of this module uses the code.
func (c Code) Known() bool {
	_, ok := coded.Titles()[string(c)]
	return ok
}

// Codes returns all codes of the module with their titles, in alphabetical order.
func Codes() iter.Seq2[Code, string] {
	return func(yield func(Code, string) bool) {
		titles := coded.Titles()
		for _, code := range slices.Sorted(maps.Keys(titles)) {
			if !yield(Code(code), titles[code]) {
				return
			}
		}
	}
}

// CodeOf returns the reason code of an error: the code of the first error in its
// tree that has one. Errors of the standard library that this module passes on, such
// as a refused connection, an invalid certificate or the end of a context, have codes
// too. CodeOf returns [CodeOK] for nil and [CodeInternal] for any other error.
func CodeOf(err error) (code Code) {
	defer func() { _ = recover() }() // a method of the error panicked, which leaves the code as it is
	code = ownCode(err)
	if code != CodeInternal {
		return code
	}
	if code := roundtrip.CodeOf(err); code != "" {
		return Code(code)
	}
	if path, link := (*fs.PathError)(nil), (*os.LinkError)(nil); errors.As(err, &path) || errors.As(err, &link) {
		return CodeIO
	}
	return CodeInternal
}

// ownCode is CodeOf without the errors of the operating system and the network.
func ownCode(err error) (code Code) {
	if err == nil {
		return CodeOK
	}
	defer func() {
		if recover() != nil {
			code = CodeInternal
		}
	}()
	var withCode interface{ ReasonCode() Code }
	if errors.As(err, &withCode) {
		return cmp.Or(withCode.ReasonCode(), CodeInternal)
	}
	var withText interface{ ReasonCode() string } // of an internal package
	if errors.As(err, &withText) && Code(withText.ReasonCode()).Known() {
		return Code(withText.ReasonCode())
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

	CodeBadSuffixList Code = "bad-suffix-list"

	CodeFetcherFailed  Code = "fetcher-failed"
	CodeResolverFailed Code = "resolver-failed"
	CodeCacheFailed    Code = "cache-failed"
	CodeLedgerFailed   Code = "ledger-failed"
	CodeLimiterFailed  Code = "limiter-failed"
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
	CodeDevelopment    Code = "development"
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
	CodeDNSSECMissing Code = "dnssec-missing"
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
	CodeNeedsConsent      Code = "needs-consent"
	CodePlanExpired       Code = "plan-expired"
	CodePlanDone          Code = "plan-already-done"
	CodePlanInvalid       Code = "plan-invalid"
	CodeClaimLost         Code = "plan-claim-lost"
	CodePlanOtherUser     Code = "plan-other-user"
	CodeSealBroken        Code = "seal-broken"
	CodeCacheForged       Code = "cache-forged"
)

// Codes of what a server publishes: its name, and how the server responds.
const (
	CodeBadName             Code = "bad-name"
	CodeSoft404             Code = "soft-404"
	CodeRedirectCrossOrigin Code = "redirect-cross-origin"
	CodeForbidden           Code = "forbidden"
	CodeUnavailable         Code = "unavailable"
)

// retryWait is the wait of [Retryable] if the error does not say how long.
const retryWait = 30 * time.Second

// Retryable reports whether the operation that failed with err may succeed later, without
// a change at the caller, and how long to wait before it is tried again: until the time
// that the server named, or until the reason ends, and otherwise 30 seconds. It reports
// false for an [ErrDenied], for an operation that its caller cancelled, and for every
// error that needs another request, other data, or the user.
func Retryable(err error) (wait time.Duration, ok bool) {
	if errors.Is(err, ErrDenied) || errors.Is(err, ErrBogus) {
		return 0, false
	}
	code, ends := CodeOf(err), endOf(err)
	var response *ResponseError
	failed := errors.As(err, &response) && response != nil && (response.RetryAfter > 0 || response.isTemporary())
	switch {
	case isTemporary(code), failed:
	case code == CodeLimit && ends > 0: // of requests, and not of parts
	default:
		return 0, false
	}
	wait = retryWait
	if ends > 0 {
		wait = ends
	}
	if failed {
		wait = max(wait, response.RetryAfter)
	}
	var exchange interface{ RetryIn() time.Duration } // of package fetch
	if errors.As(err, &exchange) {
		wait = max(wait, exchange.RetryIn())
	}
	return wait, true
}

// endOf returns how long the outermost verdict below an error holds that says it, 0 if no
// verdict does.
func endOf(err error) time.Duration {
	for no := (*VerifyError)(nil); errors.As(err, &no) && no != nil; err = no.Err {
		if v := no.Verdict; v != nil && v.Expires.After(v.CheckedAt) {
			return v.Expires.Sub(v.CheckedAt)
		}
	}
	return 0
}

// isTemporary reports whether the status says that the server failed or is busy.
func (e *ResponseError) isTemporary() bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// isTemporary reports whether an error with this code may end by itself: the server did
// not respond, failed, or asked to wait.
func isTemporary(code Code) bool {
	switch code {
	case CodeTimeout, CodeTooSlow, CodeUnreachable, CodeConnRefused, CodeConnReset, CodeTruncated,
		CodeDNSError, CodeNoAddress, CodeUnavailable, CodeRateLimited:
		return true
	}
	return false
}
