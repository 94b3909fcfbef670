// Package coded makes errors that say all by being themselves.
package coded

type sentinel struct{ code, text string }

// New returns an error with a reason code of the table of package lookleap. Each call returns another error.
func New(code, text string) error { return &sentinel{code, text} }

func (e *sentinel) Error() string { return e.text }

// ReasonCode returns the reason code.
func (e *sentinel) ReasonCode() string { return e.code }
