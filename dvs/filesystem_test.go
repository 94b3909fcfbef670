package dvs_test

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"testing"

	"github.com/lookleap/lookleap/dvs"
)

// TestVerifiedFSOperations uses files and directories as what they are not.
func TestVerifiedFSOperations(t *testing.T) {
	v := skillsFS(t, dvs.DVS, bundle("b", "name: b\ndescription: d\n", "x.json", "0123456789"), bundle("a", "name: a\ndescription: d\n"))
	open := func(t *testing.T, name string) fs.File {
		t.Helper()
		f, err := v.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	p := make([]byte, 4)
	for name, c := range map[string]struct {
		do   func(*testing.T) error
		want error
	}{
		"read-a-directory":      {func(t *testing.T) error { _, err := open(t, "b").Read(p); return err }, fs.ErrInvalid},
		"read-file-a-directory": {func(*testing.T) error { _, err := v.ReadFile("b"); return err }, fs.ErrInvalid},
		"path-that-climbs":      {func(*testing.T) error { _, err := v.Open("b/../b/x.json"); return err }, fs.ErrInvalid},
		"absolute-path":         {func(*testing.T) error { _, err := v.Stat("/b"); return err }, fs.ErrInvalid},
		"list-nothing-more": {func(t *testing.T) error {
			d := open(t, "b").(fs.ReadDirFile)
			if all, err := d.ReadDir(-1); len(all) != 2 || err != nil {
				t.Error(all, err)
			}
			if rest, err := d.ReadDir(0); len(rest) != 0 || err != nil { // of all that is left, nothing is no end
				t.Error(rest, err)
			}
			_, err := d.ReadDir(1)
			return err
		}, io.EOF},
		"missing":        {func(*testing.T) error { _, err := v.ReadFile("b/y.json"); return err }, fs.ErrNotExist},
		"no-file-system": {func(*testing.T) error { _, err := (*dvs.VerifiedFS)(nil).Open("b"); return err }, fs.ErrNotExist},
	} {
		t.Run("reject-"+name, func(t *testing.T) {
			if err := c.do(t); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	t.Run("accept-seek-and-read", func(t *testing.T) {
		f := open(t, "b/x.json")
		if at, err := f.(io.Seeker).Seek(-3, io.SeekEnd); at != 7 || err != nil {
			t.Error(at, err)
		}
		if data, err := io.ReadAll(f); string(data) != "789" || err != nil {
			t.Errorf("%q, %v", data, err)
		}
		if n, err := f.(io.ReaderAt).ReadAt(p, 2); n != 4 || string(p) != "2345" || err != nil {
			t.Errorf("%q, %v", p, err)
		}
	})
	t.Run("accept-modes", func(t *testing.T) {
		for name, want := range map[string]fs.FileMode{".": fs.ModeDir | 0o555, "b": fs.ModeDir | 0o555, "b/x.json": 0o444} {
			if info, err := v.Stat(name); err != nil || info.Mode() != want {
				t.Errorf("%s: %v, %v", name, info, err)
			}
		}
	})
	t.Run("accept-lock-in-order", func(t *testing.T) {
		skills := v.Lock().Skills
		if !slices.IsSortedFunc(skills, func(a, b dvs.LockedSkill) int {
			if a.URL < b.URL {
				return -1
			}
			return 1
		}) || len(skills) != 2 {
			t.Error(skills)
		}
		if lock := (*dvs.VerifiedFS)(nil).Lock(); lock == nil || len(lock.Skills) != 0 {
			t.Error(lock)
		}
	})
}
