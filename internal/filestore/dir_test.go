package filestore

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// errFault is the error of a system that fails.
var errFault = errors.New("the system fails")

// faulty is a system of which one call fails.
type faulty struct {
	native
	call string
}

func (f faulty) fails(call string) error {
	if f.call == call {
		return errFault
	}
	return nil
}

func (f faulty) open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	if err := f.fails("open"); err != nil {
		return nil, err
	}
	return f.native.open(path, flag, perm)
}

func (f faulty) rename(from, to string) error {
	return unless(f.fails("rename"), func() error { return f.native.rename(from, to) })
}

func (f faulty) remove(path string) error {
	return unless(f.fails("remove"), func() error { return f.native.remove(path) })
}

func (f faulty) sync(file *os.File) error {
	return unless(f.fails("sync-file"), func() error { return f.native.sync(file) })
}

func (f faulty) syncDir(dir string) error {
	return unless(f.fails("sync"), func() error { return f.native.syncDir(dir) })
}

func (f faulty) tryLock(file *os.File) (bool, error) {
	if err := f.fails("lock"); err != nil {
		return false, err
	}
	return f.native.tryLock(file)
}

func (f faulty) unlock(file *os.File) error {
	return errors.Join(f.fails("unlock"), f.native.unlock(file))
}

func unless(err error, do func() error) error {
	if err != nil {
		return err
	}
	return do()
}

// failing replaces the system until the test ends.
func failing(t *testing.T, call string) {
	t.Helper()
	current = faulty{call: call}
	t.Cleanup(func() { current = native{} })
}

