package roundtrip

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
)

// On Windows, the constants of package syscall are Go's own: no call of the system returns
// them, but a dialer that is written in Go may.

func isRefused(err error) bool {
	return errors.Is(err, windows.WSAECONNREFUSED) || errors.Is(err, syscall.ECONNREFUSED)
}

func isReset(err error) bool {
	return errors.Is(err, windows.WSAECONNRESET) || errors.Is(err, windows.WSAECONNABORTED) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
