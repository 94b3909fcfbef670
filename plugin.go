package lookleap

import (
	"errors"
	"fmt"
	"io"

	"github.com/lookleap/lookleap/internal/plugin"
)

// part is a plug-in of a [Host].
type part struct {
	name string
	code Code
}

var (
	partFetcher  = part{"Fetcher", CodeFetcherFailed}
	partResolver = part{"Resolver", CodeResolverFailed}
	partPrompter = part{"ConsentPrompter", CodeConsentFailed}
	partCache    = part{"Cache", CodeCacheFailed}
	partLedger   = part{"PlanLedger", CodeLedgerFailed}
	partClock    = part{"clock", CodeClockFailed}
	partDial     = part{"Dial hook", CodeInternal}
)

// pluginError is a plug-in that failed. It counts as "no".
type pluginError struct {
	part  part
	cause any
}

func (e *pluginError) Error() string {
	return fmt.Sprintf("lookleap: the %s failed: %v", e.part.name, e.cause)
}

// Unwrap returns the plug-in's own error, if it returned one.
func (e *pluginError) Unwrap() error {
	err, _ := e.cause.(error)
	return err
}

// ReasonCode returns the code of the plug-in.
func (e *pluginError) ReasonCode() Code { return e.part.code }

// guard is deferred around the call of a plug-in: a panic becomes its error, and
// so does an error that cannot be used. An error keeps a code that it has.
func (p part) guard(err *error) {
	if cause := recover(); cause != nil {
		*err = &pluginError{p, panicText(cause)}
		return
	}
	*err = p.sound(*err)
}

// sound returns the error of a plug-in in a form that can be printed and
// compared, and that has a reason code.
func (p part) sound(err error) error {
	if err == nil {
		return nil
	}
	sound := plugin.Sound(err)
	if errors.Is(sound, plugin.ErrUnsound) {
		return &pluginError{p, sound}
	}
	return sound
}

// coded returns the error of a plug-in with the plug-in's code if it has none.
func (p part) coded(err error) error {
	if err == nil || CodeOf(err) != CodeInternal {
		return err
	}
	return &pluginError{p, err}
}

// panicText returns what a panic said. A value that panics when it is printed is
// left to package fmt.
func panicText(cause any) string { return fmt.Sprintf("it panics: %v", cause) }

// guardedBody is the body of a plugged-in Fetcher's response.
type guardedBody struct{ io.ReadCloser }

func (b guardedBody) Read(p []byte) (n int, err error) {
	defer partFetcher.guard(&err)
	return b.ReadCloser.Read(p)
}

func (b guardedBody) Close() (err error) {
	defer partFetcher.guard(&err)
	return b.ReadCloser.Close()
}
