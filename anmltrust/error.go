package anmltrust

import (
	"fmt"
	"strconv"

	"github.com/lookleap/lookleap"
)

// Error is a refusal of a record, manifest, answer or name, with the place.
type Error struct {
	Code   lookleap.Code
	Reason string // one sentence; remote text in it is quoted
	Fix    string // what to write instead, if anything
	lookleap.Position
}

func (e *Error) Error() string {
	if e == nil {
		return "anmltrust: no error"
	}
	text := "anmltrust: "
	if place := e.Position.String(); place != "" {
		text += place + ": "
	}
	text += e.Reason + " (" + string(e.Code) + ")"
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// ReasonCode gives the code.
func (e *Error) ReasonCode() lookleap.Code {
	if e == nil {
		return lookleap.CodeOK
	}
	return e.Code
}

// missing refuses a use of what was not made by its constructor.
func missing(what, fix string) error {
	return refuse(lookleap.CodeUsage, lookleap.Position{}, fix, "%s", what)
}

func refuse(code lookleap.Code, at lookleap.Position, fix, format string, args ...any) *Error {
	return &Error{Code: code, Reason: fmt.Sprintf(format, args...), Fix: fix, Position: at}
}

// shown is a short remote text in a message.
func shown(s string) string {
	if len(s) > 64 {
		return strconv.QuoteToASCII(s[:64]) + "…"
	}
	return strconv.QuoteToASCII(s)
}