func openDir(t *testing.T, dir string) *Dir {
	t.Helper()
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func always([]byte, bool) error { return nil }

// unlessExists lets only a missing record be written.
func unlessExists(_ []byte, exists bool) error {
	if exists {
		return fs.ErrExist
	}
	return nil
}

func TestDir(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "made", "below")
	d := openDir(t, dir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Fatal(err)
	}
	ctx := t.Context()
	for key, value := range map[string]string{"a/one": "1", "a/two": "2", "ab/one": "3", "empty/": ""} {
		if err := d.Write(ctx, key, []byte(value), always); err != nil {
			t.Fatal(err)
		}
		if got, err := d.Get(ctx, key); string(got) != value || err != nil {
			t.Errorf("%s: %q, %v", key, got, err)
		}
	}
	for prefix, want := range map[string][]string{"": {"a/one", "a/two", "ab/one", "empty/"}, "a/": {"a/one", "a/two"}, "a/o": {"a/one"}, "a": {"a/one", "a/two", "ab/one"}, "b/": nil} {
		keys, err := d.Keys(ctx, prefix)
		if slices.Sort(keys); err != nil || !slices.Equal(keys, want) {
			t.Errorf("%q: %q, %v", prefix, keys, err)
		}
	}
	if err := d.Write(ctx, "a/one", []byte("x"), unlessExists); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if err := d.Write(ctx, "c/new", []byte("x"), unlessExists); err != nil {
		t.Error(err)
	}
	if err := d.Write(ctx, "a/one", []byte("x"), func([]byte, bool) error { return errFault }); !errors.Is(err, errFault) {
		t.Error(err)
	}
	if got, err := d.Get(ctx, "a/one"); string(got) != "1" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for range 2 { // a missing record is deleted too
		if err := d.Delete(ctx, "a/one"); err != nil {
			t.Error(err)
		}
	}
	if _, err := d.Get(ctx, "a/one"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), `the store has no record "a/one"`) {
		t.Error(err)
	}
	again := openDir(t, dir)
	if got, err := again.Get(ctx, "a/two"); string(got) != "2" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for call, do := range map[string]func() error{
		"get":    func() error { _, err := d.Get(ended, "a/two"); return err },
		"keys":   func() error { _, err := d.Keys(ended, ""); return err },
		"delete": func() error { return d.Delete(ended, "a/two") },
		"write":  func() error { return d.Write(ended, "a/two", nil, always) },
	} {
		if err := do(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", call, err)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := d.Write(ctx, "a/two", nil, always); err == nil {
		t.Error("a closed directory is written")
	}
	if err := d.Close(); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	if got, err := again.Get(ctx, "a/two"); string(got) != "2" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// TestDirDamaged has records that are not as they were written.
func TestDirDamaged(t *testing.T) {
	dir := t.TempDir()
	d, ctx := openDir(t, dir), t.Context()
	for _, key := range []string{"a/one", "b/one"} {
		if err := d.Write(ctx, key, []byte("value"), always); err != nil {
			t.Fatal(err)
		}
	}
	good, err := os.ReadFile(d.File("a/one"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"value": bytes.Replace(good, []byte("value"), []byte("Value"), 1), "key": bytes.Replace(good, []byte("a/one"), []byte("a/two"), 1), "cut": good[:len(good)-1], "empty": nil} {
		if err := os.WriteFile(d.File("a/one"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := d.Get(ctx, "a/one"); got != nil || !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), `"a/one"`) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if err := d.Write(ctx, "a/one", nil, unlessExists); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		for prefix, want := range map[string]error{"a/": ErrDamaged, "": ErrDamaged, "b": ErrDamaged, "b/": nil} {
			if keys, err := d.Keys(ctx, prefix); !errors.Is(err, want) || (keys != nil) != (want == nil) {
				t.Errorf("%s, %q: %q, %v", name, prefix, keys, err)
			}
		}
	}
	if err := os.WriteFile(d.File("a/one"), good, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.File("a/two"), good, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Get(ctx, "a/two"); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "it is the record of another key") {
		t.Error(err)
	}
	if err := errors.Join(os.Remove(d.File("a/two")), os.WriteFile(filepath.Join(dir, ".hidden"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "none"), d.File("a/gone")); err == nil {
		t.Run("P17", func(t *testing.T) {
			t.Run("reject-dangling-link-in-a-directory", func(t *testing.T) {
				if keys, err := d.Keys(ctx, "a/"); !errors.Is(err, ErrNotRegular) {
					t.Errorf("%q, %v", keys, err)
				}
				if _, err := d.Get(ctx, "a/gone"); !errors.Is(err, ErrNotRegular) || errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
			})
		})
		if err := os.Remove(d.File("a/gone")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(d.File("a/directory"), "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Get(ctx, "a/directory"); !errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
	if keys, err := d.Keys(ctx, "a/"); keys != nil || !errors.Is(err, ErrNotRegular) {
		t.Errorf("%q, %v", keys, err)
	}
	if err := d.Delete(ctx, "a/directory"); err == nil {
		t.Error("a directory that is not empty was deleted")
	}
}

// TestDirRefuses has directories that cannot be opened.
func TestDirRefuses(t *testing.T) {
	for name, prepare := range map[string]func(dir string) error{
		"file":                   func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"lock-is-a-directory":    func(dir string) error { return os.MkdirAll(filepath.Join(dir, ".lock"), 0o700) },
		"rest-cannot-be-removed": func(dir string) error { return os.MkdirAll(filepath.Join(dir, TemporaryName, "x"), 0o700) },
	} {
		dir := filepath.Join(t.TempDir(), "store")
		if err := prepare(dir); err != nil {
			t.Fatal(err)
		}
		d, err := OpenDir(dir)
		var failed *fs.PathError
		if d != nil || err == nil || name == "file" && (!errors.As(err, &failed) || failed.Op != "mkdir") {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir := t.TempDir()
	rest := filepath.Join(dir, TemporaryName)
	if err := os.WriteFile(rest, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := openDir(t, dir)
	if _, err := os.Stat(rest); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the rest of a crash is still there:", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Skip(err) // it has an open file
	}
	if keys, err := d.Keys(t.Context(), ""); keys != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%q, %v", keys, err)
	}
}

// TestDirFaults lets each call of the system fail.
func TestDirFaults(t *testing.T) {
	for call, uses := range map[string][]string{
		"open": {"get", "keys", "write", "create", "open-dir"}, "rename": {"write", "create"}, "remove": {"delete", "open-dir"},
		"sync-file": {"write", "create"}, "sync": {"write", "create", "delete"}, "lock": {"write", "create", "delete", "open-dir"}, "unlock": {"write", "create", "delete", "open-dir"},
	} {
		dir := t.TempDir()
		d, ctx := openDir(t, dir), t.Context()
		if err := d.Write(ctx, "a/one", []byte("1"), always); err != nil {
			t.Fatal(err)
		}
		for use, do := range map[string]func() error{
			"get":      func() error { _, err := d.Get(ctx, "a/one"); return err },
			"keys":     func() error { _, err := d.Keys(ctx, "a/"); return err },
			"write":    func() error { return d.Write(ctx, "a/two", nil, always) },
			"create":   func() error { return d.Write(ctx, "a/three", nil, unlessExists) },
			"delete":   func() error { return d.Delete(ctx, "a/one") },
			"open-dir": func() error { d, err := OpenDir(dir); return errors.Join(err, closed(d)) },
		} {
			if !slices.Contains(uses, use) {
				continue
			}
			failing(t, call)
			if err := do(); !errors.Is(err, errFault) {
				t.Errorf("%s, %s: %v", call, use, err)
			}
			current = native{}
			if _, err := os.Stat(filepath.Join(dir, TemporaryName)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s, %s: the temporary file is left: %v", call, use, err)
			}
		}
	}
}

// TestDirUnreadable: a record that cannot be read is neither damaged nor missing, so that it is not
// replaced.
func TestDirUnreadable(t *testing.T) {
	d, ctx := openDir(t, t.TempDir()), t.Context()
	if err := d.Write(ctx, "a/one", nil, unlessExists); err != nil {
		t.Fatal(err)
	}
	current = writeOnly{}
	_, err := d.Get(ctx, "a/one")
	current = native{}
	if err == nil || errors.Is(err, ErrDamaged) || errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// writeOnly is a system that opens each file for writing.
type writeOnly struct{ native }

func (writeOnly) open(path string, _ int, _ fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY, 0o600)
}

func closed(d *Dir) error {
	if d == nil {
		return nil
	}
	return d.Close()
}

// TestLargestRecord: a record has at most 64 MiB with its key and header. Nothing is written here.
func TestLargestRecord(t *testing.T) {
	d := openDir(t, t.TempDir())
	value := make([]byte, MaxRecord)
	value = value[:MaxRecord-len("a/b")-len(recordHead("a/b", value))]
	failing(t, "open")
	if err := d.Write(t.Context(), "a/b", value, always); !errors.Is(err, errFault) {
		t.Error(err)
	}
	if err := d.Write(t.Context(), "a/b", value[:len(value)+1], always); errors.Is(err, errFault) || err == nil || !strings.Contains(err.Error(), "larger than 67108864 bytes") {
		t.Error(err)
	}
}

// TestFileOfKey: a file is named after the key's word, in characters that every system takes.
func TestFileOfKey(t *testing.T) {
	d := &Dir{dir: "x"}
	for key, want := range map[string]string{"az09/k": "az09", "Az`{:/k": "_z___", "../k": "__", strings.Repeat("w", 40) + "/k": strings.Repeat("w", 32), "é": "_"} {
		word, sum, ok := strings.Cut(filepath.Base(d.File(key)), "-")
		if word != want || !ok || len(sum) != 32 || filepath.Dir(d.File(key)) != "x" {
			t.Errorf("%q: %s", key, d.File(key))
		}
	}
	if d.File("a/b") == d.File("a/c") {
		t.Error("two keys have one file")
	}
}

func TestParseRecord(t *testing.T) {
	empty := string(recordHead("", nil))
	record := func(key, value string) string { return string(recordHead(key, []byte(value))) + key + value }
	for name, c := range map[string]struct {
		data, key, value string
		ok               bool
	}{
		"accept":                    {record("a/b", "v"), "a/b", "v", true},
		"accept-empty":              {empty, "", "", true},
		"accept-no-value":           {record("a/b", ""), "a/b", "", true},
		"accept-no-key":             {record("", "v"), "", "v", true},
		"reject-no-line-end":        {strings.TrimSuffix(empty, "\n"), "", "", false},
		"reject-more-in-the-header": {strings.TrimSuffix(empty, "\n") + " x\n", "", "", false},
		"reject-two-numbers":        {"lookleap record 0 0\n", "", "", false},
		"reject-other-word":         {strings.Replace(empty, "record", "ledger", 1), "", "", false},
		"reject-negative-length":    {"lookleap record -1 3 00\nab", "", "", false},
		"reject-long-key":           {"lookleap record 3 -1 00\nab", "", "", false},
		"reject-more-bytes":         {record("a/b", "v") + "w", "", "", false},
		"reject-other-length":       {strings.Replace(record("a/b", "v"), " 3 1 ", " 3 2 ", 1), "", "", false},
		"reject-other-sum":          {"lookleap record 1 1 00\nab", "", "", false},
	} {
		key, value, err := parseRecord([]byte(c.data))
		if key != c.key || string(value) != c.value || (err == nil) != c.ok || err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %q, %q, %v", name, key, value, err)
		}
	}
}

func FuzzRecord(f *testing.F) {
	f.Add(append(recordHead("a/b", []byte("v")), "a/bv"...))
	f.Add([]byte("lookleap record 1 1 00\nab"))
	f.Fuzz(func(t *testing.T, data []byte) {
		key, value, err := parseRecord(data)
		if err == nil && !bytes.HasSuffix(data, append([]byte("\n"+key), value...)) {
			t.Fatalf("%q %q", key, value)
		}
	})
}
