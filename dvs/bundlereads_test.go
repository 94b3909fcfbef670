package dvs_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// bundled loads a skill with files below it, and bundles them. It returns the bundle and the paths
// below the skill's directory that were asked for.
func bundled(t *testing.T, files map[string]string, named ...string) (dvs.Bundle, []string, error) {
	t.Helper()
	net := lookleaptest.ForTest(t)
	site := net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", "---\nname: a\ndescription: b\n---\n"+files["SKILL.md"])
	for name, text := range files {
		kind := "text/plain"
		switch {
		case name == "SKILL.md":
			continue
		case strings.HasPrefix(text, "<"):
			kind = "text/html"
		case strings.HasSuffix(name, ".md"):
			kind = "text/markdown"
		}
		site.File("/s/a/"+name, kind, text)
	}
	skill, err := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/"), Limits: dvs.Limits{Resource: 1000}}).Load(t.Context(), scriptSkill)
	if err != nil {
		t.Fatal(err)
	}
	net.Journal().Clear()
	b, err := skill.Bundle(t.Context(), named...)
	var asked []string
	for _, path := range net.Journal().Paths("shop.example") {
		asked = append(asked, strings.TrimPrefix(strings.TrimPrefix(path, "GET "), "/s/a/"))
	}
	return b, asked, err
}

