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

// BenchmarkHostile reads what wants to be read again and again, in two sizes: an
// byte takes no longer in the large one.
func BenchmarkHostile(b *testing.B) {
	per := func(b *testing.B, name string, small, large []byte, read func(data []byte)) {
		for size, data := range map[string][]byte{"64KiB": small, "1MiB": large} {
			b.Run(name+"/"+size, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					read(data)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(data)), "ns/byte")
			})
		}
	}
	for name, piece := range lenientPieces {
		per(b, "lenient/"+name, lenientFile("name: a\n", piece, 64<<10), lenientFile("name: a\n", piece, 1<<20), func(data []byte) {
			_, _, _ = dvs.ParseSkill(data, dvs.Lenient, dvs.Limits{})
		})
	}
	for name, piece := range markdownPieces {
		of := func(size int) []byte { return []byte(strings.Repeat(piece, size/len(piece))) }
		per(b, "markdown/"+name, of(64<<10), of(1<<20), func(data []byte) {
			skill := &dvs.Skill{Body: string(data)}
			skill.Blocks()
			skill.References()
		})
	}
}

// BenchmarkCatalogue runs with its limit: opening each file, reading 4 KiB
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
			entries, err := dvs.Catalogue(skills, dvs.DVS, dvs.Limits{})
			if err != nil || len(entries) != n {
				b.Fatal(err)
			}
		}
	})
}
