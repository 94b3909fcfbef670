//go:build unix

package dvs_test

import (
	"syscall"
	"time"
)

func makePipe(name string) error { return syscall.Mkfifo(name, 0o600) }

// processorTime is what this process has used, whatever else the machine does.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
