package dvs_test

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

func FuzzFileName(f *testing.F) {
	for _, s := range []string{"a/b.md", "../x", "CON", "a:b", "a\u0301", `..\x`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		b := bundle("a", "name: a\ndescription: b\n", name, "x")
		v := dvs.NewVerifiedFS([]dvs.Bundle{b}, dvs.VerifiedFSOptions{})
		if v.Reports()[0].Err != nil {
			return
		}
		if !filepath.IsLocal(name) || !fs.ValidPath("a/"+name) || strings.ContainsAny(name, `\:`) {
			t.Fatalf("%q is accepted", name)
		}
		if _, err := fs.ReadFile(v, v.Reports()[0].Directory+"/"+name); err != nil {
			t.Fatal(err)
		}
	})
}

// TestBundleFollows has a skill with references in bundled Markdown, and names of files that
// are not the skill's.
func TestBundleFollows(t *testing.T) {
	const text = "---\nname: a\ndescription: See references/header.md.\n---\n" +
		"Read [the guide](references/GUIDE.md), [gone](references/GONE.md) and [the page](PAGE.md).\n" +
		"Your project has README.md, src/main.go and `docs/plan.md`. Use data/one.csv or data/none.csv.\n\n" +
		"    tail notes/today.md config.md\n\nSee [b](../b/SKILL.md) and [up](../up.md), and https://shop.example/s/a/assets/logo.png.\n"
	build := func(t *testing.T, listing string) (*lookleaptest.Internet, *dvs.Loaded) {
		net := lookleaptest.ForTest(t)
		net.Site("shop.example").
			File("/s/a/SKILL.md", "text/markdown", text).
			File("/s/a/references/GUIDE.md", "text/markdown", "See [more](MORE.md), scripts/run.py, [root](references/ROOT.md), [back](GUIDE.md) and [back](../SKILL.md).\n").
			File("/s/a/references/MORE.md", "text/markdown", "See [gone](GONE.md) and [out](../../out.md).\n").
			File("/s/a/references/ROOT.md", "text/markdown", "the end\n").
			File("/s/a/scripts/run.py", "text/plain", "print()").
			File("/s/a/data/one.csv", "text/csv", "1").
			File("/s/a/assets/logo.png", "image/png", "png").
			File("/s/a/listed.txt", "text/plain", "listed").
			File("/s/a/PAGE.md", "text/html", "<p>not found").
			File("/.well-known/skills/index.json", "application/json", listing)
		loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/"), Indexes: []string{dvs.SkillsPrefix}})
		if listing == "" {
			skill, err := loader.Load(t.Context(), "https://shop.example/s/a/SKILL.md")
			if err != nil {
				t.Fatal(err)
			}
			return net, skill
		}
		for l, err := range loader.Discover(t.Context(), "https://shop.example/") {
			if err != nil {
				t.Fatal(err)
			}
			skill, err := loader.LoadListing(t.Context(), l)
			if err != nil {
				t.Fatal(err)
			}
			return net, skill
		}
		t.Fatal("the index lists nothing")
		return nil, nil
	}
	found := []string{"SKILL.md", "assets/logo.png", "data/one.csv", "references/GUIDE.md", "references/MORE.md", "references/ROOT.md", "scripts/run.py"}
	t.Run("DVS-4.1-04/accept-references-of-references", func(t *testing.T) {
		net, skill := build(t, "")
		b, err := skill.Bundle(t.Context())
		if got := slices.Sorted(maps.Keys(b.Files)); err != nil || !slices.Equal(got, found) {
			t.Errorf("got %v, %v", got, err)
		}
		asked := map[string]int{}
		for _, path := range net.Journal().Paths("shop.example") {
			asked[strings.TrimPrefix(path, "GET /s/a/")]++
		}
		for path, n := range asked {
			if n != 1 {
				t.Errorf("%s was asked for %d times", path, n)
			}
		}
		for _, path := range []string{"README.md", "src/main.go", "docs/plan.md", "notes/today.md", "config.md"} {
			if asked[path] > 0 {
				t.Errorf("%s was asked for", path)
			}
		}
	})
	t.Run("DVS-4.1-04/accept-findings", func(t *testing.T) {
		_, skill := build(t, "")
		b, err := skill.Bundle(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range b.Findings {
			if f.Severity == lookleap.SeverityWarning {
				got = append(got, f.Path+":"+string(f.Code))
			}
		}
		// GONE.md is named in two files, and each is told.
		if want := []string{"SKILL.md:skill-not-found", "SKILL.md:media-type", "references/MORE.md:skill-not-found"}; !slices.Equal(got, want) {
			t.Errorf("got %v", b.Findings)
		}
		for _, part := range []string{`"../b/SKILL.md"`, `"../up.md"`, `"../../out.md"`, `"src/main.go"`, `"data/none.csv"`} {
			if !slices.ContainsFunc(b.Findings, func(f lookleap.Finding) bool { return strings.Contains(f.Message, part) && f.Line > 0 }) {
				t.Errorf("%s is not reported: %v", part, b.Findings)
			}
		}
	})
	t.Run("DVS-4.1-04/accept-listed", func(t *testing.T) {
		_, skill := build(t, `{"skills":[{"name":"a","description":"d","path":"/s/a/","files":["SKILL.md","listed.txt","lost.txt"]}]}`)
		b, err := skill.Bundle(t.Context())
		if _, ok := b.Files["listed.txt"]; err != nil || !ok || len(b.Files) != len(found)+1 {
			t.Errorf("got %v, %v", slices.Sorted(maps.Keys(b.Files)), err)
		}
		if f := b.Findings[0]; f.Code != dvs.CodeSkillNotFound || f.Path != "lost.txt" {
			t.Errorf("got %v", b.Findings)
		}
	})
	t.Run("DVS-4.1-04/accept-few-requests-in-vain", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		var names strings.Builder
		for i := range 40 {
			fmt.Fprintf(&names, "Use data/%d.csv.\n", i)
		}
		net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", "---\nname: a\ndescription: b\n---\n"+names.String())
		skill, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/")}).Load(t.Context(), "https://shop.example/s/a/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		b, err := skill.Bundle(t.Context())
		if asked := len(net.Journal().Paths("shop.example")); err != nil || asked > 5 || len(b.Findings) != 40 {
			t.Errorf("%d requests, %d findings, %v", asked, len(b.Findings), err)
		}
	})
	t.Run("D08/reject-many-references", func(t *testing.T) {
		files := map[string][]byte{"SKILL.md": []byte("---\nname: a\ndescription: b\n---\nx\n")}
		for i := range 20 {
			var text strings.Builder
			for j := range 2000 {
				fmt.Fprintf(&text, "[x](none/%d-%d.md) ", i, j)
			}
			files[fmt.Sprintf("docs/%d.md", i)] = []byte(text.String())
		}
		net := lookleaptest.ForTest(t)
		net.Site("shop.example").File("/a.zip", "application/zip", archive(t, dvs.Zip, files))
		skill, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/")}).Load(t.Context(), "https://shop.example/a.zip")
		if err != nil {
			t.Fatal(err)
		}
		b, err := skill.Bundle(t.Context())
		if err != nil || len(b.Files) != 21 || len(b.Findings) > 510 || b.Findings[len(b.Findings)-1].Code != lookleap.CodeLimit {
			t.Errorf("%d files, %d findings, %v", len(b.Files), len(b.Findings), err)
		}
	})
	t.Run("D08/reject-many-files", func(t *testing.T) {
		net := lookleaptest.ForTest(t)
		net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", "---\nname: a\ndescription: b\n---\n[1](1.md) [2](2.md) [3](3.md)\n").File("*", "text/markdown", "x")
		skill, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/"), Limits: dvs.Limits{Files: 3}}).Load(t.Context(), "https://shop.example/s/a/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		if b, err := skill.Bundle(t.Context()); lookleap.CodeOf(err) != lookleap.CodeLimit || b.Files != nil {
			t.Error(err)
		}
	})
}
