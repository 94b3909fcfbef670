package dvs_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// TestReadArchive has the rules that both formats share, and those of each.
func TestReadArchive(t *testing.T) {
	small := dvs.Limits{Files: 5, Total: 4 << 20, Resource: 2 << 20, Archive: 1 << 20}
	check := func(name string, data []byte, want lookleap.Code, files ...string) {
		t.Run(name, func(t *testing.T) {
			got, err := dvs.ReadArchive(bytes.NewReader(data), small)
			if lookleap.CodeOf(err) != want || !slices.Equal(slices.Sorted(maps.Keys(got)), files) {
				t.Errorf("got %v, %v", slices.Sorted(maps.Keys(got)), err)
			}
		})
	}
	for _, c := range []struct {
		name    string
		members []member
		want    lookleap.Code
		files   []string
	}{
		{"accept", []member{entry, {name: "scripts/", kind: tar.TypeDir}, {name: "scripts/a.py", content: "print()"}}, lookleap.CodeOK, []string{"SKILL.md", "scripts/a.py"}},
		{"accept-dot-slash", []member{{name: "./", kind: tar.TypeDir}, {name: "./SKILL.md", content: refund}}, lookleap.CodeOK, []string{"SKILL.md"}},
		{"accept-other-letters", []member{entry, {name: "data/köln.csv"}}, lookleap.CodeOK, []string{"SKILL.md", "data/köln.csv"}},
		{"accept-nested-skill", []member{entry, {name: "sub/SKILL.md"}}, lookleap.CodeOK, []string{"SKILL.md", "sub/SKILL.md"}},
		{"reject-parent", []member{entry, {name: "../x.md"}}, dvs.CodeUnsafeName, nil},
		{"reject-parent-inside", []member{entry, {name: "a/../../x.md"}}, dvs.CodeUnsafeName, nil},
		{"reject-parent-directory", []member{entry, {name: "../x/", kind: tar.TypeDir}}, dvs.CodeUnsafeName, nil},
		{"reject-absolute", []member{entry, {name: "/etc/passwd"}}, dvs.CodeUnsafeName, nil},
		{"reject-drive", []member{entry, {name: "C:/x"}}, dvs.CodeUnsafeName, nil},
		{"reject-backslash", []member{entry, {name: `..\x`}}, dvs.CodeUnsafeName, nil},
		{"reject-windows-device", []member{entry, {name: "data/aux.txt"}}, dvs.CodeUnsafeName, nil},
		{"reject-windows-stream", []member{entry, {name: "a.md:x"}}, dvs.CodeUnsafeName, nil},
		{"reject-windows-dot", []member{entry, {name: "a.md."}}, dvs.CodeUnsafeName, nil},
		{"reject-git", []member{entry, {name: ".git/hooks/post-checkout"}}, dvs.CodeUnsafeName, nil},
		{"reject-invisible", []member{entry, {name: "a\u202egnp.md"}}, dvs.CodeUnsafeName, nil},
		{"reject-decomposed", []member{entry, {name: "o\u0308.md"}}, dvs.CodeUnsafeName, nil},
		{"reject-empty-segment", []member{entry, {name: "a//b.md"}}, dvs.CodeUnsafeName, nil},
		{"reject-symlink", []member{entry, {name: "x.md", kind: tar.TypeSymlink, link: "SKILL.md"}}, dvs.CodeLink, nil},
		{"reject-duplicate", []member{entry, {name: "a.md"}, {name: "a.md"}}, dvs.CodeNameClash, nil},
		{"reject-duplicate-dot-slash", []member{entry, {name: "./SKILL.md", content: "other"}}, dvs.CodeNameClash, nil},
		{"reject-second-skill-at-root", []member{entry, {name: "skill.md"}}, dvs.CodeNameClash, nil},
		{"reject-case", []member{entry, {name: "A.md"}, {name: "a.md"}}, dvs.CodeNameClash, nil},
		{"reject-case-of-directory", []member{entry, {name: "X/a.md"}, {name: "x/b.md"}}, dvs.CodeNameClash, nil},
		{"reject-unicode", []member{entry, {name: "straße.md"}, {name: "STRASSE.md"}}, dvs.CodeNameClash, nil},
		{"reject-file-as-directory", []member{entry, {name: "a"}, {name: "a/b"}}, dvs.CodeNameClash, nil},
		{"reject-files", []member{entry, {name: "a"}, {name: "b"}, {name: "c"}, {name: "d"}, {name: "e"}}, lookleap.CodeLimit, nil},
		{"reject-file-size", []member{entry, {name: "a", content: strings.Repeat("abcd", 600<<10)}}, lookleap.CodeTooLarge, nil},
		{"reject-total", []member{entry, {name: "a", content: noise(2 << 20)}, {name: "b", content: noise(2 << 20)}}, lookleap.CodeTooLarge, nil},
		{"reject-no-skill", []member{{name: "README.md"}}, dvs.CodeMissingSkillMD, nil},
		{"reject-skill-in-directory", []member{{name: "refund/SKILL.md", content: refund}}, dvs.CodeMissingSkillMD, nil},
		{"reject-lower-case-skill", []member{{name: "skill.md", content: refund}}, dvs.CodeMissingSkillMD, nil},
	} {
		check(c.name+"/tar.gz", tarGzip(t, c.members...), c.want, c.files...)
		check(c.name+"/zip", zipOf(t, nil, c.members...), c.want, c.files...)
	}
	check("DVS-2-03/reject-lower-in-archive", zipOf(t, nil, member{name: "skill.md", content: refund}), dvs.CodeMissingSkillMD)
	check("DVS-2-03/accept-entry-in-archive", zipOf(t, nil, entry), "ok", "SKILL.md")
	for name, kind := range map[string]byte{"hard-link": tar.TypeLink, "character-device": tar.TypeChar, "block-device": tar.TypeBlock, "fifo": tar.TypeFifo} {
		check("reject-"+name+"/tar.gz", tarGzip(t, entry, member{name: "x", kind: kind, link: "SKILL.md"}), dvs.CodeLink)
	}
	plain := tarOf(t, entry)
	for name, data := range map[string][]byte{
		"damaged-header": []byte("\x1f\x8bxxxxxxxxxxxx"),
		"second-archive": gzipped(t, append(slices.Clone(plain), tarOf(t, member{name: "evil.md"})...)),
		"cut":            tarGzip(t, entry)[:60],
		"cut-tar":        gzipped(t, plain[:600]),
		"trailing":       append(tarGzip(t, entry), "PK\x03\x04"...),
		"sparse":         gzipped(t, sparse(t)),
		"size-twice":     gzipped(t, sizedTwice(t)),
		"global-path":    gzipped(t, slices.Concat(global(t, "path", "evil.md"), plain)),
	} {
		check("reject-"+name+"/tar.gz", data, dvs.CodeBadArchive)
	}
	check("reject-file-named-as-directory/tar.gz", gzipped(t, bytes.ReplaceAll(tarOf(t, entry, member{name: "/a", content: "x"}), []byte("/a\x00"), []byte("a/\x00"))), dvs.CodeUnsafeName)
	check("reject-directory-without-a-name/tar.gz", tarGzip(t, entry, member{kind: tar.TypeDir}), dvs.CodeUnsafeName)
	check("accept-git-comment/tar.gz", gzipped(t, slices.Concat(global(t, "comment", "0123456789abcdef"), plain)), lookleap.CodeOK, "SKILL.md")
	comment := global(t, "comment", strings.Repeat("x", 900<<10))
	check("reject-headers/tar.gz", gzipped(t, slices.Concat(bytes.Repeat(comment, 70), plain)), lookleap.CodeTooLarge)
	check("accept-headers/tar.gz", gzipped(t, slices.Concat(bytes.Repeat(comment, 49), plain)), lookleap.CodeOK, "SKILL.md")
	check("accept-padding/tar.gz", gzipped(t, append(slices.Clone(plain), make([]byte, 1<<20)...)), lookleap.CodeOK, "SKILL.md")
	check("reject-padding/tar.gz", gzipped(t, append(slices.Clone(plain), make([]byte, 1<<20+8<<10)...)), lookleap.CodeTooLarge)
	directories := func(n int) []byte {
		members := []member{entry}
		for i := range n {
			members = append(members, member{name: fmt.Sprintf("d%d/", i), kind: tar.TypeDir})
		}
		return tarGzip(t, members...)
	}
	check("accept-10000-directories/tar.gz", directories(10_000), lookleap.CodeOK, "SKILL.md")
	check("reject-10001-directories/tar.gz", directories(10_001), lookleap.CodeLimit)
	for name, c := range map[string]struct {
		limits  dvs.Limits
		members []member
		want    lookleap.Code
	}{
		"accept-largest":           {dvs.Limits{Files: 2, Total: 100, Resource: 60}, []member{{name: "SKILL.md", content: noise(40)}, {name: "a", content: noise(60)}}, lookleap.CodeOK},
		"reject-a-byte-more":       {dvs.Limits{Files: 2, Total: 200, Resource: 60}, []member{{name: "SKILL.md", content: noise(40)}, {name: "a", content: noise(61)}}, lookleap.CodeTooLarge},
		"reject-a-byte-more-total": {dvs.Limits{Files: 2, Total: 99, Resource: 60}, []member{{name: "SKILL.md", content: noise(40)}, {name: "a", content: noise(60)}}, lookleap.CodeTooLarge},
		"reject-a-file-more":       {dvs.Limits{Files: 2}, []member{entry, {name: "a"}, {name: "b"}}, lookleap.CodeLimit},
		"reject-bomb":              {dvs.Limits{}, []member{entry, {name: "a", content: strings.Repeat("\x00", 10<<20+1)}}, lookleap.CodeTooLarge},
		"reject-dot":               {dvs.Limits{}, []member{entry, {name: "."}}, dvs.CodeUnsafeName},
	} {
		for format, data := range map[string][]byte{"tar.gz": tarGzip(t, c.members...), "zip": zipOf(t, nil, c.members...)} {
			t.Run(name+"/"+format, func(t *testing.T) {
				if _, err := dvs.ReadArchive(bytes.NewReader(data), c.limits); lookleap.CodeOf(err) != c.want {
					t.Error(err)
				}
			})
		}
	}
	t.Run("reject-failing-reader", func(t *testing.T) {
		data := tarGzip(t, entry, member{name: "a", content: noise(200 << 10)})
		if got, err := dvs.ReadArchive(io.MultiReader(bytes.NewReader(data[:100]), failing{}), dvs.Limits{}); got != nil || lookleap.CodeOf(err) != lookleap.CodeIO {
			t.Error(err)
		}
	})
	t.Run("reject-last-bytes-beyond-the-limit", func(t *testing.T) {
		data := zipOf(t, nil, entry)
		for most, want := range map[int]lookleap.Code{len(data): lookleap.CodeOK, len(data) - 1: lookleap.CodeTooLarge} {
			if _, err := dvs.ReadArchive(iotest.DataErrReader(bytes.NewReader(data)), dvs.Limits{Archive: most}); lookleap.CodeOf(err) != want {
				t.Errorf("%d bytes: %v", most, err)
			}
		}
	})
	t.Run("reject-nil", func(t *testing.T) {
		if _, err := dvs.ReadArchive(nil, dvs.Limits{}); lookleap.CodeOf(err) != lookleap.CodeUsage {
			t.Error(err)
		}
	})
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, fmt.Errorf("the disk is gone") }

