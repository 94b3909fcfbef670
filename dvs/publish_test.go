package dvs_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
	"github.com/lookleap/lookleap/wellknown"
)

func TestWriteIndex(t *testing.T) {
	skills := served(t).Skills()
	write := func(shape dvs.IndexShape) string {
		var b bytes.Buffer
		if err := dvs.WriteIndex(&b, shape, skills); err != nil {
			t.Fatal(err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, b.Bytes()); err != nil {
			t.Fatal(err)
		}
		return compact.String()
	}
	t.Run("DVS-3.2-16/accept-array", func(t *testing.T) {
		if got, want := write(dvs.IndexArray), `[{"name":"billing","description":"c","path":"/.well-known/skills/billing/"},{"name":"refund","description":"b","path":"/.well-known/skills/refund/"}]`; got != want {
			t.Errorf("%s", got)
		}
	})
	t.Run("DVS-3.2-17/accept-object", func(t *testing.T) {
		if got := write(dvs.IndexFiles); !strings.Contains(got, `{"skills":[{"name":"billing","description":"c","files":["SKILL.md"]},{"name":"refund","description":"b","files":["SKILL.md","ADVANCED.md",`) {
			t.Errorf("%s", got)
		}
	})
	t.Run("v2", func(t *testing.T) {
		want := `"type":"skill-md","description":"c","url":"/.well-known/agent-skills/billing/SKILL.md","digest":"` + dvs.DigestOf(skills[0].Files["SKILL.md"]).String() + `"`
		if got := write(dvs.IndexDigests); !strings.HasPrefix(got, `{"$schema":"https://schemas.agentskills.io/discovery/0.2.0/schema.json"`) || !strings.Contains(got, want) {
			t.Errorf("%s", got)
		}
	})
	t.Run("v2-archive", func(t *testing.T) {
		at, content, err := skills[1].Artifact()
		if err != nil || at != "refund.tar.gz" {
			t.Errorf("%s, %v", at, err)
		}
		want := `"name":"refund","type":"archive","description":"b","url":"/.well-known/agent-skills/` + at + `","digest":"` + dvs.DigestOf(content).String() + `"`
		if got := write(dvs.IndexDigests); !strings.Contains(got, want) {
			t.Errorf("%s", got)
		}
		files, err := dvs.ReadArchive(bytes.NewReader(content), dvs.Limits{})
		if err != nil || !maps.EqualFunc(files, skills[1].Files, bytes.Equal) {
			t.Error(err)
		}
	})
	t.Run("DVS-3.2-16/reject-one-name-twice", func(t *testing.T) {
		if err := dvs.WriteIndex(new(bytes.Buffer), dvs.IndexArray, append(skills, skills[0])); lookleap.CodeOf(err) != dvs.CodeNameClash {
			t.Error(err)
		}
	})
	t.Run("DVS-3.2-05/accept-sitemap", func(t *testing.T) {
		var b bytes.Buffer
		if err := dvs.WriteSitemap(&b, "https://example.com", skills); err != nil || !strings.Contains(b.String(), "<url><loc>https://example.com/.well-known/skills/refund/SKILL.md</loc></url>") {
			t.Errorf("%s %v", b.String(), err)
		}
	})
	t.Run("DVS-3.2-05/reject-http", func(t *testing.T) {
		if err := dvs.WriteSitemap(new(bytes.Buffer), "http://example.com", skills); lookleap.CodeOf(err) != lookleap.CodeNotHTTPS {
			t.Error(err)
		}
	})
}

func TestWellKnownSkillURL(t *testing.T) {
	t.Run("DVS-3.2-03/accept-url-of-the-name", func(t *testing.T) {
		if got, err := dvs.WellKnownSkillURL("https://example.com", "my-skill"); err != nil || got != "https://example.com/.well-known/skills/my-skill/SKILL.md" {
			t.Errorf("%q %v", got, err)
		}
	})
	for name, c := range map[string]struct {
		origin, skill string
		code          lookleap.Code
	}{
		"slash":      {"https://example.com", "a/b", lookleap.CodeBadName},
		"upper-case": {"https://example.com", "A", lookleap.CodeBadName},
		"empty":      {"https://example.com", "", lookleap.CodeBadName},
		"path":       {"https://example.com/x", "a", dvs.CodeNoOriginDiscovery},
		"query":      {"https://example.com/?x", "a", dvs.CodeNoOriginDiscovery},
		"http":       {"http://example.com", "a", lookleap.CodeNotHTTPS},
	} {
		t.Run("DVS-3.2-03/reject-"+name, func(t *testing.T) {
			if got, err := dvs.WellKnownSkillURL(c.origin, c.skill); lookleap.CodeOf(err) != c.code || got != "" {
				t.Errorf("%q %v", got, err)
			}
		})
	}
}

// TestSuffix: the suffix of the draft is that of every place where skills are published or looked
// for, and no registry is said to have it.
func TestSuffix(t *testing.T) {
	t.Run("DVS-8-01/accept-same-suffix", func(t *testing.T) {
		if dvs.SkillsPrefix != "/.well-known/skills/" || dvs.AgentSkillsPrefix != "/.well-known/agent-skills/" || dvs.IndexFile != "index.json" {
			t.Errorf("%s and %s with %s", dvs.SkillsPrefix, dvs.AgentSkillsPrefix, dvs.IndexFile)
		}
	})
	t.Run("DVS-8-01/reject-as-registered", func(t *testing.T) {
		for name, reference := range map[string]string{"skills": "draft-zzn-dvs-00", "agent-skills": "Agent Skills discovery v0.2"} {
			if e := wellknown.Builtin().Lookup(name); e.Status != wellknown.Unregistered || e.Reference != reference || !e.HasPath {
				t.Errorf("%+v", e)
			}
		}
	})
}

func TestLint(t *testing.T) {
	const good = "name: a\ndescription: b\n"
	at := func(body string, more ...string) fstest.MapFS {
		files := fstest.MapFS{"SKILL.md": {Data: []byte("---\n" + good + "---\n" + body)}}
		for _, name := range more {
			files[name] = &fstest.MapFile{Data: []byte("x")}
		}
		return files
	}
	const url = "https://example.com/.well-known/skills/a/SKILL.md"
	for _, c := range []struct {
		id, name string
		files    fstest.MapFS
		options  dvs.LintOptions
		code     lookleap.Code // "": no finding at all
		severity lookleap.Severity
	}{
		{"DVS-4.1-01", "accept-skill-md", at("x"), dvs.LintOptions{Directory: "a", URL: url}, "", 0},
		{"DVS-4.1-01", "reject-none", fstest.MapFS{"x.md": {}}, dvs.LintOptions{}, dvs.CodeMissingSkillMD, lookleap.SeverityError},
		{"DVS-4.1-02", "accept-only-skill-md", at("x"), dvs.LintOptions{Profile: dvs.AgentSkills}, "", 0},
		{"DVS-4.1-02", "reject-unsafe-file", at("x", "data/con"), dvs.LintOptions{}, dvs.CodeUnsafeName, lookleap.SeverityError},
		{"DVS-4.2-01", "accept-exact-name", at("x"), dvs.LintOptions{}, "", 0},
		{"DVS-4.2-01", "reject-lower-case", fstest.MapFS{"skill.md": {Data: []byte("x")}}, dvs.LintOptions{}, dvs.CodeMissingSkillMD, lookleap.SeverityError},
		{"DVS-3.1-01", "accept-https", at("x"), dvs.LintOptions{URL: url}, "", 0},
		{"DVS-3.1-01", "reject-http", at("x"), dvs.LintOptions{URL: "http://example.com/.well-known/skills/a/SKILL.md"}, lookleap.CodeNotHTTPS, lookleap.SeverityError},
		{"DVS-3.2-02", "accept-well-known", at("x"), dvs.LintOptions{URL: url}, "", 0},
		{"DVS-3.2-02", "accept-elsewhere", at("x"), dvs.LintOptions{URL: "https://example.com/a/SKILL.md"}, "not-well-known-path", lookleap.SeverityInfo},
		{"DVS-4.3-12", "accept-same", at("x"), dvs.LintOptions{Directory: "a"}, "", 0},
		{"DVS-4.3-12", "accept-other", at("x"), dvs.LintOptions{Directory: "b"}, dvs.CodeNameDirectory, lookleap.SeverityInfo},
		{"DVS-4.3-12", "reject-other", at("x"), dvs.LintOptions{Directory: "b", Profile: dvs.AgentSkills}, dvs.CodeNameDirectory, lookleap.SeverityError},
		{"DVS-5.1-03", "accept-inside", at("[x](../b/GUIDE.md)"), dvs.LintOptions{URL: url}, "", 0},
		{"DVS-5.1-03", "accept-foreign-after-asking", at("<https://h.example/x.md>"), dvs.LintOptions{URL: url}, "resource-outside-root", lookleap.SeverityInfo},
		{"DVS-5.1-03", "reject-outside", at("[x](../b/GUIDE.md)"), dvs.LintOptions{URL: url, Root: "https://example.com/.well-known/skills/a/"}, "resource-outside-root", lookleap.SeverityError},
		{"DVS-4.5.2-01", "accept-inside", at("run scripts/x.sh", "scripts/x.sh"), dvs.LintOptions{URL: url}, "", 0},
		{"DVS-4.5.2-01", "reject-sibling", at("run ../b/x.sh"), dvs.LintOptions{URL: url}, dvs.CodeScriptOutside, lookleap.SeverityError},
		{"DVS-4.5.3-01", "accept-inside", at("[x](data/x.json)", "data/x.json"), dvs.LintOptions{}, "", 0},
		{"DVS-4.5.3-01", "reject-sibling", at("[x](../b/x.json)"), dvs.LintOptions{}, "data-outside-skill", lookleap.SeverityError},
		{"DVS-4.1-04", "accept-there", at("[x](a%20b.md) [y](c.md)", "a b.md", "c.md"), dvs.LintOptions{}, "", 0},
		{"DVS-4.1-04", "reject-not-there", at("[x](c.md)"), dvs.LintOptions{}, dvs.CodeNotBundled, lookleap.SeverityWarning},
		{"DVS-4.5.1-01", "accept-other-extension", at("x", "MORE.markdown"), dvs.LintOptions{}, lookleap.CodeMediaType, lookleap.SeverityInfo},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			findings := dvs.Lint(c.files, c.options)
			if c.code == "" {
				if len(findings) > 0 {
					t.Error(findings)
				}
				return
			}
			if !slices.ContainsFunc(findings, func(f lookleap.Finding) bool {
				return f.Code == c.code && f.Severity == c.severity && f.Path != "" && f.Fix != ""
			}) {
				t.Errorf("%+v", findings)
			}
		})
	}
}

