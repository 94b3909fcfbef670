//go:build !plan9

package lab

import "syscall"

// The errors of the network inside the process are those of a real one.
const (
	ErrPipe    = syscall.EPIPE
	ErrReset   = syscall.ECONNRESET
	ErrRefused = syscall.ECONNREFUSED
	ErrTimeout = syscall.ETIMEDOUT
)
