package dvs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

func TestMaterialize(t *testing.T) {
	v := skillsFS(t, dvs.DVS, bundle("a", "name: a\ndescription: b\n", "scripts/run.sh", "#!/bin/sh\n", "data/x/y.json", "{}"))
	t.Run("D07/accept-what-was-verified", func(t *testing.T) {
		parent := t.TempDir()
		dir := filepath.Join(parent, "skills")
		if err := v.Materialize(dir); err != nil {
			t.Fatal(err)
		}
		if err := fstest.TestFS(os.DirFS(dir), "a/SKILL.md", "a/scripts/run.sh", "a/data/x/y.json"); err != nil {
			t.Error(err)
		}
		if info, _ := os.Stat(filepath.Join(dir, "a/scripts/run.sh")); info.Mode().Perm() != 0o644 {
			t.Error(info.Mode())
		}
		if entries, _ := os.ReadDir(parent); len(entries) != 1 {
			t.Errorf("left behind: %v", entries)
		}
		read := readTree(t, os.DirFS(filepath.Join(dir, "a")))
		if err := v.Lock().Skills[0].VerifyWritten(read); err != nil {
			t.Error(err)
		}
		if err := v.Materialize(dir); lookleap.CodeOf(err) != lookleap.CodeIO {
			t.Errorf("written into a directory that is not empty: %v", err)
		}
	})
	t.Run("D07/accept-empty-directory", func(t *testing.T) {
		if err := v.Materialize(t.TempDir()); err != nil {
			t.Error(err)
		}
	})
	t.Run("D07/reject-link", func(t *testing.T) {
		parent := t.TempDir()
		elsewhere := t.TempDir()
		dir := filepath.Join(parent, "skills")
		if err := os.Symlink(elsewhere, dir); err != nil {
			t.Skip(err)
		}
		if err := v.Materialize(dir); lookleap.CodeOf(err) != lookleap.CodeLink {
			t.Error(err)
		}
		if entries, _ := os.ReadDir(elsewhere); len(entries) != 0 {
			t.Error(entries)
		}
	})
	t.Run("D07/reject-without-parent", func(t *testing.T) {
		if err := v.Materialize(filepath.Join(t.TempDir(), "x", "y")); err == nil {
			t.Error("accepted")
		}
	})
}

func readTree(t *testing.T, tree fs.FS) map[string][]byte {
	t.Helper()
	read, err := dvs.ReadSkillDir(tree, dvs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return read
}
