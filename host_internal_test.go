package lookleap

import (
	"errors"
)

var errNotClosed = errors.New("it cannot be closed")

// notClosed is a resolver, a fetcher or a part of one that cannot be closed.
type notClosed struct {
	Fetcher
	Resolver
	asked int
}

func (n *notClosed) Close() error { n.asked++; return errNotClosed }