// noise returns text that hardly compresses.
func noise(size int) string {
	b := make([]byte, size)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

func TestWriteArchive(t *testing.T) {
	files := map[string][]byte{"SKILL.md": []byte(refund), "scripts/a.py": []byte("print()"), "data/empty": {}, "data/" + strings.Repeat("x", 90) + ".csv": []byte("1")}
	for _, format := range []dvs.ArchiveFormat{dvs.TarGzip, dvs.Zip} {
		t.Run("accept-round-trip"+format.Extension(), func(t *testing.T) {
			var first, second bytes.Buffer
			for _, b := range []*bytes.Buffer{&first, &second} {
				if err := dvs.WriteArchive(b, format, files); err != nil {
					t.Fatal(err)
				}
			}
			got, err := dvs.ReadArchive(&first, dvs.Limits{})
			if err != nil || !maps.EqualFunc(got, files, bytes.Equal) {
				t.Errorf("%v %v", got, err)
			}
			if again, err := dvs.ReadArchive(bytes.NewReader(second.Bytes()), dvs.Limits{}); err != nil || len(again) != len(files) {
				t.Error(err)
			}
		})
		t.Run("accept-same-bytes"+format.Extension(), func(t *testing.T) {
			var first, second bytes.Buffer
			if dvs.WriteArchive(&first, format, files) != nil || dvs.WriteArchive(&second, format, maps.Clone(files)) != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
				t.Error("the archives differ")
			}
		})
		for code, bad := range map[lookleap.Code]map[string][]byte{
			dvs.CodeMissingSkillMD: {"a.md": nil},
			dvs.CodeUnsafeName:     {"SKILL.md": nil, "../x": nil},
			dvs.CodeNameClash:      {"SKILL.md": nil, "skill.md": nil},
		} {
			t.Run("reject-"+string(code)+format.Extension(), func(t *testing.T) {
				if err := dvs.WriteArchive(io.Discard, format, bad); lookleap.CodeOf(err) != code {
					t.Error(err)
				}
			})
		}
	}
	long := map[string][]byte{"SKILL.md": []byte(refund), "köln.md": nil, strings.Repeat("x", 150) + ".md": nil}
	t.Run("reject-name-beyond-tar", func(t *testing.T) {
		if err := dvs.WriteArchive(io.Discard, dvs.TarGzip, long); lookleap.CodeOf(err) != dvs.CodeUnsafeName {
			t.Error(err)
		}
	})
	for name, code := range map[string]lookleap.Code{strings.Repeat("x", 97) + ".md": lookleap.CodeOK, strings.Repeat("x", 98) + ".md": dvs.CodeUnsafeName,
		"\u00f6.md": dvs.CodeUnsafeName, "k\u00f6ln.md": dvs.CodeUnsafeName} {
		t.Run("tar-name-of-"+fmt.Sprint(len(name))+"-bytes", func(t *testing.T) {
			err := dvs.WriteArchive(io.Discard, dvs.TarGzip, map[string][]byte{"SKILL.md": []byte(refund), name: nil})
			if lookleap.CodeOf(err) != code || err != nil && !strings.Contains(err.Error(), "every program reads") {
				t.Error(err)
			}
		})
	}
	t.Run("accept-plain-tar-headers", func(t *testing.T) {
		var b bytes.Buffer
		if err := dvs.WriteArchive(&b, dvs.TarGzip, map[string][]byte{"SKILL.md": []byte(refund)}); err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(&b)
		if err != nil {
			t.Fatal(err)
		}
		h, err := tar.NewReader(z).Next()
		if err != nil || h.Mode != 0o644 || !h.ModTime.Equal(time.Unix(0, 0)) {
			t.Errorf("%+v, %v", h, err)
		}
	})
	t.Run("reject-nil", func(t *testing.T) {
		if err := dvs.WriteArchive(nil, dvs.Zip, files); lookleap.CodeOf(err) != lookleap.CodeUsage {
			t.Error(err)
		}
	})
}

