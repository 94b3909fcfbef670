package lookleap

import (
	"errors"
	"net/http"
	"time"
)

// retryWait is the wait of [Retryable] if the error does not say how long.
const retryWait = 30 * time.Second

// Retryable reports whether the operation that failed with err may succeed later, without
// a change at the caller, and how long to wait before it is tried again: until the time
// that the server named, or until the reason ends, and otherwise 30 seconds. It reports
// false for an [ErrDenied], for an operation that its caller cancelled, and for every
// error that needs another request, other data, or the user.
func Retryable(err error) (wait time.Duration, ok bool) {
	if err == nil || errors.Is(err, ErrDenied) || errors.Is(err, ErrBogus) {
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
