package dvs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
		if info, _ := os.Stat(filepath.Join(dir, "a/scripts/run.sh")); info.Mode().Perm()|0o044 != 0o644 { // the umask may take from others
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
		if err := v.Materialize(dir); lookleap.CodeOf(err) != dvs.CodeLink {
			t.Error(err)
		}
		if entries, _ := os.ReadDir(elsewhere); len(entries) != 0 {
			t.Error(entries)
		}
	})
	t.Run("D07/reject-without-parent", func(t *testing.T) {
		parent := filepath.Join(t.TempDir(), "x")
		var refused *lookleap.Error
		if err := v.Materialize(filepath.Join(parent, "y")); !errors.As(err, &refused) || refused.Code != lookleap.CodeIO || refused.Subject != parent {
			t.Errorf("got %+v", refused)
		}
	})
	t.Run("D07/reject-file-in-the-way", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		for dir, says := range map[string]string{file: "the path is a file, not a directory", filepath.Join(file, "skills"): "the skills could not be written"} {
			var refused *lookleap.Error
			if err := v.Materialize(dir); !errors.As(err, &refused) || refused.Code != lookleap.CodeIO || refused.Message != says || refused.Subject != dir {
				t.Errorf("got %+v", refused)
			}
		}
		if data, err := os.ReadFile(file); string(data) != "mine" {
			t.Error(err)
		}
	})
}

