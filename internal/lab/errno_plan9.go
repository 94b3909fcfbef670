package lab

import "syscall"

// Plan 9 has texts in the place of numbers.
const (
	ErrPipe    = syscall.ErrorString("write on closed pipe")
	ErrReset   = syscall.ErrorString("connection reset")
	ErrRefused = syscall.ErrorString("connection refused")
	ErrTimeout = syscall.ErrorString("connection timed out")
)
