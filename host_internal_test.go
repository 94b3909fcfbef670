package lookleap

import (
	"errors"
	"io"
	"testing"
)

var errNotClosed = errors.New("it cannot be closed")

// notClosed is a resolver, a fetcher or a part of one that cannot be closed.
type notClosed struct {
	Fetcher
	Resolver
	asked int
}

func (n *notClosed) Close() error { n.asked++; return errNotClosed }

// TestHostOwnsItsDefaults: a Host closes the parts that it built, and says if one cannot be closed.
func TestHostOwnsItsDefaults(t *testing.T) {
	plugged := new(notClosed)
	for name, c := range map[string]struct {
		host  *Host
		owned int
	}{
		"all":      {new(Host), 2},
		"fetcher":  {&Host{Resolver: plugged}, 1},
		"resolver": {&Host{Fetcher: plugged}, 1},
		"none":     {&Host{Fetcher: plugged, Resolver: plugged}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			parts := c.host.parts()
			if len(parts.owned) != c.owned {
				t.Errorf("%d parts are closed with the host, want %d", len(parts.owned), c.owned)
			}
			broken := new(notClosed)
			parts.owned = append([]io.Closer{broken}, parts.owned...)
			if err := c.host.Close(); !errors.Is(err, errNotClosed) || broken.asked != 1 || plugged.asked != 0 {
				t.Errorf("%v after %d and %d calls", err, broken.asked, plugged.asked)
			}
		})
	}
}
