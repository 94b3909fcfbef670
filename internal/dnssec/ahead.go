package dnssec

import (
	"runtime/debug"

	"github.com/lookleap/lookleap/internal/flight"
)

// ahead begins work at once and returns a function that waits for its result. A panic of the work is an error of it.
func ahead[V any](work func() (V, error)) func() (V, error) {
	var value V
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				err = &flight.PanicError{Value: p, Stack: debug.Stack()}
			}
		}()
		value, err = work()
	}()
	return func() (V, error) {
		<-done
		return value, err
	}
}
