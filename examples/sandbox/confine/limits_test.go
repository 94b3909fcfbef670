package confine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lookleap/lookleap/dvs"
)

func TestNetworkOutOfReach(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed, by which scripts connect")
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	came := make(chan struct{}, 100)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			c.Close()
			came <- struct{}{}
		}
	}()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	connect := fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%s && echo connected", port)
	if out, err := exec.Command(bash, "-c", connect).CombinedOutput(); err != nil { // or the test shows nothing
		t.Fatalf("%s: %v", out, err)
	}
	<-came
	modes(t, func(t *testing.T, runner func(Options) *Runner) {
		r := runner(Options{})
		for name, text := range map[string]string{
			"tcp": connect,
			"udp": "echo x >/dev/udp/127.0.0.1/" + port + " && echo connected",
		} {
			t.Run(name, func(t *testing.T) {
				result, err := r.Run(t.Context(), &dvs.Command{Name: "net.sh", Script: []byte(text), Interpreter: []string{"bash"}})
				if err != nil || result.ExitCode == 0 || strings.Contains(string(result.Output), "connected") {
					t.Errorf("%+v, %v", result, err)
				}
			})
		}
		if len(came) > 0 {
			t.Error("a connection came through")
		}
	})
}

func TestLimits(t *testing.T) {
	modes(t, func(t *testing.T, runner func(Options) *Runner) {
		for _, c := range []struct {
			name   string
			limits Limits
			script string
			exit   int    // -1: any but 0
			want   string // in the output
		}{
			{"time", Limits{Time: 300 * time.Millisecond}, "sleep 600", 137, ""},
			{"time-of-a-child", Limits{Time: 300 * time.Millisecond}, "(trap '' TERM HUP; sleep 600) & sleep 600", 137, ""},
			{"cpu", Limits{CPU: time.Second}, "while :; do :; done", 137, ""},
			{"memory", Limits{Memory: 64 << 20}, "x=$(head -c 200000000 /dev/zero | tr '\\0' x); echo ${#x}", -1, ""},
			{"processes", Limits{Processes: 8}, "i=0; while [ $i -lt 40 ]; do sleep 60 & i=$((i+1)); done; echo all", -1, ""},
			{"fork-bomb", Limits{Processes: 16, Time: 2 * time.Second, CPU: time.Second}, "b() { b | b & }; b; wait; sleep 60", -1, ""},
			{"file", Limits{File: 1 << 20}, `head -c 5000000 /dev/zero >"$TMPDIR/f"; wc -c <"$TMPDIR/f"`, 0, "1048576"},
			{"open-files", Limits{Files: 8}, "exec 9</dev/null", -1, ""},
			{"raised-limits", Limits{}, "ulimit -n 4096 || ulimit -v unlimited", -1, ""},
			{"left-behind", Limits{}, "sleep 60 & echo done", 0, "done"},
		} {
			t.Run(c.name, func(t *testing.T) {
				exit, out := limited(t, runner, c.limits, c.script)
				if exit != c.exit && (c.exit >= 0 || exit == 0) || !strings.Contains(out, c.want) {
					t.Errorf("exit %d, %.200q", exit, out)
				}
			})
		}
	})
}

// limited runs a script within limits, which on a slow machine may leave no time
// to begin: then with twice as much.
func limited(t *testing.T, runner func(Options) *Runner, l Limits, text string) (exit int, out string) {
	t.Helper()
	r := runner(Options{})
	for r.options.Limits = l.withDefaults(); ; r.options.Limits.Time *= 2 {
		result, err := r.Run(t.Context(), &dvs.Command{Name: "a.sh", Interpreter: []string{"sh"}, Script: []byte(text)})
		switch {
		case err == nil:
			return result.ExitCode, string(result.Output)
		case !errors.Is(err, context.DeadlineExceeded):
			t.Fatal(err)
		}
	}
}

