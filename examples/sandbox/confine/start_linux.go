//go:build amd64 || arm64

package confine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/lookleap/lookleap/dvs"
)

// unprivileged is the user that scripts run as where the host is root.
const unprivileged = 65534

func scriptUser() int {
	if id := os.Getuid(); id != 0 {
		return id
	}
	return unprivileged
}

// attributes are how the process is made: a group of its own that dies with this
// thread, without root's powers and, where they are in force, in namespaces.
func (r *Runner) attributes() *syscall.SysProcAttr {
	id := scriptUser()
	a := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 {
		a.Credential = &syscall.Credential{Uid: uint32(id), Gid: uint32(id)}
	}
	if r.force.namespaces {
		a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: groupOf(id), HostID: groupOf(id), Size: 1}}
		a.GidMappingsEnableSetgroups = a.Credential != nil
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN} // in its own namespaces, until the scratch directory is there
	}
	return a
}

func groupOf(id int) int {
	if id == unprivileged {
		return unprivileged
	}
	return os.Getgid()
}

// start confines a process, lets it become the script, and waits for it and all
// that it started.
func (r *Runner) start(ctx context.Context, j *jail) (*dvs.RunResult, error) {
	limits := r.options.Limits
	j.System, j.Namespaces, j.Limits = r.options.System, r.force.namespaces, limits
	told, err := json.Marshal(j)
	if err != nil {
		return nil, fmt.Errorf("confine: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	pipes, err := newPipes()
	if err != nil {
		return nil, fmt.Errorf("confine: %w", err)
	}
	defer pipes.close()

	cmd := exec.Command("/proc/self/exe")
	cmd.Args, cmd.Env, cmd.Dir = []string{childName}, []string{}, "/"
	cmd.Stdout, cmd.Stderr = pipes.output.w, pipes.output.w
	cmd.ExtraFiles = []*os.File{pipes.jail.r, pipes.report.w}
	cmd.SysProcAttr = r.attributes()
	runtime.LockOSThread() // the process dies with this thread
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("confine: starting a process: %w", err)
	}
	pipes.closeTheirs()
	group := cmd.Process.Pid
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		unix.Kill(-group, unix.SIGKILL)
	})

	result, report := &dvs.RunResult{}, make(chan string, 1)
	go func() {
		pipes.jail.w.Write(told)
		pipes.jail.w.Close()
		why, _ := kept(pipes.report.r, 4<<10)
		report <- string(why)
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		result.Output, result.Truncated = kept(pipes.output.r, limits.Output)
	}()

	// The group is killed while its number is still taken: before its leader is
	// waited for.
	for err = unix.EINTR; err == unix.EINTR; {
		err = unix.Waitid(unix.P_PID, group, nil, unix.WEXITED|unix.WNOWAIT, nil)
	}
	unix.Kill(-group, unix.SIGKILL)
	if !stop() {
		<-stopped
	}
	cmd.Wait() // how it ended is in ProcessState
	<-ended
	switch why, ok := strings.CutPrefix(<-report, confined); {
	case ok && why != "":
		return nil, fmt.Errorf("confine: starting %q: %w", j.Argv[0], syscall.Errno(why[0]))
	case why != "":
		return nil, fmt.Errorf("confine: %s", why)
	case !ok && ctx.Err() != nil:
		return nil, fmt.Errorf("confine: nothing ran: %w", ctx.Err())
	case !ok:
		return nil, fmt.Errorf("confine: the process ended with %q before it was confined: main has to call confine.Enter first", cmd.ProcessState)
	}
	result.ExitCode = cmd.ProcessState.ExitCode()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		result.ExitCode = 128 + int(status.Signal())
	}
	return result, nil
}

// pipes are those between the host and the process.
type pipes struct{ jail, report, output pipe }

type pipe struct{ r, w *os.File }

func newPipes() (p *pipes, err error) {
	p = &pipes{}
	for _, each := range []*pipe{&p.jail, &p.report, &p.output} {
		if each.r, each.w, err = os.Pipe(); err != nil {
			p.close()
			return nil, err
		}
	}
	return p, nil
}

// closeTheirs closes the ends that the process has.
func (p *pipes) closeTheirs() { closeAll(p.jail.r, p.report.w, p.output.w) }

func (p *pipes) close() {
	p.closeTheirs()
	closeAll(p.jail.w, p.report.r, p.output.r)
}

func closeAll(files ...io.Closer) {
	for _, f := range files {
		f.Close() // a second time does nothing
	}
}
