package dvs_test

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/lab"
)

// costOf is what f allocates in octets, garbage included: the least of three,
// since others in this process allocate too.
func costOf(f func()) int {
	least := uint64(math.MaxUint64)
	for range 3 {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return int(least)
}

// filled is head, then a piece as often as it fits, then tail.
func filled(size int, head, piece, tail string) []byte {
	return []byte(head + strings.Repeat(piece, (size-len(head)-len(tail))/len(piece)) + tail)
}

// TestCostOfRefusing fills each kind of file up to its limit with what has to be
// refused: that never takes more than three times the limit.
func TestCostOfRefusing(t *testing.T) {
	const skill, index, lock = 1 << 20, 1 << 20, 16 << 20
	check := func(name string, limit int, refuse func() error) {
		t.Run(name, func(t *testing.T) {
			var err error
			if used := costOf(func() { err = refuse() }); used > 3*limit {
				t.Errorf("%d KiB for a limit of %d KiB", used>>10, limit>>10)
			}
			if code := lookleap.CodeOf(err); err == nil || !code.Known() {
				t.Errorf("got %v", err)
			}
		})
	}
	const head = "---\nname: a\ndescription: b\n"
	for name, data := range map[string][]byte{
		"unclosed":  filled(skill, head, "k: v\n", ""),
		"keys":      filled(skill, head, "k: v: w\n", "---\nx\n"),
		"duplicate": filled(skill, head+"x: {"+strings.Repeat("a: {},", 2600)+"}\n---\n", "x", ""),
		"controls":  filled(skill, head+"x: \"", "\x01", "\"\n---\nx\n"),
		"long":      filled(skill, "---\nname: a\ndescription: ", "x: y ", "\n---\nx\n"),
		"octets":    filled(skill, head+"---\n", "a\xff", ""),
		"UTF-16":    []byte(utf16le("\ufeff" + head + "---\n" + strings.Repeat("実", skill/2-40))),
	} {
		for _, profile := range []dvs.Profile{dvs.DVS, dvs.AgentSkills} {
			check(fmt.Sprintf("DVS-4.2-08/reject-skill-%s-%s", name, profile), skill, func() error {
				_, _, err := dvs.ParseSkill(data, profile, dvs.Limits{})
				return err
			})
		}
		if name == "octets" || name == "UTF-16" { // grow when they are read
			check("DVS-4.2-08/reject-skill-"+name+"-lenient", skill, func() error {
				_, _, err := dvs.ParseSkill(data, dvs.Lenient, dvs.Limits{})
				return err
			})
		}
	}
	for name, data := range map[string][]byte{
		"flat":   filled(index, "[", "1,", "1]"),
		"deep":   filled(index, "", "[", ""),
		"keys":   filled(index, `{"skills":[{`, `"kk":1,`, `"a":1}]}`),
		"string": filled(index, `{"skills":"`, `\n`, `"}`),
	} {
		check("DVS-3.2-22/reject-index-"+name, index, func() error {
			_, err := dvs.ParseIndex(data, indexAt, dvs.Rules{}, dvs.Limits{})
			return err
		})
	}
	kind, digest := `{"type":"`+dvs.LockMediaType+`","skills":[`, digestOf("x")
	for name, data := range map[string][]byte{
		"flat":      filled(lock, kind, "1,", "1]}"),
		"files":     filled(lock, kind+`{"url":"u","trustRoot":"","directory":"s","files":[`, `{"path":"f","digest":"`+digest+`"},`, `1]}]}`),
		"path":      filled(lock, kind+`{"url":"u","trustRoot":"","directory":"s","files":[{"path":"`, "a/", `","digest":"`+digest+`"}]}]}`),
		"directory": filled(lock, kind+`{"url":"u","trustRoot":"","directory":"`, "A", `","files":[]}]}`),
	} {
		check("lockfile/reject-"+name, lock, func() error {
			_, err := dvs.ParseLockfile(data)
			return err
		})
	}

	net := lab.ForTest(t)
	net.Site("shop.example").Body("/s/a/SKILL.md", "text/markdown", refund).
		Body("/s/b/SKILL.md", "text/markdown", "x").Fault("/s/b/SKILL.md", lab.Endless()).
		Body("/s/a/MORE.md", "text/markdown", "x").Fault("/s/a/MORE.md", lab.Endless())
	loader := dvs.NewLoader(net.Host(), dvs.Options{Roots: registry(t, "https://shop.example/")})
	loaded, err := loader.Load(t.Context(), "https://shop.example/s/a/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	check("C20/reject-skill-without-end", skill, func() error {
		_, err := loader.Load(t.Context(), "https://shop.example/s/b/SKILL.md")
		return err
	})
	check("D08/reject-resource-without-end", 10<<20, func() error {
		_, err := loaded.Resource(t.Context(), "MORE.md")
		return err
	})
}

