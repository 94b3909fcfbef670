//go:build unix && !solaris && !illumos && !aix

package dvs

import (
	"io/fs"
	"os"
	"syscall"
)

// tryLock locks a file until it is closed or the process ends, and reports whether no other process
// holds the lock.
func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// renamesOpen reports whether an open file can be renamed.
const renamesOpen = true

// isOwn reports whether a file belongs to the user of this process.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
