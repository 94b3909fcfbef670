package dvs

import (
	"reflect"
	"testing"
)

// TestPanicOfParser: a panic of the YAML parser is an error.
func TestPanicOfParser(t *testing.T) {
	if err := unmarshal([]byte("a: b\n"), nil); err == nil {
		t.Error("nothing says that the parser gave up")
	}
}

func FuzzSkill(f *testing.F) {
	for _, s := range []string{
		"---\nname: a\ndescription: b\n---\nbody\n",
		"---\nname: a\ndescription: Use when: b\nmetadata:\n  author: x\n---\nbody\n",
		"\n<!-- x -->\n---\nName: My Skill\ndescription: >-\n  foo\n----\n# body\n",
		"```yaml\nname: a\ndescription: \"b\n```\nbody\n",
		"\xff\xfe-\x00-\x00-\x00\n\x00", "name：a\r- description：b\r", "---\n- **name**: a\n  description: *b\n...\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		skill, findings, err := ParseSkill(data, DVS, Limits{})
		if (skill == nil) != (err != nil) {
			t.Fatalf("%v and %v", skill, err)
		}
		for _, f := range findings {
			if f.Line < 1 || f.Column < 1 || f.Offset > len(data) || f.Fix == "" || !f.Code.Known() {
				t.Fatalf("%+v", f)
			}
		}
		stricter, _, strictErr := ParseSkill(data, AgentSkills, Limits{})
		lenient, _, lenientErr := ParseSkill(data, Lenient, Limits{})
		if strictErr == nil && (err != nil || stricter.Name != skill.Name) {
			t.Fatalf("AgentSkills accepts what DVS refuses: %v", err)
		}
		if err == nil {
			if lenientErr != nil {
				t.Fatalf("Lenient refuses what DVS accepts: %v", lenientErr)
			}
			if lenient.Name != skill.Name || lenient.Description != skill.Description || lenient.Body != skill.Body || lenient.Header != skill.Header {
				t.Fatalf("Lenient reads %q %q, DVS %q %q", lenient.Name, lenient.Description, skill.Name, skill.Description)
			}
			meta, _, err := ParseMetadata(data, DVS, Limits{})
			if err != nil || !reflect.DeepEqual(*meta, skill.Metadata) {
				t.Fatalf("the header alone reads otherwise: %+v, %v", meta, err)
			}
		}
	})
}
