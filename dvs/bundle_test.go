package dvs_test

import (
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/internal/lab"
)

func TestBundle(t *testing.T) {
	net := lab.ForTest(t)
	net.Site("shop.example").
		Body("/s/a/SKILL.md", "text/markdown", "---\nname: a\ndescription: b\n---\nSee [x](MORE.md), run scripts/x.py or scripts/none.py, look at ../b/GUIDE.md, inner/SKILL.md and https://evil.example/x.md.\n").
		Body("/s/a/inner/SKILL.md", "text/markdown", refund).
		Body("/s/a/MORE.md", "text/markdown", "more").
		Body("/s/a/scripts/x.py", "text/plain", "print()").
		Body("/s/b/GUIDE.md", "text/markdown", "not of this skill")
	skill, err := dvs.NewLoader(net.Host(), dvs.Options{Roots: registry(t, "https://shop.example/")}).Load(t.Context(), "https://shop.example/s/a/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("accept-what-it-refers-to", func(t *testing.T) {
		b, err := skill.Bundle(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(maps.Keys(b.Files)); !slices.Equal(got, []string{"MORE.md", "SKILL.md", "scripts/x.py"}) {
			t.Error(got)
		}
		v := skillsFS(t, dvs.DVS, b)
		if err := fstest.TestFS(v, "a/SKILL.md", "a/MORE.md", "a/scripts/x.py"); err != nil {
			t.Error(err)
		}
		if err := v.Lock().Verify(b); err != nil {
			t.Error(err)
		}
	})
	t.Run("accept-what-is-named", func(t *testing.T) {
		b, err := skill.Bundle(t.Context(), "MORE.md", "./MORE.md")
		if err != nil || len(b.Files) != 2 {
			t.Errorf("%v %v", b.Files, err)
		}
	})
	for file, code := range map[string]lookleap.Code{
		"../b/GUIDE.md":             dvs.CodeNotBundled,
		"https://evil.example/x":    dvs.CodeScriptOutside,
		"scripts/none.py":           dvs.CodeSkillNotFound,
		"https://evil.example/x.md": dvs.CodeNotBundled,
	} {
		t.Run("reject-"+string(code), func(t *testing.T) {
			b, err := skill.Bundle(t.Context(), "MORE.md", file)
			if got := lookleap.CodeOf(err); got != code && !(file == "https://evil.example/x" && got == dvs.CodeNotBundled) || b.Files != nil {
				t.Errorf("%s: %v, %v", file, b.Files, err)
			}
		})
	}
	t.Run("D08/reject-large-together", func(t *testing.T) {
		loader := dvs.NewLoader(net.Host(), dvs.Options{Roots: registry(t, "https://shop.example/"), Limits: dvs.Limits{Total: 200}})
		skill, err := loader.Load(t.Context(), "https://shop.example/s/a/SKILL.md")
		if err != nil {
			t.Fatal(err)
		}
		net.Site("shop.example").Body("/s/a/MORE.md", "text/markdown", strings.Repeat("m", 60))
		if b, err := skill.Bundle(t.Context(), "MORE.md"); lookleap.CodeOf(err) != lookleap.CodeTooLarge || b.Files != nil {
			t.Error(err)
		}
	})
	t.Run("reject-deactivated", func(t *testing.T) {
		skill.Deactivate()
		if _, err := skill.Bundle(t.Context()); lookleap.CodeOf(err) != dvs.CodeNotActivated {
			t.Error(err)
		}
	})
}

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
		if _, err := v.ReadFile(v.Reports()[0].Directory + "/" + name); err != nil {
			t.Fatal(err)
		}
	})
}
