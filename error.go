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

// Error returns one line: subject, position, message and causes, then the code in parentheses,
// then the fix. Facts that a cause repeats are left out.
func (e *Error) Error() string {
	e = zero.Or(e)
	said := e.said()
	code := cmp.Or(e.Code, CodeInternal)
	if e.Message == "" && coded.Cause(e.Err) == nil {
		said.say(code.Title())
	}
	text := said.text()
	for _, repeated := range []Code{code, CodeOf(e.Err)} { // of a cause that has its code in its text
		text = strings.TrimSuffix(text, " ("+string(repeated)+")")
	}
	text += " (" + line(string(code)) + ")"
	if said.fix != "" {
		text += "; " + line(said.fix)
	}
	return text
}

// saying is what an error and its causes say.
type saying struct {
	facts []string // each once
	fix   string   // the first one
}

func (e *Error) said() *saying {
	s := &saying{}
	s.add(e)
	return s
}

func (s *saying) text() string { return line(strings.Join(s.facts, ": ")) }

func (s *saying) say(facts ...string) {
	for _, fact := range facts {
		if fact != "" && !slices.Contains(s.facts, fact) {
			s.facts = append(s.facts, fact)
		}
	}
}

// add adds what an error says.
func (s *saying) add(err error) {
	switch e := coded.Cause(err).(type) {
	case nil:
	case *Error:
		e = zero.Or(e)
		s.say(e.Subject, e.Position.String(), e.Message)
		s.fix = cmp.Or(s.fix, e.Fix)
		s.add(e.Err)
	case *ResponseError:
		e = zero.Or(e)
		s.say(e.facts())
		s.add(e.Err)
	case interface{ AsError() *Error }: // of internal/fetch
		s.add(e.AsError())
	default:
		text := e.Error()
		if inner := (*Error)(nil); errors.As(e, &inner) && inner != nil {
			said := inner.said()
			text = strings.Replace(text, inner.Error(), said.text(), 1)
			s.fix = cmp.Or(s.fix, said.fix)
		}
		s.say(strings.ReplaceAll(text, "\n", "; "))
	}
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
	CodeConsentTooOften:   "wait before the user is asked again; Host.Asking sets the limit",
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
	CodeProxy          Code = "proxy"
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
