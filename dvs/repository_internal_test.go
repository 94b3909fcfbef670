package dvs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
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
			set, err := tree.skillFiles(directory, Limits{})
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
