package dvs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lookleap/lookleap"
)

// FuzzRefs holds that a list of references names only commits, and a path inside the repository.
func FuzzRefs(f *testing.F) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	f.Add([]byte("001e# service=git-upload-pack\n0000003f"+commit+" refs/heads/main\n0000"), "main", "skills")
	f.Add([]byte("0000"), "v1", "")
	f.Fuzz(func(t *testing.T, body []byte, rev, path string) {
		at := RepositoryURL{text: "x", tail: append([]string{rev}, strings.Split(path, "/")...)}
		list, err := readRefs(bytes.NewReader(body), at.names())
		if err != nil {
			return
		}
		if tip, below, err := list.tip(at); err == nil && (!isFullCommit(tip.Commit) || tip.Ref == "" || !strings.HasSuffix(strings.Join(at.tail, "/"), below)) {
			t.Errorf("%+v, %q", tip, below)
		}
	})
}

// FuzzRepositoryTree holds that the files of a skill come from the archive, whatever its links say.
func FuzzRepositoryTree(f *testing.F) {
	f.Add("a/SKILL.md", "text", "b", "../a", "skills/c", "../../x")
	f.Add("SKILL.md", "text", "x", "/etc/passwd", "y", ".")
	f.Add("a/SKILL.md", "text", "a/l", "../a", "a/m", "l/m")
	f.Fuzz(func(t *testing.T, name, content, link, target, link2, target2 string) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		write := func(h *tar.Header, content string) {
			h.Name, h.Size, h.Mode = "top/"+h.Name, int64(len(content)), 0o644
			if w.WriteHeader(h) == nil {
				_, _ = w.Write([]byte(content))
			}
		}
		write(&tar.Header{Name: name, Typeflag: tar.TypeReg}, content)
		write(&tar.Header{Name: link, Typeflag: tar.TypeSymlink, Linkname: target}, "")
		write(&tar.Header{Name: link2, Typeflag: tar.TypeSymlink, Linkname: target2}, "")
		_, _ = w.Close(), z.Close()
		tree, err := readRepositoryTree(&b, strings.Repeat("0", 40), Limits{}.withDefaults())
		if err != nil {
			return
		}
		defer tree.close()
		directories, _, err := tree.skills("")
		if err != nil {
			return
		}
		for _, directory := range directories {
			set, err := tree.skillFiles(t.Context(), directory, Limits{})
			if err != nil {
				continue
			}
			for file, got := range set.files {
				if string(got) != content {
					t.Errorf("%s has %q", file, got)
				}
				if _, err := foldFilePath(file); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// FuzzRepositoryURL holds that what is read names a repository of a code host of the table.
func FuzzRepositoryURL(f *testing.F) {
	for _, text := range []string{"a/b", "a/b@v1", "a/b/c/d#x/y", "https://github.com/a/b/tree/main/c", "git@gitlab.com:g/s/r.git", "https://codeberg.org/a/b/src/branch/main/x", "https://git.sr.ht/~a/b", "ssh://git@github.com/a/b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, err := ParseRepositoryURL(text, Rules{})
		if err != nil {
			return
		}
		again, err := ParseRepositoryURL(at.Repository(), Rules{})
		if err != nil || again.Repository() != at.Repository() || at.String() != text {
			t.Errorf("%q is %q: %v", text, at.Repository(), err)
		}
		if role, ok := builtin().find(at.page.Host()); !ok || !role.page || !strings.HasPrefix(at.archive("0123"), at.page.Origin()+"/") {
			t.Errorf("%q is at %s", text, at.archive("0123"))
		}
	})
}

// treeOf reads an archive that a test fills with files and links.
func treeOf(t *testing.T, fill func(file, link func(name, content string))) (*repositoryTree, error) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	put := func(h *tar.Header, content string) {
		h.Name, h.Size, h.Mode = "top/"+h.Name, int64(len(content)), 0o644
		err := w.WriteHeader(h)
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	fill(func(name, content string) { put(&tar.Header{Name: name, Typeflag: tar.TypeReg}, content) },
		func(name, to string) { put(&tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: to}, "") })
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	tree, err := readRepositoryTree(&b, strings.Repeat("0", 40), Limits{}.withDefaults())
	if err == nil {
		t.Cleanup(func() { _ = tree.close() })
	}
	return tree, err
}

const listedSkill = "---\nname: s\ndescription: d.\n---\nx\n"

// TestRepositoryWork holds that a small archive cannot make a large amount of work.
func TestRepositoryWork(t *testing.T) {
	doubling := func(file, link func(name, content string)) {
		file("skills/s/SKILL.md", listedSkill)
		link("skills/s/x", "../../d0")
		for i := range 20 {
			link(fmt.Sprintf("d%d/x", i), fmt.Sprintf("../d%d", i+1))
			link(fmt.Sprintf("d%d/y", i), fmt.Sprintf("../d%d", i+1))
		}
		file("d20/metadata.json", "{}")
	}
	t.Run("links-that-double", func(t *testing.T) {
		tree, err := treeOf(t, doubling)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tree.skillFiles(t.Context(), "skills/s", Limits{}); lookleap.CodeOf(err) != lookleap.CodeLimit {
			t.Errorf("got %v", err)
		}
	})
	for name, fill := range map[string]func(file, link func(name, content string)){
		"a-long-path":          func(file, _ func(name, content string)) { file(strings.Repeat("abcdefgh/", 120)+"x", "") },
		"a-long-way-of-a-link": func(_, link func(name, content string)) { link("x", strings.Repeat("abcdefgh/", 120)) },
		"many-long-paths": func(_, link func(name, content string)) {
			long := strings.Repeat("abcdefgh/", 110)
			for i := range maxRepositoryNames/1900 + 1 {
				link(fmt.Sprintf("%05d/%s", i, long[:980]), long[:990])
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := treeOf(t, fill); lookleap.CodeOf(err) != lookleap.CodeLimit {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("a-caller-who-gave-up", func(t *testing.T) {
		tree, err := treeOf(t, doubling)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := tree.skillFiles(ctx, "skills/s", Limits{}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("many-files-that-are-left-out", func(t *testing.T) {
		const n = 20_000
		tree, err := treeOf(t, func(file, link func(name, content string)) {
			file("skills/s/SKILL.md", listedSkill)
			for i := range n {
				file(fmt.Sprintf("skills/s/%d/metadata.json", i), "")
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		set, err := tree.skillFiles(t.Context(), "skills/s", Limits{})
		if err != nil || len(set.files) != 1 || time.Since(start) > 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
	list := func(t *testing.T, limits Limits, fill func(file, link func(name, content string))) *Repository {
		t.Helper()
		tree, err := treeOf(t, fill)
		if err != nil {
			t.Fatal(err)
		}
		at, err := ParseRepositoryURL("https://github.com/example-org/skills", Rules{})
		if err != nil {
			t.Fatal(err)
		}
		r := &Repository{tree: tree, at: at, commit: strings.Repeat("0", 40), loader: NewLoader(nil, Options{Limits: limits})}
		if err := r.list(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		return r
	}
	t.Run("a-list-reads-the-headers", func(t *testing.T) {
		const n = 1000
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := list(t, Limits{}, func(file, link func(name, content string)) {
			file("big.md", listedSkill+strings.Repeat("a line of text\n", 69_000))
			for i := range n {
				link(fmt.Sprintf("skills/s%d/SKILL.md", i), "../../big.md")
			}
		})
		runtime.ReadMemStats(&after)
		if read := after.TotalAlloc - before.TotalAlloc; len(r.Skills) != n || read > n<<19 { // half of each file
			t.Errorf("%d skills, for %d bytes", len(r.Skills), read)
		}
	})
	t.Run("a-list-is-bounded", func(t *testing.T) {
		r := list(t, Limits{Candidates: 3}, func(file, _ func(name, content string)) {
			for i := range 5 {
				file(fmt.Sprintf("skills/s%d/SKILL.md", i), listedSkill)
			}
		})
		if len(r.Skills) != 3 || len(r.Findings) != 1 || r.Findings[0].Code != lookleap.CodeLimit || r.Findings[0].Path != "skills/s3/SKILL.md" {
			t.Errorf("%v, %v", r.Skills, r.Findings)
		}
	})
	t.Run("another-skill-below-is-one-visit", func(t *testing.T) {
		tree, err := treeOf(t, func(file, link func(name, content string)) {
			file("SKILL.md", listedSkill)
			file("other/SKILL.md", listedSkill)
			for i := range 200 {
				file(fmt.Sprintf("other/%d.md", i), "")
			}
			file("z.md", "z")
		})
		if err != nil {
			t.Fatal(err)
		}
		set, err := tree.skillFiles(t.Context(), "", Limits{Files: 2})
		if err != nil || len(set.files) != 2 || set.files["z.md"] == nil {
			t.Errorf("%v, %v", set, err)
		}
	})
}
