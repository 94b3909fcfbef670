package dvs_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"os"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

// tarBlocks returns the header and content of one member of a tar archive, written by hand. The
// format is that of GNU, USTAR, or "" for the oldest.
func tarBlocks(format string, kind byte, name, prefix, content string) string {
	h := make([]byte, 512)
	copy(h, name)
	copy(h[100:], "0000644\x000000000\x000000000\x00")
	copy(h[124:], fmt.Sprintf("%011o\x0000000000000\x00", len(content)))
	h[156] = kind
	copy(h[257:], map[string]string{"gnu": "ustar  \x00", "ustar": "ustar\x0000"}[format])
	copy(h[345:], prefix)
	copy(h[148:], "        ")
	sum := 0
	for _, b := range h {
		sum += int(b)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	return string(h) + content + strings.Repeat("\x00", -len(content)&511)
}

// pax returns an extended header with records.
func pax(records ...string) string {
	body := ""
	for _, r := range records {
		n := len(r) + 3
		for len(fmt.Sprintf("%d %s\n", n, r)) != n {
			n++
		}
		body += fmt.Sprintf("%d %s\n", n, r)
	}
	return tarBlocks("ustar", 'x', "x", "", body)
}

// TestTarForms has archives that programs read in different ways.
func TestTarForms(t *testing.T) {
	skill := tarBlocks("ustar", '0', "SKILL.md", "", refund)
	file := func(name string) string { return tarBlocks("ustar", '0', name, "", "x") }
	long := func(kind byte, name string) string { return tarBlocks("gnu", kind, "././@LongLink", "", name+"\x00") }
	end := strings.Repeat("\x00", 1024)
	cases := map[string]struct {
		members string
		code    lookleap.Code
		files   []string
	}{
		"reject-two-pax-headers":      {pax("path=a.md") + pax("mtime=1") + file("b.md"), dvs.CodeBadArchive, nil},
		"reject-two-long-names":       {long('L', "a.md") + long('L', "b.md") + file("c.md"), dvs.CodeBadArchive, nil},
		"reject-pax-before-long-name": {pax("mtime=1") + long('L', "a.md") + file("b.md"), dvs.CodeBadArchive, nil},
		"reject-pax-after-long-name":  {long('L', "a.md") + pax("mtime=1") + file("b.md"), dvs.CodeBadArchive, nil},
		"reject-empty-size":           {pax("size=") + file("a.md"), dvs.CodeBadArchive, nil},
		"reject-size":                 {pax("size=1") + file("a.md"), dvs.CodeBadArchive, nil},
		"reject-empty-path":           {pax("path=") + file("a.md"), dvs.CodeBadArchive, nil},
		"reject-path-twice":           {pax("path=a.md", "path=b.md") + file("c.md"), dvs.CodeBadArchive, nil},
		"reject-empty-pax":            {tarBlocks("ustar", 'x', "x", "", "") + file("a.md"), dvs.CodeBadArchive, nil},
		"reject-gnu-with-prefix":      {tarBlocks("gnu", '0', "a.md", "scripts", "x"), dvs.CodeBadArchive, nil},
		"reject-old-with-prefix":      {tarBlocks("", '0', "a.md", "scripts", "x"), dvs.CodeBadArchive, nil},
		"reject-directory-content":    {tarBlocks("ustar", '5', "d/", "", skill), dvs.CodeBadArchive, nil},
		"reject-file-then-directory":  {file("a") + tarBlocks("ustar", '5', "a/", "", ""), dvs.CodeNameClash, nil},
		"reject-directory-then-file":  {tarBlocks("ustar", '5', "a/", "", "") + file("a"), dvs.CodeNameClash, nil},
		"reject-solaris-header":       {tarBlocks("ustar", 'X', "x", "", "13 path=a.md\n") + file("b.md"), dvs.CodeLink, nil},
		"accept-pax-path":             {pax("path=a.md") + file("b.md"), lookleap.CodeOK, []string{"SKILL.md", "a.md"}},
		"accept-long-name":            {long('L', "a.md") + file("b.md"), lookleap.CodeOK, []string{"SKILL.md", "a.md"}},
		"accept-ustar-prefix":         {tarBlocks("ustar", '0', "a.md", "docs", "x"), lookleap.CodeOK, []string{"SKILL.md", "docs/a.md"}},
		"accept-directory":            {tarBlocks("ustar", '5', "d/", "", "") + file("d/a.md"), lookleap.CodeOK, []string{"SKILL.md", "d/a.md"}},
	}
	t.Run("P15", func(t *testing.T) {
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				files, err := dvs.ReadArchive(bytes.NewReader(gzipped(t, []byte(skill+c.members+end))), dvs.Limits{})
				var names []string
				for name := range files {
					names = append(names, name)
				}
				slices.Sort(names)
				if lookleap.CodeOf(err) != c.code || !slices.Equal(names, c.files) {
					t.Fatalf("%q, %v", names, err)
				}
				if err != nil {
					return
				}
				for program, list := range map[string]func([]byte) ([]string, error){"archive/tar": listWithGo, "tar": listWithTar, "python3": listWithPython} {
					got, err := list([]byte(skill + c.members + end))
					got = slices.DeleteFunc(got, func(name string) bool { return strings.HasSuffix(name, "/") })
					slices.Sort(got)
					if err != nil || got != nil && !slices.Equal(got, names) {
						t.Errorf("%s lists %q (%v), ReadArchive %q", program, got, err, names)
					}
				}
			})
		}
		t.Run("reject-zip-file-then-directory", func(t *testing.T) {
			data := zipOf(t, nil, entry, member{name: "a", content: "x"}, member{name: "a/"})
			if _, err := dvs.ReadArchive(bytes.NewReader(data), dvs.Limits{}); lookleap.CodeOf(err) != dvs.CodeNameClash {
				t.Error(err)
			}
		})
	})
}