// TestBundleReads bundles what references in texts mean. A request tells the server nothing but
// names that the skill itself has.
func TestBundleReads(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		asked string // in this order
		found string // bundled besides SKILL.md, sorted
		says  []string
	}{
		"link-here":             {map[string]string{"SKILL.md": "[x](docs/g.md)\n", "docs/g.md": "[x](./near.md)\n", "docs/near.md": "x", "near.md": "x"}, "docs/g.md docs/near.md", "docs/g.md docs/near.md", nil},
		"link-up":               {map[string]string{"SKILL.md": "[x](docs/g.md)\n", "docs/g.md": "[x](../top.md)\n", "top.md": "x"}, "docs/g.md top.md", "docs/g.md top.md", nil},
		"link-here-only":        {map[string]string{"SKILL.md": "[x](docs/g.md)\n", "docs/g.md": "[x](./top.md)\n", "top.md": "x"}, "docs/g.md docs/top.md", "docs/g.md", []string{`"./top.md" is not bundled`}},
		"link-from-the-top":     {map[string]string{"SKILL.md": "[x](docs/g.md)\n", "docs/g.md": "[x](docs/h.md)\n", "docs/h.md": "x", "docs/docs/h.md": "y"}, "docs/g.md docs/h.md", "docs/g.md docs/h.md", nil},
		"link-from-its-file":    {map[string]string{"SKILL.md": "[x](docs/g.md)\n", "docs/g.md": "[x](h.md)\n", "docs/h.md": "x", "h.md": "y"}, "docs/g.md docs/h.md", "docs/g.md docs/h.md", nil},
		"link-at-the-top":       {map[string]string{"SKILL.md": "[x](docs/g.md)\n", "docs/g.md": "[x](h.md)\n", "h.md": "y"}, "docs/g.md docs/h.md h.md", "docs/g.md h.md", nil},
		"link-with-a-directory": {map[string]string{"SKILL.md": "[x](docs/g.md)\n", "docs/g.md": "[x](more/h.md)\n", "docs/more/h.md": "y", "more/h.md": "x"}, "docs/g.md docs/more/h.md", "docs/g.md docs/more/h.md", nil},
		"absolute-link":         {map[string]string{"SKILL.md": "[x](docs/g.md)\n", "docs/g.md": "[x](https://shop.example/s/a/h.md)\n", "h.md": "y"}, "docs/g.md h.md", "docs/g.md h.md", nil},
		"path-from-the-origin":  {map[string]string{"SKILL.md": "[x](docs/g.md)\n", "docs/g.md": "[x](/h.md)\n", "h.md": "y"}, "docs/g.md", "docs/g.md", []string{`"/h.md" leads out of the skill's directory`}},
		"other-schemes":         {map[string]string{"SKILL.md": "[x](mailto:a@b.example) [y](//shop.example/s/a/h.md) [z](ftp://a.example/x.md)\n", "h.md": "y"}, "", "", nil},
		"other-origin":          {map[string]string{"SKILL.md": "[x](https://evil.example/x.md)\n"}, "", "", nil},
		"other-skill":           {map[string]string{"SKILL.md": "[x](inner/SKILL.md) [y](SKILL.md) [z](./SKILL.md)\n", "inner/SKILL.md": "x"}, "", "", []string{`"inner/SKILL.md" leads to another skill`}},
		"other-than-itself":     {map[string]string{"SKILL.md": "[y](SKILL.md) [z](./SKILL.md)\n"}, "", "", nil},
		"references-in-data":    {map[string]string{"SKILL.md": "[x](one.csv)\n", "one.csv": "[y](two.md)\n", "two.md": "x"}, "one.csv", "one.csv", nil},
		"directory-in-use":      {map[string]string{"SKILL.md": "[x](stuff/one.csv), then use stuff/two.csv.\n", "stuff/one.csv": "1", "stuff/two.csv": "2"}, "stuff/one.csv stuff/two.csv", "stuff/one.csv stuff/two.csv", nil},
		"directory-of-others":   {map[string]string{"SKILL.md": "[x](one.csv), then use stuff/two.csv.\n", "one.csv": "1", "stuff/two.csv": "2"}, "one.csv", "one.csv", []string{"more likely one of the user's files"}},
		"link-up-in-vain":       {map[string]string{"SKILL.md": "[x](docs/g.md)\n", "docs/g.md": "[x](../none.md)\n"}, "docs/g.md none.md", "docs/g.md", []string{`"../none.md" is not bundled`}},
		"other-work-has-it-too": {map[string]string{"SKILL.md": "[x](README.md), the README.md of this skill.\n", "README.md": "x"}, "README.md", "README.md", nil},
		"named-again":           {map[string]string{"SKILL.md": "[x](stuff.csv), then use `stuff.csv`.\n", "stuff.csv": "1"}, "stuff.csv", "stuff.csv", nil},
		"page":                  {map[string]string{"SKILL.md": "[x](x.csv) [y](y.html)\n", "x.csv": "<p>lost", "y.html": "<p>here"}, "x.csv y.html", "y.html", []string{`"x.csv" is not bundled: the server sent a page`}},
		"misses-in-a-row":       {map[string]string{"SKILL.md": "Use data/1.csv, data/2.csv, data/3.csv.\n", "data/3.csv": "3"}, "data/1.csv data/2.csv", "", []string{"data/3.csv"}},
		"misses-not-in-a-row":   {map[string]string{"SKILL.md": "Use data/1.csv, data/2.csv, data/3.csv, data/4.csv.\n", "data/2.csv": "2", "data/4.csv": "4"}, "data/1.csv data/2.csv data/3.csv data/4.csv", "data/2.csv data/4.csv", nil},
	} {
		t.Run("DVS-4.1-04/accept-"+name, func(t *testing.T) {
			b, asked, err := bundled(t, c.files)
			if err != nil {
				t.Fatal(err)
			}
			found := slices.DeleteFunc(slices.Sorted(maps.Keys(b.Files)), func(name string) bool { return name == "SKILL.md" })
			if strings.Join(asked, " ") != c.asked || strings.Join(found, " ") != c.found {
				t.Errorf("asked for %q, found %q", asked, found)
			}
			for _, want := range c.says {
				if !slices.ContainsFunc(b.Findings, func(f lookleap.Finding) bool { return strings.Contains(f.Message, want) }) {
					t.Errorf("%q is not in %v", want, b.Findings)
				}
			}
			if len(c.says) == 0 && slices.ContainsFunc(b.Findings, func(f lookleap.Finding) bool {
				return f.Severity != lookleap.SeverityInfo || strings.HasPrefix(name, "other")
			}) {
				t.Errorf("findings: %v", b.Findings)
			}
		})
	}
	t.Run("DVS-4.1-04/accept-page-that-is-named", func(t *testing.T) {
		if b, _, err := bundled(t, map[string]string{"x.csv": "<p>x", "SKILL.md": "x\n"}, "x.csv"); err != nil || string(b.Files["x.csv"]) != "<p>x" {
			t.Error(err)
		}
	})
	for name, file := range map[string]string{"D08/reject-large-file-of-a-reference": "", "D08/reject-large-file-that-is-named": "big.md"} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"SKILL.md": "[x](big.md)\n", "big.md": strings.Repeat("b", 1001)}
			if b, _, err := bundled(t, files, slices.DeleteFunc([]string{file}, func(s string) bool { return s == "" })...); lookleap.CodeOf(err) != lookleap.CodeTooLarge || b.Files != nil {
				t.Errorf("%v, %v", slices.Collect(maps.Keys(b.Files)), err)
			}
		})
	}
	t.Run("DVS-4.4-04/reject-name-that-is-no-reference", func(t *testing.T) {
		if b, asked, err := bundled(t, map[string]string{"SKILL.md": "x\n"}, "javascript:alert(1)"); lookleap.CodeOf(err) != "bad-scheme" || b.Files != nil || len(asked) > 0 {
			t.Error(b, asked, err)
		}
	})
	t.Run("DVS-4.1-04/reject-no-skill", func(t *testing.T) {
		if b, err := (*dvs.Loaded)(nil).Bundle(t.Context()); lookleap.CodeOf(err) != lookleap.CodeUsage || b.Files != nil {
			t.Error(err)
		}
	})
}