func FuzzReadTarGzip(f *testing.F) {
	f.Add(tarOf(f, entry, member{name: "scripts/a.py", content: "print()"}))
	f.Add(tarOf(f, entry, member{name: "x", kind: tar.TypeSymlink, link: "/etc/passwd"}))
	f.Add(tarOf(f, member{name: "../SKILL.md", content: refund}))
	f.Add(sparse(f))
	f.Fuzz(func(t *testing.T, data []byte) { holdsRules(t, gzipped(t, data)) })
}

// holdsRules checks that what is accepted is a skill's directory on every system.
func holdsRules(t *testing.T, data []byte) {
	limits := dvs.Limits{Files: 20, Total: 1 << 20, Resource: 1 << 20}
	files, err := dvs.ReadArchive(bytes.NewReader(data), limits)
	if err != nil {
		if files != nil {
			t.Error("files with an error")
		}
		return
	}
	total := 0
	for _, content := range files {
		total += len(content)
	}
	if len(files) > limits.Files || total > limits.Total {
		t.Errorf("%d files of %d bytes", len(files), total)
	}
	var b bytes.Buffer
	if err := dvs.WriteArchive(&b, dvs.Zip, files); err != nil { // it has the same rules as for a directory
		t.Fatal(err)
	}
	again, err := dvs.ReadArchive(&b, limits)
	if err != nil || !maps.EqualFunc(again, files, bytes.Equal) {
		t.Error("written and read again, the files differ:", err)
	}
}
