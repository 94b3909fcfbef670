//go:build amd64 || arm64

package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// The file descriptors that a process to be confined is given.
const (
	jailFile   = 3 // what it is told
	reportFile = 4 // where it says that it is confined, and then why it could not go on
)

// Enter has to be the first call of the program's main function. In the process
// that a [Runner] starts to be confined, it confines it and becomes the script;
// in every other it does nothing.
func Enter() {
	if os.Args[0] != childName {
		return
	}
	runtime.LockOSThread() // what is put on is put on this thread, which becomes the script
	report := os.NewFile(reportFile, "report")
	if err := enter(report); err != nil {
		fmt.Fprint(report, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func enter(report io.Writer) error {
	data, err := io.ReadAll(os.NewFile(jailFile, "jail")) // which the parent process wrote whole
	if err != nil {
		return err
	}
	var j jail
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	if err := unix.CloseRange(jailFile, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("closing files: %w", err)
	}
	if j.Namespaces {
		if err := j.mount(); err != nil {
			return err
		}
	}
	var program string
	if len(j.Argv) > 0 {
		if program, err = lookPath(j.Argv[0], j.Env); err != nil {
			return err
		}
	}
	if err := os.Chdir(j.Dir); err != nil {
		return err
	}
	last, err := j.prepareExec(program)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		take func() error
	}{
		{"capabilities", dropCapabilities},
		{"no_new_privs", func() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }},
		{"Landlock", j.landlock},
		{"seccomp", j.setFilter},
		{"looking whether it holds", check},
	} {
		if err := step.take(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	last.run()
	return nil // not reached
}

// mount makes all file systems ones to be read, and puts one of bounded size
// where the script may write. Landlock says nothing of permissions, owners and
// times of files; this does.
func (j *jail) mount() error {
	readOnly := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY, Propagation: unix.MS_PRIVATE}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &readOnly); err != nil {
		return fmt.Errorf("making file systems read-only: %w", err)
	}
	options := fmt.Sprintf("size=%d,nr_inodes=4096,mode=0700", j.Limits.Scratch)
	if err := unix.Mount("tmpfs", j.Scratch, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, options); err != nil {
		return fmt.Errorf("bounding the scratch directory: %w", err)
	}
	return nil
}

// dropCapabilities drops the capabilities that setting up needed.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	var none [2]unix.CapUserData
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
}

// check looks whether a file and a socket are out of reach by now.
func check() error {
	if fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); !errors.Is(err, unix.EACCES) {
		unix.Close(fd)
		return errors.New("files can be read")
	}
	for _, family := range []int{unix.AF_INET, unix.AF_INET6, unix.AF_UNIX, unix.AF_NETLINK, unix.AF_VSOCK} {
		if fd, err := unix.Socket(family, unix.SOCK_STREAM, 0); !errors.Is(err, unix.EPERM) {
			unix.Close(fd)
			return errors.New("sockets can be opened")
		}
	}
	return nil
}
