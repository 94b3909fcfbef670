package bench

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adrg/frontmatter"
	"gopkg.in/yaml.v3"

	"github.com/lookleap/lookleap/dvs"
)

// skillHeaders are headers as people write them.
var skillHeaders = []struct{ name, header string }{
	{"plain", "name: pdf-processing\ndescription: Extracts text and tables from PDF files, fills forms, and merges documents. Use it when somebody works with PDF files.\nlicense: Apache-2.0\nmetadata:\n  author: example-org\n  version: \"1.0\"\n"},
	{"quoted", "name: pdf-processing\ndescription: \"Extracts text: \\\"tables\\\" from PDF files, fills forms, and merges documents.\"\nlicense: Apache-2.0\n"},
	{"folded", "name: pdf-processing\ndescription: >-\n  Extracts text and tables from PDF files,\n  fills forms, and merges documents.\n  Use it when somebody works with PDF files.\nlicense: Apache-2.0\n"},
	{"flow", "name: pdf-processing\ndescription: Extracts text and tables.\nallowed-tools: [Read, Write, Bash]\nmetadata: {\"a\": {\"b\": [1, 2, {\"c\": \"d\"}]}, \"e\": \"f\"}\n"},
	{"commented", "# made by hand\nname: pdf-processing\n\n# what it does\ndescription: Extracts text and tables. # and forms\nlicense: Apache-2.0\n"},
	{"large", "name: pdf-processing\ndescription: Extracts text.\nx:\n" + strings.Repeat("  - a: b\n    c: [d, e]\n", 300)},
}

// yamlHeader is what a peer does: find the fences, and decode the two fields.
func yamlHeader(data []byte) (name, description string, err error) {
	rest, ok := bytes.CutPrefix(data, []byte("---\n"))
	header, _, closed := bytes.Cut(rest, []byte("\n---\n"))
	if !ok || !closed {
		return "", "", fmt.Errorf("no fences")
	}
	var m struct{ Name, Description string }
	err = yaml.Unmarshal(header, &m)
	return m.Name, m.Description, err
}

func BenchmarkSkillHeader(b *testing.B) {
	for _, h := range skillHeaders {
		data := []byte("---\n" + h.header + "---\n\n# Title\n")
		b.Run(h.name+"/lookleap", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := dvs.ParseMetadata(data, dvs.DVS, dvs.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(h.name+"/yaml.v3", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := yamlHeader(data); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(h.name+"/adrg", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var m struct{ Name, Description string }
				if _, err := frontmatter.Parse(bytes.NewReader(data), &m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSkillCatalogue reads the metadata of 10,000 skills. Its limit is
// opening each file, reading 4 KiB and closing it.
func BenchmarkSkillCatalogue(b *testing.B) {
	const n = 10_000
	dir := b.TempDir()
	body := "\n# Title\n\n" + strings.Repeat("Do this, and then do that.\n", 150)
	for i := range n {
		d := filepath.Join(dir, fmt.Sprintf("skill-%d", i))
		if err := os.Mkdir(d, 0o755); err != nil {
			b.Fatal(err)
		}
		header := strings.Replace(skillHeaders[0].header, "pdf-processing", fmt.Sprintf("skill-%d", i), 1)
		if err := os.WriteFile(filepath.Join(d, dvs.EntryFile), []byte("---\n"+header+"---\n"+body), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	skills := os.DirFS(dir)
	each := func(b *testing.B, read func(name string) error) {
		for b.Loop() {
			entries, err := fs.ReadDir(skills, ".")
			if err != nil || len(entries) != n {
				b.Fatal(err)
			}
			for _, e := range entries {
				if err := read(e.Name() + "/" + dvs.EntryFile); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("open-read-close", func(b *testing.B) {
		buffer := make([]byte, 4<<10)
		each(b, func(name string) error {
			f, err := skills.Open(name)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.Read(buffer)
			return err
		})
	})
	b.Run("lookleap", func(b *testing.B) {
		for b.Loop() {
			entries, err := dvs.Catalogue(skills, dvs.DVS, dvs.Limits{})
			if err != nil || len(entries) != n || entries[n-1].Err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("yaml.v3", func(b *testing.B) {
		each(b, func(name string) error {
			data, err := fs.ReadFile(skills, name)
			if err == nil {
				_, _, err = yamlHeader(data)
			}
			return err
		})
	})
	b.Run("adrg", func(b *testing.B) {
		each(b, func(name string) error {
			f, err := skills.Open(name)
			if err != nil {
				return err
			}
			defer f.Close()
			var m struct{ Name, Description string }
			_, err = frontmatter.Parse(f, &m)
			return err
		})
	})
}