func listWithGo(data []byte) (names []string, err error) {
	r := tar.NewReader(bytes.NewReader(data))
	for {
		h, err := r.Next()
		if err == io.EOF {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		names = append(names, h.Name)
	}
}

// listWith runs a program that lists an archive. Without the program the list is nil.
func listWith(data []byte, program string, args ...string) ([]string, error) {
	if _, err := exec.LookPath(program); err != nil {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "tar")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	at := filepath.Join(dir, "a.tar")
	if err := os.WriteFile(at, data, 0o600); err != nil {
		return nil, err
	}
	out, err := exec.Command(program, append(args, at)...).Output()
	return strings.Fields(string(out)), err
}

func listWithTar(data []byte) ([]string, error) { return listWith(data, "tar", "-tf") }

func listWithPython(data []byte) ([]string, error) {
	return listWith(data, "python3", "-c", "import sys, tarfile\nfor m in tarfile.open(sys.argv[1]): print(m.name + ('/' if m.isdir() else ''))")
}

// TestArchiveDigest: the digest of an archive depends on its files alone.
func TestArchiveDigest(t *testing.T) {
	files := map[string][]byte{"SKILL.md": []byte(refund), "data.csv": []byte(strings.Repeat("a,b\n", 40_000)), "scripts/a.sh": []byte("#!/bin/sh\n")}
	t.Run("P35", func(t *testing.T) {
		for format, digest := range map[dvs.ArchiveFormat]string{
			dvs.TarGzip: "sha256:156c169a707a338cb02cf493db58141b4e121b8b75cc323cbfed7f7ab25210ed",
			dvs.Zip:     "sha256:cba78866f1c737d3a29e581842b75f65e4069860af5f1a9428b74e769dbb0bf5",
		} {
			t.Run("accept-same-bytes-on-every-version"+format.Extension(), func(t *testing.T) {
				data := archive(t, format, files)
				if got := dvs.DigestOf([]byte(data)).String(); got != digest {
					t.Errorf("the archive has the digest %s", got)
				}
				if !strings.Contains(data, strings.Repeat("a,b\n", 10_000)) {
					t.Error("a member is compressed")
				}
				if got, err := dvs.ReadArchive(strings.NewReader(data), dvs.Limits{}); err != nil || len(got) != len(files) {
					t.Error(err)
				}
			})
		}
	})
}

// TestLargeRecords has skills of which much is kept.
func TestLargeRecords(t *testing.T) {
	t.Run("P07", func(t *testing.T) {
		for name, count := range map[string]int{"names": 999, "few-names": 3} {
			t.Run("reject-change-of-an-archive-with-long-"+name, func(t *testing.T) {
				w := newTrustWorld(t)
				publish := func(body string) {
					files := map[string][]byte{"SKILL.md": skillText(body)}
					for i := range count {
						files[fmt.Sprintf("%s/%s/%04d.txt", strings.Repeat("&", 200), strings.Repeat("&", 200), i)] = []byte("x")
					}
					w.site.File("/s/refund.zip", "application/zip", archive(t, dvs.Zip, files))
				}
				load := func() (lookleap.Code, int) {
					before := w.user.count()
					_, err := w.process(dvs.Options{Roots: registry(t, "https://shop.example/")}).Load(t.Context(), refundArchive)
					return lookleap.CodeOf(err), w.user.count() - before
				}
				for n := range 12 { // the record has the last versions
					publish(fmt.Sprintf("version %d\n", n))
					if code, asked := load(); code != lookleap.CodeOK || asked != min(n, 1) {
						t.Fatal(n, code, asked)
					}
					w.net.Clock().Advance(25 * 60 * 60 * 1e9)
				}
				if code, asked := load(); code != lookleap.CodeOK || asked != 0 || w.events.Has(dvs.CodeTrustNotKept) {
					t.Error(code, asked)
				}
				w.user.decide = decline
				publish("another\n")
				if code, asked := load(); code != lookleap.CodeConsentRefused || asked != 1 {
					t.Error(code, asked)
				}
			})
		}
	})
}
