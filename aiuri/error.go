package aiuri

import (
	"fmt"

	"github.com/lookleap/lookleap"
)

// Error is a refusal of a URI, a document, a key set or a configuration. It
// shows no path, query, body or signature (section 6): Subject is a redacted URI
// or the URL of a public document.
type Error struct {
	Code    lookleap.Code
	Subject string            // what was refused, as far as it may be shown
	Place   lookleap.Position // the offset in octets for a URI or header, line, column and pointer for JSON
	Reason  string            // one sentence
	Fix     string            // what to write instead, if anything
	Err     error             // the cause below, if any
}

func (e *Error) Error() string {
	if e == nil {
		return "aiuri: no error"
	}
	text := "aiuri: "
	if e.Subject != "" {
		text += e.Subject + ": "
	}
	switch {
	case e.Place.Line > 0:
		text += e.Place.String() + ": "
	case e.Place.Offset > 0:
		text += fmt.Sprintf("octet %d: ", e.Place.Offset)
	}
	text += e.Reason + " (" + string(e.Code) + ")"
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// ReasonCode returns the reason code.
func (e *Error) ReasonCode() lookleap.Code {
	if e == nil || e.Code == "" {
		return lookleap.CodeInternal
	}
	return e.Code
}

func fail(code lookleap.Code, reason, fix string) *Error {
	return &Error{Code: code, Reason: reason, Fix: fix}
}

func failAt(code lookleap.Code, offset int, reason, fix string) *Error {
	return &Error{Code: code, Place: lookleap.Position{Offset: offset}, Reason: reason, Fix: fix}
}
