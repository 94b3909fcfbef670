// Package coded makes sentinel errors with a reason code, and classes of errors.
package coded

type sentinel struct{ code, text string }

// New returns a sentinel error with a reason code of the table of package
// [github.com/lookleap/lookleap/internal/codes]. Each call returns another error.
func New(code, text string) error { return &sentinel{code, text} }

func (e *sentinel) Error() string { return e.text }

// ReasonCode returns the reason code.
func (e *sentinel) ReasonCode() string { return e.code }

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
