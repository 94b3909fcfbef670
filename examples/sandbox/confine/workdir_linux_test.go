//go:build amd64 || arm64

package confine

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lookleap/lookleap/dvs"
)

// TestNothingIsLeftBehind: a script may make directories that not even its own
// user can list.
func TestNothingIsLeftBehind(t *testing.T) {
	modes(t, func(t *testing.T, runner func(Options) *Runner) {
		dir := openDir(t)
		r := runner(Options{Dir: dir})
		if exit, out := script(t, r, `cd "$TMPDIR" && umask 0477 && mkdir a && mkdir a/b && echo x >a/b/f`); exit != 0 {
			t.Errorf("exit %d, %q", exit, out)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

// TestApprovedFilesAreNobodysToReplace: where the host is root, the user that
// scripts run as owns no directory above the approved files, and can read them
// whatever the host's umask is.
func TestApprovedFilesAreNobodysToReplace(t *testing.T) {
	modes(t, func(t *testing.T, runner func(Options) *Runner) {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o711); err != nil {
			t.Fatal(err)
		}
		for up := filepath.Dir(dir); up != filepath.Clean(os.TempDir()) && up != "/"; up = filepath.Dir(up) {
			_ = os.Chmod(up, 0o711)
		}
		r := runner(Options{Dir: dir})
		defer unix.Umask(unix.Umask(0o077))
		if exit, out := script(t, r, "cat data/prices.csv"); exit != 0 || out != "tea,2\n" {
			t.Errorf("exit %d, %q", exit, out)
		}
		if os.Getuid() != 0 {
			return
		}
		err := r.inWorkDir(&dvs.Command{Name: "a", Script: []byte("x")}, func(w *workDir) error {
			for _, d := range []string{filepath.Dir(w.skill), w.skill, filepath.Join(w.skill, "a")} {
				info, err := os.Stat(d)
				if stat, ok := info.Sys().(*syscall.Stat_t); err != nil || !ok || stat.Uid != 0 || info.Mode().Perm()&0o022 != 0 {
					t.Errorf("%s: %v, %v", d, info, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