// TestCostOfReading fills a file with what can be read, and would be many times
// its size in memory.
func TestCostOfReading(t *testing.T) {
	const size = 1 << 20
	var links strings.Builder
	for i := 0; links.Len() < size-200; i++ {
		fmt.Fprintf(&links, "[](%d) ", i)
	}
	for name, c := range map[string]struct {
		data    []byte
		profile dvs.Profile
		most    int // times the size, garbage included
	}{
		"blocks":      {filled(size, "---\nname: a\ndescription: b\n---\n", "```\nx\n```\n", ""), dvs.DVS, 7},
		"references":  {[]byte("---\nname: a\ndescription: b\n---\n" + links.String()), dvs.DVS, 7},
		"description": {filled(size, "---\nname: a\ndescription: ", "x: y ", "\n---\nx\n"), dvs.Lenient, 7},
		"UTF-16":      {[]byte(utf16le("\ufeff---\nname: a\ndescription: b\n---\n" + strings.Repeat("x", size/2-100))), dvs.Lenient, 7},
	} {
		t.Run(name, func(t *testing.T) {
			var skill *dvs.Skill
			used := costOf(func() {
				var err error
				if skill, _, err = dvs.ParseSkill(c.data, c.profile, dvs.Limits{}); err != nil {
					t.Fatal(err)
				}
				skill.Blocks()
				skill.References()
			})
			if used > c.most*size {
				t.Errorf("%.1f times the size", float64(used)/size)
			}
			t.Logf("%.1f times the size", float64(used)/size)
		})
	}
	t.Run("the-rest-of-many-blocks-is-code", func(t *testing.T) {
		skill := &dvs.Skill{Body: strings.Repeat("```\nx\n```\n", 20_000) + "\nprose\n"}
		blocks := skill.Blocks()
		if last := blocks[len(blocks)-1]; len(blocks) != 10_001 || !last.Code || !strings.HasSuffix(last.Text, "prose\n") {
			t.Errorf("%d blocks", len(blocks))
		}
	})
	t.Run("the-rest-of-many-references", func(t *testing.T) {
		if found := (&dvs.Skill{Body: links.String()}).References(); len(found) != 10_000 {
			t.Errorf("%d references", len(found))
		}
	})
}

// TestMemory loads skills of 512 KiB in turn, and loads the first one again.
func TestMemory(t *testing.T) {
	for name, c := range map[string]struct{ memory, requests int }{"reject-more-than-the-limit": {2 << 20, 2}, "accept-by-default": {0, 1}} {
		t.Run("O61/"+name, func(t *testing.T) {
			net := lab.ForTest(t)
			site := net.Site("shop.example")
			path := func(i int) string { return fmt.Sprintf("/s/%d/SKILL.md", i) }
			for i := range 8 {
				site.Body(path(i), "text/markdown", refund+strings.Repeat("Do this.\n", 1<<19/9))
			}
			loader := dvs.NewLoader(net.Host(), dvs.Options{Roots: registry(t, "https://shop.example/"), Limits: dvs.Limits{Memory: c.memory}})
			for i := range 9 {
				if _, err := loader.Load(t.Context(), "https://shop.example"+path(i%8)); err != nil {
					t.Fatal(err)
				}
			}
			got := 0
			for _, request := range net.Journal().Paths("shop.example") {
				if request == "GET "+path(0) {
					got++
				}
			}
			if got != c.requests {
				t.Errorf("%d requests for the first skill, want %d", got, c.requests)
			}
		})
	}
}
