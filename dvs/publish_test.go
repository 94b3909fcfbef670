package dvs_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
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
	t.Run("DVS-3.2-03/accept", func(t *testing.T) {
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
		"http":       {"http://example.com", "a", lookleap.CodeNotHTTPS},
	} {
		t.Run("DVS-3.2-03/reject-"+name, func(t *testing.T) {
			if got, err := dvs.WellKnownSkillURL(c.origin, c.skill); lookleap.CodeOf(err) != c.code || got != "" {
				t.Errorf("%q %v", got, err)
			}
		})
	}
}
