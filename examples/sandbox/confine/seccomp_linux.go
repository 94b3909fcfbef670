//go:build amd64 || arm64

package confine

import (
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refusedCalls are the system calls that no script needs and that lead out of
// its confinement: to the network, into other programs, into the kernel, or to
// memory that no limit counts.
var refusedCalls = []uint32{
	unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_BIND, // whatever the family: sockets of other programs are a way out as well
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, // does what is refused here unseen
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PROCESS_MADVISE,
	unix.SYS_PIDFD_GETFD, unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES,
	unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR,
	unix.SYS_SETSID, unix.SYS_SETPGID, // the group is killed as a whole
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_CHROOT, unix.SYS_PIVOT_ROOT,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_MOUNT_SETATTR,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT, unix.SYS_PERSONALITY,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SYSLOG,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, // a number is enough to
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK, // reach those of other programs
	unix.SYS_INOTIFY_INIT1, unix.SYS_INOTIFY_ADD_WATCH, // tells the names of files in directories that it may not list
}

// attributeCalls change what Landlock knows nothing of: permissions, owners,
// times and extended attributes, of whatever path or descriptor.
var attributeCalls = []uint32{
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
}

// ownCalls may concern the calling process alone, whose number is 0.
var ownCalls = []uint32{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY}

// lastCall is the last one that was looked at for this list. Those that kernels
// have added since are as if the kernel did not have them.
const lastCall = unix.SYS_MSEAL

// refusedFlags are the flags of clone that make namespaces, or a child that is
// the host's and not the script's.
const refusedFlags = unix.CLONE_PARENT | unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// Where a filter finds things (struct seccomp_data), on little-endian machines.
const (
	numberAt   = 0
	archAt     = 4
	firstArgAt = 16
	nextArgAt  = 24
)

// compatCalls is from which number on x86-64 has calls of another convention.
const compatCalls = 0x4000_0000

// filter is the program that the kernel runs at each system call. It refuses
// more of them next to refusedCalls.
func filter(more []uint32) []unix.SockFilter {
	arch := uint32(unix.AUDIT_ARCH_X86_64)
	refuse, missing := unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM), unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS)
	if runtime.GOARCH == "arm64" {
		arch = unix.AUDIT_ARCH_AARCH64
	}
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	give := func(what uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: what}
	}
	unless := func(test uint16, value uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: value, Jf: skip}
	}
	withoutFlags := unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0xF} // of the type of a socket
	p := []unix.SockFilter{
		load(archAt), {Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: arch, Jt: 1}, give(unix.SECCOMP_RET_KILL_PROCESS),
		load(numberAt), unless(unix.BPF_JGE, compatCalls, 1), give(unix.SECCOMP_RET_KILL_PROCESS),
	}
	for _, call := range slices.Concat(refusedCalls, more) {
		p = append(p, unless(unix.BPF_JEQ, call, 1), give(refuse))
	}
	for _, call := range ownCalls {
		p = append(p, unless(unix.BPF_JEQ, call, 4),
			load(firstArgAt), unless(unix.BPF_JEQ, 0, 1), give(unix.SECCOMP_RET_ALLOW), give(refuse))
	}
	return append(p,
		unless(unix.BPF_JGT, lastCall, 1), give(missing),
		// The flags of clone3 are out of sight: libraries then turn to clone.
		unless(unix.BPF_JEQ, unix.SYS_CLONE3, 1), give(missing),
		unless(unix.BPF_JEQ, unix.SYS_CLONE, 4),
		load(firstArgAt), unless(unix.BPF_JSET, refusedFlags, 1), give(refuse), give(unix.SECCOMP_RET_ALLOW),
		// A pair is connected to itself for good only if it is one of streams.
		unless(unix.BPF_JEQ, unix.SYS_SOCKETPAIR, 7),
		load(firstArgAt), unless(unix.BPF_JEQ, unix.AF_UNIX, 4),
		load(nextArgAt), withoutFlags, unless(unix.BPF_JEQ, unix.SOCK_STREAM, 1), give(unix.SECCOMP_RET_ALLOW), give(refuse),
		give(unix.SECCOMP_RET_ALLOW),
	)
}

// setFilter puts the filter on this thread, and so on the script. In namespaces
// of its own all but the scratch directory is mounted to be read, so there a
// script may change the attributes of its files.
func (j *jail) setFilter() error {
	var more []uint32
	if !j.Namespaces {
		more = slices.Concat(attributeCalls, oldAttributeCalls)
	}
	p := filter(more)
	program := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}
