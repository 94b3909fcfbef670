package agent

import (
	"errors"
	"math"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
)

// Remedy says what a model can do after an error.
type Remedy string

const (
	RemedyRetry     Remedy = "retry"         // call again with the same arguments, after a wait
	RemedyArguments Remedy = "fix-arguments" // call again with other arguments
	RemedyAskUser   Remedy = "ask-user"      // only the user can say how to go on
	RemedyStop      Remedy = "stop"          // this call cannot succeed: do not repeat it
)

// Advice is an error in the form that a model can act on.
type Advice struct {
	Remedy Remedy
	Code   lookleap.Code
	Wait   time.Duration // with RemedyRetry: before the next call
	Text   string        // for the model's context; see [ErrorText]
}

// Advise returns what a model can do after an error of [Tool.Call], and "" as the remedy if
// there is no error.
func Advise(err error) Advice {
	if err == nil {
		return Advice{Code: lookleap.CodeOK}
	}
	a := Advice{Remedy: RemedyStop, Code: lookleap.CodeOf(err), Text: ErrorText(err)}
	wait, retryable := lookleap.Retryable(err)
	switch {
	case errors.Is(err, ErrInDoubt), errors.Is(err, lookleap.ErrConsentPending), needsUser[a.Code]:
		a.Remedy = RemedyAskUser
	case badArguments[a.Code]:
		a.Remedy = RemedyArguments
	case retryable:
		a.Remedy, a.Wait = RemedyRetry, wait
	}
	return a
}

// needsUser are the codes of what the user has to supply or decide.
var needsUser = map[lookleap.Code]bool{
	CodeNoValue: true, CodeValueType: true, CodeRequiredAskOpen: true, CodeAuthentication: true, CodeAuthRequired: true,
}

// badArguments are the codes of arguments that the tool or its service refuses.
var badArguments = map[lookleap.Code]bool{
	anml.CodeUnknownAction: true, anml.CodeParamMissing: true, anml.CodeParamInvalid: true, anml.CodeParamUnknown: true,
	CodeBadRequest: true, CodeUnprocessable: true, lookleap.CodeConflict: true,
	lookleap.CodeUsage: true, // arguments that are no object, or for a tool without any
}

// Data returns the advice as JSON values, for runtimes that show results as data.
func (a Advice) Data() map[string]any {
	if a.Remedy == "" {
		return map[string]any{"code": string(a.Code)}
	}
	out := map[string]any{"code": string(a.Code), "do": string(a.Remedy), "error": a.Text}
	if a.Remedy == RemedyRetry {
		out["waitSeconds"] = math.Ceil(a.Wait.Seconds())
	}
	return out
}

// Data returns a result as JSON values, for runtimes that show results as data. The member
// "content" is [CallResult.Text]: everything in it is remote, quoted and bounded.
func (r *CallResult) Data(o anml.TextOptions) map[string]any {
	if r == nil {
		return nil
	}
	return map[string]any{
		"outcome": r.Outcome.String(), "status": r.Status, "plan": r.Plan, "content": r.Text(o),
	}
}
