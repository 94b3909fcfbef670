//go:build linux

package confine

import "golang.org/x/sys/unix"

// oldAttributeCalls are attributeCalls that only older machines have.
var oldAttributeCalls = []uint32{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}
