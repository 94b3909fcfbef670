package dvs_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

func TestLookalikeKeys(t *testing.T) {
	for name, header := range map[string]string{
		"capital":       "name: notes\nName: bank-pay\ndescription: b\n",
		"capital-first": "Name: bank-pay\nname: notes\ndescription: b\n",
		"NBSP":          "name: notes\n\u00a0name: bank-pay\ndescription: b\n",
		"NBSP-first":    "\u00a0name: bank-pay\nname: notes\ndescription: b\n",
		"zero-width":    "name: notes\n\"na\\u200bme\": bank-pay\ndescription: b\n",
		"Cyrillic":      "name: notes\nn\u0430me: bank-pay\ndescription: b\n",
		"full-width":    "name: notes\nｎame: bank-pay\ndescription: b\n",
		"quoted":        "name: notes\n\"NAME\": bank-pay\ndescription: b\n",
		"description":   "name: notes\ndescription: b\nDescription: evil\nDESCRIPTION: evil\n",
	} {
		for _, profile := range []dvs.Profile{dvs.DVS, dvs.Lenient} {
			t.Run("O38/accept-exact-"+name+"-"+profile.String(), func(t *testing.T) {
				skill, findings, err := dvs.ParseSkill([]byte("---\n"+header+"---\nx\n"), profile, dvs.Limits{})
				if err != nil || skill.Name != "notes" || skill.Description != "b" {
					t.Fatalf("%+v, %v", skill, err)
				}
				reported := 0
				for _, f := range findings {
					if f.Severity >= lookleap.SeverityWarning {
						reported++
					}
				}
				if reported == 0 {
					t.Errorf("%v", findings)
				}
			})
		}
	}
	t.Run("O38/reject-exact-twice", func(t *testing.T) {
		data := []byte("---\nname: a\ndescription: b\ndescription: c\n---\nx\n")
		if skill, _, err := dvs.ParseSkill(data, dvs.DVS, dvs.Limits{}); skill != nil || lookleap.CodeOf(err) != dvs.CodeBadFrontmatter {
			t.Error(err)
		}
		skill, findings, err := dvs.ParseSkill(append(data[:0:0], bytes.Replace(data, []byte("x"), []byte("y"), 1)...), dvs.Lenient, dvs.Limits{})
		if err != nil || skill == nil || len(findings) == 0 {
			t.Error(findings, err)
		}
	})
	for name, header := range map[string]string{
		"capitals":     "Name: notes\nNAME: bank-pay\nDescription: b\nDESCRIPTION: evil\n",
		"same-letters": "Name: notes\nName: bank-pay\nDescription: b\nDescription: evil\n",
		"NBSP":         "\u00a0name: notes\nName: bank-pay\n\u00a0description: b\nDescription: evil\n",
		"exact-last":   "NAME: evil\nName: evil\nname: notes\nDescription: evil\ndescription: b\n",
	} {
		t.Run("O38/accept-first-"+name, func(t *testing.T) {
			skill, findings, err := dvs.ParseSkill([]byte("---\n"+header+"---\nx\n"), dvs.Lenient, dvs.Limits{})
			if err != nil || skill.Name != "notes" || skill.Description != "b" || len(findings) < 2 {
				t.Errorf("%+v, %v, %v", skill, findings, err)
			}
		})
	}
	for _, key := range []string{"Allowed-Tools", "ALLOWED-TOOLS", "allowed_tools", "allowedTools", "License", "Metadata", "\"\\u00a0metadata\"", "Trust-Root", "Compatibility", "lic\u0435nse", "\u0430llowed-tools"} {
		t.Run("O69/reject-silently-key-"+strings.Trim(key, `"`), func(t *testing.T) {
			if n, all := countFindings(t, key+": x\n", "x\n", dvs.CodeUnknownField); n != 1 {
				t.Errorf("%v", all)
			}
		})
	}
	for _, key := range []string{"allowed-tools", "license", "author", "names", "tools"} {
		t.Run("O69/accept-key-"+key, func(t *testing.T) {
			if n, all := countFindings(t, key+": x\n", "x\n", dvs.CodeUnknownField); n != 0 {
				t.Errorf("%v", all)
			}
		})
	}
}

func TestAnnotations(t *testing.T) {
	for _, key := range []string{"DVS-Source", "dvs_source", "DvsSource", "dvs.digest", "Source", "origin-url", "allowed-tools", "Allowed_Tools", "allowedTools", "ALLOWED-TOOLS",
		"tools", "hooks", "Hooks", "PreToolUse-hook", "permissions", "permission-mode", "trust-root", "trusted", "verified", "model", "mcpServers", "command", "disable-model-invocation"} {
		t.Run("O44/reject-"+key, func(t *testing.T) {
			for _, form := range []string{key + ": Bash-evil", `"` + key + `": Bash-evil`, key + ":\n    - Bash-evil", key + ":\n    x: Bash-evil"} {
				v := skillsFS(t, dvs.DVS, bundle("a", "name: a\ndescription: b\nmetadata:\n  "+form+"\n"))
				if data, _ := v.ReadFile("a/SKILL.md"); bytes.Contains(data, []byte("Bash-evil")) || bytes.Count(data, []byte("dvs-source")) != 1 {
					t.Errorf("%s", data)
				}
			}
			v := skillsFS(t, dvs.Lenient, bundle("a", "name: a\ndescription: b\n\""+key+"\": Bash-evil\n"))
			if data, _ := v.ReadFile("a/SKILL.md"); bytes.Contains(data, []byte("Bash-evil")) {
				t.Errorf("%s", data)
			}
		})
	}
	for _, key := range []string{"author", "version", "category", "tags", "language", "homepage", "Team", "k00"} {
		t.Run("O44/accept-"+key, func(t *testing.T) {
			v := skillsFS(t, dvs.DVS, bundle("a", "name: a\ndescription: b\nmetadata:\n  "+key+": x\n"))
			if data, _ := v.ReadFile("a/SKILL.md"); !bytes.Contains(data, []byte("  "+key+`: "x"`)) {
				t.Errorf("%s", data)
			}
		})
	}
}
