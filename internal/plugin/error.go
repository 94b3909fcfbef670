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
	if err == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			sound = fmt.Errorf("%w: a method of %T panics", ErrUnsound, err)
		}
	}()
	room := maxErrors
	if reason := check(err, &room); reason != "" {
		return fmt.Errorf("%w: %s", ErrUnsound, reason)
	}
	return err
}

// check visits the tree of an error as the functions of package errors do.
func check(err error, room *int) (reason string) {
	for err != nil {
		*room--
		if *room < 0 {
			return "it unwraps without an end"
		}
		if v := reflect.ValueOf(err); v.Kind() == reflect.Pointer && v.IsNil() {
			return fmt.Sprintf("it is a nil %T", err)
		}
		_ = err.Error()
		if is, ok := err.(interface{ Is(error) bool }); ok {
			is.Is(ErrUnsound)
		}
		if as, ok := err.(interface{ As(any) bool }); ok {
			as.As(new(unsoundTarget))
		}
		switch u := err.(type) {
		case interface{ Unwrap() error }:
			err = u.Unwrap()
		case interface{ Unwrap() []error }:
			for _, e := range u.Unwrap() {
				if reason := check(e, room); reason != "" {
					return reason
				}
			}
			return ""
		default:
			return ""
		}
	}
	return ""
}

// unsoundTarget is a target of errors.As that no error knows.
type unsoundTarget interface{ isUnsoundTarget() }
