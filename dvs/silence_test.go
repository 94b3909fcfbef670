package dvs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/lookleaptest"
)

// TestSilence has what is skipped, cut or not understood: each leaves a finding or an error.
func TestSilence(t *testing.T) {
	severe := func(all []lookleap.Finding, code lookleap.Code) bool {
		return slices.ContainsFunc(all, func(f lookleap.Finding) bool {
			return f.Code == code && f.Severity == lookleap.SeverityWarning
		})
	}
	t.Run("P37", func(t *testing.T) {
		for name, c := range map[string]struct {
			description string
			found       bool
		}{
			"reject-comment":              {"Makes tea. Use for cups # pots and kettles", true},
			"reject-comment-after-a-tab":  {"Makes tea\t# pots", true},
			"reject-comment-on-next-line": {"Makes tea\n  for cups # pots", true},
			"accept-quoted":               {`"Makes tea # pots"`, false},
			"accept-block":                {">-\n  Makes tea # pots", false},
			"accept-no-blank":             {"Makes tea#1 and C#", false},
		} {
			for _, profile := range []dvs.Profile{dvs.DVS, dvs.AgentSkills, dvs.Lenient} {
				t.Run(name+"/"+profile.String(), func(t *testing.T) {
					_, findings, err := dvs.ParseSkill([]byte("---\nname: tea\ndescription: "+c.description+"\nlicense: MIT # ours\n---\n# Tea\n"), profile, dvs.Limits{})
					if err != nil || severe(findings, dvs.CodeBadDescription) != c.found {
						t.Error(findings, err)
					}
				})
			}
		}
		text := []byte("---\nname: tea\ndescription: Makes tea.\n---\n# Tea\n")
		link := func(t *testing.T) string {
			dir := t.TempDir()
			for _, name := range []string{"skills/cake", "store/tea"} {
				if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, err := range []error{os.WriteFile(filepath.Join(dir, "store/tea/SKILL.md"), text, 0o600),
				os.WriteFile(filepath.Join(dir, "skills/cake/SKILL.md"), bytes.ReplaceAll(text, []byte("name: tea"), []byte("name: cake")), 0o600),
				os.Symlink("../store/tea", filepath.Join(dir, "skills/tea"))} {
				if err != nil {
					t.Skip(err)
				}
			}
			return filepath.Join(dir, "skills")
		}
		for name, c := range map[string]struct {
			files func(t *testing.T) map[string]string
			code  lookleap.Code
		}{
			"linked-directory": {nil, dvs.CodeLink},
			"lower-case":       {func(*testing.T) map[string]string { return map[string]string{"tea/skill.md": string(text)} }, dvs.CodeMissingSkillMD},
			"one-level-deeper": {func(*testing.T) map[string]string { return map[string]string{"drinks/tea/SKILL.md": string(text)} }, dvs.CodeMissingSkillMD},
		} {
			t.Run("reject-"+name, func(t *testing.T) {
				var fsys fs.FS
				if c.files == nil {
					fsys = os.DirFS(link(t))
				} else {
					dir := t.TempDir()
					for at, content := range c.files(t) {
						if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, at)), 0o755), os.WriteFile(filepath.Join(dir, at), []byte(content), 0o600)); err != nil {
							t.Fatal(err)
						}
					}
					fsys = os.DirFS(dir)
				}
				list, err := dvs.Catalogue(fsys, dvs.DVS, dvs.Limits{})
				if err != nil || !slices.ContainsFunc(list, func(e dvs.CatalogueEntry) bool { return lookleap.CodeOf(e.Err) == c.code && e.Metadata == nil }) {
					t.Errorf("%+v, %v", list, err)
				}
				if _, err := dvs.NewHandler(fsys, dvs.Limits{}); lookleap.CodeOf(err) != c.code {
					t.Error(err)
				}
			})
		}
		t.Run("accept-directory-without-skills", func(t *testing.T) {
			fsys := fstest.MapFS{"docs/a.md": {Data: []byte("x")}, "docs/b/c.md": {Data: []byte("x")}, "tea/SKILL.md": {Data: text}}
			if list, err := dvs.Catalogue(fsys, dvs.DVS, dvs.Limits{}); err != nil || len(list) != 1 || list[0].Err != nil {
				t.Errorf("%+v, %v", list, err)
			}
		})
		t.Run("reject-files-of-a-file-manager", func(t *testing.T) {
			fsys := fstest.MapFS{"tea/SKILL.md": {Data: text}, "tea/.DS_Store": {Data: []byte("x")}, "tea/notes.txt": {Data: []byte("x")},
				"tea/__MACOSX/a": {Data: []byte("x")}}
			h, err := dvs.NewHandler(fsys, dvs.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, f := range h.Findings() {
				if f.Code == "not-published" {
					n++
				}
			}
			if n != 2 {
				t.Error(h.Findings())
			}
			if get(h, "GET", "/.well-known/skills/tea/.DS_Store").StatusCode != 404 || get(h, "GET", "/.well-known/skills/tea/notes.txt").StatusCode != 200 {
				t.Error("what is left out is served, or more is left out")
			}
			var index bytes.Buffer
			if err := dvs.WriteIndex(&index, dvs.IndexFiles, h.Skills()); err != nil || strings.Contains(index.String(), "DS_Store") || !strings.Contains(index.String(), "notes.txt") {
				t.Error(index.String(), err)
			}
			_, packed, err := h.Skills()[0].Artifact()
			if files, readErr := dvs.ReadArchive(bytes.NewReader(packed), dvs.Limits{}); err != nil || readErr != nil || len(files) != 2 {
				t.Error(files, err, readErr)
			}
		})
		discover := func(t *testing.T, net *lookleaptest.Internet, root string) (names []string, findings []lookleap.Finding) {
			for entry, err := range dvs.NewLoader(net.StubHost(), dvs.Options{}).Discover(t.Context(), root) {
				var skipped *dvs.Skipped
				switch {
				case errors.As(err, &skipped):
					findings = append(findings, skipped.Finding)
				case err != nil:
					t.Fatal(err)
				default:
					names = append(names, entry.Name)
				}
			}
			return names, findings
		}
		const index = "/.well-known/agent-skills/index.json"
		for _, status := range []int{403, 401, 500, 503, 404, 410} {
			missing := status == 404 || status == 410
			t.Run(fmt.Sprintf("%s-index-%d", map[bool]string{true: "accept", false: "reject"}[missing], status), func(t *testing.T) {
				net := lookleaptest.ForTest(t)
				net.Site("shop.example").Status(index, status)
				if names, findings := discover(t, net, "https://shop.example/"); len(names) != 0 || severe(findings, lookleap.CodeBadStatus) == missing {
					t.Error(names, findings)
				}
			})
		}
		t.Run("reject-redirect-to-another-origin", func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			net.Site("shop.example").Redirect(index, "https://www.shop.example"+index)
			net.Site("www.shop.example").File(index, "application/json", `{"skills":[]}`)
			_, findings := discover(t, net, "https://shop.example/")
			if !slices.ContainsFunc(findings, func(f lookleap.Finding) bool {
				return f.Code == dvs.CodeRedirectOutside && strings.Contains(f.Message, "https://www.shop.example") && strings.Contains(f.Fix, "https://www.shop.example/") && strings.Contains(f.Fix, "publisher")
			}) {
				t.Error(findings)
			}
		})
		t.Run("accept-index-with-a-byte-order-mark", func(t *testing.T) {
			net := lookleaptest.ForTest(t)
			net.Site("shop.example").File("/.well-known/skills/index.json", "application/json", "\ufeff"+`[{"name":"tea","description":"Makes tea."}]`)
			names, findings := discover(t, net, "https://shop.example/")
			if !slices.Equal(names, []string{"tea"}) || !slices.ContainsFunc(findings, func(f lookleap.Finding) bool { return f.Code == lookleap.CodeByteOrderMark }) {
				t.Error(names, findings)
			}
		})
		t.Run("reject-sha256-of-an-unknown-schema", func(t *testing.T) {
			list, err := dvs.ParseIndex([]byte(`{"$schema":"https://example.com/skills.json","skills":[{"name":"tea","description":"Makes tea.","url":"/s/tea/SKILL.md","sha256":"00"}]}`),
				"https://shop.example/.well-known/skills/index.json", dvs.Rules{}, dvs.Limits{})
			if err != nil || !severe(list.Findings, "bad-index-entry") {
				t.Error(list, err)
			}
		})
		t.Run("accept-address-of-a-clone", func(t *testing.T) {
			for in, want := range map[string]string{
				"https://github.com/o/r.git":     "https://github.com/o/r/blob/HEAD/SKILL.md",
				"https://www.github.com/o/r.git": "https://github.com/o/r/blob/HEAD/SKILL.md",
			} {
				if u, err := dvs.ParseSkillURL(in, dvs.Rules{}); err != nil || u.String() != want {
					t.Error(in, u, err)
				}
			}
		})
		t.Run("reject-query-with-the-fix", func(t *testing.T) {
			_, err := dvs.ParseSkillURL("https://gitlab.com/g/p/-/blob/main/a/SKILL.md?ref_type=heads", dvs.Rules{})
			var refused *lookleap.Error
			if !errors.As(err, &refused) || refused.Code != "query-in-skill-url" || refused.Fix == "" {
				t.Errorf("%+v", err)
			}
		})
		t.Run("reject-repository-as-a-list", func(t *testing.T) {
			_, findings := discover(t, lookleaptest.ForTest(t), "https://github.com/o/r")
			if len(findings) != 1 || findings[0].Code != dvs.CodeNoOriginDiscovery || !strings.Contains(findings[0].Fix, "directory") {
				t.Error(findings)
			}
		})
		for name, c := range map[string]struct {
			profile     dvs.Profile
			digest      bool
			description string
			code        lookleap.Code
		}{
			"accept-header-of-the-index":    {dvs.Lenient, true, "Makes tea.", lookleap.CodeOK},
			"reject-index-without-a-digest": {dvs.Lenient, false, "Makes tea.", "no-frontmatter"},
			"reject-index-says-nothing":     {dvs.Lenient, true, "", "no-frontmatter"},
			"reject-header-missing-for-dvs": {dvs.DVS, true, "Makes tea.", "no-frontmatter"},
		} {
			t.Run(name, func(t *testing.T) {
				const body = "# Tea\n\nBoil the water.\n"
				net := lookleaptest.ForTest(t)
				net.Site("shop.example").File("/s/tea/SKILL.md", "text/markdown", body)
				l := dvs.NewLoader(net.StubHost(), dvs.Options{Roots: registry(t, "https://shop.example/"), Profile: c.profile})
				entry := dvs.Listing{Skill: skillURL(t, "https://shop.example/s/tea/"), Name: "tea", Description: c.description, Source: "https://shop.example" + index}
				if c.digest {
					entry.Digest = dvs.DigestOf([]byte(body))
				}
				skill, err := l.LoadListing(t.Context(), entry)
				if lookleap.CodeOf(err) != c.code {
					t.Fatal(err)
				}
				if err == nil && (skill.Name != "tea" || skill.Description != "Makes tea." || !severe(skill.Verdict.Findings, "no-frontmatter")) {
					t.Errorf("%+v", skill.Metadata)
				}
			})
		}
		t.Run("reject-other-line-ends-of-a-locked-file", func(t *testing.T) {
			lf := "---\nname: tea\n---\n# Tea\n"
			crlf := strings.ReplaceAll(lf, "\n", "\r\n")
			for _, c := range [][2]string{{lf, crlf}, {crlf, lf}} {
				locked := dvs.LockedSkill{Files: []dvs.LockedFile{{Path: "SKILL.md", Digest: dvs.DigestOf([]byte(c[0]))}}}
				changes := locked.Changes(map[string][]byte{"SKILL.md": []byte(c[1])})
				if len(changes) != 1 || changes[0].Code != dvs.CodeDigestMismatch || !strings.Contains(changes[0].Message, "only line ends differ") {
					t.Error(changes)
				}
				changes = locked.Changes(map[string][]byte{"SKILL.md": []byte(c[1] + "more")})
				if len(changes) != 1 || strings.Contains(changes[0].Message, "line ends") {
					t.Error(changes)
				}
			}
		})
	})
}
