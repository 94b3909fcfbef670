package dvs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/plaintext"
)

// Error is a refusal of a trust root, a skill URL or a reference, before
// anything is sent.
type Error struct {
	Code   lookleap.Code
	Input  string // what was refused; untrusted, and it may hold secrets
	Reason string // one sentence
	Fix    string // what to write instead, if anything
}

// Error returns the refusal without the user information, query and fragment of
// Input.
func (e *Error) Error() string {
	if e == nil {
		return "dvs: no error"
	}
	text := "dvs: "
	if e.Input != "" {
		text += plaintext.Quote(domain.Redact(e.Input), 0) + ": "
	}
	text += fmt.Sprintf("%s (%s)", plaintext.Line(e.Reason), e.Code)
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

func refuse(code lookleap.Code, input, reason, fix string) *Error {
	return &Error{Code: code, Input: input, Reason: reason, Fix: fix}
}

// badURL turns a refusal of the URL itself into ours.
func badURL(input string, err error) *Error {
	var e *domain.Error
	if !errors.As(err, &e) {
		return refuse(lookleap.CodeBadURL, input, err.Error(), "")
	}
	code := lookleap.Code(e.Code)
	if code == domain.CodeQuery {
		code = CodeQueryInSkillURL
	}
	return refuse(code, input, strings.TrimSuffix(e.Message, "."), e.Fix)
}
