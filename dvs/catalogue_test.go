package dvs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

func TestCatalogue(t *testing.T) {
	long := "name: long\ndescription: b\nx: " + strings.Repeat("y", 9000) + "\n"
	skills := fstest.MapFS{
		"b/SKILL.md":     {Data: []byte(file("name: b\ndescription: c\n"))},
		"a/SKILL.md":     {Data: []byte(file("name: a\ndescription: c\n") + strings.Repeat("x", 2<<20))},
		"long/SKILL.md":  {Data: []byte(file(long))},
		"huge/SKILL.md":  {Data: []byte(file("name: huge\ndescription: b\nx: " + strings.Repeat("y", 30_000) + "\n"))},
		"bad/SKILL.md":   {Data: []byte("---\nname: bad\n")},
		"other/SKILL.md": {Data: []byte(file("name: else\ndescription: c\n"))},
		"empty/SKILL.md": {}, "none/README.md": {}, "README.md": {},
	}
	entries, err := dvs.Catalogue(skills, dvs.DVS, dvs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		code := lookleap.CodeOf(e.Err)
		if (e.Metadata == nil) != (e.Err != nil) {
			t.Errorf("%+v", e)
		}
		if len(e.Findings) > 0 && e.Err == nil {
			code = e.Findings[0].Code
		}
		got = append(got, e.Directory+" "+string(code))
	}
	if want := "a ok, b ok, bad unterminated-frontmatter, empty no-frontmatter, huge unterminated-frontmatter, long ok, other name-directory"; strings.Join(got, ", ") != want {
		t.Errorf("%s", strings.Join(got, ", "))
	}
	strict, _ := dvs.Catalogue(skills, dvs.AgentSkills, dvs.Limits{})
	if e := strict[6]; lookleap.CodeOf(e.Err) != dvs.CodeNameDirectory || e.Metadata != nil {
		t.Errorf("%+v", e)
	}
	if _, err := dvs.Catalogue(nil, dvs.DVS, dvs.Limits{}); lookleap.CodeOf(err) != lookleap.CodeUsage {
		t.Error(err)
	}
	if _, err := dvs.Catalogue(os.DirFS(filepath.Join(t.TempDir(), "none")), dvs.DVS, dvs.Limits{}); lookleap.CodeOf(err) != lookleap.CodeIO {
		t.Error(err)
	}
}

// TestCatalogueFollowsNoLinks puts what is not a file of its own in a SKILL.md's
// place, for the directory itself and for a file system that wraps it.
func TestCatalogueFollowsNoLinks(t *testing.T) {
	dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "SKILL.md")
	text := []byte(file("name: a\ndescription: b\n"))
	if err := os.WriteFile(elsewhere, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(entry string) error{
		"link": func(entry string) error { return os.Symlink(elsewhere, entry) },
		"link-beside": func(entry string) error {
			return errors.Join(os.WriteFile(entry+".md", text, 0o600), os.Symlink("SKILL.md.md", entry))
		},
		"link-to-none":   func(entry string) error { return os.Symlink(elsewhere+"x", entry) },
		"link-to-itself": func(entry string) error { return os.Symlink("SKILL.md", entry) },
		"directory":      func(entry string) error { return os.Mkdir(entry, 0o755) },
		"pipe":           func(entry string) error { return makePipe(entry) },
	} {
		if err := errors.Join(os.Mkdir(filepath.Join(dir, name), 0o755), put(filepath.Join(dir, name, "SKILL.md"))); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Symlink(filepath.Dir(elsewhere), filepath.Join(dir, "linked-directory")); err != nil {
		t.Skip(err)
	}
	for name, files := range map[string]fs.FS{"directly": os.DirFS(dir), "wrapped": nil} {
		t.Run(name, func(t *testing.T) {
			if name == "wrapped" {
				files = must(os.OpenRoot(dir)).FS()
			}
			entries, err := dvs.Catalogue(files, dvs.DVS, dvs.Limits{})
			if err != nil || len(entries) != 7 {
				t.Errorf("%+v %v", entries, err)
			}
			for _, e := range entries {
				if lookleap.CodeOf(e.Err) != dvs.CodeLink || e.Metadata != nil {
					t.Errorf("%s: %v", e.Directory, e.Err)
				}
			}
		})
	}
	if _, err := dvs.ReadSkillDir(os.DirFS(filepath.Join(dir, "link")), dvs.Limits{}); lookleap.CodeOf(err) != dvs.CodeLink {
		t.Error(err)
	}
}

// brokenFS is a file system in which one name cannot be used.
type brokenFS struct {
	fs.FS
	name string
	read bool // it opens, and cannot be read
}

var errBroken = errors.New("the disk is gone")

func (b brokenFS) Open(name string) (fs.File, error) {
	f, err := b.FS.Open(name)
	if err != nil || name != b.name {
		return f, err
	}
	if b.read {
		return brokenFile{f}, nil
	}
	return nil, errors.Join(errBroken, f.Close())
}

type brokenFile struct{ fs.File }

func (brokenFile) Read([]byte) (int, error) { return 0, errBroken }

// TestBrokenDirectory: what cannot be read is an error, and never a skill with fewer files.
func TestBrokenDirectory(t *testing.T) {
	tree := fstest.MapFS{"a/SKILL.md": {Data: []byte(file("name: a\ndescription: b\n"))}, "a/more/x.md": {Data: []byte("x")}, "b/SKILL.md": {Data: []byte(file("name: b\ndescription: b\n"))}}
	for name, broken := range map[string]brokenFS{"file": {tree, "a/SKILL.md", false}, "content": {tree, "a/SKILL.md", true}} {
		entries, err := dvs.Catalogue(broken, dvs.DVS, dvs.Limits{})
		if err != nil || len(entries) != 2 || lookleap.CodeOf(entries[0].Err) != lookleap.CodeIO || !errors.Is(entries[0].Err, errBroken) || entries[1].Err != nil {
			t.Errorf("%s: %+v, %v", name, entries, err)
		}
	}
	skill := must(fs.Sub(tree, "a"))
	for name, broken := range map[string]brokenFS{
		"file": {skill, "more/x.md", false}, "content": {skill, "more/x.md", true}, "directory": {skill, "more", false}, "root": {skill, ".", false},
	} {
		if files, err := dvs.ReadSkillDir(broken, dvs.Limits{}); files != nil || lookleap.CodeOf(err) != lookleap.CodeIO || !errors.Is(err, errBroken) {
			t.Errorf("%s: %d files, %v", name, len(files), err)
		}
	}
	for limit, ok := range map[int]bool{1: false, 2: true} {
		if files, err := dvs.ReadSkillDir(skill, dvs.Limits{Files: limit}); (err == nil) != ok || !ok && lookleap.CodeOf(err) != lookleap.CodeLimit {
			t.Errorf("%d files, %v", len(files), err)
		}
	}
	if _, err := dvs.ReadSkillDir(os.DirFS(filepath.Join(t.TempDir(), "none")), dvs.Limits{}); lookleap.CodeOf(err) != lookleap.CodeIO {
		t.Error(err)
	}
}