func TestLintResponse(t *testing.T) {
	const url = "https://example.com/.well-known/skills/a/SKILL.md"
	for name, c := range map[string]struct {
		mediaType string
		code      lookleap.Code
	}{
		"DVS-4.2-03/reject-plain":   {"text/plain", lookleap.CodeMediaType},
		"DVS-4.2-03/reject-page":    {"text/html", lookleap.CodeMediaType},
		"DVS-4.2-03/reject-none":    {"", lookleap.CodeMediaType},
		"DVS-4.2-06/reject-latin1":  {"text/markdown; charset=iso-8859-1", lookleap.CodeNotUTF8},
		"DVS-4.2-06/accept-utf8":    {`text/markdown; charset="UTF-8"`, ""},
		"DVS-4.2-03/accept-charset": {"text/markdown; charset=utf-8", ""},
	} {
		t.Run(name, func(t *testing.T) {
			header := http.Header{"X-Content-Type-Options": {"nosniff"}}
			if c.mediaType != "" {
				header.Set("Content-Type", c.mediaType)
			}
			findings := dvs.LintResponse(url, header)
			if c.code == "" && len(findings) > 0 || c.code != "" && (len(findings) != 1 || findings[0].Code != c.code || findings[0].Severity != lookleap.SeverityError) {
				t.Error(findings)
			}
		})
	}
}
