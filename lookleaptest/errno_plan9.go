package lookleaptest

import "syscall"

// Plan 9 has texts in the place of numbers.
const (
	errPipe    = syscall.ErrorString("write on closed pipe")
	errReset   = syscall.ErrorString("connection reset")
	errRefused = syscall.ErrorString("connection refused")
	errTimeout = syscall.ErrorString("connection timed out")
)
