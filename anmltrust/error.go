package anmltrust

import (
	"fmt"
	"strconv"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// usageError returns an error for a value that its constructor did not make.
func usageError(what, fix string) error {
	return refuse(lookleap.CodeUsage, lookleap.Position{}, fix, "%s", what)
}

func refuse(code lookleap.Code, at lookleap.Position, fix, format string, args ...any) *lookleap.Error {
	return &lookleap.Error{Code: code, Message: fmt.Sprintf(format, args...), Fix: fix, Position: at}
}

// refuseValue refuses a value of a JSON text.
func refuseValue(v strictjson.Value, code lookleap.Code, message, fix string) *lookleap.Error {
	return &lookleap.Error{Code: code, Message: message, Fix: fix, Position: positionOf(v.Place())}
}

// refuseJSON keeps the position and the fix of a refused JSON text under a code of this package.
func refuseJSON(code lookleap.Code, err error) *lookleap.Error {
	if e, ok := err.(*strictjson.Error); ok {
		return &lookleap.Error{Code: code, Message: e.Message + " [" + e.Code + "]", Fix: e.Fix, Position: positionOf(e.Place())}
	}
	return &lookleap.Error{Code: code, Message: err.Error()}
}

func positionOf(p strictjson.Place) lookleap.Position {
	return lookleap.Position{Line: p.Line, Column: p.Column, Offset: p.Offset, Path: p.Pointer}
}

// findingOf returns an error about a record, manifest or response as a finding of a row.
func findingOf(err error, row string) lookleap.Finding {
	f := lookleap.Finding{Severity: lookleap.SeverityWarning, Code: lookleap.CodeOf(err), Requirement: row, Message: err.Error()}
	if e, ok := err.(*lookleap.Error); ok {
		f.Message, f.Fix, f.Position = e.Message, e.Fix, e.Position
	}
	return f
}

// quote returns the beginning of a remote text, quoted.
func quote(s string) string {
	if len(s) > 64 {
		return strconv.QuoteToASCII(s[:64]) + "…"
	}
	return strconv.QuoteToASCII(s)
}
