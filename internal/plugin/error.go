// Package plugin bounds the calls of code that a host plugs in, checks what comes back, and passes
// options to plug-ins in a context.
package plugin

import (
	"errors"
	"fmt"
	"reflect"
)

// maxErrors is the number of errors that the tree of one error may have.
const maxErrors = 1000

// ErrUnsound is the error in place of one that cannot be used.
var ErrUnsound = errors.New("its error cannot be used")

// Sound returns err if it can be printed, unwrapped and compared. For a typed nil pointer, for
// an error with a method that panics and for a tree without an end it returns an error that
// wraps [ErrUnsound] instead.
func Sound(err error) (sound error) {
	defer func() {
		if p := recover(); p != nil {
			sound = fmt.Errorf("%w: a method of %T panics", ErrUnsound, err)
		}
	}()
	tree := []error{err}
	for n := 0; n < len(tree); n++ {
		e := tree[n]
		if e == nil {
			continue
		}
		if n == maxErrors {
			return fmt.Errorf("%w: it unwraps without an end", ErrUnsound)
		}
		if v := reflect.ValueOf(e); v.Kind() == reflect.Pointer && v.IsNil() {
			return fmt.Errorf("%w: it is a nil %T", ErrUnsound, e)
		}
		_ = e.Error()
		if is, ok := e.(interface{ Is(error) bool }); ok {
			is.Is(ErrUnsound)
		}
		if as, ok := e.(interface{ As(any) bool }); ok {
			as.As(new(interface{ isUnsoundTarget() }))
		}
		switch u := e.(type) {
		case interface{ Unwrap() error }:
			tree = append(tree, u.Unwrap())
		case interface{ Unwrap() []error }:
			tree = append(tree, u.Unwrap()...)
		}
	}
	return err
}
