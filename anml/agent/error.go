package agent

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/plaintext"
	"github.com/lookleap/lookleap/internal/zero"
)

// Error is why a session did not do what it was asked to. [lookleap.CodeOf] gives
// its code; Err is the error below it, if any.
type Error struct {
	Code   lookleap.Code
	URL    string // what it is about, without query; or an origin, or a domain
	Reason string // one sentence without a final stop; remote text in it is quoted

	Status     int           // HTTP status of the answer that was refused; 0: none
	RetryAfter time.Duration // how long to leave the server alone; 0: it did not say
	InDoubt    bool          // the request of an action was sent, and nobody knows whether it was done
	Trace      []Attempt     // of [Session.Discover]: what was tried
	Err        error

	answer *fetch.Response // with a status that is refused
	links  []candidate     // to documents, of a web page that came instead of one
}

func (e *Error) Error() string {
	e = zero.Or(e)
	var b strings.Builder
	b.WriteString("anml/agent: ")
	if e.Reason != "" {
		b.WriteString(e.Reason)
	} else {
		b.WriteString(e.Code.Title())
	}
	if e.URL != "" {
		b.WriteString(": " + e.URL)
	}
	if e.Status != 0 {
		b.WriteString(": HTTP status " + strconv.Itoa(e.Status))
	}
	b.WriteString(" [" + string(e.Code) + "]")
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return plaintext.Line(b.String())
}

// ReasonCode gives the code.
func (e *Error) ReasonCode() lookleap.Code { return zero.Or(e).Code }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return zero.Or(e).Err }

// missing returns an error for a value that was not made as it has to be.
func missing(what, fix string) error {
	return &Error{Code: lookleap.CodeUsage, Reason: what + ": " + fix}
}

// fail makes an error about a URL from the error below it, whose code it keeps.
func fail(url string, err error, reason string) *Error {
	url, _, _ = strings.Cut(url, "?")
	e := &Error{Code: lookleap.CodeOf(err), URL: url, Reason: reason, Err: err}
	var exchange *fetch.Error
	if errors.As(err, &exchange) {
		e.Status, e.RetryAfter = exchange.Status, exchange.RetryAfter
	}
	var below *Error
	if errors.As(err, &below) { // why a redirect was not followed
		e.RetryAfter = max(e.RetryAfter, below.RetryAfter)
	}
	return e
}

// ended turns the end of a context into an error with its cause: the caller left,
// or a time limit of ours is over.
func ended(ctx context.Context, url string) error {
	if ctx.Err() == nil {
		return nil
	}
	cause := context.Cause(ctx)
	var limit *Error
	if errors.As(cause, &limit) {
		return limit
	}
	code := lookleap.CodeCancelled
	if errors.Is(cause, errClosed) {
		code = lookleap.CodeClosed
	}
	return &Error{Code: code, URL: url, Reason: "the caller did not wait", Err: ctx.Err()}
}

// errClosed is why what a session does ends.
var errClosed = errors.New("the session is closed")
