//go:build amd64 || arm64

package confine

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// leastLandlock is the first version that also guards against cutting files off;
// from leastSignals on it keeps signals from other programs, which a namespace
// for processes does too.
const (
	leastLandlock = 3
	leastSignals  = 6
)

// landlockVersion asks the kernel for the version of its Landlock.
func landlockVersion() (int, error) {
	version, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case e != 0:
		return 0, fmt.Errorf("this kernel has no Landlock: %w", e)
	case version < leastLandlock:
		return 0, fmt.Errorf("this kernel has version %d of Landlock, %d is needed (Linux 6.2)", version, leastLandlock)
	}
	return int(version), nil
}

// What Landlock can allow. A rule for a file has no use for the rights of a
// directory.
const (
	mayRun   = unix.LANDLOCK_ACCESS_FS_EXECUTE
	mayRead  = unix.LANDLOCK_ACCESS_FS_READ_FILE
	mayList  = unix.LANDLOCK_ACCESS_FS_READ_DIR
	mayWrite = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	mayMake  = unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REFER
	never = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK
)

// everything is all that a version of Landlock can deny.
func everything(version int) unix.LandlockRulesetAttr {
	a := unix.LandlockRulesetAttr{Handled_access_fs: mayRun | mayRead | mayList | mayWrite | mayMake | never}
	for _, added := range []struct {
		since  int
		to     *uint64
		rights uint64
	}{
		{4, &a.Handled_access_net, unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP},
		{5, &a.Handled_access_fs, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
		{6, &a.Scoped, unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL},
		{9, &a.Handled_access_fs, unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX},
		{10, &a.Handled_access_net, unix.LANDLOCK_ACCESS_NET_BIND_UDP | unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP},
	} {
		if version >= added.since {
			*added.to |= added.rights
		}
	}
	return a
}

// landlock denies this thread all files but those of the skill, the system and
// the scratch directory, and whatever else this kernel's version can deny.
func (j *jail) landlock() error {
	version, err := landlockVersion()
	if err != nil {
		return err
	}
	if version < leastSignals && !j.Namespaces {
		return fmt.Errorf("neither version %d (Linux 6.12) nor namespaces keep signals from other programs", leastSignals)
	}
	attr := everything(version)
	ruleset, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if e != 0 {
		return e
	}
	defer unix.Close(int(ruleset))
	allow := func(rights uint64, paths ...string) {
		for _, path := range paths {
			err = errors.Join(err, allowBeneath(int(ruleset), path, rights))
		}
	}
	allow(mayRun|mayRead|mayList, j.Dir)
	allow(mayRun|mayRead|mayList, j.System...)
	allow(mayRead|mayList|mayWrite|mayMake, j.Scratch)
	allow(mayRead, "/etc/ld.so.cache", "/dev/zero", "/dev/random", "/dev/urandom")
	allow(mayRead|mayWrite, "/dev/null")
	if err != nil {
		return err
	}
	if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0); e != 0 {
		return e
	}
	return nil
}

// allowBeneath adds a rule for a path and all below it. What is not there needs none.
func allowBeneath(ruleset int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	if _, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0); e != 0 {
		return &os.PathError{Op: "landlock", Path: path, Err: e}
	}
	return nil
}
