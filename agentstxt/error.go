package agentstxt

import (
	"fmt"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/zero"
)

// MalformedError says why a file is no policy, where, and what its publisher
// can do. Whoever reads such a file has to treat the whole origin as restricted
// (section 5).
type MalformedError struct {
	Code     lookleap.Code
	Position lookleap.Position // zero where the whole file is meant
	Message  string            // one sentence; remote text in it is quoted
	Fix      string            // what the publisher can do
	Hint     string            // for a hash mismatch: how the hash was probably made, one of the Hint constants
	Expected string            // for a hash mismatch: the digest in the file, 64 hex digits
	Computed string            // for a hash mismatch: the digest of the directives, 64 hex digits
}

// How a hash line that does not match was probably made.
const (
	HintTrailingNewline = "trailing-newline" // a line end after the last directive was hashed too
	HintCRLF            = "crlf"             // the lines were joined by CRLF
	HintBlankLines      = "blank-lines"      // blank lines were left in
	HintComments        = "comments"         // comments were left in
	HintEmpty           = "empty"            // it is the digest of no directives at all
)

func (e *MalformedError) Error() string {
	e = zero.Or(e)
	place := ""
	if e.Position.Line > 0 {
		place = e.Position.String() + ": "
	}
	text := fmt.Sprintf("agents.txt: %s%s (%s)", place, e.Message, e.Code)
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// ReasonCode gives the code.
func (e *MalformedError) ReasonCode() lookleap.Code { return zero.Or(e).Code }

// malformed gives a syntax error its place in the file.
func (e *syntaxError) malformed(at lookleap.Position) *MalformedError {
	code := CodeBadDirective
	if e.tooMany {
		code = lookleap.CodeTooLarge
	}
	return &MalformedError{Code: code, Position: at, Message: e.message, Fix: e.fix}
}

// finding is the error as a report of [Lint] shows it.
func (e *MalformedError) finding() lookleap.Finding {
	return lookleap.Finding{
		Severity: lookleap.SeverityError, Code: e.Code, Requirement: "AGT-8-01",
		Message: e.Message, Fix: e.Fix, Position: e.Position,
	}
}
