package fetch_test

import "syscall"

const errReset = syscall.ErrorString("connection reset")
