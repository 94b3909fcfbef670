package fetch

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/roundtrip"
)

// Error is the error of an exchange without a usable response.
type Error struct {
	Code      lookleap.Code
	URL       string // that failed, without query
	Transient bool   // trying again later may help: a timeout, reset, refusal or truncation
	Err       error
	arrived   bool // the server may have received a request

	// Of the response that was refused, if there was one.
	Status     int
	MediaType  string
	RetryAfter time.Duration // 0: none, or an invalid one
	Hops       []Hop         // followed before
}

func (e *Error) Error() string { return e.AsError().Error() }

// AsError returns the error in the form in which the root package prints it.
func (e *Error) AsError() *lookleap.Error {
	return &lookleap.Error{Code: e.Code, Subject: e.URL, Err: e.Err}
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ReasonCode returns the code.
func (e *Error) ReasonCode() lookleap.Code { return e.Code }

// RetryIn returns how long the server asked to wait, 0 if it did not ask.
func (e *Error) RetryIn() time.Duration { return e.RetryAfter }

// URLError returns the error for a URL, reference or host that package domain refuses. It has the
// code, message and fix of err. A subject is shown without its secrets, and the refused text itself
// is not repeated. What a message says comes before that of err.
func URLError(subject, message string, err error) *lookleap.Error {
	e := &lookleap.Error{Code: lookleap.CodeBadURL, Subject: domain.Redact(subject), Message: message}
	var bad *domain.Error
	if !errors.As(err, &bad) {
		e.Message, e.Err = cmp.Or(message, "the URL is invalid"), err
		return e
	}
	e.Code, e.Message, e.Fix = lookleap.Code(bad.Code), bad.Message, bad.Fix
	if message != "" {
		e.Message = message + ": " + bad.Message
	}
	return e
}

// Cancelled reports whether an exchange ended because the caller's context ended. That says
// nothing about the server, so it is never cached.
func Cancelled(err error) bool { return lookleap.CodeOf(err) == lookleap.CodeCancelled }

// Transient reports whether an error of [Do] may be temporary.
func Transient(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Transient
}

// MayHaveArrived reports whether the server may have received a request of an exchange that failed
// with err. It has not if the Fetcher asked for a connection and got none. A Fetcher that does not
// report connections may have sent the request.
func MayHaveArrived(err error) bool {
	var e *Error
	return !errors.As(err, &e) || e.arrived
}

// codedError is an error of this package before Do adds the URL.
type codedError struct {
	code    lookleap.Code
	message string
	err     error
}

func coded(code lookleap.Code, format string, args ...any) error {
	return &codedError{code: code, message: fmt.Sprintf(format, args...)}
}

// denied is a refusal by the address guard, which is final for all callers.
func denied(code lookleap.Code, message string) error {
	return &codedError{code: code, message: message, err: lookleap.ErrDenied}
}

func (e *codedError) Error() string             { return e.message }
func (e *codedError) Unwrap() error             { return e.err }
func (e *codedError) ReasonCode() lookleap.Code { return e.code }

var errTooSlow = coded(lookleap.CodeTooSlow, "the response arrived more slowly than the minimum rate")

// classify returns the code of an error and whether it is transient: whether trying
// again later may help. An error without a code is final.
func classify(err error) (code lookleap.Code, transient bool) {
	var own *codedError
	var byName interface{ ReasonCode() lookleap.Code }
	switch {
	case errors.As(err, &own):
		return own.code, isTransient(own.code)
	case errors.Is(err, lookleap.ErrBogus):
		return lookleap.CodeDNSSECBogus, false
	case errors.Is(err, lookleap.ErrDenied):
		return lookleap.CodeOf(err), false
	case errors.As(err, &byName) && !roundtrip.IsTimeout(err):
		code = lookleap.CodeOf(err)
		if code == lookleap.CodeFetcherFailed && returnedError(err) {
			return lookleap.CodeUnreachable, false
		}
		return code, isTransient(code)
	case errors.Is(err, lookleap.ErrClosed):
		return lookleap.CodeClosed, false
	}
	code = lookleap.Code(roundtrip.CodeOf(err))
	if code != "" {
		return code, isTransient(code)
	}
	return lookleap.CodeUnreachable, false
}

// returnedError reports whether a plugged-in Fetcher returned an error and did not panic. Its
// error then counts as a server that cannot be reached.
func returnedError(err error) bool {
	var failed *lookleap.Error
	return errors.As(err, &failed) && failed.Err != nil
}

func isTransient(code lookleap.Code) bool {
	switch code {
	case lookleap.CodeTimeout, lookleap.CodeTooSlow, lookleap.CodeTruncated, lookleap.CodeConnReset, lookleap.CodeConnRefused:
		return true
	}
	return false
}
