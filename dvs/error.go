package dvs

import (
	"errors"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/domain"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// refuse returns an error about an input, without the secrets that a URL can have.
func refuse(code lookleap.Code, input, message, fix string) *lookleap.Error {
	return &lookleap.Error{Code: code, Subject: domain.Redact(input), Message: message, Fix: fix}
}

// usageError returns an error for a call that cannot work, such as one on a nil value.
func usageError(message, fix string) *lookleap.Error {
	return &lookleap.Error{Code: lookleap.CodeUsage, Message: message, Fix: fix}
}

// badURL returns an error for a URL that package domain refuses.
func badURL(input string, err error) *lookleap.Error {
	e := fetch.URLError(input, "", err)
	if e.Code == domain.CodeQuery {
		e.Code = CodeQueryInSkillURL
	}
	return e
}

// badJSON returns an error for JSON that package strictjson refuses.
func badJSON(code lookleap.Code, subject string, err error) *lookleap.Error {
	var e *strictjson.Error
	if !errors.As(err, &e) {
		return &lookleap.Error{Code: code, Subject: domain.Redact(subject), Err: err}
	}
	at := e.Place()
	return &lookleap.Error{Code: code, Subject: domain.Redact(subject), Message: e.Message, Fix: e.Fix,
		Position: lookleap.Position{Line: at.Line, Column: at.Column, Offset: e.Offset, Path: at.Pointer}}
}

// ioError returns an error of the file system a reason code. Other errors stay as they are.
func ioError(err error) error {
	var e *lookleap.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &lookleap.Error{Code: lookleap.CodeIO, Message: "the files could not be read", Err: err}
}

// sentence returns what an error says without its subject and code, for a finding or a check that
// shows these itself.
func sentence(err error) string {
	var e *lookleap.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	text := e.Message
	if cause := coded.Cause(e.Err); cause != nil {
		text += ": " + sentence(cause)
	}
	if at := e.Position.String(); at != "" {
		text = at + ": " + text
	}
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}
