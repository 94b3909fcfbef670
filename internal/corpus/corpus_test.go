package corpus

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

func TestList(t *testing.T) {
	entries, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		key := string(e.Kind) + " " + e.Repo + " " + e.Path
		if seen[key] || e.Repo == "" || e.Path == "" || e.Commit == "" || strings.ToLower(e.SHA256) != e.SHA256 {
			t.Errorf("%+v is listed twice or incomplete", e)
		}
		seen[key] = true
	}
	if !bytes.Equal(Format(entries), list) {
		t.Error("the list is not in the form that Format writes")
	}
	for name, bad := range map[string]string{
		"header": "kind\n", "columns": header + "\nrobots.txt\ta/b\tc\n", "kind": header + "\nx\ta/b\tp\tc\t" + strings.Repeat("0", 64) + "\ttaken\t\n",
	} {
		if _, err := parse([]byte(bad)); err == nil {
			t.Errorf("%s: a damaged list was read", name)
		}
	}
}

// TestPage holds docs/web.md to the list.
func TestPage(t *testing.T) {
	entries, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/web.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(page, Page(entries)) {
		t.Error("docs/web.md is not current: run go run ./internal/corpus/check -page docs/web.md")
	}
}

func TestJudge(t *testing.T) {
	sum := sha256.Sum256([]byte("/a ALLOW"))
	for _, tt := range []struct {
		name    string
		kind    Kind
		content string
		want    Result
	}{
		{"policy", AgentsTxt, "*" + hex.EncodeToString(sum[:]) + "\n/a ALLOW\n", Result{Taken, ""}},
		{"damaged-policy", AgentsTxt, "/a ALOW\n", Result{Refused, "hash-missing"}},
		{"foreign", AgentsTxt, "Welcome.\n", Result{Foreign, "foreign-format"}},
		{"foreign-that-closes", AgentsTxt, "User-agent: *\nDisallow: /\n", Result{Refused, "foreign-disallowed"}},
		{"robots", RobotsTxt, "User-agent: *\nDisallow: /x\n", Result{Taken, ""}},
		{"robots-that-closes", RobotsTxt, "User-agent: *\nDisallow: /\n", Result{Taken, "closes the site to all"}},
		{"robots-without-rules", RobotsTxt, "hello\n", Result{Taken, "no rules"}},
		{"index", Index, `[{"name":"a","description":"b","path":"a/SKILL.md"}]`, Result{Taken, ""}},
		{"index-of-another-form", Index, `{"$schema":"https://schemas.agentskills.io/discovery/9/schema.json","skills":[]}`, Result{Refused, "unknown-schema"}},
		{"index-of-an-invented-form", Index, `{"$schema":"https://schemas.example/x","skills":[{"name":"a","description":"b"}]}`, Result{Taken, "unknown-schema"}},
		{"index-with-a-bad-entry", Index, `[{"name":"a","description":"b"},{"name":"B"}]`, Result{Partly, "bad-name"}},
		{"index-with-bad-entries", Index, `[{"name":"B"}]`, Result{Refused, "bad-name"}},
		{"index-without-description", Index, `[{"name":"a"}]`, Result{Taken, "bad-index-entry"}},
		{"skill", SkillMD, "---\nname: a\ndescription: b\n---\n# A\n", Result{Taken, ""}},
		{"skill-with-unknown-form", SkillMD, "# A\n", Result{Refused, "no-frontmatter"}},
		{"sitemap", Sitemap, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://site.example/</loc></url></urlset>`, Result{Taken, ""}},
		{"sitemap-that-is-cut", Sitemap, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url>`, Result{Refused, "bad-sitemap"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := Judge(tt.kind, []byte(tt.content)); err != nil || got != tt.want {
				t.Errorf("%+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
	if _, err := Judge("x", nil); err == nil {
		t.Error("an unknown kind was judged")
	}
}
