//go:build !plan9

package fetch_test

import "syscall"

const errReset = syscall.ECONNRESET
