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
