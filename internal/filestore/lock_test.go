package filestore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
)

func open(t *testing.T, path string) *Lock {
	t.Helper()
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// If the file of a lock is removed, two owners still cannot hold the lock at once.
func TestLockRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	a := open(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	b := open(t, path)
	if err := a.With(t.Context(), func() error {
		if held, err := b.try(); held || err != nil {
			t.Error("both hold the lock", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := b.With(t.Context(), func() error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// A lock that stays held ends the wait, after a time or with the context.
func TestLockBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "x.lock")
		a, b := open(t, path), open(t, path)
		err := a.With(t.Context(), func() error {
			if err := b.With(t.Context(), func() error { return nil }); !errors.Is(err, ErrBusy) {
				t.Error(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := b.With(ctx, func() error { return nil }); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// A file is replaced completely or not at all.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path, temporary := filepath.Join(dir, "x"), filepath.Join(dir, ".new")
	if err := Replace(path, temporary, []byte("a"), []byte("b")); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, filepath.Join(dir, "none", ".new"), []byte("c")); err == nil {
		t.Error("written to no directory")
	}
	if got, err := os.ReadFile(path); string(got) != "ab" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if _, err := os.Stat(temporary); err == nil {
		t.Error("the temporary file is still there")
	}
}