func TestNothingRanInTime(t *testing.T) {
	modes(t, func(t *testing.T, runner func(Options) *Runner) {
		r := runner(Options{})
		r.options.Limits.Time = 1
		if result, err := r.Run(t.Context(), &dvs.Command{Name: "a", Interpreter: []string{"sh"}, Script: []byte("true")}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%+v, %v", result, err)
		}
	})
}

func TestScratchIsBounded(t *testing.T) {
	modes(t, func(t *testing.T, runner func(Options) *Runner) {
		r := runner(Options{Limits: Limits{Scratch: 2 << 20}})
		if !r.force.namespaces {
			t.Skip("without namespaces the scratch directory is not bounded, and Sandbox says so")
		}
		exit, out := script(t, r, `cd "$TMPDIR"; for i in 1 2 3 4; do head -c 1000000 /dev/zero >$i || exit 9; done`)
		if exit != 9 {
			t.Errorf("exit %d, %q", exit, out)
		}
	})
}

func TestOutputIsBounded(t *testing.T) {
	modes(t, func(t *testing.T, runner func(Options) *Runner) {
		r := runner(Options{Limits: Limits{Output: 100}})
		result, err := r.Run(t.Context(), &dvs.Command{Name: "a", Interpreter: []string{"sh"}, Script: []byte("echo first; head -c 1000000 /dev/zero; echo last >&2")})
		if err != nil || len(result.Output) != 100 || !result.Truncated || result.ExitCode != 0 {
			t.Errorf("%d octets, %v", len(result.Output), err)
		}
		result, err = r.Run(t.Context(), &dvs.Command{Name: "a", Interpreter: []string{"sh"}, Script: []byte("head -c 100 /dev/zero")})
		if err != nil || len(result.Output) != 100 || result.Truncated {
			t.Errorf("%+v, %v", result, err)
		}
	})
}

func TestOtherProgramsOutOfReach(t *testing.T) {
	modes(t, func(t *testing.T, runner func(Options) *Runner) {
		r := runner(Options{})
		for name, text := range map[string]string{
			"signal":     fmt.Sprintf("kill -0 %d", os.Getpid()),
			"session":    "setsid true",
			"namespaces": "unshare -U true",
			"terminal":   ": </dev/tty",
		} {
			t.Run(name, func(t *testing.T) {
				if exit, out := script(t, r, text); exit == 0 || strings.Contains(out, "reached") {
					t.Errorf("exit %d, %q", exit, out)
				}
			})
		}
	})
}

// TestNothingRunsOn looks for what a script left running.
func TestNothingRunsOn(t *testing.T) {
	modes(t, func(t *testing.T, runner func(Options) *Runner) {
		asleep := strconv.Itoa(100_000_000 + os.Getpid()) // seconds, which no other process sleeps
		script(t, runner(Options{}), fmt.Sprintf("sleep %[1]s & sleep %[1]s & exit 0", asleep))
		commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range commands {
			if line, _ := os.ReadFile(file); strings.Contains(string(line), asleep) {
				t.Errorf("%s runs on: %q", file, line)
			}
		}
	})
}

func TestCancelled(t *testing.T) {
	modes(t, func(t *testing.T, runner func(Options) *Runner) {
		r := runner(Options{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if result, err := r.Run(ctx, &dvs.Command{Name: "a", Interpreter: []string{"sh"}, Script: []byte("sleep 60")}); err == nil && result.ExitCode != 137 {
			t.Errorf("%+v", result)
		}
	})
}

func TestConcurrentRuns(t *testing.T) {
	modes(t, func(t *testing.T, runner func(Options) *Runner) {
		r := runner(Options{})
		var runs sync.WaitGroup
		for i := range 8 {
			runs.Go(func() {
				c := &dvs.Command{Name: "a", Interpreter: []string{"sh"}, Script: fmt.Appendf(nil, `echo %d >"$TMPDIR/x"; cat "$TMPDIR/x"`, i)}
				if result, err := r.Run(t.Context(), c); err != nil || strings.TrimSpace(string(result.Output)) != fmt.Sprint(i) {
					t.Errorf("%+v, %v", result, err)
				}
			})
		}
		runs.Wait()
	})
}