// TestBundleListed bundles what an index of v0.1 or an archive has.
func TestBundleListed(t *testing.T) {
	listed := func(t *testing.T, names string, files map[string]string) (dvs.Bundle, error) {
		net := lookleaptest.ForTest(t)
		site := net.Site("shop.example").File("/s/a/SKILL.md", "text/markdown", refund).
			File("/.well-known/skills/index.json", "application/json", `{"skills":[{"name":"refund","description":"d","path":"/s/a/","files":[`+names+`]}]}`)
		for name, text := range files {
			site.File("/s/a/"+name, "text/plain", text)
		}
		loader := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/"), Indexes: []string{dvs.SkillsPrefix}, Limits: dvs.Limits{Resource: 1000}})
		for l, err := range loader.Discover(t.Context(), "https://shop.example/") {
			if err != nil {
				t.Fatal(err)
			}
			skill, err := loader.LoadListing(t.Context(), l)
			if err != nil {
				t.Fatal(err)
			}
			return skill.Bundle(t.Context())
		}
		t.Fatal("the index lists nothing")
		return dvs.Bundle{}, nil
	}
	t.Run("DVS-4.1-04/accept-other-skill-is-left-out", func(t *testing.T) {
		b, err := listed(t, `"SKILL.md","inner/SKILL.md","x.txt"`, map[string]string{"inner/SKILL.md": "x", "x.txt": "x"})
		if err != nil || len(b.Files) != 2 || len(b.Findings) == 0 || b.Findings[0].Path != "inner/SKILL.md" || b.Findings[0].Code != dvs.CodeNotBundled {
			t.Errorf("%v, %v, %v", slices.Collect(maps.Keys(b.Files)), b.Findings, err)
		}
	})
	t.Run("D08/reject-large-file", func(t *testing.T) {
		if b, err := listed(t, `"SKILL.md","x.txt"`, map[string]string{"x.txt": strings.Repeat("x", 1001)}); lookleap.CodeOf(err) != lookleap.CodeTooLarge || b.Files != nil {
			t.Error(err)
		}
	})
}
