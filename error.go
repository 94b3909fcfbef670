package lookleap

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/zero"
)

// Error reports why something could not be read, fetched or done. All packages of
// this module return it; a check that ended with no returns a [*VerifyError], and an
// operation that waits for its user a [*PendingError].
//
// Callers branch on the code with [CodeOf], or on the sentinel errors of a package
// with errors.Is.
type Error struct {
	Code     Code
	Subject  string   // what the error is about: a URL without its query, a file, a name; "" if the caller knows
	Position Position // where in Subject; zero if it is about the whole
	Message  string   // one sentence without a final stop; remote text in it is quoted
	Fix      string   // what the reader of the error can do; "" if nothing is known to help
	Err      error    // the error below, if any
}

// Error returns one line: subject, position and message of this error and of those
// below it, then the code of this error, then a fix. What an error below repeats is
// left out. Errors that were joined below it follow on lines of their own.
func (e *Error) Error() string {
	e = zero.Or(e)
	var said []string
	say := func(text string) {
		if text != "" && (len(said) == 0 || said[len(said)-1] != text) {
			said = append(said, text)
		}
	}
	fix, subject, below := "", "", ""
	for at := e; at != nil; {
		if at.Subject != subject {
			say(at.Subject)
			subject = at.Subject
		}
		say(at.Position.String())
		if at.Message == "" && at == e {
			say(at.Code.Title())
		}
		say(at.Message)
		if fix == "" {
			fix = at.Fix
		}
		cause := coded.Cause(at.Err)
		if response, ok := cause.(*ResponseError); ok {
			say(response.facts())
			cause = coded.Cause(response.Err)
		}
		next, ok := cause.(*Error)
		if !ok && cause != nil {
			below = strings.TrimSuffix(cause.Error(), " ("+string(e.Code)+")")
		}
		at = next
	}
	lines := strings.Split(below, "\n")
	if len(lines) == 1 {
		say(below)
	}
	text := line(strings.Join(said, ": ") + " (" + string(e.Code) + ")")
	if fix != "" {
		text += "; " + line(fix)
	}
	if len(lines) > 1 {
		for _, l := range lines {
			text += "\n\t" + line(l)
		}
	}
	return text
}

// Unwrap returns the error below.
func (e *Error) Unwrap() error { return zero.Or(e).Err }

// ReasonCode returns the code.
func (e *Error) ReasonCode() Code {
	if e == nil {
		return CodeOK
	}
	return e.Code
}

// ResponseError is what an HTTP server said with a response that could not be used.
// errors.As finds it below an [*Error].
type ResponseError struct {
	Status     int           // HTTP status; 0 if no request was made or the status is not known
	RetryAfter time.Duration // how long to wait before the next request; 0 if not known
	Err        error         // the error below, if any
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

// Error returns the status and the time to wait, then the message of the error below.
func (e *ResponseError) Error() string {
	e = zero.Or(e)
	said := e.facts()
	if cause := coded.Cause(e.Err); cause != nil {
		said = strings.TrimPrefix(said+": "+cause.Error(), ": ")
	}
	return said
}

// Unwrap returns the error below.
func (e *ResponseError) Unwrap() error { return zero.Or(e).Err }

// AsError returns the finding as an error about a subject. A finding without a code
// was made wrongly, so its error has [CodeUsage].
func (f Finding) AsError(subject string) *Error {
	return &Error{Code: cmp.Or(f.Code, CodeUsage), Subject: subject, Position: f.Position, Message: f.Message, Fix: f.Fix}
}

// usageError returns an error for a call that the package cannot do as it was made.
func usageError(message string) error { return &Error{Code: CodeUsage, Message: message} }

// consentError returns an error for consent that is missing. It is an [ErrConsentRefused].
func consentError(code Code, message string, cause error) error {
	return &Error{Code: code, Message: message, Err: coded.Classify(ErrConsentRefused, cause)}
}
