//go:build amd64 || arm64

package confine

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refusedCalls are the system calls that no script needs and that lead out of
// its confinement: to the network, into other programs, into the kernel, or to
// memory that no limit counts.
var refusedCalls = []uint32{
	unix.SYS_SOCKET,                                                              // whatever the family: sockets of other programs are a way out as well
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
	unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_SHMGET, unix.SYS_SEMGET, unix.SYS_MSGGET, unix.SYS_MQ_OPEN,
}

// newNamespaces are the flags of clone that make namespaces.
const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// Where a filter finds things (struct seccomp_data), on little-endian machines.
const (
	numberAt   = 0
	archAt     = 4
	firstArgAt = 16
)

// compatCalls is from which number on x86-64 has calls of another convention.
const compatCalls = 0x4000_0000

// filter is the program that the kernel runs at each system call.
func filter() []unix.SockFilter {
	arch, refuse := uint32(unix.AUDIT_ARCH_X86_64), uint32(unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM))
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
	p := []unix.SockFilter{
		load(archAt), {Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: arch, Jt: 1}, give(unix.SECCOMP_RET_KILL_PROCESS),
		load(numberAt), unless(unix.BPF_JGE, compatCalls, 1), give(unix.SECCOMP_RET_KILL_PROCESS),
	}
	for _, call := range refusedCalls {
		p = append(p, unless(unix.BPF_JEQ, call, 1), give(refuse))
	}
	return append(p,
		// The flags of clone3 are out of sight: libraries then turn to clone.
		unless(unix.BPF_JEQ, unix.SYS_CLONE3, 1), give(unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS)),
		unless(unix.BPF_JEQ, unix.SYS_CLONE, 3), load(firstArgAt), unless(unix.BPF_JSET, newNamespaces, 1), give(refuse),
		// Limits may be read, of this process alone.
		load(numberAt), unless(unix.BPF_JEQ, unix.SYS_PRLIMIT64, 3),
		load(firstArgAt), unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 0, Jt: 1}, give(refuse),
		give(unix.SECCOMP_RET_ALLOW),
	)
}

// setFilter puts the filter on this thread, and so on the script.
func setFilter() error {
	p := filter()
	program := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}
