package dvs_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/dvs"
)

const plainHeader = "---\nname: pdf-processing\ndescription: Extracts text and tables from PDF files, fills forms, and merges documents. Use it when somebody works with PDF files.\nlicense: Apache-2.0\nmetadata:\n  author: example-org\n  version: \"1.0\"\n---\n"

func BenchmarkMetadata(b *testing.B) {
	for name, text := range map[string]string{
		"plain":  plainHeader,
		"folded": "---\nname: pdf-processing\ndescription: >-\n  Extracts text and tables from PDF files,\n  fills forms, and merges documents.\nallowed-tools: [Read, Bash]\n---\n",
	} {
		b.Run(name, func(b *testing.B) {
			data := []byte(text)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := dvs.ParseMetadata(data, dvs.DVS, dvs.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParseSkill(b *testing.B) {
	for name, text := range map[string]string{
		"5KiB":    plainHeader + strings.Repeat("Do this, and then do that.\n", 190),
		"1MiB":    plainHeader + strings.Repeat("Do this, and then do that.\n", 38000),
		"CJK":     plainHeader + strings.Repeat("これを実行してください。\n", 9000),
		"hostile": plainHeader + strings.Repeat("a\u200b\u202e\U000e0041", 90_000),
	} {
		b.Run(name, func(b *testing.B) {
			data := []byte(text)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := dvs.ParseSkill(data, dvs.DVS, dvs.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCatalogue stands beside its limit: opening each file, reading 4 KiB
// and closing it.
func BenchmarkCatalogue(b *testing.B) {
	const n = 2000
	skills := os.DirFS(skillsOnDisk(b, n))
	b.Run("open-read-close", func(b *testing.B) {
		buffer := make([]byte, 4<<10)
		for b.Loop() {
			entries, _ := fs.ReadDir(skills, ".")
			for _, e := range entries {
				f, err := skills.Open(e.Name() + "/SKILL.md")
				if err != nil {
					b.Fatal(err)
				}
				f.Read(buffer)
				f.Close()
			}
		}
	})
	b.Run("catalogue", func(b *testing.B) {
		for b.Loop() {
			entries, err := dvs.Catalogue(skills, dvs.CatalogueOptions{})
			if err != nil || len(entries) != n {
				b.Fatal(err)
			}
		}
	})
}
