package dvs_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gopkg.in/yaml.v3"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

const root = "https://example.com/"

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func skillsFS(t *testing.T, profile dvs.Profile, bundles ...dvs.Bundle) *dvs.VerifiedFS {
	t.Helper()
	v := dvs.NewVerifiedFS(bundles, dvs.VerifiedFSOptions{Profile: profile})
	for _, r := range v.Reports() {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	return v
}

func TestVerifiedFS(t *testing.T) {
	v := skillsFS(t, dvs.Lenient,
		bundle("a", "name: refund\ndescription: Use when: money\nallowed-tools: Bash\nmetadata:\n  author: x\n  dvs-source: https://bank.example/\n  n: [1]\n", "scripts/a.py", "print()", "data/x/y.json", "{}"),
		bundle("b", "name: refund\ndescription: another\n"),
		bundle("c", "name: My \"Skill\"\ndescription: |\n  b\u202e\n  c\nlicense: MIT\n"),
		bundle("d", "name: nul\ndescription: "+strings.Repeat("é", 2000)+"\n"),
	)
	if err := fstest.TestFS(v, v.Reports()[0].Directory+"/scripts/a.py", "my-skill/SKILL.md", "skill-nul/SKILL.md"); err != nil {
		t.Fatal(err)
	}
	t.Run("DVS-1-01/accept-two-of-one-name", func(t *testing.T) {
		a, b := v.Reports()[0].Directory, v.Reports()[1].Directory
		if a == b || !strings.HasPrefix(a, "refund-") || !strings.HasPrefix(b, "refund-") {
			t.Errorf("%q and %q", a, b)
		}
		again := skillsFS(t, dvs.Lenient, bundle("b", "name: refund\ndescription: another\n"), bundle("a", "name: refund\ndescription: money\n"))
		if again.Reports()[0].Directory != b || again.Reports()[1].Directory != a {
			t.Error("the directories depend on the order")
		}
	})
	t.Run("DVS-1-01/reject-one-skill-twice", func(t *testing.T) {
		twice := dvs.NewVerifiedFS([]dvs.Bundle{bundle("a", "name: a\ndescription: b\n"), bundle("a", "name: c\ndescription: b\n")}, dvs.VerifiedFSOptions{})
		if lookleap.CodeOf(twice.Reports()[1].Err) != dvs.CodeDuplicateEntry {
			t.Error(twice.Reports()[1].Err)
		}
		unverified := bundle("a", "name: c\ndescription: b\n")
		unverified.Verdict = nil
		twice = dvs.NewVerifiedFS([]dvs.Bundle{bundle("a", "name: a\ndescription: b\n"), unverified}, dvs.VerifiedFSOptions{})
		if lookleap.CodeOf(twice.Reports()[1].Err) != dvs.CodeNeedsRoot {
			t.Error(twice.Reports()[1].Err)
		}
	})
	t.Run("accept-reports", func(t *testing.T) {
		for i, want := range []string{"refund", "refund", `My "Skill"`, "nul"} {
			r := v.Reports()[i]
			named := slices.ContainsFunc(r.Findings, func(f lookleap.Finding) bool { return f.Code == dvs.CodeNameDirectory })
			if r.Name != want || r.Digest.IsZero() || named != (r.Directory != r.Name) {
				t.Errorf("%+v", r)
			}
		}
		for directory, license := range map[string]bool{"my-skill": true, "skill-nul": false} {
			if data, _ := fs.ReadFile(v, directory+"/SKILL.md"); strings.Contains(string(data), "license: \"MIT\"\n") != license || strings.Contains(string(data), "license") != license || strings.Contains(string(data), "compatibility") {
				t.Errorf("%s", data[:200])
			}
		}
		unnamed, single := bundle("v1.2", "description: b\n"), bundle("v1", "description: b\n")
		single.ID, single.Artifact = "https://example.com/s/v1.2", dvs.SingleFile // whose name has an extension
		single.Verdict.Subject = single.ID
		for i, r := range skillsFS(t, dvs.Lenient, unnamed, single).Reports() {
			if want := []string{"v1.2", "v1"}[i]; r.Name != want {
				t.Errorf("%s is named %q", r.ID, r.Name)
			}
		}
		plain := skillsFS(t, dvs.DVS, bundle("a", "name: a\ndescription: b\n"))
		if findings := plain.Reports()[0].Findings; len(findings) != 0 {
			t.Errorf("%v", findings)
		}
	})
	entries, _ := fs.ReadDir(v, ".")
	for _, e := range entries {
		t.Run("strict/"+e.Name(), func(t *testing.T) { strictLoad(t, v, e.Name()) })
	}
	t.Run("DVS-4.3-11/reject-permission", func(t *testing.T) {
		data, _ := fs.ReadFile(v, v.Reports()[0].Directory+"/SKILL.md")
		if bytes.Contains(data, []byte("Bash")) || bytes.Contains(data, []byte("bank.example")) || !bytes.Contains(data, []byte(`dvs-source: "https://example.com/s/a/SKILL.md"`)) {
			t.Errorf("%s", data)
		}
	})
	t.Run("DVS-1-01/reject-directory-of-another", func(t *testing.T) {
		id := dvs.DigestOf([]byte("https://example.com/s/a/SKILL.md"))
		thief := bundle("thief", "name: a-"+fmt.Sprintf("%x", id[:6])+"\ndescription: b\n", "evil.md", "x")
		for _, bundles := range [][]dvs.Bundle{
			{thief, bundle("a", "name: a\ndescription: b\n", "good.md", "x"), bundle("b", "name: a\ndescription: b\n")},
			{bundle("b", "name: a\ndescription: b\n"), bundle("a", "name: a\ndescription: b\n", "good.md", "x"), thief},
		} {
			v := skillsFS(t, dvs.DVS, bundles...)
			for i, r := range v.Reports() {
				files, _ := fs.ReadDir(v, r.Directory)
				data, _ := fs.ReadFile(v, r.Directory+"/SKILL.md")
				if len(files) != len(bundles[i].Files) || !bytes.Contains(data, []byte(r.ID)) {
					t.Errorf("%s has %v", r.Directory, files)
				}
			}
		}
	})
	t.Run("DVS-4.3-13/reject-no-characters", func(t *testing.T) {
		v := skillsFS(t, dvs.DVS, bundle("a", "name: a\ndescription: \"b\\uFFFE\\U0001FFFFc\\uFDD0\"\n"))
		strictLoad(t, v, "a")
	})
	t.Run("DVS-4.3-02/reject-annotations-that-grow", func(t *testing.T) {
		header := "name: a\ndescription: b\nmetadata:\n"
		for i := range 15 {
			header += fmt.Sprintf("  k%02d: '%s'\n", i, strings.Repeat(`"`, 1000))
		}
		v := skillsFS(t, dvs.DVS, bundle("a", header+"  version: '1'\n"))
		strictLoad(t, v, "a")
		data, _ := fs.ReadFile(v, "a/SKILL.md")
		if !bytes.Contains(data, []byte("  k00: ")) || bytes.Contains(data, []byte("  k09: ")) || !bytes.Contains(data, []byte(`  version: "1"`)) {
			t.Errorf("%.3000s", data)
		}
	})
	t.Run("DVS-4.3-11/reject-keys-that-loaders-read-differently", func(t *testing.T) {
		v := skillsFS(t, dvs.DVS, bundle("a", "name: a\ndescription: b\nmetadata:\n  'null': x\n  '~': x\n  'a: b': x\n  'c # d': x\n  'e f': y\n"))
		strictLoad(t, v, "a")
		data, _ := fs.ReadFile(v, "a/SKILL.md")
		if bytes.Contains(data, []byte("x")) && bytes.Contains(data, []byte(`: "x"`)) {
			t.Errorf("%s", data)
		}
	})
	t.Run("immutable", func(t *testing.T) {
		data, _ := fs.ReadFile(v, "my-skill/SKILL.md")
		clear(data)
		if again, _ := fs.ReadFile(v, "my-skill/SKILL.md"); bytes.Equal(data, again) {
			t.Error("a reader can change it")
		}
	})
}

// strictLoad reads a skill as the strictest loaders do.
func strictLoad(t *testing.T, skills fs.FS, directory string) {
	data, err := fs.ReadFile(skills, directory+"/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	header, body, ok := strings.Cut(strings.TrimPrefix(string(data), "---\n"), "\n---\n")
	if !ok || strings.TrimSpace(body) == "" {
		t.Fatalf("%q", data)
	}
	var m struct {
		Name, Description, License, Compatibility string
		Metadata                                  map[string]string
	}
	d := yaml.NewDecoder(strings.NewReader(header))
	d.KnownFields(true)
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	if m.Name != directory || m.Description == "" || len([]rune(m.Description)) > 1024 || m.Metadata["dvs-trust-root"] != root {
		t.Errorf("%+v", m)
	}
	if _, findings, err := dvs.ParseSkill(data, dvs.AgentSkills, dvs.Limits{}); err != nil || len(findings) > 0 {
		t.Errorf("%v %v", err, findings)
	}
}

func TestVerifiedFSRefuses(t *testing.T) {
	good := "name: a\ndescription: b\n"
	for _, c := range []struct {
		id, name string
		change   func(*dvs.Bundle)
		limits   dvs.Limits
		code     lookleap.Code
	}{
		{"gate", "reject-no-verdict", func(b *dvs.Bundle) { b.Verdict = nil }, dvs.Limits{}, dvs.CodeNeedsRoot},
		{"gate", "reject-verdict-no", func(b *dvs.Bundle) { b.Verdict.OK = false }, dvs.Limits{}, dvs.CodeNeedsRoot},
		{"gate", "reject-verdict-of-another", func(b *dvs.Bundle) { b.Verdict.Subject = root }, dvs.Limits{}, dvs.CodeNeedsRoot},
		{"DVS-2-02", "reject-no-skill-md", func(b *dvs.Bundle) { delete(b.Files, "SKILL.md") }, dvs.Limits{}, dvs.CodeMissingSkillMD},
		{"DVS-2-03", "reject-other-case", func(b *dvs.Bundle) { b.Files["skill.md"] = b.Files["SKILL.md"]; delete(b.Files, "SKILL.md") }, dvs.Limits{}, dvs.CodeMissingSkillMD},
		{"C11", "reject-bad-skill-md", func(b *dvs.Bundle) { b.Files["SKILL.md"] = []byte("---\nname: a\n") }, dvs.Limits{}, "unterminated-frontmatter"},
		{"D05", "reject-case-clash", files("Run.sh", "run.sh"), dvs.Limits{}, dvs.CodeNameClash},
		{"D05", "reject-directory-clash", files("A/x", "a/y"), dvs.Limits{}, dvs.CodeNameClash},
		{"D05", "reject-file-and-directory", files("a", "a/y"), dvs.Limits{}, dvs.CodeNameClash},
		{"D05", "reject-long-s", files("s.txt", "\u017f.txt"), dvs.Limits{}, dvs.CodeNameClash},
		{"D05", "reject-decomposed", files("e\u0301"), dvs.Limits{}, dvs.CodeUnsafeName},
		{"DVS-4.3-11", "reject-skill-inside", files("more/Skill.MD"), dvs.Limits{}, dvs.CodeNotBundled},
		{"D07", "reject-backslash", files(`..\x`), dvs.Limits{}, dvs.CodeUnsafeName},
		{"D07", "reject-drive", files("C:x"), dvs.Limits{}, dvs.CodeUnsafeName},
		{"D07", "reject-device", files("data/CON.txt"), dvs.Limits{}, dvs.CodeUnsafeName},
		{"D07", "reject-superscript-port", files("com¹"), dvs.Limits{}, dvs.CodeUnsafeName},
		{"D07", "reject-stream", files("a:b"), dvs.Limits{}, dvs.CodeUnsafeName},
		{"D07", "reject-verbatim", files(`\\?\C:\x`), dvs.Limits{}, dvs.CodeUnsafeName},
		{"D07", "reject-climbing", files("../x"), dvs.Limits{}, dvs.CodeUnsafeName},
		{"D07", "reject-absolute", files("/x"), dvs.Limits{}, dvs.CodeUnsafeName},
		{"D07", "reject-inner-dots", files("a/../../x"), dvs.Limits{}, dvs.CodeUnsafeName},
		{"D07", "reject-final-dot", files("x."), dvs.Limits{}, dvs.CodeUnsafeName},
		{"D07", "reject-hidden", files("a\u200b"), dvs.Limits{}, dvs.CodeUnsafeName},
		{"D07", "reject-git", files(".GIT/hooks/pre-commit"), dvs.Limits{}, dvs.CodeUnsafeName},
		{"D07", "reject-newline", files("a\nb"), dvs.Limits{}, dvs.CodeUnsafeName},
		{"D07", "reject-long", files(strings.Repeat("a", 300)), dvs.Limits{}, dvs.CodeUnsafeName},
		{"D07", "reject-deep", files(strings.Repeat("a/", 20) + "a"), dvs.Limits{}, dvs.CodeUnsafeName},
		{"D08", "reject-many", files("1", "2", "3", "4"), dvs.Limits{Files: 4}, lookleap.CodeLimit},
		{"D08", "reject-large", files("1"), dvs.Limits{Resource: 1000}, lookleap.CodeTooLarge},
		{"D08", "reject-large-together", files("1", "2", "3"), dvs.Limits{Resource: 2000, Total: 4000}, lookleap.CodeTooLarge},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			bad := bundle("bad", good)
			c.change(&bad)
			v := dvs.NewVerifiedFS([]dvs.Bundle{bad, bundle("ok", "name: ok\ndescription: b\n")}, dvs.VerifiedFSOptions{Limits: c.limits})
			if r := v.Reports()[0]; lookleap.CodeOf(r.Err) != c.code || r.Directory != "" {
				t.Errorf("%+v", r)
			}
			if entries, _ := fs.ReadDir(v, "."); len(entries) != 1 || entries[0].Name() != "ok" || len(v.Lock().Skills) != 1 {
				t.Errorf("%v", entries)
			}
		})
	}
	for name, file := range map[string]string{"umlaut": "data/über.json", "blank": "a b.txt", "dot-file": ".env.example", "con-in-name": "console.js"} {
		t.Run("D07/accept-"+name, func(t *testing.T) {
			skillsFS(t, dvs.DVS, bundle("a", good, file, "x"))
		})
	}
	t.Run("D08/accept-as-large-as-the-limits", func(t *testing.T) {
		b := bundle("a", good, "x", strings.Repeat("x", 1500))
		for size, want := range map[int]lookleap.Code{0: lookleap.CodeOK, -1: lookleap.CodeTooLarge} {
			v := dvs.NewVerifiedFS([]dvs.Bundle{b}, dvs.VerifiedFSOptions{Limits: dvs.Limits{Resource: 1500, Total: 1500 + len(b.Files["SKILL.md"]) + size}})
			if r := v.Reports()[0]; lookleap.CodeOf(r.Err) != want {
				t.Errorf("%+v", r)
			}
		}
	})
	t.Run("accept-capabilities-in-the-lock", func(t *testing.T) {
		v := skillsFS(t, dvs.DVS, bundle("a", good), bundle("b", "name: b\ndescription: b\n", "scripts/x.sh", "#!/bin/sh\ncurl https://evil.example/\n"))
		if skills := v.Lock().Skills; skills[0].Capabilities == nil || len(skills[0].Capabilities) != 0 || len(skills[1].Capabilities) == 0 {
			t.Errorf("%+v", skills)
		}
	})
	t.Run("DVS-4.1-02/accept-example", func(t *testing.T) {
		paths := []string{"ADVANCED.md", "REFERENCE.md", "scripts/process.py", "scripts/validate.sh", "templates/report.html", "data/schema.json"}
		b := bundle("a", good)
		var kinds []dvs.Kind
		for _, p := range paths {
			b.Files[p] = []byte("x")
			kinds = append(kinds, dvs.KindOf(p, b.Files[p]))
		}
		if !slices.Equal(kinds, []dvs.Kind{dvs.Instructions, dvs.Instructions, dvs.Script, dvs.Script, dvs.Template, dvs.Data}) {
			t.Error(kinds)
		}
		if n := len(skillsFS(t, dvs.DVS, b).Lock().Skills[0].Files); n != 7 {
			t.Error(n)
		}
	})
}

func files(names ...string) func(*dvs.Bundle) {
	return func(b *dvs.Bundle) {
		for _, name := range names {
			b.Files[name] = bytes.Repeat([]byte("x"), 1500)
		}
	}
}
