// Package coded has what reason codes share: their titles, sentinel errors with a code, and classes
// of errors. The constants are in the package that each code belongs to; a test keeps the titles in
// step with them.
package coded

import (
	_ "embed" // of the titles
	"strings"
	"sync"
)

// titleTable has a line for each code: the code, a tab and the title.
//
//go:embed titles.tsv
var titleTable string

// Titles returns the titles of all codes of the module. Do not change the map. It is read on first
// use, so that importing the module costs nothing for it.
var Titles = sync.OnceValue(func() map[string]string {
	titles := make(map[string]string, 512)
	for line := range strings.Lines(titleTable) {
		if code, title, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			titles[code] = title
		}
	}
	return titles
})

type sentinel struct{ code, text string }

// New returns a sentinel error with a reason code of [Titles]. Each call returns another error.
func New(code, text string) error { return &sentinel{code, text} }

func (e *sentinel) Error() string { return e.text }

// ReasonCode returns the reason code.
func (e *sentinel) ReasonCode() string { return e.code }

// Denied is the class of what a guard refuses.
var Denied = New("denied", "denied by a guard")

type classified struct{ class, cause error }

// Classify returns an error that [errors.Is] finds to be of a class, and that
// otherwise is its cause. The cause may be nil.
func Classify(class, cause error) error {
	if cause == nil {
		return class
	}
	return &classified{class, cause}
}

// Attach returns an error below which [errors.As] finds data for callers, and that
// otherwise is its cause. The cause may be nil. A message does not print the data.
func Attach(data, cause error) error { return &classified{data, cause} }

func (e *classified) Error() string {
	if e.cause == nil {
		return e.class.Error()
	}
	return e.cause.Error()
}

func (e *classified) Unwrap() []error { return []error{e.class, e.cause} }

// Cause returns what an error with a message of its own still has to print of the
// error below it: nil for a sentinel, which only names the class.
func Cause(err error) error {
	if c, ok := err.(*classified); ok {
		return Cause(c.cause)
	}
	if _, ok := err.(*sentinel); ok {
		return nil
	}
	return err
}