// names lists a directory.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestMaterializeInPlace(t *testing.T) {
	v := skillsFS(t, dvs.DVS, bundle("a", "name: a\ndescription: b\n"), bundle("c", "name: c\ndescription: b\n"))
	t.Run("O46/accept-private-directory", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "skills")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Stat(dir)
		if err := v.Materialize(dir); err != nil {
			t.Fatal(err)
		}
		if after, _ := os.Stat(dir); after.Mode() != before.Mode() || !os.SameFile(before, after) || !slices.Equal(names(t, dir), []string{"a", "c"}) {
			t.Errorf("%v, then %v: %v", before.Mode(), after.Mode(), names(t, dir))
		}
	})
	t.Run("O46/accept-working-directory", func(t *testing.T) {
		t.Chdir(t.TempDir())
		if err := v.Materialize("."); err != nil {
			t.Fatal(err)
		}
		if _, err := os.ReadFile("a/SKILL.md"); err != nil || !slices.Equal(names(t, "."), []string{"a", "c"}) {
			t.Errorf("%v: %v", err, names(t, "."))
		}
	})
	t.Run("O46/accept-working-directory-by-a-link", func(t *testing.T) {
		base := t.TempDir()
		link := filepath.Join(base, "link")
		if err := os.Mkdir(filepath.Join(base, "skills"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("skills", link); err != nil {
			t.Skip(err)
		}
		if err := v.Materialize(link); lookleap.CodeOf(err) != dvs.CodeLink {
			t.Errorf("a link that is named: %v", err)
		}
		t.Chdir(link)
		if err := v.Materialize("."); err != nil || !slices.Equal(names(t, filepath.Join(base, "skills")), []string{"a", "c"}) {
			t.Errorf("%v: %v", err, names(t, filepath.Join(base, "skills")))
		}
	})
	for name, exists := range map[string]bool{"new": false, "existing": true} {
		t.Run("O46/reject-others-at-the-same-time-"+name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "skills")
			if exists {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			var all sync.WaitGroup
			var done atomic.Int64
			for range 8 {
				all.Go(func() {
					if v.Materialize(dir) == nil {
						done.Add(1)
					}
				})
			}
			all.Wait()
			if n := done.Load(); n > 1 || n == 1 && !slices.Equal(names(t, dir), []string{"a", "c"}) { // 0: each refused for another
				t.Errorf("%d at the same time: %q", n, names(t, dir))
			}
			for _, name := range names(t, filepath.Dir(dir)) {
				if strings.HasPrefix(name, ".dvs-partial-") {
					t.Errorf("%s is left", name)
				}
			}
		})
	}
	t.Run("O46/reject-not-empty", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := v.Materialize(dir); lookleap.CodeOf(err) != lookleap.CodeIO || !strings.Contains(err.Error(), "the directory is not empty") || !slices.Equal(names(t, dir), []string{"mine"}) {
			t.Errorf("%v: %v", err, names(t, dir))
		}
	})
	t.Run("O46/reject-leftovers-of-others", func(t *testing.T) {
		dir := t.TempDir()
		for _, name := range []string{".dvs-partial-1", ".dvs-partial-x"} { // not private, or not of our form
			if err := errors.Join(os.Mkdir(filepath.Join(dir, name), 0o755), os.Chmod(filepath.Join(dir, name), 0o755), os.WriteFile(filepath.Join(dir, name, "lock"), nil, 0o600),
				os.WriteFile(filepath.Join(dir, name, "names"), []byte("mine\n"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Mkdir(filepath.Join(dir, "mine"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := v.Materialize(dir); lookleap.CodeOf(err) != lookleap.CodeIO || !slices.Contains(names(t, dir), "mine") {
			t.Errorf("%v: %v", err, names(t, dir))
		}
	})
}

// swapFS is a directory in which something is replaced once a file of it is opened.
type swapFS struct {
	fs.FS
	swap func()
}

func (s swapFS) Open(name string) (fs.File, error) {
	if filepath.Ext(name) == ".md" {
		s.swap()
	}
	return s.FS.Open(name)
}

func TestReadSkillDirSwapped(t *testing.T) {
	for name, swap := range map[string]func(dir, elsewhere string) error{
		"file-for-link": func(dir, elsewhere string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "a/x.md")), os.Symlink(filepath.Join(elsewhere, "x.md"), filepath.Join(dir, "a/x.md")))
		},
		"file-for-file": func(dir, elsewhere string) error {
			return os.Rename(filepath.Join(elsewhere, "x.md"), filepath.Join(dir, "a/x.md"))
		},
		"directory-for-link": func(dir, elsewhere string) error {
			return errors.Join(os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b")), os.Symlink(elsewhere, filepath.Join(dir, "a")))
		},
	} {
		t.Run("O46/reject-"+name, func(t *testing.T) {
			dir, elsewhere := t.TempDir(), t.TempDir()
			if err := errors.Join(os.Mkdir(filepath.Join(dir, "a"), 0o755), os.WriteFile(filepath.Join(dir, "a/x.md"), []byte("good"), 0o600),
				os.WriteFile(filepath.Join(elsewhere, "x.md"), []byte("secret"), 0o600)); err != nil {
				t.Fatal(err)
			}
			files, err := dvs.ReadSkillDir(swapFS{os.DirFS(dir), func() {
				if err := swap(dir, elsewhere); err != nil {
					t.Skip(err)
				}
			}}, dvs.Limits{})
			if lookleap.CodeOf(err) != dvs.CodeLink || files != nil {
				t.Errorf("%q, %v", files, err)
			}
		})
	}
	t.Run("O46/accept-not-swapped", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "x.md"), []byte("good"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, files := range []fs.FS{os.DirFS(dir), swapFS{os.DirFS(dir), func() {}}, must(os.OpenRoot(dir)).FS(), fstest.MapFS{"x.md": {Data: []byte("good")}}} {
			if read, err := dvs.ReadSkillDir(files, dvs.Limits{}); err != nil || string(read["x.md"]) != "good" {
				t.Errorf("%T: %v", files, err)
			}
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

func TestDirectoryNames(t *testing.T) {
	pay := func(id string) dvs.Bundle { return bundle(id, "name: pay\ndescription: b\n") }
	bank, rival := pay("bank"), pay("rival")
	id := dvs.DigestOf([]byte(bank.ID))
	derived := fmt.Sprintf("pay-%x", id[:6])
	thief := bundle("thief", "name: "+derived+"\ndescription: b\n")
	directories := func(t *testing.T, options dvs.VerifiedFSOptions, bundles ...dvs.Bundle) map[string]string {
		t.Helper()
		names := map[string]string{}
		for _, r := range dvs.NewVerifiedFS(bundles, options).Reports() {
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			names[r.ID] = r.Directory
		}
		return names
	}
	t.Run("O37/reject-name-of-a-derived-one", func(t *testing.T) {
		for _, bundles := range [][]dvs.Bundle{{thief, bank, rival}, {rival, bank, thief}} {
			names := directories(t, dvs.VerifiedFSOptions{}, bundles...)
			if names[bank.ID] != derived || len(names[thief.ID]) <= len(derived) {
				t.Errorf("%v", names)
			}
		}
	})
	t.Run("O37/reject-given-name", func(t *testing.T) {
		before := skillsFS(t, dvs.DVS, bank).Lock()
		names := directories(t, dvs.VerifiedFSOptions{Named: before}, rival, bank)
		if names[bank.ID] != "pay" || names[rival.ID] == "pay" {
			t.Errorf("%v", names)
		}
		if names = directories(t, dvs.VerifiedFSOptions{Named: before}, rival); names[rival.ID] == "pay" {
			t.Errorf("the name of a skill that is gone was given again: %v", names)
		}
	})
	t.Run("O37/accept-any-order-of-bundles", func(t *testing.T) {
		lock := skillsFS(t, dvs.DVS, bank).Lock() // it has the name of the rival, who gets that of the thief
		id := dvs.DigestOf([]byte(rival.ID))
		thief := bundle("a-thief", "name: pay-"+fmt.Sprintf("%x", id[:6])+"\ndescription: b\n")
		one := directories(t, dvs.VerifiedFSOptions{Named: lock}, thief, rival)
		if two := directories(t, dvs.VerifiedFSOptions{Named: lock}, rival, thief); !maps.Equal(one, two) || one[thief.ID] != "pay-"+fmt.Sprintf("%x", id[:6]) {
			t.Errorf("%v, then %v", one, two)
		}
	})
	t.Run("O37/accept-names-of-other-letters", func(t *testing.T) {
		long := strings.Repeat("a", 64)
		for name, want := range map[string]string{"東京": "skill", "Az-09zZ": "az-09zz", "'!" + long + "'": long} {
			v := skillsFS(t, dvs.Lenient, bundle("x", "name: "+name+"\ndescription: b\n"))
			if r := v.Reports()[0]; r.Directory != want {
				t.Errorf("%q", r.Directory)
			}
		}
	})
	t.Run("O37/accept-frozen-before-named", func(t *testing.T) {
		lock := skillsFS(t, dvs.DVS, bank).Lock()
		other := *lock
		other.Skills = slices.Clone(lock.Skills)
		other.Skills[0].Directory = "pay-other"
		if names := directories(t, dvs.VerifiedFSOptions{Frozen: lock, Named: &other}, bank); names[bank.ID] != "pay" {
			t.Errorf("%v", names)
		}
	})
	t.Run("O37/accept-frozen-without-rival", func(t *testing.T) {
		lock := skillsFS(t, dvs.DVS, bank, rival, thief).Lock()
		for _, bundles := range [][]dvs.Bundle{{bank}, {bank, thief}, {thief, bank, rival}} {
			v := dvs.NewVerifiedFS(bundles, dvs.VerifiedFSOptions{Frozen: lock})
			i := slices.IndexFunc(v.Reports(), func(r dvs.SkillReport) bool { return r.ID == bank.ID })
			if r := v.Reports()[i]; r.Directory != derived || r.Err != nil {
				t.Errorf("%+v", r)
			}
			data, _ := fs.ReadFile(v, derived+"/SKILL.md")
			if err := lock.Find(bank.ID).VerifyWritten(map[string][]byte{"SKILL.md": data}); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("O37/reject-unsafe-name-of-a-lock", func(t *testing.T) {
		lock := &dvs.Lockfile{Skills: []dvs.LockedSkill{{URL: bank.ID, Root: root, Directory: "../evil"}}}
		if names := directories(t, dvs.VerifiedFSOptions{Named: lock}, bank); names[bank.ID] != "pay" {
			t.Errorf("%v", names)
		}
	})
	t.Run("O37/reject-same-skill-twice", func(t *testing.T) {
		other := bundle("bank", "name: pay\ndescription: other\n")
		reports := dvs.NewVerifiedFS([]dvs.Bundle{bank, other}, dvs.VerifiedFSOptions{}).Reports()
		if reports[0].Directory != "pay" || lookleap.CodeOf(reports[1].Err) != dvs.CodeDuplicateEntry {
			t.Errorf("%+v", reports)
		}
	})
	t.Run("O37/reject-names-that-become-one", func(t *testing.T) {
		for _, name := range []string{"PAY", "pay!", "_pay_", "Pay-"} {
			v := dvs.NewVerifiedFS([]dvs.Bundle{bank, bundle("rival", "name: "+name+"\ndescription: b\n")}, dvs.VerifiedFSOptions{Profile: dvs.Lenient})
			for _, r := range v.Reports() {
				if r.Err == nil && r.Directory == "pay" {
					t.Errorf("%q: %+v", name, r)
				}
			}
		}
	})
	t.Run("O37/accept-long-name", func(t *testing.T) {
		long := strings.Repeat("a", 100)
		v := dvs.NewVerifiedFS([]dvs.Bundle{bundle("long", "name: "+long+"\ndescription: b\n")}, dvs.VerifiedFSOptions{Profile: dvs.Lenient})
		if r := v.Reports()[0]; r.Err != nil || r.Directory != long[:64] {
			t.Errorf("%+v", r)
		}
	})
	t.Run("O37/accept-alone", func(t *testing.T) {
		if names := directories(t, dvs.VerifiedFSOptions{}, bank, thief); names[bank.ID] != "pay" || names[thief.ID] != derived {
			t.Errorf("%v", names)
		}
	})
}
