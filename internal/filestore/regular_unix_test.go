//go:build unix

package filestore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lookleap/lookleap/internal/filestore"
)

// TestPipe: a pipe without a program at its other end blocks no one, whatever it is opened for.
func TestPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("this file system has no pipes: ", err)
	}
	if _, err := filestore.ReadFile(pipe, 1); !errors.Is(err, filestore.ErrNotRegular) {
		t.Error(err)
	}
	for name, flag := range map[string]int{"read": os.O_RDONLY, "write": os.O_WRONLY, "append": os.O_RDWR | os.O_APPEND | os.O_CREATE} {
		t.Run(name, func(t *testing.T) {
			if _, err := filestore.OpenFile(pipe, flag, 0o600); err == nil {
				t.Error("a pipe was opened as a store")
			}
		})
	}
}

// TestOpenDirNowhere: a relative path means nothing where the working directory is gone.
func TestOpenDirNowhere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Remove(dir); err != nil {
		t.Skip(err)
	}
	if d, err := filestore.OpenDir("store"); d != nil || err == nil || !strings.Contains(err.Error(), "getwd") {
		t.Errorf("%v, %v", d, err)
	}
}

// TestOnlyOwnerReads: others can neither read a record nor list the directory.
func TestOnlyOwnerReads(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	d, err := filestore.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Write(t.Context(), "a/b", nil, func([]byte, bool) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, ".lock")); err != nil { // it is created again
		t.Fatal(err)
	}
	again, err := filestore.Open(filepath.Join(dir, "other.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := d.Write(t.Context(), "a/c", nil, func([]byte, bool) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, d.File("a/b"): 0o600, filepath.Join(dir, ".lock"): 0o600, filepath.Join(dir, "other.lock"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}
