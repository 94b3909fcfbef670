package filestore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
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

// The lock of a directory has two holders at no time, by whatever path, and leaves no file there.
func TestLockOfDirectory(t *testing.T) {
	for name, open := range map[string]func(string) (*Lock, error){"here": OpenOn, "on-windows": openApart} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			dir := t.TempDir()
			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(dir, link); err != nil {
				link = dir // a user of Windows may need a right for it
			}
			a, err := open(dir)
			b, err2 := open(link)
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			if err := a.With(t.Context(), func() error {
				if held, err := b.try(); held || err != nil {
					t.Error("both hold the lock", err)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if held, err := b.try(); !held || err != nil {
				t.Error("the lock is not free", err)
			}
			if files, err := os.ReadDir(dir); len(files) > 0 || err != nil {
				t.Errorf("left %v, %v", files, err)
			}
			_ = errors.Join(a.Close(), b.Close())
		})
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
	taken := t.TempDir()
	if err := Replace(path, taken, []byte("c")); err == nil {
		t.Error("written to a directory")
	}
	if _, err := os.Stat(taken); err != nil {
		t.Error("what was in the place of the temporary file:", err)
	}
	if got, err := os.ReadFile(path); string(got) != "ab" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if _, err := os.Stat(temporary); err == nil {
		t.Error("the temporary file is still there")
	}
}

// TestLockRefuses has locks that cannot be taken. What the lock protects does not run, and the lock is
// free again.
func TestLockRefuses(t *testing.T) {
	if l, err := Open(t.TempDir()); l != nil || err == nil {
		t.Error("a directory is a lock")
	}
	run := func(t *testing.T, l *Lock, ctx context.Context) error {
		t.Helper()
		ran := false
		err := l.With(ctx, func() error { ran = true; return nil })
		if ran {
			t.Error("it ran without the lock")
		}
		return err
	}
	t.Run("ended", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := run(t, open(t, filepath.Join(t.TempDir(), "x.lock")), ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	t.Run("closed", func(t *testing.T) {
		l := open(t, filepath.Join(t.TempDir(), "x.lock"))
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if err := run(t, l, t.Context()); err == nil {
			t.Error("a closed lock was taken")
		}
		if err := l.Close(); !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	t.Run("directory-is-gone", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "store")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		l := open(t, filepath.Join(dir, "x.lock"))
		if err := os.RemoveAll(dir); err != nil {
			t.Skip(err)
		}
		if err := run(t, l, t.Context()); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
		if err := os.WriteFile(dir, nil, 0o600); err != nil { // the path of the lock leads through a file
			t.Fatal(err)
		}
		if err := run(t, l, t.Context()); err == nil || errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrBusy) {
			t.Error(err)
		}
		if free, err := TryLock(l.file); !free || err != nil {
			t.Error("it is still held:", err)
		}
	})
	t.Run("file-is-gone", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "x.lock")
		l := open(t, path)
		if err := os.Remove(path); err != nil {
			t.Skip(err)
		}
		ran := false
		if err := l.With(t.Context(), func() error { ran = true; return nil }); err != nil || !ran {
			t.Error(ran, err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error("the file was not created again:", err)
		}
	})
	t.Run("system-says-yes-to-a-closed-file", func(t *testing.T) {
		l := open(t, filepath.Join(t.TempDir(), "x.lock"))
		_ = l.file.Close()
		current = agreeing{free: true}
		defer func() { current = native{} }()
		if err := run(t, l, t.Context()); !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	t.Run("own-error", func(t *testing.T) {
		l := open(t, filepath.Join(t.TempDir(), "x.lock"))
		if err := l.With(t.Context(), func() error { return errFault }); !errors.Is(err, errFault) {
			t.Error(err)
		}
		if free, err := TryLock(l.file); !free || err != nil {
			t.Error("it is still held:", err)
		}
	})
}

// agreeing is a system in which each lock is free, or none is.
type agreeing struct {
	native
	free  bool
	tries *int
}

func (a agreeing) tryLock(*os.File) (bool, error) {
	if a.tries != nil {
		*a.tries++
	}
	return a.free, nil
}

func (agreeing) unlock(*os.File) error { return nil }

// TestLockWaits: a caller waits until its context ends, and asks less and less often.
func TestLockWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, tries := open(t, filepath.Join(t.TempDir(), "x.lock")), 0
		current = agreeing{tries: &tries}
		defer func() { current = native{} }()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if err := l.With(ctx, func() error { t.Error("it ran without the lock"); return nil }); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if tries != 45 { // the first one, then after 1, 2, 4, 8, 16 and 32 ms, then each 50 ms
			t.Errorf("%d tries in two seconds", tries)
		}
	})
}

// TestReplaceFails: after an error the file is as it was, and the temporary file is gone.
func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	path, temporary := filepath.Join(dir, "x"), filepath.Join(dir, ".new")
	if err := Replace(path, temporary, []byte("old")); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, filepath.Join(dir, "none", ".new"), []byte("c")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	current = readOnly{}
	err := Replace(path, temporary, []byte("a"), []byte("b"))
	current = native{}
	if err == nil {
		t.Error("written to a file that is open for reading")
	}
	failing(t, "rename")
	if err := Replace(path, temporary, []byte("c")); !errors.Is(err, errFault) {
		t.Error(err)
	}
	if got, err := os.ReadFile(path); string(got) != "old" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if _, err := os.Stat(temporary); !errors.Is(err, os.ErrNotExist) {
		t.Error("the temporary file is still there:", err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if again, err := regular("", f, nil); again != nil || !errors.Is(err, os.ErrClosed) {
		t.Error("a closed file is regular:", err)
	}
}

// readOnly is a system that opens each file for reading.
type readOnly struct{ native }

func (readOnly) open(path string, _ int, _ fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
}
