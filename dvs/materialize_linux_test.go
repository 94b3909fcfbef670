package dvs_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// materializeAndDie is the directory of a process that is killed while it writes.
const materializeAndDie = "LOOKLEAP_MATERIALIZE_AND_DIE"

// TestMaterializeChild is the process that TestMaterializeKilled starts. The system kills it with
// SIGXFSZ when it writes the second skill, whose file is longer than the process may write.
func TestMaterializeChild(t *testing.T) {
	dir := os.Getenv(materializeAndDie)
	if dir == "" {
		t.Skip("only in a process of its own")
	}
	long := bundle("b", "name: b\ndescription: b\n")
	long.Files["long.txt"] = make([]byte, 20_000)
	v := skillsFS(t, dvs.DVS, bundle("a", "name: a\ndescription: b\n"), long)
	var byDefault [64]byte // a struct sigaction: Go ignores the signal
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGXFSZ), uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0); errno != 0 {
		t.Fatal(errno)
	}
	limit := syscall.Rlimit{Cur: 10_000, Max: 10_000}
	if err := errors.Join(syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}), syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)); err != nil {
		t.Fatal(err)
	}
	t.Fatal("not killed: ", v.Materialize(dir))
}

func TestMaterializeKilled(t *testing.T) {
	v := skillsFS(t, dvs.DVS, bundle("a", "name: a\ndescription: b\n"))
	for name, exists := range map[string]bool{"new": false, "existing": true} {
		killed := func(t *testing.T) (dir, leftover string) {
			t.Helper()
			dir = filepath.Join(t.TempDir(), "skills")
			if exists {
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			child := exec.Command(os.Args[0], "-test.run=^TestMaterializeChild$")
			child.Env = append(os.Environ(), materializeAndDie+"="+dir)
			out, err := child.CombinedOutput()
			if state, ok := child.ProcessState.Sys().(syscall.WaitStatus); !ok || state.Signal() != syscall.SIGXFSZ {
				t.Fatalf("the process was not killed: %v\n%s", err, out)
			}
			found, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*", ".dvs-partial-*"))
			beside, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), ".dvs-partial-skills-*"))
			if found = append(found, beside...); len(found) != 1 {
				t.Fatalf("left behind: %q", found)
			}
			return dir, found[0]
		}
		t.Run("O46/accept-after-a-kill-"+name, func(t *testing.T) {
			dir, _ := killed(t)
			if err := v.Materialize(dir); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(names(t, dir), []string{"a"}) || !slices.Equal(names(t, filepath.Dir(dir)), []string{"skills"}) {
				t.Errorf("%q, %q", names(t, dir), names(t, filepath.Dir(dir)))
			}
		})
		if !exists {
			continue
		}
		t.Run("O46/reject-names-of-what-was-not-moved", func(t *testing.T) { // the user made a directory of this name since
			dir, leftover := killed(t)
			entry := names(t, filepath.Join(leftover, "new"))[0]
			if err := errors.Join(os.WriteFile(filepath.Join(leftover, "names"), []byte(entry+"\n"), 0o600), os.Mkdir(filepath.Join(dir, entry), 0o755),
				os.WriteFile(filepath.Join(dir, entry, "mine"), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			if err := v.Materialize(dir); lookleap.CodeOf(err) != lookleap.CodeIO || !slices.Equal(names(t, filepath.Join(dir, entry)), []string{"mine"}) || !slices.Equal(names(t, dir), []string{entry}) {
				t.Errorf("%v: %q", err, names(t, dir))
			}
		})
		t.Run("O46/accept-after-a-kill-while-moving", func(t *testing.T) {
			dir, leftover := killed(t)
			entry := names(t, filepath.Join(leftover, "new"))[0]
			if err := errors.Join(os.WriteFile(filepath.Join(leftover, "names"), []byte("later\n"+entry+"\n"), 0o600), os.Mkdir(filepath.Join(leftover, "new", "later"), 0o755),
				os.Rename(filepath.Join(leftover, "new", entry), filepath.Join(dir, entry))); err != nil {
				t.Fatal(err)
			}
			if err := v.Materialize(dir); err != nil || !slices.Equal(names(t, dir), []string{"a"}) {
				t.Errorf("%v: %q", err, names(t, dir))
			}
		})
		t.Run("O46/reject-names-that-lead-elsewhere", func(t *testing.T) {
			dir, leftover := killed(t)
			outside := filepath.Join(filepath.Dir(dir), "outside")
			if err := errors.Join(os.WriteFile(filepath.Join(leftover, "names"), []byte("../outside\n"), 0o600), os.Mkdir(outside, 0o755)); err != nil {
				t.Fatal(err)
			}
			if err := v.Materialize(dir); lookleap.CodeOf(err) != lookleap.CodeIO || !strings.Contains(err.Error(), filepath.Base(leftover)) || !strings.Contains(err.Error(), "cannot be removed") {
				t.Error(err)
			}
			if _, err := os.Stat(outside); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestMaterializeLeftovers has leftovers that cannot be removed, or must not be.
func TestMaterializeLeftovers(t *testing.T) {
	v := skillsFS(t, dvs.DVS, bundle("a", "name: a\ndescription: b\n"))
	const cannot, others = "the leftovers of a killed process cannot be removed", "another process is writing skills here"
	for name, c := range map[string]struct {
		leftover func(dir string) error
		says     string
	}{
		"list-of-names-is-a-directory": {func(dir string) error { return os.Mkdir(filepath.Join(dir, "names"), 0o700) }, cannot},
		"lock-is-held": {func(dir string) error {
			lock, err := os.Open(dir)
			if err == nil {
				t.Cleanup(func() { lock.Close() })
				err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
			}
			return err
		}, others},
	} {
		t.Run("O46/reject-"+name, func(t *testing.T) {
			dir := t.TempDir()
			leftover := filepath.Join(dir, ".dvs-partial-1")
			if err := errors.Join(os.Mkdir(leftover, 0o700), c.leftover(leftover)); err != nil {
				t.Fatal(err)
			}
			var refused *lookleap.Error
			if err := v.Materialize(dir); !errors.As(err, &refused) || refused.Code != lookleap.CodeIO || !strings.HasPrefix(refused.Message, c.says) || refused.Subject != leftover {
				t.Errorf("got %+v", refused)
			}
			if !slices.Equal(names(t, dir), []string{".dvs-partial-1"}) {
				t.Errorf("left: %q", names(t, dir))
			}
		})
	}
}
