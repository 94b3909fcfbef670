package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
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
			var stdout, stderr bytes.Buffer
			exit := run(context.Background(), append(append(door, "--json", "skill"), c.args...), nil, &stdout, &stderr)
			var got struct {
				OK    bool
				Code  string
				Value struct{ Name, Root, ID string }
			}
			if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
				t.Fatalf("%v: %s%s", err, &stdout, &stderr)
			}
			if got.Code != c.code || got.OK != (c.code == "ok") || (exit == 0) != got.OK || got.Value.Root != c.root {
				t.Errorf("exit %d, got %s", exit, &stdout)
			}
			if got.OK && (got.Value.Name != "refund" || got.Value.ID == "") {
				t.Errorf("got %s", &stdout)
			}
		})
	}
	t.Run("bad-root", func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		if exit := run(context.Background(), append(door, "skill", page, "--root", "https://github.com/"), nil, &stdout, &stderr); exit != 2 {
			t.Errorf("exit %d: %s", exit, &stderr)
		}
	})
	t.Run("P37", func(t *testing.T) {
		t.Run("reject-repository-as-an-origin", func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			exit := run(context.Background(), append(door, "skills", "https://github.com/o/r"), nil, &stdout, &stderr)
			if exit == 0 || !strings.Contains(stdout.String(), "URL of its directory") || strings.Contains(stdout.String(), "0 skills") {
				t.Errorf("exit %d: %s%s", exit, &stdout, &stderr)
			}
		})
	})
	t.Run("listed", func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		if exit := run(context.Background(), append(door, "--json", "skills", "https://shop.example/"), nil, &stdout, &stderr); exit != 0 {
			t.Errorf("exit %d: %s%s", exit, &stdout, &stderr)
		}
		var got struct {
			Value struct {
				Skills []struct{ Skill, Name string }
			}
			Findings []struct{ Code string }
		}
		if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Value.Skills) != 1 || got.Value.Skills[0].Skill != "https://shop.example/skills/refund/SKILL.md" || len(got.Findings) == 0 {
			t.Errorf("got %s", &stdout)
		}
	})
}

func TestSkillFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "refund")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "SKILL.md")
	if err := os.WriteFile(file, []byte(skillFile), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, input := range []string{dir, file} {
		var stdout, stderr bytes.Buffer
		if exit := run(context.Background(), []string{"skill", input}, nil, &stdout, &stderr); exit != 0 {
			t.Errorf("%s: exit %d\n%s%s", input, exit, &stdout, &stderr)
		}
	}
	if err := os.WriteFile(file, []byte("no header"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, input := range []string{dir, file, filepath.Join(dir, "none")} {
		var stdout, stderr bytes.Buffer
		if exit := run(context.Background(), []string{"skill", input}, nil, &stdout, &stderr); exit != 1 {
			t.Errorf("%s: exit %d\n%s%s", input, exit, &stdout, &stderr)
		}
	}
}
