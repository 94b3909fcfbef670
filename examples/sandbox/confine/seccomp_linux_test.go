//go:build amd64 || arm64

package confine

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lookleap/lookleap/dvs"
)

// TestAttributesOutOfReach: Landlock does not guard the permissions, owner and
// times of a file, which a script could change for files of its own user's.
func TestAttributesOutOfReach(t *testing.T) {
	outside := openDir(t)
	file := filepath.Join(outside, "file")
	at := time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)
	if err := errors.Join(os.WriteFile(file, []byte("x"), 0o644), os.Chmod(file, 0o644), os.Chtimes(file, at, at), os.Chown(file, scriptUser(), -1)); err != nil {
		t.Fatal(err)
	}
	modes(t, func(t *testing.T, runner func(Options) *Runner) {
		r := runner(Options{System: []string{outside}}) // so that it can be opened as well
		for name, text := range map[string]string{
			"permissions":    `chmod 600 "$1/file"`,
			"permissions-fd": `perl -e 'open(F, "<", shift) && chmod(0600, *F) or die "$!"' "$1/file"`,
			"times":          `touch -d 2001-01-01 "$1/file"`,
			"owner":          `chown "$(id -u)" "$1/file"`,
			"directory":      `chmod 700 "$1"`,
		} {
			t.Run(name, func(t *testing.T) {
				exit, out := script(t, r, text, outside)
				if info, err := os.Stat(file); exit == 0 || err != nil || info.Mode().Perm() != 0o644 || !info.ModTime().Equal(at) {
					t.Errorf("exit %d, %q: %v", exit, out, info)
				}
			})
		}
		if r.force.namespaces {
			if exit, out := script(t, r, `cd "$TMPDIR" && touch f && chmod 600 f && ls -l f`); exit != 0 || !strings.HasPrefix(out, "-rw-------") {
				t.Errorf("exit %d, %q", exit, out)
			}
		}
	})
}

// TestOtherProgramsByNumber reaches for what other programs share under a number
// or a name, for which no file is opened.
func TestOtherProgramsByNumber(t *testing.T) {
	if _, err := exec.LookPath("/usr/bin/perl"); err != nil {
		t.Skip("perl is not installed, by which scripts make system calls")
	}
	outside := openDir(t)
	log := filepath.Join(outside, "log")
	listener, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: log, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	memory, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = unix.SysvShmCtl(memory, unix.IPC_RMID, nil) }()
	if err := os.Chmod(log, 0o777); err != nil {
		t.Fatal(err)
	}
	attempts := map[string]string{
		"datagram":       `use Socket; socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0) or die "$!"; defined send(A, "x", 0, pack_sockaddr_un(shift)) or die "$!"`,
		"shared-memory":  fmt.Sprintf(`shmread(%d, $b, 0, 4) or die "$!"`, memory),
		"watch-files":    fmt.Sprintf(`(syscall(%d, 0)) >= 0 or die "$!"`, unix.SYS_INOTIFY_INIT1),
		"child-of-host":  fmt.Sprintf(`$p = syscall(%d, %d, 0, 0, 0, 0); exit 0 if $p == 0; $p > 0 or die "$!"`, unix.SYS_CLONE, unix.CLONE_PARENT|int(unix.SIGCHLD)),
		"processor":      fmt.Sprintf(`$m = pack("Q", 1); syscall(%d, getppid() || 1, 8, $m) >= 0 or die "$!"`, unix.SYS_SCHED_SETAFFINITY),
		"message-queue":  fmt.Sprintf(`$n = "none"; syscall(%d, $n) >= 0 or $!{ENOENT} or die "$!"`, unix.SYS_MQ_UNLINK),
		"call-of-future": fmt.Sprintf(`syscall(%d, 0, 0, 0, 0, 0) >= 0 or !$!{ENOSYS} or die "$!"`, unix.SYS_FILE_SETATTR),
	}
	for name, text := range attempts {
		if out, err := exec.Command("/usr/bin/perl", "-MErrno", "-e", text, log).CombinedOutput(); err != nil {
			t.Logf("%s shows nothing here: %v, %s", name, err, out)
		}
	}
	modes(t, func(t *testing.T, runner func(Options) *Runner) {
		r := runner(Options{})
		for name, text := range attempts {
			t.Run(name, func(t *testing.T) {
				result, err := r.Run(t.Context(), &dvs.Command{Name: "a.pl", Script: []byte(text), Interpreter: []string{"/usr/bin/perl", "-MErrno"}, Args: []string{log}})
				if err != nil || result.ExitCode == 0 || !strings.Contains(string(result.Output), "not ") {
					t.Errorf("%+v, %q, %v", result, result.Output, err)
				}
			})
		}
		t.Run("accept-a-pair-of-streams", func(t *testing.T) {
			text := `use Socket; socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die "$!"; syswrite(A, "x"); sysread(B, $b, 1); print $b`
			result, err := r.Run(t.Context(), &dvs.Command{Name: "a.pl", Script: []byte(text), Interpreter: []string{"/usr/bin/perl"}})
			if err != nil || string(result.Output) != "x" {
				t.Errorf("%+v, %v", result, err)
			}
		})
	})
}
