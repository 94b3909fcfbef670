package install_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/dvs/install"
	"github.com/lookleap/lookleap/lookleaptest"
)

// bigHost serves one repository with many skills: each has files of random bytes, which do not compress.
func bigHost(b *testing.B, skills, files, size int) *lookleap.Host {
	b.Helper()
	const commit = "0123456789abcdef0123456789abcdef01234567"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	random := rand.New(rand.NewPCG(1, 2))
	put := func(name string, content []byte) {
		if err := w.WriteHeader(&tar.Header{Name: "skills-" + commit + "/" + name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content))}); err != nil {
			b.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			b.Fatal(err)
		}
	}
	noise := make([]byte, size)
	for i := range skills {
		name := fmt.Sprintf("skill-%04d", i)
		put("skills/"+name+"/SKILL.md", fmt.Appendf(nil, "---\nname: %s\ndescription: A skill.\n---\nRead data/0.bin.\n", name))
		for j := range files - 1 {
			for k := range noise {
				noise[k] = byte(random.Uint32())
			}
			put(fmt.Sprintf("skills/%s/data/%d.csv", name, j), noise)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	if err := z.Close(); err != nil {
		b.Fatal(err)
	}
	b.Logf("the archive has %d MB", packed.Len()>>20)
	n := lookleaptest.ForTest(b)
	n.Site("github.com").Handle("*", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/info/refs") {
			line := commit + " HEAD\x00symref=HEAD:refs/heads/main\n"
			fmt.Fprintf(w, "001e# service=git-upload-pack\n0000%04x%s0000", len(line)+4, line)
			return
		}
		w.Header().Set("Content-Type", "application/x-gzip")
		_, _ = w.Write(packed.Bytes())
	}))
	return n.StubHost()
}

// BenchmarkRepository finds 2,000 skills in an archive of 50 MB.
func BenchmarkRepository(b *testing.B) {
	host := bigHost(b, 2000, 10, 2900)
	source, err := install.ParseSource("example-org/skills")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		found, err := source.Find(b.Context(), dvs.NewLoader(host, dvs.Options{}))
		if err != nil || len(found.Skills) != 2000 {
			b.Fatal(err)
		}
		if err := found.Close(); err != nil {
			b.Fatal(err)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapSys)/(1<<20), "MB-heap")
}

// BenchmarkInstall adds a skill of ten files and verifies a hundred of them.
func BenchmarkInstall(b *testing.B) {
	host := bigHost(b, 100, 10, 2900)
	roots := dvs.NewRoots(dvs.Rules{})
	if _, err := roots.Register("https://github.com/example-org/", dvs.ByHost); err != nil {
		b.Fatal(err)
	}
	source, err := install.ParseSource("example-org/skills")
	if err != nil {
		b.Fatal(err)
	}
	place, err := install.Open(b.TempDir(), install.Project)
	if err != nil {
		b.Fatal(err)
	}
	place.Store = install.Store(filepath.Join(b.TempDir(), "store"))
	add := func(most int) {
		loader := dvs.NewLoader(host, dvs.Options{Roots: roots})
		found, err := source.Find(b.Context(), loader)
		if err != nil {
			b.Fatal(err)
		}
		defer found.Close()
		for _, c := range found.Skills[:most] {
			skill, err := c.Load(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if _, err := place.Install(b.Context(), skill, install.Options{Agents: []string{"claude-code"}}); err != nil {
				b.Fatal(err)
			}
		}
	}
	add(100)
	b.Run("verify-100", func(b *testing.B) {
		for b.Loop() {
			checks, err := place.Verify()
			if err != nil || len(checks) != 100 || !checks[99].OK() {
				b.Fatal(err)
			}
		}
	})
	b.Run("add-1", func(b *testing.B) {
		for b.Loop() {
			if _, err := place.Remove(b.Context(), "skill-0000", nil, false); err != nil {
				b.Fatal(err)
			}
			add(1)
		}
	})
}
