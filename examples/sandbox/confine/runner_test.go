package confine

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/dvs"
)

func TestMain(m *testing.M) {
	Enter()
	os.Exit(m.Run())
}

// modes runs a test with namespaces and without, as far as the kernel has what
// is needed.
func modes(t *testing.T, test func(*testing.T, func(Options) *Runner)) {
	for _, namespaces := range []bool{true, false} {
		t.Run(fmt.Sprintf("namespaces=%v", namespaces), func(t *testing.T) {
			test(t, func(o Options) *Runner {
				t.Helper()
				r, err := New(o)
				if err != nil {
					t.Skipf("this kernel cannot confine: %v", err)
				}
				if r.force.namespaces == namespaces {
					return r
				}
				r.force.namespaces = namespaces
				if err := r.try(); err != nil {
					t.Skipf("this kernel cannot confine so: %v", err)
				}
				return r
			})
		})
	}
}

// script runs a script of sh; out is all that it wrote.
func script(t *testing.T, r *Runner, text string, args ...string) (exit int, out string) {
	t.Helper()
	result, err := r.Run(t.Context(), &dvs.Command{
		Skill: "https://example.com/skills/refund/SKILL.md", Name: "scripts/run.sh", Script: []byte(text),
		Interpreter: []string{"sh"}, Args: args, Env: []string{"ORDER=1042"}, Files: map[string][]byte{"data/prices.csv": []byte("tea,2\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return result.ExitCode, string(result.Output)
}

// openDir makes a directory that every user may reach and write to.
func openDir(t *testing.T) string {
	t.Helper()
	outside := t.TempDir()
	for dir := outside; dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return outside
}

func TestWhatAScriptHas(t *testing.T) {
	t.Setenv("SECRET", "of-the-host")
	modes(t, func(t *testing.T, runner func(Options) *Runner) {
		r := runner(Options{})
		for _, c := range []struct{ name, script, want string }{
			{"its-files", "cat data/prices.csv", "tea,2\n"},
			{"its-arguments", `echo "$2|$1"`, "b|a b\n"},
			{"approved-environment", "env | grep -v -e ^PWD= -e ^_= -e ^OLDPWD= -e ^SHLVL= | cut -d= -f1 | sort | tr '\\n' ' '", "HOME ORDER PATH TMPDIR "},
			{"empty-input", "wc -c", "0\n"},
			{"a-scratch-directory", `echo x >"$TMPDIR/x" && cat "$HOME/x"`, "x\n"},
			{"programs-of-the-system", "printf '2\\n1\\n' | sort | tr '\\n' ' '", "1 2 "},
			{"its-directory-as-working-directory", `test -f scripts/run.sh && echo here`, "here\n"},
		} {
			t.Run(c.name, func(t *testing.T) {
				if exit, out := script(t, r, c.script, "a b", "b"); exit != 0 || out != c.want {
					t.Errorf("exit %d, %q", exit, out)
				}
			})
		}
		t.Run("first-line", func(t *testing.T) {
			result, err := r.Run(t.Context(), &dvs.Command{Name: "run", Script: []byte("#!/bin/sh\necho by itself\nexit 7\n")})
			if err != nil || result.ExitCode != 7 || string(result.Output) != "by itself\n" {
				t.Errorf("%+v, %v", result, err)
			}
		})
	})
}

func TestFilesOutOfReach(t *testing.T) {
	modes(t, func(t *testing.T, runner func(Options) *Runner) {
		r := runner(Options{})
		outside := openDir(t)
		secret := filepath.Join(outside, "secret")
		if err := errors.Join(os.WriteFile(secret, []byte("of the user"), 0o666), os.Chmod(secret, 0o666)); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ name, script string }{
			{"read-etc-passwd", "cat /etc/passwd"},
			{"read-a-file-of-the-user", `cat "$1/secret"`},
			{"read-by-climbing", `cat "../../..$1/secret"`},
			{"list-a-directory", `ls "$1"`},
			{"list-the-root", "ls /"},
			{"read-proc", "cat /proc/self/environ /proc/1/environ"},
			{"read-through-a-symbolic-link", `ln -s "$1/secret" "$TMPDIR/l" && cat "$TMPDIR/l"`},
			{"read-through-a-hard-link", `ln "$1/secret" "$TMPDIR/l" && cat "$TMPDIR/l"`},
			{"write-outside", `echo x >"$1/new"`},
			{"write-to-a-file-outside", `echo x >>"$1/secret"`},
			{"cut-a-file-outside", `truncate -s 0 "$1/secret"`},
			{"remove-a-file-outside", `rm -f "$1/secret"`},
			{"move-a-file-outside", `mv "$1/secret" "$TMPDIR/"`},
			{"write-to-its-own-directory", `echo x >new`},
			{"write-to-its-own-script", `echo x >>scripts/run.sh`},
			{"make-a-device", `mknod "$TMPDIR/n" c 1 1 && head -c 1 "$TMPDIR/n"`},
			{"write-to-tmp", `echo x >/tmp/confined-script-was-here`},
			{"write-to-shared-memory", `echo x >/dev/shm/confined-script-was-here`},
			{"write-to-the-terminal", `echo x >/dev/tty`},
		} {
			t.Run(c.name, func(t *testing.T) {
				if exit, out := script(t, r, c.script, outside); exit == 0 || strings.Contains(out, "of the user") {
					t.Errorf("exit %d, %q", exit, out)
				}
				left, err := os.ReadDir(outside)
				if content, readErr := os.ReadFile(secret); err != nil || readErr != nil || len(left) != 1 || string(content) != "of the user" {
					t.Errorf("outside is changed: %v %q", left, content)
				}
			})
		}
		t.Run("the-same-unconfined", func(t *testing.T) { // or the test shows nothing
			if out, err := exec.Command("cat", secret, "/etc/passwd").Output(); err != nil || !strings.Contains(string(out), "of the user") {
				t.Errorf("%q, %v", out, err)
			}
		})
	})
}

func TestPrivileges(t *testing.T) {
	modes(t, func(t *testing.T, runner func(Options) *Runner) {
		r := runner(Options{System: []string{"/proc"}}) // to look at the script's own state
		exit, out := script(t, r, "cat /proc/self/status /proc/self/limits; ls /proc/self/fd | wc -l; id -u")
		if exit != 0 {
			t.Fatalf("exit %d, %q", exit, out)
		}
		lines := strings.Split(strings.Join(strings.Fields(strings.ReplaceAll(out, "\n", ";")), " "), ";")
		for _, want := range []string{"NoNewPrivs: 1", "Seccomp: 2", "CapEff: 0000000000000000", "CapPrm: 0000000000000000", "CapInh: 0000000000000000", "CapAmb: 0000000000000000",
			"Max core file size 0 0 bytes ", "Max cpu time 10 10 seconds ", "Max address space 536870912 536870912 bytes ", "Max open files 64 64 files ", "Max file size 16777216 16777216 bytes ",
			"4"} { // input, output, errors, and the list itself
			if !slices.Contains(lines, want) {
				t.Errorf("%q is not in %q", want, out)
			}
		}
		if slices.Contains(lines, "0") {
			t.Errorf("it runs as root: %q", out)
		}
	})
}

func TestApprovedBytesAlone(t *testing.T) {
	const id = "https://example.com/skills/refund/SKILL.md"
	frozen := &dvs.Lockfile{Skills: []dvs.LockedSkill{{URL: id, Files: []dvs.LockedFile{{Path: "a.sh", Digest: dvs.DigestOf([]byte("echo a"))}}}}}
	command := func(change func(*dvs.Command)) *dvs.Command {
		c := &dvs.Command{Skill: id, Name: "a.sh", Script: []byte("echo a"), Interpreter: []string{"sh"}}
		change(c)
		return c
	}
	modes(t, func(t *testing.T, runner func(Options) *Runner) {
		dir := openDir(t)
		r := runner(Options{Frozen: frozen, Dir: dir})
		if result, err := r.Run(t.Context(), command(func(*dvs.Command) {})); err != nil || string(result.Output) != "a\n" {
			t.Errorf("%+v, %v", result, err)
		}
		for name, change := range map[string]func(*dvs.Command){
			"other-bytes":   func(c *dvs.Command) { c.Script = []byte("echo b") },
			"other-skill":   func(c *dvs.Command) { c.Skill = "https://example.net/SKILL.md" },
			"another-file":  func(c *dvs.Command) { c.Files = map[string][]byte{"b": nil} },
			"unsafe-name":   func(c *dvs.Command) { c.Name = "../a.sh" },
			"absolute-name": func(c *dvs.Command) { c.Name = "/tmp/a.sh" },
		} {
			t.Run(name, func(t *testing.T) {
				if result, err := r.Run(t.Context(), command(change)); err == nil {
					t.Errorf("it ran: %+v", result)
				}
			})
		}
		open := runner(Options{Dir: dir})
		for name, change := range map[string]func(*dvs.Command){
			"unsafe-name":    func(c *dvs.Command) { c.Name = "../a.sh" },
			"unsafe-file":    func(c *dvs.Command) { c.Files = map[string][]byte{"../../b": nil} },
			"clash":          func(c *dvs.Command) { c.Files = map[string][]byte{"A.sh": nil} },
			"no-interpreter": func(c *dvs.Command) { c.Interpreter = []string{"no-such-program"} },
			"no-first-line":  func(c *dvs.Command) { c.Interpreter = nil },
			"other-bytes":    func(c *dvs.Command) { c.Args = []string{"\xff"} },
		} {
			t.Run(name, func(t *testing.T) {
				if result, err := open.Run(t.Context(), command(change)); err == nil {
					t.Errorf("it ran: %+v", result)
				}
			})
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

func TestSandboxSaysWhatHolds(t *testing.T) {
	modes(t, func(t *testing.T, runner func(Options) *Runner) {
		r := runner(Options{})
		s := r.Sandbox()
		if !s.NoNetwork || !s.ReadOnlyFS || !s.WorkDir || s.Bounded != r.force.namespaces || !strings.Contains(s.Name, "Landlock") {
			t.Errorf("%+v", s)
		}
	})
	files := commandFiles(&dvs.Command{Name: "a", Files: map[string][]byte{"b": nil}})
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q", got)
	}
}
