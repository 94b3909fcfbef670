//go:build amd64 || arm64

package confine

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// lastStep sets the resource limits and becomes the script. Go's own runtime
// does not live within such limits: it may want memory or a thread at any time.
// So everything is made ready before, and run does bare system calls alone.
type lastStep struct {
	limits  []resourceLimit
	program *byte
	argv    []*byte // nil at the end, as for execve
	env     []*byte
	ready   []byte // what is reported once the limits are set
}

type resourceLimit struct {
	resource uintptr
	value    unix.Rlimit
}

// prepareExec makes the last step of a program, or of none.
func (j *jail) prepareExec(program string) (*lastStep, error) {
	limits, err := j.resourceLimits()
	if err != nil {
		return nil, err
	}
	s := &lastStep{limits: limits, ready: []byte(confined)}
	if program != "" {
		if s.program, err = unix.BytePtrFromString(program); err != nil {
			return nil, err
		}
	}
	if s.argv, err = syscall.SlicePtrFromStrings(j.Argv); err != nil {
		return nil, err
	}
	if s.env, err = syscall.SlicePtrFromStrings(j.Env); err != nil {
		return nil, err
	}
	debug.SetGCPercent(-1)
	return s, nil
}

// run does not return. What it reports after [confined] is the number of the
// error for which the program did not start.
//
//go:nosplit
func (s *lastStep) run() {
	for i := range s.limits {
		l := &s.limits[i]
		if _, _, e := syscall.RawSyscall6(unix.SYS_PRLIMIT64, 0, l.resource, uintptr(unsafe.Pointer(&l.value)), 0, 0, 0); e != 0 {
			syscall.RawSyscall(unix.SYS_EXIT_GROUP, 1, 0, 0) // without a word: that is not a success
		}
	}
	syscall.RawSyscall(unix.SYS_WRITE, reportFile, uintptr(unsafe.Pointer(&s.ready[0])), uintptr(len(s.ready)))
	if s.program == nil {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	_, _, e := syscall.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(s.program)), uintptr(unsafe.Pointer(&s.argv[0])),
		uintptr(unsafe.Pointer(&s.env[0])))
	s.ready[0] = byte(e)
	syscall.RawSyscall(unix.SYS_WRITE, reportFile, uintptr(unsafe.Pointer(&s.ready[0])), 1)
	syscall.RawSyscall(unix.SYS_EXIT_GROUP, 1, 0, 0)
}

// resourceLimits returns the limits; each hard limit equals its soft limit.
func (j *jail) resourceLimits() (limits []resourceLimit, err error) {
	processes := uint64(j.Limits.Processes)
	if !j.Namespaces { // the kernel counts all that this user runs
		running, err := tasks()
		if err != nil {
			return nil, err
		}
		processes += running
	}
	for _, l := range []struct {
		resource uintptr
		value    uint64
	}{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_MSGQUEUE, 0},
		{unix.RLIMIT_MEMLOCK, 0},
		{unix.RLIMIT_CPU, uint64(j.Limits.CPU / time.Second)},
		{unix.RLIMIT_FSIZE, uint64(j.Limits.File)},
		{unix.RLIMIT_NOFILE, uint64(j.Limits.Files)},
		{unix.RLIMIT_NPROC, processes},
		{unix.RLIMIT_AS, uint64(j.Limits.Memory)},
	} {
		limits = append(limits, resourceLimit{l.resource, unix.Rlimit{Cur: l.value, Max: l.value}})
	}
	return limits, nil
}

// tasks counts the processes and threads of this user.
func tasks() (n uint64, err error) {
	processes, err := filepath.Glob("/proc/[0-9]*/task")
	if err != nil {
		return 0, err
	}
	for _, p := range processes {
		if info, err := os.Stat(p); err == nil && info.Sys().(*syscall.Stat_t).Uid == uint32(os.Getuid()) {
			threads, _ := os.ReadDir(p)
			n += uint64(len(threads))
		}
	}
	return n, nil
}
