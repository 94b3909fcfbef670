//go:build !plan9

package lookleaptest

import "syscall"

// The errors of the network inside the process are those of a real one.
const (
	errPipe    = syscall.EPIPE
	errReset   = syscall.ECONNRESET
	errRefused = syscall.ECONNREFUSED
	errTimeout = syscall.ETIMEDOUT
)
