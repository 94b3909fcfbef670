package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lookleap/lookleap/lookleaptest"
)

const skillFile = "---\nname: refund\ndescription: Refunds an order.\nlicense: MIT\n---\n# Refund\nAsk for the order.\n"

// TestSkillURLs judges skills of a lab: on an own host, on a code host with and
// without a root, and off the root.
func TestSkillURLs(t *testing.T) {
	n := lookleaptest.ForTest(t)
	n.Site("shop.example").File("/skills/refund/SKILL.md", "text/markdown", skillFile).
		File("/.well-known/skills/index.json", "application/json", `[{"name":"refund","description":"d","path":"/skills/refund/"},{"name":"far","description":"d","path":"https://evil.example/x/"}]`)
	n.Site("raw.githubusercontent.com").File("/example-org/skills/main/refund/SKILL.md", "text/plain", skillFile)
	n.Site("github.com")
	door := opened(t, n).Args()
	const page = "https://github.com/example-org/skills/blob/main/refund/SKILL.md"
	for _, c := range []struct {
		name string
		args []string
		code string
		root string
	}{
		{"own-host", []string{"https://shop.example/skills/refund/"}, "ok", "https://shop.example/"},
		{"code-host", []string{page, "--root", "https://github.com/example-org/"}, "ok", "https://github.com/example-org/"},
		{"no-root", []string{page}, "needs-root", ""},
		{"other-root", []string{page, "--root", "https://github.com/other-org/"}, "needs-root", ""},
		{"not-there", []string{"https://shop.example/skills/none/"}, "skill-not-found", ""},
		{"not-https", []string{"http://shop.example/skills/refund/"}, "not-https", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := judged[struct{ Name, Root, ID string }](t, append(append(door, "skill"), c.args...)...)
			if got.Code != c.code || got.OK != (c.code == "ok") || (got.exit == 0) != got.OK || got.Value.Root != c.root {
				t.Errorf("exit %d, got %s", got.exit, got.text)
			}
			if got.OK && (got.Value.Name != "refund" || got.Value.ID == "") {
				t.Errorf("got %s", got.text)
			}
		})
	}
	t.Run("bad-root", func(t *testing.T) {
		if exit, out := trial(append(door, "skill", page, "--root", "https://github.com/"), false); exit != exitUsage {
			t.Errorf("exit %d: %s", exit, out)
		}
	})
	t.Run("P37", func(t *testing.T) {
		t.Run("reject-repository-as-an-origin", func(t *testing.T) {
			exit, out := trial(append(door, "skills", "https://github.com/o/r"), false)
			if exit == 0 || !strings.Contains(out, "URL of its directory") || strings.Contains(out, "0 skills") {
				t.Errorf("exit %d: %s", exit, out)
			}
		})
	})
	t.Run("listed", func(t *testing.T) {
		got := judged[struct {
			Skills []struct{ Skill, Name string }
		}](t, append(door, "skills", "https://shop.example/")...)
		all := got.Value.Skills
		if got.exit != 0 || len(all) != 1 || all[0].Skill != "https://shop.example/skills/refund/SKILL.md" || len(got.Findings) == 0 {
			t.Errorf("got %s", got.text)
		}
	})
}

func TestSkillFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "refund")
	file := filepath.Join(dir, "SKILL.md")
	for exit, text := range []string{skillFile, "no header"} {
		writeFile(t, file, text)
		for _, input := range []string{dir, file} {
			if got, out := trial([]string{"skill", input}, false); got != exit {
				t.Errorf("%s: exit %d\n%s", input, got, out)
			}
		}
	}
	if exit, out := trial([]string{"skill", filepath.Join(dir, "none")}, false); exit != exitRefused {
		t.Errorf("exit %d\n%s", exit, out)
	}
}
