package agent

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/anml"
	"github.com/lookleap/lookleap/internal/coded"
	"github.com/lookleap/lookleap/internal/fetch"
	"github.com/lookleap/lookleap/internal/zero"
)

// unusedResponse is the response behind an error, for what is remembered of it.
type unusedResponse struct {
	response *fetch.Response
	links    []candidate // to documents, of a web page that came instead of one
}

func (*unusedResponse) Error() string { return "the response could not be used" }

// unusedBehind returns the response behind an error, or the zero value.
func unusedBehind(err error) unusedResponse {
	unused, _ := errors.AsType[*unusedResponse](err)
	return *zero.Or(unused)
}

// responseBehind returns the status and the time to wait behind an error, or zeros.
func responseBehind(err error) lookleap.ResponseError {
	response, _ := errors.AsType[*lookleap.ResponseError](err)
	return *zero.Or(response)
}

// innermost returns the innermost error of this module below err that has a code, or nil.
func innermost(err error, code lookleap.Code) (found *lookleap.Error) {
	for {
		e, ours := errors.AsType[*lookleap.Error](err)
		if !ours {
			return found
		}
		if e.Code == code {
			found = e
		}
		err = e.Err
	}
}

// withStatus returns the status of a response that cannot be used, as an error.
func withStatus(r *fetch.Response, err error) error {
	return &lookleap.ResponseError{Status: r.Status, Err: err}
}

// missing returns an error for a value that was not made by its constructor.
func missing(what, fix string) error {
	return &lookleap.Error{Code: lookleap.CodeUsage, Message: what, Fix: fix}
}

// withoutQuery returns a URL without its query, which may hold data of the user.
func withoutQuery(url string) string {
	url, _, _ = strings.Cut(url, "?")
	return url
}

// fail returns an error about a URL that has the code of the error below it. Of the
// times to wait that errors below name, it has the longer one.
func fail(url string, err error, message string) *lookleap.Error {
	e := &lookleap.Error{Code: lookleap.CodeOf(err), Subject: withoutQuery(url), Message: message, Err: err}
	response := lookleap.ResponseError{Err: err}
	if exchange, ok := errors.AsType[*fetch.Error](err); ok {
		response.Status, response.RetryAfter = exchange.Status, exchange.RetryAfter
	}
	response.RetryAfter = max(response.RetryAfter, responseBehind(err).RetryAfter)
	if response.Status != 0 || response.RetryAfter != 0 {
		e.Err = &response
	}
	return e
}

func inDoubt(err error) error { return coded.Attach(lookleap.ErrInDoubt, err) }

// ended returns why a context ended, nil if it did not: the caller left, the session
// was closed, or a time limit passed.
func ended(ctx context.Context, url string) error {
	if ctx.Err() == nil {
		return nil
	}
	cause := context.Cause(ctx)
	if limit, ok := errors.AsType[*lookleap.Error](cause); ok {
		return limit
	}
	if errors.Is(cause, errClosed) {
		return closedError(url)
	}
	return &lookleap.Error{Code: lookleap.CodeCancelled, Subject: url, Message: "the caller did not wait", Err: ctx.Err()}
}

// errClosed is the cause of a context that ended with its session.
var errClosed = errors.New("the session is closed")

func closedError(url string) error {
	return &lookleap.Error{Code: lookleap.CodeClosed, Subject: url, Message: "the session is closed", Err: coded.Attach(errClosed, nil)}
}

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
	case errors.Is(err, lookleap.ErrInDoubt), errors.Is(err, lookleap.ErrConsentPending), needsUser[a.Code]:
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
	lookleap.CodeUsage: true, // arguments that are not an object, or for a tool without any
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
