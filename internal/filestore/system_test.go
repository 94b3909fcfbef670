package filestore_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/lookleap/lookleap/internal/filestore"
)

func simulate(t *testing.T) {
	t.Helper()
	end, ok := filestore.Simulate()
	if !ok {
		t.Skip("this system does not say which files are open")
	}
	t.Cleanup(end)
}

// The simulation refuses what Windows refuses: otherwise the tests that use it could not fail.
func TestSimulate(t *testing.T) {
	simulate(t)
	path := filepath.Join(t.TempDir(), "x")
	if err := filestore.Replace(path, path+".new", []byte("1")); err != nil {
		t.Fatal(err)
	}
	f, err := filestore.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := filestore.Replace(path, path+".new", []byte("2")); !errors.Is(err, filestore.ErrSharing) {
		t.Error("replaced an open file:", err)
	}
	if err := filestore.Remove(path); !errors.Is(err, filestore.ErrSharing) {
		t.Error("removed an open file:", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := filestore.Remove(path); err != nil {
		t.Error(err)
	}
}

// TestDirOnWindows writes, reads, replaces and deletes records by the rules of Windows.
func TestDirOnWindows(t *testing.T) {
	simulate(t)
	d, err := filestore.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ctx, free := t.Context(), func([]byte, bool) error { return nil }
	for _, value := range []string{"one", "two"} {
		if err := d.Write(ctx, "a/b", []byte(value), free); err != nil {
			t.Fatal(err)
		}
		if got, err := d.Get(ctx, "a/b"); string(got) != value || err != nil {
			t.Errorf("%q %v", got, err)
		}
	}
	if err := d.Delete(ctx, "a/b"); err != nil {
		t.Error(err)
	}
}

// A lock is held by one open file at a time, keeps no one from reading, and ends when its file
// is closed.
func TestLockFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	open := func() *os.File {
		f, err := filestore.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	a, b := open(), open()
	try := func(f *os.File, want bool) {
		t.Helper()
		if held, err := filestore.TryLock(f); held != want || err != nil {
			t.Errorf("held %v, %v", held, err)
		}
	}
	try(a, true)
	try(b, false)
	if _, err := a.WriteString("text"); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(path); string(got) != "text" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if err := filestore.Unlock(a); err != nil {
		t.Error(err)
	}
	try(b, true)
	_ = b.Close()
	try(a, true)
}
